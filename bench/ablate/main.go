// Command ablate takes out the parts of the judge, of the reading of messages, of the
// guidelines, of the forecast and of compaction, one at a time, and tells what the
// figures are without each: a rule, a grammar, a list of words, a kind of statement or
// of warning that changes none is worth nothing.
//
// It builds the measuring tests of the packages once, from sources in which each part
// can be switched off, and runs them once for each part. The program itself knows of
// none of this.
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
	b := &bench{root: root, dir: dir, areas: areas()}
	began := time.Now()
	if err := b.build(); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "built in %v\n", time.Since(began).Round(time.Second))
	if err := b.measureAll(wanted, jobs); err != nil {
		return err
	}
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
	parts     []*part
	whole     map[string]figures // with nothing left out, by area
	cost      map[string]cost    // of parts
}

// build writes the sources with switches and makes the measuring tests.
func (b *bench) build() error {
	overlay, err := b.overlay()
	if err != nil {
		return err
	}
	for _, name := range b.packages() {
		c := exec.Command("go", "test", "-c", "-overlay", overlay, "-o", b.binary(name), "./"+name)
		c.Dir = b.root
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("the tests of %s: %w\n%s", name, err, out)
		}
	}
	return nil
}

func (b *bench) binary(name string) string {
	return filepath.Join(b.dir, regexp.MustCompile(`\W`).ReplaceAllString(name, "_")+".test")
}

// measureAll takes the figures with nothing left out, twice: they have to be equal; then
// those without each part.
func (b *bench) measureAll(wanted *regexp.Regexp, jobs int) error {
	b.whole, b.cost = map[string]figures{}, map[string]cost{}
	for i := range b.areas {
		a := &b.areas[i]
		if !slices.ContainsFunc(b.parts, func(p *part) bool { return p.area == a && wanted.MatchString(p.key()) }) {
			continue
		}
		first, err := b.measure(a, "")
		if err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
		timed, err := b.measure(a, timing)
		if err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
		if d := differing(first, timed); d > 0 || len(first) == 0 {
			return fmt.Errorf("%s: %d of %d figures differ between two runs of the same", a.name, d, len(first))
		}
		b.whole[a.name] = first
	}
	queue := make(chan *part)
	var wait sync.WaitGroup
	began, done := time.Now(), 0
	var mu sync.Mutex
	for range max(1, jobs) {
		wait.Go(func() {
			for p := range queue {
				if p.without, p.fault = b.measure(p.area, p.key()); p.fault == nil && p.without.lacks(b.whole[p.area.name]) {
					p.fault = errors.New("figures are missing")
				}
				mu.Lock()
				done++
				fmt.Fprintf(os.Stderr, "%d of %d parts, %v: %s%s\n", done, len(b.parts), time.Since(began).Round(time.Second), p.key(), b.changes(p))
				mu.Unlock()
			}
		})
	}
	for _, p := range b.parts {
		if p.skip = !wanted.MatchString(p.key()); !p.skip && b.used(p) {
			queue <- p
		} else if !p.skip {
			p.without = b.whole[p.area.name]
		}
	}
	close(queue)
	wait.Wait()
	return nil
}

// used reports whether the measurements came to the part at all.
func (b *bench) used(p *part) bool {
	return p.kind == list || p.kind == number || p.kind == clause || p.kind == call || b.cost[p.key()].calls > 0
}
