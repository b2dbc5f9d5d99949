package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// figures are what tests printed, by name. A name with a slash is of one source or
// tool; others are of all.
type figures map[string]float64

// cost is what a part took while it was timed.
type cost struct {
	calls int
	spent time.Duration
}

// longest is how long a measurement may take; one without a part may never end.
const longest = 3 * time.Minute

// measure runs the tests of an area with a part left out.
func (b *bench) measure(a *area, off string) (figures, error) {
	f := figures{}
	for _, t := range a.tests {
		ctx, cancel := context.WithTimeout(context.Background(), longest)
		c := exec.CommandContext(ctx, b.binary(t.dir), "-test.v", "-test.run", t.run) //nolint:gosec // built above
		c.Dir = filepath.Join(b.root, filepath.FromSlash(t.dir))
		times := filepath.Join(b.dir, "times_")
		c.Env = append(os.Environ(), offEnv+"="+off, timesEnv+"="+times)
		out, err := c.CombinedOutput()
		late := ctx.Err() != nil
		cancel()
		if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
			return nil, err
		}
		if text := string(out); strings.Contains(text, "\npanic:") || strings.Contains(text, "\nfatal error:") || late {
			return nil, fmt.Errorf("ends in a panic, or never: %.2000s", text[max(0, strings.Index(text, "panic:")):])
		}
		f.read(string(out))
		if off == timing {
			if err := b.readTimes(times); err != nil {
				return nil, err
			}
		}
	}
	return f, nil
}

// readTimes adds what each package wrote of its parts.
func (b *bench) readTimes(prefix string) error {
	files, err := filepath.Glob(prefix + "*")
	if err != nil || len(files) == 0 {
		return fmt.Errorf("no times were written (%w)", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file) //nolint:gosec // our own
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			fields := strings.SplitN(strings.TrimSpace(line), " ", 3)
			var ns, calls int
			if _, err := fmt.Sscan(fields[0]+" "+fields[1], &ns, &calls); err != nil {
				return err
			}
			c := b.cost[fields[2]]
			b.cost[fields[2]] = cost{c.calls + calls, c.spent + time.Duration(ns)}
		}
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	return nil
}

// The lines of the measuring tests.
var (
	plainly   = regexp.MustCompile(`go:\d+: figure (.+): ([\d.]+)$`)
	running   = regexp.MustCompile(`^=== (?:RUN|NAME) +(\S+)`)
	bySource  = regexp.MustCompile(`go:\d+: (\w+): gold by score`)
	byGold    = regexp.MustCompile(`^ +(error|partial|ok) +(\d+) +(\d+) +(\d+)$`)
	ofSure    = regexp.MustCompile(`sure: coverage ([\d.]+), right ([\d.]+)`)
	ofOutputs = regexp.MustCompile(`outputs of \d+ tools: precision [\d.]+ \((\d+) alarms\), recall [\d.]+ \((\d+) missed\)`)
	ofTool    = regexp.MustCompile(`go:\d+: (\S+): (\d+) later failures, named (\d+), remedy (\d+), by cause (\d+)`)
	meanOf    = regexp.MustCompile(`mean over \d+ tools: named ([\d.]+), remedy ([\d.]+), by cause ([\d.]+)`)
	totalOf   = regexp.MustCompile(`total of \d+ failures: named ([\d.]+), remedy ([\d.]+), by cause ([\d.]+).*median words (\d+)`)
	ofModel   = regexp.MustCompile(`go:\d+: (\S+ \S+) +\d+ calls  AUC ([\d.]+)`)
	meanAUC   = regexp.MustCompile(`weighted AUC ([\d.]+), calibration error ([\d.]+)`)
	ofRuns    = regexp.MustCompile(`online (true|false): recall ([\d.]+) at 5 % of good calls, ([\d.]+) at 1 %; warned of ([\d.]+) of \d+ bad, ([\d.]+) of \d+ good`)
)

