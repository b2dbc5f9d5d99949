package golden

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const outputs = "../../evaluate/rules/testdata/outputs"

// labelled is an output with what a person says of it: error, partial or ok.
type labelled struct {
	name, tool, label, input, output string
}

// readOutputs reads "@@ tool | label | input" lines, each with the output below it.
func readOutputs(t *testing.T) (all []labelled) {
	t.Helper()
	files, err := filepath.Glob(outputs + "/*.txt")
	if err != nil || len(files) < 20 {
		t.Fatal("sets are missing", err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		set := strings.TrimSuffix(filepath.Base(file), ".txt")
		for i, part := range strings.Split("\n"+string(raw), "\n@@ ") {
			head, output, _ := strings.Cut(part, "\n")
			if fields := strings.SplitN(head, " | ", 3); len(fields) == 3 {
				all = append(all, labelled{fmt.Sprintf("%s %d", set, i), fields[0], fields[1], fields[2], output})
			}
		}
	}
	return all
}

// TestVerdictsOfLabelledOutputs judges each output as the first of its tool.
func TestVerdictsOfLabelledOutputs(t *testing.T) {
	s := inMemory(t)
	all := readOutputs(t)
	lines := make([]string, len(all))
	for n, at := range apart(all) {
		var sent []any
		of := map[string]int{} // places, by tool
		for _, i := range at {
			c := &all[i]
			of[c.tool] = i
			sent = append(sent, map[string]any{
				"tool_name": c.tool, "input": json.RawMessage(c.input), "output": c.output, "create_time": "2026-01-01 00:00:00",
			})
		}
		a := s.Post("/add_tool_call_result", map[string]any{"workspace_id": fmt.Sprintf("w%d", n), "tool_call_results": sent})
		if len(a.Metadata.MemoryList) != len(at) {
			t.Fatalf("%d tools, want %d: %s", len(a.Metadata.MemoryList), len(at), a.Answer)
		}
		for _, tool := range a.Metadata.MemoryList {
			i, known := of[tool.WhenToUse]
			if !known || len(tool.Calls) != 1 {
				t.Fatalf("%d calls of %q: %s", len(tool.Calls), tool.WhenToUse, a.Answer)
			}
			c, call := &all[i], tool.Calls[0]
			score := fmt.Sprint(call.Metadata["evaluation_state"])
			if score == "judged" {
				score = fmt.Sprintf("%.1f", call.Score)
			}
			lines[i] = c.name + "\t" + c.label + "\t" + score + "\t" + fmt.Sprint(call.Metadata["judged_rule"])
		}
	}
	compare(t, "verdicts.txt", lines, betterOf)
}

var parting = strings.NewReplacer("_", "", "-", "", ".", "", "/", "", ":", "")

// apart parts outputs into requests, in each of which every output is of another tool: hosts write
// the name of one in several ways.
func apart(all []labelled) (requests [][]int) {
	const most = 50
	next := map[string]int{} // by tool, the first request without it
	for i := range all {
		tool := parting.Replace(strings.TrimPrefix(strings.ToLower(all[i].tool), "mcp__"))
		n := next[tool]
		for n < len(requests) && len(requests[n]) >= most {
			n++
		}
		if n == len(requests) {
			requests = append(requests, nil)
		}
		requests[n] = append(requests[n], i)
		next[tool] = n + 1
	}
	return requests
}

// betterOf counts by the labels what changed verdicts are: for better or worse.
func betterOf(gone, came []string) string {
	was := map[string]string{}
	for _, line := range gone {
		fields := strings.Split(line, "\t")
		was[fields[0]] = fields[2]
	}
	var better, worse, ruleOnly, others int
	for _, line := range came {
		fields := strings.Split(line, "\t")
		before, there := was[fields[0]]
		wrong := func(score string) bool { return (score == "0.0") != (fields[1] == "error") }
		switch {
		case !there:
			others++
		case before == fields[2]:
			ruleOnly++
		case wrong(before) && !wrong(fields[2]):
			better++
		case !wrong(before) && wrong(fields[2]):
			worse++
		default:
			others++
		}
	}
	return fmt.Sprintf("\nverdicts: %d for better, %d for worse, %d by another rule with the same score, %d others", better, worse, ruleOnly, others)
}
