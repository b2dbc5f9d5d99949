package preflight_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"memoryd"
	"memoryd/guidelines/evidence"
	"memoryd/guidelines/preflight"
	"memoryd/store"

	jsonv2 "github.com/go-json-experiment/json"
)

// files is a folder in which what a call does depends on the calls before it.
type files struct{ folder *os.Root }

// call does what a tool is asked for; err is what the operating system says.
func (f *files) call(tool, path string) error {
	switch tool {
	case "write_file":
		h, err := f.folder.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			err = h.Close()
		}
		return err
	case "read_file":
		_, err := f.folder.ReadFile(path)
		return err
	case "delete_file":
		return f.folder.Remove(path)
	}
	return nil // a note
}

// history lets agents use files in many runs, each in a folder of its own; by chance the outcome
// has nothing to do with what was done.
func history(t *testing.T, byChance bool) (calls map[string][]memoryd.Call, obs map[string][]evidence.Observation) {
	t.Helper()
	r := rand.New(rand.NewPCG(7, 11)) //nolint:gosec // no secret
	o := evidence.NewObserver()
	calls, obs = map[string][]memoryd.Call{}, map[string][]evidence.Observation{}
	n := 0
	for run := range 30 {
		root, err := os.OpenRoot(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		f := &files{root}
		for range 14 {
			n++
			tool := []string{"write_file", "write_file", "read_file", "read_file", "delete_file", "note"}[r.IntN(6)]
			path := []string{"amber.txt", "birch.txt", "cedar.txt"}[r.IntN(3)]
			c := memoryd.Call{
				ToolRef: memoryd.ToolRef{Workspace: "w", Tool: tool}, Key: memoryd.CallKey{byte(n), byte(n >> 8), 3}, Seq: int64(n),
				Input: fmt.Appendf(nil, `{%q:%q}`, map[bool]string{true: "about", false: "path"}[tool == "note"], path), Output: "done", Success: true, TokenCost: -1,
				Time:       time.Date(2027, 3, 1, 8, 0, 20*n, 0, time.UTC),
				Metadata:   fmt.Appendf(nil, `{"trajectory_id":"r%d","agent_id":"a%d"}`, run, run%3),
				Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: 1},
			}
			err := f.call(tool, path)
			if byChance && tool != "note" {
				err = nil
				if r.IntN(2) == 0 {
					err = os.ErrClosed
				}
			}
			if err != nil {
				c.Output, c.Success, c.Evaluation.Score = err.Error(), false, 0
			}
			ob := o.Observe(&c)
			ob.Trim()
			ob = stored(t, ob)
			calls[tool], obs[tool] = append(calls[tool], c), append(obs[tool], ob)
		}
		if err := root.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return calls, obs
}

// stored is an observation after it was stored and read.
func stored(t *testing.T, ob evidence.Observation) (out evidence.Observation) {
	t.Helper()
	b, err := jsonv2.Marshal(&ob)
	if err == nil {
		err = jsonv2.Unmarshal(b, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestWhatTheRunDidWithAValueDecidesAndIsWarnedOf(t *testing.T) {
	t.Parallel()
	calls, obs := history(t, false)
	models, said := map[string]*preflight.Model{}, map[string]string{}
	for tool := range calls {
		found, hints := evidence.RulesAndHints(tool, obs[tool])
		for i := range found {
			said[tool] += found[i].Line + "\n"
		}
		models[tool] = preflight.Learn(calls[tool], preflight.Options{Tool: tool, FalseAlarms: 0.05, Tested: found, Hints: hints})
	}
	for tool, want := range map[string]string{
		"read_file":   "Give a `path` that the run last used in `write_file` or `read_file`",
		"delete_file": "Give a `path` that the run last used in `write_file` or `read_file`",
		"write_file":  "Give no `path` that the run last used in `write_file` or `read_file`",
	} {
		if !strings.Contains(said[tool], want[:60]) {
			t.Errorf("%s: got %q, want %q", tool, said[tool], want)
		}
	}
	if said["note"] != "" {
		t.Errorf("note never fails, got %q", said["note"])
	}

	warned := func(tool string, done ...string) bool {
		var run []store.RunCall
		now := time.Date(2027, 4, 1, 8, 0, 0, 0, time.UTC)
		for i, d := range done {
			name, failed := strings.CutSuffix(d, "!")
			c := store.RunCall{
				ToolRef: memoryd.ToolRef{Workspace: "w", Tool: name}, Key: memoryd.CallKey{byte(i), 77}, Time: now, //nolint:gosec // small
				Input: json.RawMessage(`{"path":"amber.txt"}`), Output: "done", Success: !failed, State: memoryd.Judged, Score: 1,
			}
			if failed {
				c.Output, c.Score = "openat amber.txt: no such file or directory", 0
			}
			run = append([]store.RunCall{c}, run...)
		}
		a := models[tool].Assess(preflight.Planned{Input: json.RawMessage(`{"path":"amber.txt"}`), Run: "new", RunCalls: run, Now: now})
		return len(a.Warnings) > 0
	}
	for _, tc := range []struct {
		tool string
		done []string
		want bool
	}{
		{"read_file", nil, true},
		{"read_file", []string{"note"}, true},
		{"read_file", []string{"write_file"}, false},
		{"read_file", []string{"write_file", "delete_file"}, true},
		{"read_file", []string{"read_file!", "write_file"}, false}, // it failed in this run, for what is mended since
		{"write_file", nil, false},
		{"write_file", []string{"write_file"}, true},
		{"write_file", []string{"write_file", "delete_file"}, false},
		{"delete_file", []string{"write_file", "read_file"}, false},
		{"delete_file", []string{"write_file", "delete_file"}, true},
	} {
		if got := warned(tc.tool, tc.done...); got != tc.want {
			t.Errorf("%s after %v: warned %v", tc.tool, tc.done, got)
		}
	}
}

func TestWhatTheRunDidWithAValueIsNotBlamedForChance(t *testing.T) {
	t.Parallel()
	_, obs := history(t, true)
	for tool := range obs {
		found, _ := evidence.RulesAndHints(tool, obs[tool])
		for i := range found {
			if strings.Contains(found[i].Line, "the run last used") {
				t.Errorf("%s: %s", tool, found[i].Line)
			}
		}
	}
}
