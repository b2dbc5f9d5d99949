package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"memoryd"
	"memoryd/evaluate/rules"
)

// What says nothing of how the call went is no failure: of random records that nothing
// was learned from, at most 1 in 100 is taken for one. Words for failures are.
func TestRandomRecordsAreNoFailuresAndPlainWordsAre(t *testing.T) {
	sources, err := readRecords(".")
	if err != nil {
		t.Fatal(err)
	}
	judge := rules.New()
	for _, s := range sources {
		if !s.held {
			continue
		}
		f := s.judged(judge)
		t.Logf("%s: %d calls: %v", s.name, len(s.calls), f)
		if alarms := share(f.alarm, len(s.calls)); alarms > 0.01 {
			t.Errorf("%s: %.3f false alarms, want 0.01 at most", s.name, alarms)
		}
		if recall := share(f.hit, f.hit+f.miss); recall < 0.50 {
			t.Errorf("%s: recall %.3f, want 0.50", s.name, recall)
		}
	}
}

// The weights are those that make train writes of today's outputs, features and settings.
func TestTheWeightsAreLearnedFromTheOutputsAsTheyAre(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("processors of other kinds round otherwise")
	}
	root := filepath.Join("..", "..")
	sources, err := readAll(rules.New(), root, "")
	if err != nil {
		t.Fatal(err)
	}
	weights, err := os.ReadFile(filepath.Join(root, weightsFile))
	if err != nil {
		t.Fatal(err)
	}
	fold(sources, false)
	if !bytes.Equal(weights, fit(sources, "", nil).encode()) {
		t.Error("other weights are learned: run `make train`")
	}
}

// What is learned depends on the examples alone, not on their order.
func TestTheOrderOfTheExamplesMovesNoByte(t *testing.T) {
	sources, err := readRecords(".")
	if err != nil {
		t.Fatal(err)
	}
	judge := rules.New()
	for _, s := range sources {
		s.readFeatures(judge)
	}
	fold(sources, false)
	want := fit(sources, "", nil).encode()
	if bytes.Equal(want, fit(nil, "", nil).encode()) {
		t.Fatal("nothing was learned")
	}
	random := rand.New(rand.NewPCG(7, 7)) //nolint:gosec // of examples
	for _, s := range sources {
		random.Shuffle(len(s.calls), func(i, j int) { s.calls[i], s.calls[j] = s.calls[j], s.calls[i] })
	}
	random.Shuffle(len(sources), func(i, j int) { sources[i], sources[j] = sources[j], sources[i] })
	if !bytes.Equal(want, fit(sources, "", nil).encode()) {
		t.Error("another order gives other weights")
	}
}

func TestARecordWithAnEmptyTextIsNoFailure(t *testing.T) {
	judge := rules.New()
	for _, out := range []string{`{"tool":"tool-6","call":100,"text":""}`, `{"tool":"tool-0","call":7}`, `{"tool":"tool-11","call":123456789,"text":""}`} {
		c := labelledCall("tool-6", "ok", map[string]any{"n": 100}, out).call
		if v := judge.Judge(&c, nil); v.Score == memoryd.ScoreFailure {
			t.Errorf("%s: %s", out, v.Evaluation.Evaluation)
		}
	}
}
