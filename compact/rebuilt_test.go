package compact_test

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// recordedCall is a line of calls_*.jsonl.gz.
type recordedCall struct {
	Tool     string          `json:"tool_name"`
	Input    json.RawMessage `json:"input"`
	Output   string          `json:"output"`
	Metadata struct {
		Trajectory string `json:"trajectory_id"`
		Step       int    `json:"step"`
	} `json:"metadata"`
}

// rebuilt makes conversations of recorded calls, each of join trajectories: agents
// of other kinds, of which nobody recorded the words.
func rebuilt(t testing.TB, name string, join int) []recording {
	f, err := os.Open(filepath.Join(os.Getenv("MEMORYD_TEST_DATA"), "calls_"+name+".jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	calls := map[string][]recordedCall{}
	sc := bufio.NewScanner(z)
	for sc.Buffer(nil, 1<<26); sc.Scan(); {
		var c recordedCall
		if err := json.Unmarshal(sc.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		id := c.Metadata.Trajectory
		if calls[id] == nil {
			order = append(order, id)
		}
		calls[id] = append(calls[id], c)
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	var out []recording
	for ids := range slices.Chunk(order, join) {
		r := recording{File: "calls_" + name, ID: ids[0]}
		for _, id := range ids {
			cs := calls[id]
			slices.SortStableFunc(cs, func(a, b recordedCall) int { return cmp.Compare(a.Metadata.Step, b.Metadata.Step) })
			r.Messages = append(r.Messages, user("go on with the next task"))
			for _, c := range cs {
				call := fmt.Sprintf("call_%d", len(r.Messages))
				r.Messages = append(r.Messages, raw(obj{"role": "assistant", "content": nil, "tool_calls": []obj{
					{"id": call, "type": "function", "function": obj{"name": c.Tool, "arguments": string(c.Input)}},
				}}), result(call, c.Output))
			}
		}
		out = append(out, r)
	}
	return out
}
