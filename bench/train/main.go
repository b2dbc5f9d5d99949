// Command train fits the judge's learned score anew: evaluate/score/weights.bin.
//
// It learns from the labelled outputs in evaluate/rules/testdata/outputs, all but those
// that are held out, from random records, and, where MEMORYD_TEST_DATA names their folder,
// from recordings.
// Before it writes, it prints how good the judge is on each source when it learned
// from all others. The same sources give the same bytes.
//
//	MEMORYD_TEST_DATA=dir go -C bench run ./train
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"memoryd/evaluate/rules"
	"memoryd/evaluate/score"
)

func main() {
	root := flag.String("root", "..", "the folder of the sources")
	check := flag.Bool("check", true, "leave out one source at a time, and print the figures")
	flag.StringVar(&show, "show", "", "print what the judge gets wrong in the source of this name")
	programs := flag.Bool("programs", false, "first run the programs of this machine that commands.txt names, to learn from what they print")
	flag.Parse()
	if err := run(*root, *check, *programs); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// show is the source whose wrong verdicts are printed.
var show string

func run(root string, check, programs bool) error {
	folder, outputs := filepath.Join(root, "bench", "train"), filepath.Join(root, "evaluate", "rules", "testdata", "outputs")
	if programs {
		if err := runPrograms(context.Background(), filepath.Join(folder, "commands.txt"), outputs); err != nil {
			return err
		}
	}
	judge := rules.New()
	sources, err := read(outputs, os.Getenv("MEMORYD_TEST_DATA"))
	if err != nil {
		return err
	}
	random, err := readRecords(folder)
	if err != nil {
		return err
	}
	sources = append(sources, random...)
	words, err := readMeanings(folder)
	if err != nil {
		return err
	}
	for _, s := range sources {
		s.readFeatures(judge, words)
	}
	if check {
		leaveOneOut(judge, sources, words)
	}
	file := filepath.Join(root, "evaluate", "score", "weights.bin")
	return os.WriteFile(file, fit(sources, nil, words), 0o644) //nolint:gosec // a file of the sources
}

// fit learns from all sources but one and those that are held out.
func fit(sources []*source, but *source, words *meanings) []byte {
	var bias [2]float64
	weights := new([2][1 << score.Bits]float64)
	for k, yes := range []string{score.Failed: "error", score.Nothing: "partial"} {
		var examples []example
		for _, s := range sources {
			if s != but && !s.held {
				examples = append(examples, s.examples(yes)...)
			}
		}
		m := learn(examples)
		bias[k] = m.bias
		m.fold(words, &weights[k])
	}
	return score.Encode(bias, weights)
}

// figures count what a judge made of calls.
type figures struct{ hit, alarm, miss, halves, half, dulled int }

func (f *figures) add(g figures) {
	f.hit, f.alarm, f.miss, f.halves, f.half = f.hit+g.hit, f.alarm+g.alarm, f.miss+g.miss, f.halves+g.halves, f.half+g.half
	f.dulled += g.dulled
}

func (f figures) String() string {
	return fmt.Sprintf("precision %.4f (%d alarms), recall %.4f (%d missed), halves %d of %d, successes halved %d", share(f.hit, f.hit+f.alarm), f.alarm, share(f.hit, f.hit+f.miss), f.miss, f.half, f.halves, f.dulled)
}

func share(a, b int) float64 {
	if b == 0 {
		return 1
	}
	return float64(a) / float64(b)
}

// leaveOneOut judges each source with a score that learned from all others.
func leaveOneOut(judge *rules.Judge, sources []*source, words *meanings) {
	total := map[string]*figures{}
	for _, s := range sources {
		m, err := score.Decode(fit(sources, s, words))
		if err != nil {
			panic(err) // it was written a line above
		}
		f := s.judged(judge.With(m))
		fmt.Printf("%-36s %5d calls: %v\n", s.name, len(s.calls), f)
		if total[s.group()] == nil {
			total[s.group()] = &figures{}
		}
		total[s.group()].add(f)
	}
	for _, group := range []string{"labelled outputs", "recordings", "held out"} {
		if f := total[group]; f != nil {
			fmt.Printf("%-36s %v\n", "all "+group, f)
		}
	}
}
