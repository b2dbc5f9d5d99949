// Command ablate takes out the parts of the judge, of the reading of messages, of the
// guidelines, of the forecast and of compaction, one at a time, and tells what the
// figures are without each: a rule, a grammar, a list of words, a kind of statement or
// of warning that changes none is worth nothing.
//
// It builds the measuring tests of the packages once, from sources in which each part
// can be switched off. With nothing left out it notes which tests come to which part;
// then it runs, for each part, those that do. The program itself knows of none of this.
//
//	MEMORYD_TEST_DATA=dir go -C bench run ./ablate -docs results
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"sync"
	"time"
)

// dataEnv names the folder of the recordings.
const dataEnv = "MEMORYD_TEST_DATA"

func main() {
	root := flag.String("root", "..", "the folder of the sources")
	docs := flag.String("docs", "", "folder in which ablation.md is written; empty prints it")
	only := flag.String("only", "", "only parts whose name matches this expression")
	jobs := flag.Int("jobs", runtime.NumCPU(), "how many measurements run at once")
	flag.Parse()
	if err := run(*root, *docs, *only, *jobs); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(root, docs, only string, jobs int) error {
	if os.Getenv(dataEnv) == "" {
		return errors.New(dataEnv + " is not set: it names the folder of the recordings")
	}
	wanted, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	if root, err = filepath.Abs(root); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "ablate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // the system clears the rest away
	b := &bench{root: root, dir: dir, areas: areas(), wanted: wanted}
	began := time.Now()
	if err := b.build(); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "built in %v\n", time.Since(began).Round(time.Second))
	if err := b.measureAll(jobs); err != nil {
		return err
	}
	b.took = time.Since(began)
	fmt.Fprintf(os.Stderr, "%v\n", b.took)
	text := b.report()
	if docs == "" {
		_, err = os.Stdout.WriteString(text)
		return err
	}
	return os.WriteFile(filepath.Join(docs, "ablation.md"), []byte(text), 0o644) //nolint:gosec // a page of the docs
}

// bench is the sources with switches, the tests made of them, and what was measured.
type bench struct {
	root, dir string
	areas     []area
	wanted    *regexp.Regexp // parts; nil: all
	parts     []*part
	took      time.Duration

	mu    sync.Mutex
	whole map[*measuring]figures       // with nothing left out
	spent map[*measuring]time.Duration // on that
	costs map[*measuring]costs         // of the parts that it comes to
}

// build writes the sources with switches and makes the measuring programs.
func (b *bench) build() error {
	overlay, err := b.overlay()
	if err != nil {
		return err
	}
	for _, a := range b.areas {
		for _, m := range a.measurings {
			if err := b.make(m, overlay); err != nil {
				return err
			}
		}
	}
	return nil
}

// make builds the program of a measurement, once.
func (b *bench) make(m *measuring, overlay string) error {
	if _, err := os.Stat(b.binary(m)); err == nil {
		return nil
	}
	args := []string{"test", "-c"}
	if m.test == "" {
		args = []string{"build"}
	}
	c := exec.Command("go", append(args, "-overlay", overlay, "-o", b.binary(m), ".")...) //nolint:gosec // the go command
	c.Dir = b.folder(m)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", m.dir, err, out)
	}
	return nil
}

func (b *bench) folder(m *measuring) string { return filepath.Join(b.root, filepath.FromSlash(m.dir)) }

func (b *bench) binary(m *measuring) string {
	return filepath.Join(b.dir, regexp.MustCompile(`\W`).ReplaceAllString(m.dir, "_")+".test")
}

// measureAll takes the figures with nothing left out, twice: they have to be equal; then
// those without each part. The entries of a list come last: where the list is worth
// nothing, none of them is.
func (b *bench) measureAll(jobs int) error {
	b.whole, b.spent, b.costs = map[*measuring]figures{}, map[*measuring]time.Duration{}, map[*measuring]costs{}
	var all []*measuring
	for i := range b.areas {
		if a := &b.areas[i]; slices.ContainsFunc(b.parts, func(p *part) bool { return p.area == a && b.wants(p) }) {
			all = append(all, a.measurings...)
		}
	}
	if err := atOnce(jobs, all, b.measureWhole); err != nil {
		return err
	}
	var first, entries []*part
	for _, p := range b.parts {
		switch p.skip = !b.wants(p); {
		case p.skip:
		case p.of != nil:
			entries = append(entries, p)
		default:
			first = append(first, p)
		}
	}
	began, done := time.Now(), 0
	without := func(p *part) error {
		if p.of == nil || p.of.skip || p.of.fault != nil || differing(b.all(p.area), p.of.without) > 0 {
			p.without, p.fault = b.leftOut(p)
		} else {
			p.without = p.of.without
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		done++
		fmt.Fprintf(os.Stderr, "%d of %d, %v: %s%s\n", done, len(first)+len(entries), time.Since(began).Round(time.Second), p.key(), b.changes(p))
		return nil
	}
	return errors.Join(atOnce(jobs, first, without), atOnce(jobs, entries, without))
}

func (b *bench) wants(p *part) bool { return b.wanted == nil || b.wanted.MatchString(p.key()) }

// atOnce calls f for each of all, so many at a time.
func atOnce[T any](jobs int, all []T, f func(T) error) error {
	queue := make(chan T)
	var wait sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for range max(1, jobs) {
		wait.Go(func() {
			for x := range queue {
				if err := f(x); err != nil {
					mu.Lock()
					failed = errors.Join(failed, err)
					mu.Unlock()
				}
			}
		})
	}
	for _, x := range all {
		queue <- x
	}
	close(queue)
	wait.Wait()
	return failed
}

// measureWhole takes the figures of a measurement with nothing left out, and what its
// parts cost.
func (b *bench) measureWhole(m *measuring) error {
	began := time.Now()
	first, err := b.measure(m, "", longest)
	if err != nil {
		return fmt.Errorf("%s %s: %w", m.dir, m.test, err)
	}
	spent := time.Since(began)
	timed, err := b.measure(m, timing, longest)
	if err != nil {
		return fmt.Errorf("%s %s: %w", m.dir, m.test, err)
	}
	if d := differing(first, timed); d > 0 || len(first) == 0 {
		return fmt.Errorf("%s %s: %d of %d figures differ between two runs of the same", m.dir, m.test, d, len(first))
	}
	costs, err := readCosts(b.times(m))
	b.mu.Lock()
	defer b.mu.Unlock()
	b.whole[m], b.spent[m], b.costs[m] = first, spent, costs
	return err
}

// leftOut takes the figures of an area without a part. Where a measurement does not come
// to the part, they are those of the whole; so are those of one that confirms that
// nothing changes, where something does.
func (b *bench) leftOut(p *part) (figures, error) {
	f, changed := figures{}, false
	for _, m := range p.area.measurings {
		whole := b.whole[m]
		if m.confirms && changed || p.counted() && b.costs[m][p.key()].calls == 0 {
			f.add(m, whole)
			continue
		}
		without, err := b.measure(m, p.key(), 20*time.Second+5*b.spent[m])
		if err != nil {
			return nil, err
		}
		if without.lacks(whole) {
			return nil, errors.New("figures are missing")
		}
		changed = changed || differing(whole, without) > 0
		f.add(m, without)
	}
	return f, nil
}

// all are the figures of an area with nothing left out.
func (b *bench) all(a *area) figures {
	f := figures{}
	for _, m := range a.measurings {
		f.add(m, b.whole[m])
	}
	return f
}
