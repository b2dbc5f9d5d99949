package preflight_test

import (
	"cmp"
	"encoding/json"
	"errors"
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

// barrier lets one through for each ticket.
type barrier struct{ ticket bool }

func (b *barrier) call(tool string) error {
	switch {
	case tool == "take_ticket":
		b.ticket = true
	case tool == "pass" && !b.ticket:
		return errors.New("barrier: closed")
	case tool == "pass":
		b.ticket = false
	}
	return nil
}

// inputOf is a call's input; pass and take_ticket have one only.
func inputOf(tool, path string) json.RawMessage {
	switch tool {
	case "pass", "take_ticket":
		return json.RawMessage(`{"gate":"north"}`)
	case "note":
		return fmt.Appendf(nil, `{"about":%q}`, path)
	}
	return fmt.Appendf(nil, `{"path":%q}`, path)
}

// history lets agents use tools in many runs, each in a world of its own; by chance the outcome
// has nothing to do with what was done.
func history(t *testing.T, byChance bool) (calls map[string][]memoryd.Call, obs map[string][]evidence.Observation) {
	t.Helper()
	r := rand.New(rand.NewPCG(7, 11)) //nolint:gosec // no secret
	o := evidence.NewObserver()
	calls, obs = map[string][]memoryd.Call{}, map[string][]evidence.Observation{}
	tools := []string{"write_file", "write_file", "read_file", "read_file", "delete_file", "note", "pass", "pass", "pass", "pass", "pass", "pass", "take_ticket"}
	n := 0
	for run := range 30 {
		root, err := os.OpenRoot(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		f, b := &files{root}, &barrier{}
		for range 32 {
			n++
			tool := tools[r.IntN(len(tools))]
			path := []string{"amber.txt", "birch.txt", "cedar.txt"}[r.IntN(3)]
			c := memoryd.Call{
				ToolRef: memoryd.ToolRef{Workspace: "w", Tool: tool}, Key: memoryd.CallKey{byte(n), byte(n >> 8), 3}, Seq: int64(n),
				Input: inputOf(tool, path), Output: "done", Success: true, TokenCost: -1,
				Time:       time.Date(2027, 3, 1, 8, 0, 20*n, 0, time.UTC),
				Metadata:   fmt.Appendf(nil, `{"trajectory_id":"r%d","agent_id":"a%d"}`, run, run%3),
				Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: 1},
			}
			err := cmp.Or(f.call(tool, path), b.call(tool))
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

func TestWhatTheRunDidBeforeDecidesAndIsWarnedOf(t *testing.T) {
	t.Parallel()
	calls, obs := history(t, false)
	models, said := map[string]*preflight.Model{}, map[string]string{}
	for tool := range calls {
		found, hints := evidence.RulesAndHints(tool, obs[tool])
		for i := range found {
			said[tool] += found[i].Line + "\n"
		}
		models[tool] = preflight.Learn(evidence.Merge(nil, calls[tool]), preflight.Options{Tool: tool, FalseAlarms: 0.05, Tested: found, Hints: hints})
	}
	for tool, want := range map[string]string{
		"read_file":   "Give a `path` that the run last used in `write_file` or `read_file`",
		"delete_file": "Give a `path` that the run last used in `write_file` or `read_file`",
		"write_file":  "Give no `path` that the run last used in `write_file` or `read_file`",
		"pass":        "Call `take_ticket` first, after each `pass`",
	} {
		if !strings.Contains(said[tool], want[:min(len(want), 60)]) {
			t.Errorf("%s: got %q, want %q", tool, said[tool], want)
		}
	}
	if said["note"] != "" {
		t.Errorf("note never fails, got %q", said["note"])
	}

	path := "amber.txt"
	assess := func(tool, in string, done ...string) (risk float64, warned bool) {
		var run []store.RunCall
		now := time.Date(2027, 4, 1, 8, 0, 0, 0, time.UTC)
		for i, d := range done {
			name, failed := strings.CutSuffix(d, "!")
			c := store.RunCall{
				ToolRef: memoryd.ToolRef{Workspace: "w", Tool: name}, Key: memoryd.CallKey{byte(i), 77}, Time: now, //nolint:gosec // small
				Input: inputOf(name, path), Output: "done", Success: !failed, State: memoryd.Judged, Score: 1,
			}
			if failed {
				c.Output, c.Score = "openat amber.txt: no such file or directory", 0
			}
			run = append([]store.RunCall{c}, run...)
		}
		a := models[tool].Assess(preflight.Planned{Input: inputOf(tool, path), Run: in, RunCalls: run, Now: now})
		return *a.Risk, len(a.Warnings) > 0
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
		{"pass", nil, true},
		{"pass", []string{"take_ticket"}, false}, // though the same input failed in most calls
		{"pass", []string{"take_ticket", "pass"}, true},
		{"pass", []string{"pass!", "pass!", "pass!", "take_ticket"}, false},
	} {
		risk, warned := assess(tc.tool, "new", tc.done...)
		if warned != tc.want || (risk > 0.5) != tc.want {
			t.Errorf("%s after %v: risk %.2f, warned %v", tc.tool, tc.done, risk, warned)
		}
		if risk > 0.2 && !tc.want {
			t.Errorf("%s after %v: risk %.2f of a call that always works", tc.tool, tc.done, risk)
		}
	}
	path = "never seen.txt"
	if risk, warned := assess("read_file", "new", "write_file"); warned || risk > 0.2 {
		t.Errorf("read_file of a new file: risk %.2f, warned %v", risk, warned)
	}
	if risk, _ := assess("pass", ""); risk < 0.5 {
		t.Errorf("of a run that nobody names nothing is known: risk %.2f", risk)
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