// read takes the figures out of what tests printed.
func (f figures) read(text string) {
	test, of := "", ""
	set := func(values []string, names ...string) {
		for i, name := range names {
			f[name], _ = strconv.ParseFloat(values[i], 64)
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		if m := running.FindStringSubmatch(line); m != nil {
			_, test, _ = strings.Cut(m[1], "/")
		} else if m := plainly.FindStringSubmatch(line); m != nil {
			set(m[2:], m[1])
		} else if m := bySource.FindStringSubmatch(line); m != nil {
			of = m[1]
		} else if m := byGold.FindStringSubmatch(line); m != nil {
			f.gold(of, m[1:])
		} else if m := ofSure.FindStringSubmatch(line); m != nil && of == "all" {
			set(m[1:], "sure", "sure right")
		} else if m := ofOutputs.FindStringSubmatch(line); m != nil {
			set(m[1:], "outputs/"+test+" alarms", "outputs/"+test+" missed")
			f["outputs alarms"] += f["outputs/"+test+" alarms"]
			f["outputs missed"] += f["outputs/"+test+" missed"]
		} else if m := ofTool.FindStringSubmatch(line); m != nil {
			set(m[3:], "tool/"+m[1]+" named", "tool/"+m[1]+" remedy", "tool/"+m[1]+" cause")
		} else if m := meanOf.FindStringSubmatch(line); m != nil {
			set(m[1:], "mean named", "mean remedy", "mean cause")
		} else if m := totalOf.FindStringSubmatch(line); m != nil {
			set(m[1:], "named", "remedy", "cause", "words")
		} else if m := ofModel.FindStringSubmatch(line); m != nil {
			set(m[2:], "tool/"+m[1]+" AUC")
		} else if m := meanAUC.FindStringSubmatch(line); m != nil {
			set(m[1:], "AUC", "calibration")
		} else if m := ofRuns.FindStringSubmatch(line); m != nil {
			when := map[string]string{"true": "online ", "false": "cold "}[m[1]]
			set(m[2:], when+"5 %", when+"1 %", when+"warned bad", when+"warned good")
		}
	}
}

// gold reads a line of a confusion table: calls by score, 0 first.
func (f figures) gold(source string, values []string) {
	prefix := "source/" + source + " "
	if source == "all" {
		prefix = ""
	}
	n := [3]float64{}
	for i := range n {
		n[i], _ = strconv.ParseFloat(values[i+1], 64)
	}
	if values[0] == "error" {
		f[prefix+"missed"] = n[1] + n[2]
		return
	}
	f[prefix+"alarms"] += n[0]
	right := 2
	if values[0] == "partial" {
		right = 1
	}
	f[prefix+"half"] += n[1] + n[2] - n[right] // good and partial, taken for each other
}

// lacks reports whether a figure was not printed: the test ended before it.
func (f figures) lacks(whole figures) bool {
	for name := range whole {
		if _, there := f[name]; !there {
			return true
		}
	}
	return false
}

// differing counts the figures that are not the same.
func differing(a, b figures) (n int) {
	for name := range a {
		if a[name] != b[name] {
			n++
		}
	}
	return n
}

// lessIsBetter reports whether a figure should be small.
func lessIsBetter(name string) bool {
	for _, word := range []string{"alarms", "missed", "half", "good", "words", "calibration", "loop whole", "loop last", "drift whole", "drift last", "misattributed at 10", "misattributed at 20", "misattributed_at_10", "misattributed_at_20"} {
		if strings.HasSuffix(name, word) {
			return true
		}
	}
	return false
}

// sources counts the sources and tools that are better, and worse, without a part.
func sources(whole, without figures) (better, worse int) {
	change := map[string]float64{}
	for name, was := range whole {
		if strings.Contains(name, "/") {
			d := without[name] - was
			if lessIsBetter(name) {
				d = -d
			}
			change[name[:strings.LastIndexByte(name, ' ')]] += d
		}
	}
	for _, d := range change {
		better += btoi(d > 0)
		worse += btoi(d < 0)
	}
	return better, worse
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// signed writes a difference; none is empty.
func signed(d float64, decimals int) string {
	s := fmt.Sprintf("%+.*f", decimals, d)
	if strings.Trim(s, "+-0.") == "" {
		return ""
	}
	return s
}
