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

// costs are by the key of a part.
type costs map[string]cost

// longest is how long a measurement may take; one without a part may never end.
const longest = 10 * time.Minute

// measure runs a measurement with a part left out.
func (b *bench) measure(m *measuring, off string, most time.Duration) (figures, error) {
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	var args []string
	if m.test != "" {
		args = append(args, "-test.v", "-test.run", m.test)
	}
	for _, a := range m.args {
		args = append(args, strings.ReplaceAll(a, ownFolder, b.dir))
	}
	c := exec.CommandContext(ctx, b.binary(m), args...) //nolint:gosec // built above
	c.Dir = b.folder(m)
	c.Env = append(os.Environ(), offEnv+"="+off, timesEnv+"="+b.times(m), "GOGC=800", "GOMAXPROCS=1")
	out, err := c.CombinedOutput()
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
		return nil, err
	}
	if text := string(out); strings.Contains(text, "\npanic:") || strings.Contains(text, "\nfatal error:") || ctx.Err() != nil {
		return nil, fmt.Errorf("ends in a panic, or never: %.2000s", text[max(0, strings.Index(text, "panic:")):])
	}
	f := figures{}
	f.read(string(out))
	return f, nil
}

// times is how the files begin that the packages write their times to.
func (b *bench) times(m *measuring) string {
	return fmt.Sprintf("%s/times_%p_", b.dir, m)
}

// readCosts reads what each package wrote of its parts.
func readCosts(prefix string) (costs, error) {
	files, err := filepath.Glob(prefix + "*")
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no times were written (%w)", err)
	}
	all := costs{}
	for _, file := range files {
		text, err := os.ReadFile(file) //nolint:gosec // our own
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			fields := strings.SplitN(strings.TrimSpace(line), " ", 3)
			var ns, calls int
			if _, err := fmt.Sscan(fields[0]+" "+fields[1], &ns, &calls); err != nil {
				return nil, err
			}
			c := all[fields[2]]
			all[fields[2]] = cost{c.calls + calls, c.spent + time.Duration(ns)}
		}
	}
	return all, nil
}

// add takes the figures of a measurement; one that confirms those of others has names of
// its own.
func (f figures) add(m *measuring, g figures) {
	for name, value := range g {
		if m.confirms {
			name = "more " + name
		}
		f[name] = value
	}
}

// The lines of the measuring programs.
var (
	plainly   = regexp.MustCompile(`go:\d+: figure (.+): ([\d.]+)$`)
	bySource  = regexp.MustCompile(`go:\d+: (\w+): gold by score`)
	ofSure    = regexp.MustCompile(`sure: coverage ([\d.]+), right ([\d.]+)`)
	ofKinds   = regexp.MustCompile(`go:\d+: (\w+) +\d+ calls, asked +(\d+); right ([\d.]+)`)
	leftOne   = regexp.MustCompile(`^(\S.*?) +\d+ calls: precision [\d.]+ \((\d+) alarms\), recall [\d.]+ \((\d+) missed\), halves (\d+) of \d+, successes halved (\d+)`)
	leftGroup = regexp.MustCompile(`^all (\S.*?) +precision [\d.]+ \((\d+) alarms\), recall [\d.]+ \((\d+) missed\), halves (\d+) of \d+, successes halved (\d+)`)
	ofTool    = regexp.MustCompile(`go:\d+: (\S+): \d+ later failures, named (\d+), remedy (\d+)`)
	meanOf    = regexp.MustCompile(`mean over \d+ tools: named ([\d.]+), remedy ([\d.]+)`)
	totalOf   = regexp.MustCompile(`total of \d+ failures: named ([\d.]+), remedy ([\d.]+).*median words (\d+)`)
	ofModel   = regexp.MustCompile(`go:\d+: (\S+ \S+) +\d+ calls  AUC ([\d.]+)`)
	meanAUC   = regexp.MustCompile(`weighted AUC ([\d.]+), calibration error ([\d.]+)`)
	ofRuns    = regexp.MustCompile(`online (true|false): recall ([\d.]+) at 5 % of good calls, ([\d.]+) at 1 %; warned of ([\d.]+) of \d+ bad, ([\d.]+) of \d+ good`)
)

// read takes the figures out of what tests printed.
func (f figures) read(text string) {
	of := ""
	set := func(values []string, names ...string) {
		for i, name := range names {
			f[name], _ = strconv.ParseFloat(values[i], 64)
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		if m := plainly.FindStringSubmatch(line); m != nil {
			set(m[2:], m[1])
		} else if m := bySource.FindStringSubmatch(line); m != nil {
			of = m[1]
		} else if m := ofSure.FindStringSubmatch(line); m != nil && of == "all" {
			set(m[1:], "sure", "sure right")
		} else if m := ofKinds.FindStringSubmatch(line); m != nil {
			set(m[2:], "kinds/"+m[1]+" asked", "kinds/"+m[1]+" right")
		} else if m := leftOne.FindStringSubmatch(line); m != nil {
			set(m[2:], "source/"+m[1]+" alarms", "source/"+m[1]+" missed", "source/"+m[1]+" found", "source/"+m[1]+" dulled")
		} else if m := leftGroup.FindStringSubmatch(line); m != nil {
			set(m[2:], m[1]+" alarms", m[1]+" missed", m[1]+" found", m[1]+" dulled")
		} else if m := ofTool.FindStringSubmatch(line); m != nil {
			set(m[2:], "tool/"+m[1]+" named", "tool/"+m[1]+" remedy")
		} else if m := meanOf.FindStringSubmatch(line); m != nil {
			set(m[1:], "mean named", "mean remedy")
		} else if m := totalOf.FindStringSubmatch(line); m != nil {
			set(m[1:], "named", "remedy", "words")
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
	for _, word := range []string{
		"alarms", "missed", "dulled", "asked", "good", "words", "calibration", "loop whole",
		"loop last", "drift whole", "drift last", "misattributed at 10", "misattributed at 20", "misattributed_at_10", "misattributed_at_20",
	} {
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
