// Command train fits the judge's learned score anew: evaluate/score/weights.bin.
//
// It learns from the labelled outputs in evaluate/rules/testdata/outputs, all but those
// that are held out, from those in learned, and from random records. Before it writes, it prints how good the judge
// is on each source when it learned from all others, and on the recordings in the folder that
// MEMORYD_TEST_DATA names, if any. The same sources give the same bytes.
//
//	go -C bench run ./train
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"memoryd/evaluate/rules"
	"memoryd/evaluate/score"
)

func main() {
	root := flag.String("root", "..", "the folder of the sources")
	check := flag.Bool("check", true, "leave out one source at a time, and print the figures")
	flag.StringVar(&show, "show", "", "print what the judge gets wrong in the source of this name")
	kept := flag.String("models", "",
		"print the figures alone, with the models that this folder keeps for equal features; learns what is not there")
	programs := flag.String("programs", "", "first run the programs of this machine that this list names: commands.txt, documents.txt, tools.txt or unseen.txt")
	servers := flag.String("servers", "",
		"first run the servers that this list names, to be measured by what they answer: servers.txt or toolservers.txt")
	flag.Parse()
	if err := run(*root, *kept, *programs, *servers, *check); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// show is the source whose wrong verdicts are printed.
var show string

func run(root, kept, programs, servers string, check bool) error {
	folder := filepath.Join(root, "bench", "train")
	if programs != "" {
		if err := runPrograms(context.Background(), filepath.Join(folder, programs), root); err != nil {
			return err
		}
	}
	if servers != "" {
		if err := runServers(context.Background(), filepath.Join(folder, servers), root); err != nil {
			return err
		}
	}
	judge := rules.New()
	sources, err := readAll(judge, root, os.Getenv("MEMORYD_TEST_DATA"))
	if err != nil {
		return err
	}
	fold(sources, kept != "")
	all := sync.OnceValue(func() *models { return fit(sources, "", nil) })
	if kept != "" {
		return leaveOneOut(judge, sources, all, filepath.Join(kept, digest(sources)))
	}
	if check {
		if err := leaveOneOut(judge, sources, all, ""); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(root, weightsFile), all().encode(), 0o644) //nolint:gosec // a file of the sources
}

// weightsFile is where the weights are, in the sources.
const weightsFile = "evaluate/score/weights.bin"

// readAll reads all sources, with the features of their calls.
func readAll(judge *rules.Judge, root, recordings string) ([]*source, error) {
	sources, err := read(root, recordings)
	if err != nil {
		return nil, err
	}
	random, err := readRecords(filepath.Join(root, "bench", "train"))
	if err != nil {
		return nil, err
	}
	sources = append(sources, random...)
	for _, s := range sources {
		s.readFeatures(judge)
	}
	return sources, nil
}

// questions are the labels that the model's heads ask for.
var questions = [...]string{score.Failed: "error", score.Nothing: "partial"}

// models are those of the questions.
type models [len(questions)]*model

func (m *models) encode() []byte {
	var bias [len(questions)]float64
	weights := new([len(questions)][1 << score.Bits]float64)
	for k, one := range m {
		bias[k], weights[k] = one.bias, one.weights
	}
	return score.Encode(bias, weights)
}

// fit learns from all sources but those of a fold and those that are held out. It starts at
// models that learned from about the same, or at none.
func fit(sources []*source, fold string, from *models) *models {
	if from == nil {
		from = &models{{}, {}}
	}
	m := &models{}
	for k, yes := range questions {
		var examples []example
		for _, s := range sources {
			if s.fold != fold && !s.held {
				examples = append(examples, s.examples(yes)...)
			}
		}
		m[k] = learn(examples, from[k])
	}
	return m
}

// figures count what a judge made of calls.
type figures struct{ hit, alarm, miss, halves, half, dulled int }

func (f *figures) add(g figures) {
	f.hit, f.alarm, f.miss, f.halves, f.half = f.hit+g.hit, f.alarm+g.alarm, f.miss+g.miss, f.halves+g.halves, f.half+g.half
	f.dulled += g.dulled
}

func (f figures) String() string {
	return fmt.Sprintf("precision %.4f (%d alarms), recall %.4f (%d missed), halves %d of %d, successes halved %d",
		share(f.hit, f.hit+f.alarm), f.alarm, share(f.hit, f.hit+f.miss), f.miss, f.half, f.halves, f.dulled)
}

func share(a, b int) float64 {
	if b == 0 {
		return 1
	}
	return float64(a) / float64(b)
}

// leaveOneOut judges each source with a score that learned from all others.
func leaveOneOut(judge *rules.Judge, sources []*source, all func() *models, kept string) error {
	total := map[string]*figures{}
	without := map[string]*score.Model{}
	for _, s := range sources {
		if without[s.fold] == nil {
			m, err := modelWithout(sources, s.fold, all, kept)
			if err != nil {
				return err
			}
			without[s.fold] = m
		}
		f := s.judged(judge.With(without[s.fold]))
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
	return nil
}

// modelWithout learns from all but a fold, or takes what is kept of that.
func modelWithout(sources []*source, fold string, all func() *models, kept string) (*score.Model, error) {
	file := kept + "_" + fold
	raw, err := os.ReadFile(file) //nolint:gosec // written below
	if err != nil {
		raw = fit(sources, fold, all()).encode()
		if kept != "" {
			if err := keep(file, raw); err != nil {
				return nil, err
			}
		}
	}
	return score.Decode(raw)
}

// folds are those of the labelled outputs where several are left out at a time.
const folds = 5

// fold names what is left out together: each source by itself, save those that are held
// out anyway, and, if several may be, labelled outputs.
func fold(sources []*source, several bool) {
	for i, s := range sources {
		switch s.fold = s.name; {
		case s.held:
			s.fold = "held"
		case several && !s.recorded:
			s.fold = fmt.Sprint("outputs", i%folds)
		}
	}
}

// digest tells features from others.
func digest(sources []*source) string {
	sum := sha256.New()
	for _, s := range sources {
		for i := range s.calls {
			fmt.Fprintln(sum, s.calls[i].features)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// keep writes a file that appears whole.
func keep(file string, raw []byte) error {
	part := fmt.Sprintf("%s.%d", file, os.Getpid())
	if err := os.WriteFile(part, raw, 0o600); err != nil {
		return err
	}
	return os.Rename(part, file)
}
