package rules_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"memoryd"
	"memoryd/evaluate/rules"
)

// labelled is a call of testdata/outputs with what a person says of it: error,
// partial or ok.
type labelled struct {
	memoryd.Call
	label string
}

// readOutputs reads a file of "@@ tool | label | input" lines, each with the
// output below it. first.txt was written before the rules were made for the
// tools of coding agents, second.txt after. captured.txt is what real programs printed, labelled by
// their exit status.
func readOutputs(t *testing.T, name string) []labelled {
	t.Helper()
	raw, err := os.ReadFile("testdata/outputs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var calls []labelled
	for part := range strings.SplitSeq("\n"+string(raw), "\n@@ ") {
		head, output, _ := strings.Cut(part, "\n")
		fields := strings.SplitN(head, " | ", 3)
		if len(fields) != 3 {
			continue
		}
		if !json.Valid([]byte(fields[2])) {
			t.Fatalf("input of %q is no JSON", head)
		}
		calls = append(calls, labelled{memoryd.Call{
			ToolRef: memoryd.ToolRef{Tool: fields[0]}, Input: json.RawMessage(fields[2]), Output: output, Success: true, TokenCost: -1,
		}, fields[1]})
	}
	return calls
}

// byProgram gives calls of a shell as those of tools that are one program each.
func byProgram(t *testing.T, calls []labelled) []labelled {
	t.Helper()
	own := make([]labelled, len(calls))
	for i, c := range calls {
		var in struct{ Command string }
		if err := json.Unmarshal(c.Input, &in); err != nil {
			t.Fatal(err)
		}
		program, args, _ := strings.Cut(in.Command, " ")
		input, err := json.Marshal(map[string]string{"args": args})
		if err != nil {
			t.Fatal(err)
		}
		c.Tool, c.Input = program, input
		own[i] = c
	}
	return own
}

// The figures of the sets: score 0 as a sign of label error. Only sets that nothing was
// learned from or mended by have floors; see bench/train.
func TestOutputsOfCommonTools(t *testing.T) {
	floors := map[string]struct{ precision, recall float64 }{
		"twentysixth.txt": {0.77, 0.86}, "programs.txt": {0.95, 0.90}, "commandsaside.txt": {0.95, 0.90},
		"servers.txt": {0.95, 0.95}, "librariesaside.txt": {0.95, 0.90}, "nodeaside.txt": {0.95, 0.90}, "toolsaside.txt": {0.95, 0.88},
		"unseen.txt": {0.97, 0.88}, "documentsaside.txt": {0.96, 0.90},
		"messagesaside.txt": {0.92, 0.90},
		"answersaside.txt":  {0.96, 0.95}, "toolservers.txt": {0.96, 0.96}, "resultsaside.txt": {0.70, 0.87},
	}
	files, err := os.ReadDir("testdata/outputs")
	if err != nil || len(files) < 32 {
		t.Fatal("sets are missing", err)
	}
	sets := map[string][]labelled{}
	for _, file := range files {
		sets[file.Name()] = readOutputs(t, file.Name())
	}
	sets["captured.txt by program"] = byProgram(t, sets["captured.txt"])
	for name, calls := range sets {
		t.Run(name, func(t *testing.T) {
			precision, recall := judgeSet(t, calls)
			if precision < floors[name].precision || recall < floors[name].recall {
				t.Errorf("precision %.3f, recall %.3f; want at least %v", precision, recall, floors[name])
			}
		})
	}
}

func judgeSet(t *testing.T, calls []labelled) (precision, recall float64) {
	t.Helper()
	j := rules.New()
	var hit, miss, alarm int
	tools := map[string]bool{}
	for i := range calls {
		c := &calls[i]
		tools[c.Tool] = true
		v := j.Judge(&c.Call, nil)
		failed := v.Score == memoryd.ScoreFailure
		switch {
		case failed && c.label == "error":
			hit++
		case failed:
			alarm++
			t.Logf("alarm  %s: %s %s: %q", v.Rule, c.Tool, c.Input, c.Output)
		case c.label == "error":
			miss++
			t.Logf("missed %.1f %s: %s %s: %q", v.Score, v.Rule, c.Tool, c.Input, c.Output)
		}
	}
	precision, recall = float64(hit)/float64(hit+alarm), float64(hit)/float64(hit+miss)
	t.Logf("%d outputs of %d tools: precision %.3f (%d alarms), recall %.3f (%d missed)", len(calls), len(tools), precision, alarm, recall, miss)
	return precision, recall
}
