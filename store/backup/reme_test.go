package backup_test

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"memoryd"
	"memoryd/store/backup"
	"memoryd/store/mem"
	"memoryd/store/storetest"
)

func remeFile(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/reme.jsonl")
	must(t, err)
	return b
}

func readReMe(file []byte) (good []backup.Memory, bad map[int]string) {
	bad = map[int]string{}
	for m, err := range backup.MemoriesOfReMe(file, base) {
		if err != nil {
			bad[m.Line] = err.Error()
		} else {
			good = append(good, m)
		}
	}
	return good, bad
}

func TestAReMeMemoryIsRead(t *testing.T) {
	good, bad := readReMe(remeFile(t))
	for line, says := range map[int]string{2: `type "task"`, 4: "there are none", 5: "not a line", 7: "item 1: success: "} {
		if !strings.Contains(bad[line], says) {
			t.Errorf("line %d: got %q, want %q", line, bad[line], says)
		}
	}
	if len(good) != 2 || len(bad) != 4 || good[0].Line != 1 || good[1].Line != 6 {
		t.Fatalf("got %d memories and %v", len(good), bad)
	}
	m := good[0]
	ref := memoryd.ToolRef{Workspace: "demo", Tool: "web_search"}
	at := func(s string) time.Time { v, _ := time.Parse(time.DateTime, s); return v }
	want := memoryd.Tool{
		ToolRef: ref, Counters: memoryd.Counters{Lifetime: 4, Duplicates: 1, Pending: 2}, Kept: 4, Revision: 6,
		Created: at("2025-10-15 14:00:00"), Modified: at("2025-10-15 15:00:00"),
		Guideline: memoryd.Guideline{
			Revision: 1, Content: "## Core Function\nSearches.", Author: "qwen3-30b", BasedOn: 1, ThroughSeq: 1, Written: at("2025-10-15 15:00:00"),
		},
	}
	if m.Tool != want {
		t.Errorf("got  %+v\nwant %+v", m.Tool, want)
	}
	first := memoryd.Call{
		ToolRef: ref, Seq: 1, Input: json.RawMessage(`{"query": "é \u00e9", "max_results": 10, "f": 1.50}`), Output: "Found 10", Success: true,
		TimeCost: 2.3, TokenCost: 150, CreateTime: "2025-10-15 14:30:00", Time: at("2025-10-15 14:30:00"), Hash: "given",
		Metadata: json.RawMessage(`{"tool_call_id": "c1"}`),
		Evaluation: memoryd.Evaluation{
			State: memoryd.Judged, Score: 1, Summary: "Ten results", Evaluation: "Good", JudgedBy: "llm:reme", JudgeVersion: "import:reme",
		},
	}
	first.Key = memoryd.Identity{ToolRef: ref, Input: first.Input, Output: "Found 10", CreateTime: first.CreateTime, ToolCallID: "c1"}.Key()
	if !reflect.DeepEqual(m.Calls[0], first) {
		t.Errorf("got  %+v\nwant %+v", m.Calls[0], first)
	}
	if c := m.Calls[1]; c.Evaluation != memoryd.PendingEvaluation() || string(c.Input) != `"plain"` || c.Success || string(c.Metadata) != "{}" ||
		c.Hash != memoryd.HashOf(c.Input, "") {
		t.Errorf("got %+v", c)
	}
	odd := m.Calls[2]
	if string(odd.Metadata) != `{"k": 1}` || odd.Tool != "web_search" || odd.Evaluation.Score != 1 || !odd.Success || odd.TokenCost != -1 ||
		odd.Hash != memoryd.HashOf(odd.Input, "x") || !odd.Time.Equal(base) || odd.CreateTime != base.Format(time.DateTime) {
		t.Errorf("got %s\n%+v", odd.Metadata, odd)
	}
	if m.Calls[3].Key == odd.Key {
		t.Error("two equal calls without time and id became one")
	}
	if c := good[1].Calls[0]; good[1].Tool.Workspace != "default" || string(c.Input) != "{\"sql\":\"�\"}" && string(c.Input) != "{\"sql\": \"�\"}" ||
		c.Time.Format(time.RFC3339) != "2025-10-15T14:30:00+02:00" || good[1].Tool.Guideline.Revision != 0 {
		t.Errorf("got %+v: %s", good[1].Tool, c.Input)
	}
}

func TestNodesOfReMeAreTheSameMemory(t *testing.T) {
	good, _ := readReMe(remeFile(t))
	var m map[string]json.RawMessage
	must(t, json.Unmarshal(linesBytes(remeFile(t))[0], &m))
	id, name := m["memory_id"], m["when_to_use"]
	delete(m, "memory_id")
	delete(m, "when_to_use")
	delete(m, "workspace_id")
	encode := func(v any) json.RawMessage {
		b, err := json.Marshal(v)
		must(t, err)
		return b
	}
	inner := encode(m)
	m["tool_call_results"] = encode(string(m["tool_call_results"])) // as some versions write it
	innerText := encode(m)
	node := func(inner json.RawMessage) map[string]json.RawMessage {
		return map[string]json.RawMessage{"content": name, "metadata": inner, "workspace_id": encode("demo")}
	}
	local := node(inner)
	local["unique_id"], local["vector"] = id, encode([]float64{0.1, 0.2})
	text := node(innerText)
	text["unique_id"] = id
	for shape, line := range map[string][]byte{"node": encode(local), "calls as text": encode(text)} {
		got, bad := readReMe(line)
		if len(got) != 1 {
			t.Errorf("%s: %v", shape, bad)
			continue
		}
		if got[0].Tool != good[0].Tool || !sameCalls(got[0].Calls, good[0].Calls) {
			t.Errorf("%s: got  %+v\nwant %+v", shape, got[0], good[0])
		}
	}
}

// sameCalls compares all but the white space of inputs.
func sameCalls(a, b []memoryd.Call) bool {
	plain := func(calls []memoryd.Call) []memoryd.Call {
		out := append([]memoryd.Call(nil), calls...)
		for i := range out {
			out[i].Input = memoryd.InputText(out[i].Input)
			out[i].Metadata = memoryd.InputText(out[i].Metadata)
			out[i].Key, out[i].Hash = memoryd.CallKey{}, ""
		}
		return out
	}
	return reflect.DeepEqual(plain(a), plain(b))
}

func TestAReMeDumpCanBeLoaded(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(dir+"/demo.jsonl", linesBytes(remeFile(t))[0], 0o600))
	s := storetest.NewFaults(mem.New(), nil)
	a := actions(s, dir)
	n, err := a.Load(t.Context(), "here", "demo.jsonl")
	must(t, err)
	got, err := s.Tool(t.Context(), memoryd.ToolRef{Workspace: "here", Tool: "web_search"})
	must(t, err)
	if n != 1 || got.Lifetime != 4 || got.Guideline.Author != "qwen3-30b" {
		t.Errorf("got %d, %+v", n, got)
	}
}
