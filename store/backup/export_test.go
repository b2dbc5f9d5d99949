package backup_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"memoryd"
	"memoryd/store"
	"memoryd/store/backup"
	"memoryd/store/mem"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var (
	base  = time.Date(2026, 3, 4, 5, 6, 7, 890123456, time.FixedZone("", 2*3600))
	kinds = []string{"note", "version"}
)

// makeCall makes the n-th call of a tool with every field set.
func makeCall(ws, tool string, n int) memoryd.Call {
	c := memoryd.Call{
		ToolRef: memoryd.ToolRef{Workspace: ws, Tool: tool},
		Input:   json.RawMessage(fmt.Sprintf("{\"n\" :  %d,\n \"q\":\"\\u00e9é\", \"f\": 1.50}", n)),
		Output:  fmt.Sprintf("output %d \x00 \xff\xfe <script> \u2028", n), Success: n%3 != 0,
		TimeCost: 0.1 * float64(n), TokenCost: int64(n) - 1,
		CreateTime: base.Add(time.Duration(n) * time.Second).Format(time.DateTime), Time: base.Add(time.Duration(n) * time.Second),
		Metadata: json.RawMessage(fmt.Sprintf(`{"tool_call_id": "c%d",  "judged_by":"me"}`, n)),
		Evaluation: memoryd.Evaluation{
			State: memoryd.Judged, Score: 0.5, Summary: "summary", Evaluation: "because", JudgedBy: "person:eve", Rule: "r",
			JudgeVersion: "v1", JudgedAt: base, FailedChecks: "a b", Attempts: 2, LastError: "late", NotBefore: base,
			Cost:      memoryd.Cost{Requests: 0.25, PromptTokens: 10, CompletionTokens: 3},
			Overruled: &memoryd.Overruled{State: memoryd.Failed, Score: 1, JudgedBy: "llm:x", Rule: "q", JudgeVersion: "v0"},
		},
	}
	return identify(c)
}

func identify(c memoryd.Call) memoryd.Call {
	c.Key = memoryd.Identity{
		ToolRef: c.ToolRef, Input: c.Input, Output: c.Output, CreateTime: c.CreateTime, ToolCallID: callID(c.Metadata),
	}.Key()
	c.Hash = memoryd.HashOf(c.Input, c.Output)
	return c
}

func callID(metadata []byte) string {
	var m struct {
		ID string `json:"tool_call_id"`
	}
	_ = json.Unmarshal(metadata, &m)
	return m.ID
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// makeStore is a small store with everything in it.
func makeStore(t testing.TB) store.Store {
	t.Helper()
	s, ctx := mem.New(), t.Context()
	for _, ref := range []memoryd.ToolRef{{Workspace: "a", Tool: "fetch"}, {Workspace: "a", Tool: "sh,ell "}, {Workspace: "β/..", Tool: "fetch"}} {
		tool := memoryd.Tool{
			ToolRef: ref, Counters: memoryd.Counters{Lifetime: 40, Duplicates: 3}, Revision: 77, Created: base, Modified: base.Add(time.Hour),
		}
		if ref.Workspace == "a" {
			tool.Guideline = memoryd.Guideline{Revision: 4, Content: "Use it.\n\xff", Author: "rules", BasedOn: 70, ThroughSeq: 39, Written: base}
		}
		calls := []memoryd.Call{makeCall(ref.Workspace, ref.Tool, 38), makeCall(ref.Workspace, ref.Tool, 39), makeCall(ref.Workspace, ref.Tool, 40)}
		calls[2].Evaluation = memoryd.PendingEvaluation()
		calls[2].Input, calls[2].Metadata = nil, nil
		for i := range calls {
			calls[i].Seq = int64(38 + i)
		}
		must(t, s.RestoreTool(ctx, tool, calls))
		must(t, s.PutRecords(ctx, []store.Record{
			{RecordKey: store.RecordKey{ToolRef: ref, Kind: "note", ID: "1"}, Data: []byte("n\x00")},
			{RecordKey: store.RecordKey{ToolRef: ref, Kind: "version", ID: "2"}, Expires: base.AddDate(1, 0, 0), Data: []byte{}},
			{RecordKey: store.RecordKey{ToolRef: ref, Kind: "cache", ID: "x"}, Data: []byte("not exported")},
			{RecordKey: store.RecordKey{ToolRef: memoryd.ToolRef{Workspace: ref.Workspace}, Kind: "note", ID: "w"}, Data: []byte("ws")},
		}))
	}
	must(t, s.PutRecords(ctx, []store.Record{
		{RecordKey: store.RecordKey{Kind: "note", ID: "server"}, Data: []byte("all")},
		{RecordKey: store.RecordKey{Kind: "note", ID: "old"}, Expires: base.Add(-time.Hour), Data: []byte("gone")},
	}))
	return s
}

func export(t testing.TB, s store.Store, workspace string) []byte {
	t.Helper()
	var b bytes.Buffer
	_, err := backup.Export(t.Context(), s, &b, backup.ExportOptions{Workspace: workspace, Created: base, Kinds: kinds})
	must(t, err)
	return b.Bytes()
}

func restore(t testing.TB, s store.Store, file []byte, opts backup.RestoreOptions) backup.Counts {
	t.Helper()
	n, err := backup.Restore(t.Context(), s, bytes.NewReader(file), opts)
	must(t, err)
	return n
}

func same(t testing.TB, what string, got, want []byte) {
	t.Helper()
	if bytes.Equal(got, want) {
		return
	}
	g, w := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range min(len(g), len(w)) {
		if !bytes.Equal(g[i], w[i]) {
			t.Fatalf("%s: line %d differs\ngot  %.1500s\nwant %.1500s", what, i+1, g[i], w[i])
		}
	}
	t.Fatalf("%s: %d lines, want %d", what, len(g), len(w))
}

func TestAnExportLooksAsItDid(t *testing.T) {
	got := export(t, makeStore(t), "")
	golden := filepath.Join("testdata", "export.golden")
	if *update {
		must(t, os.MkdirAll("testdata", 0o755))
		must(t, os.WriteFile(golden, got, 0o644))
	}
	want, err := os.ReadFile(golden)
	must(t, err)
	same(t, "export", got, want)
	restored := mem.New()
	restore(t, restored, want, backup.RestoreOptions{})
	same(t, "after a restore of the golden file", export(t, restored, ""), want)
}

func TestARoundTripIsByteEqual(t *testing.T) {
	for _, workspace := range []string{"", "a", "β/.."} {
		file := export(t, makeStore(t), workspace)
		other := mem.New()
		n := restore(t, other, file, backup.RestoreOptions{})
		same(t, "round trip", export(t, other, workspace), file)
		if want := map[string]int{"": 3, "a": 2, "β/..": 1}[workspace]; n.Tools != want || n.Calls != 3*want {
			t.Errorf("%q: restored %s", workspace, n)
		}
	}
}

func TestAPipeIsRestoredInOnePass(t *testing.T) {
	file := export(t, makeStore(t), "")
	other := mem.New()
	n, err := backup.Restore(t.Context(), other, bytes.NewBuffer(file), backup.RestoreOptions{})
	must(t, err)
	same(t, "round trip", export(t, other, ""), file)
	if n.Tools != 3 {
		t.Errorf("%d tools", n.Tools)
	}
}

func TestARenamedWorkspaceKnowsItsCalls(t *testing.T) {
	file := export(t, makeStore(t), "a")
	s := mem.New()
	restore(t, s, file, backup.RestoreOptions{Workspace: "b"})
	sent := makeCall("b", "fetch", 38)
	out, err := s.Append(t.Context(), store.Batch{Workspace: "b", Keep: 9, Calls: []memoryd.Call{sent}})
	must(t, err)
	if out[0].New {
		t.Error("a call that came with the restore was accepted again")
	}
	back := mem.New()
	restore(t, back, export(t, s, "b"), backup.RestoreOptions{Workspace: "a"})
	same(t, "there and back", export(t, back, "a"), file)
	if _, err := backup.Restore(t.Context(), mem.New(), bytes.NewReader(export(t, makeStore(t), "")),
		backup.RestoreOptions{Workspace: "b"}); !memoryd.IsKind(err, memoryd.Invalid) {
		t.Errorf("a store into one workspace: %v", err)
	}
}

func TestAnUnknownWorkspaceIsNotFound(t *testing.T) {
	_, err := backup.Export(t.Context(), makeStore(t), &bytes.Buffer{}, backup.ExportOptions{Workspace: "none"})
	if !memoryd.IsKind(err, memoryd.NotFound) {
		t.Errorf("got %v", err)
	}
}

func TestWhatExistsIsRefusedReplacedOrSkipped(t *testing.T) {
	file := export(t, makeStore(t), "a")
	s := mem.New()
	_, err := s.Append(t.Context(), store.Batch{Workspace: "a", Keep: 9, Calls: []memoryd.Call{makeCall("a", "sh,ell ", 1)}})
	must(t, err)
	for _, name := range []string{"file", "pipe"} { // in this order: what comes of a pipe leaves the mark of a part
		var r io.Reader = bytes.NewReader(file)
		if name == "pipe" {
			r = bytes.NewBuffer(bytes.Clone(file))
		}
		_, err := backup.Restore(t.Context(), s, r, backup.RestoreOptions{})
		if !memoryd.IsKind(err, memoryd.Conflict) || !bytes.Contains([]byte(err.Error()), []byte("sh,ell")) {
			t.Errorf("%s: got %v", name, err)
		}
		_, err = s.Tool(t.Context(), memoryd.ToolRef{Workspace: "a", Tool: "fetch"})
		if wrote := err == nil; wrote != (name == "pipe") {
			t.Errorf("%s: the tool before it was restored: %v", name, wrote)
		}
		must(t, s.DeleteTool(t.Context(), memoryd.ToolRef{Workspace: "a", Tool: "fetch"}))
		must(t, s.DeleteRecord(t.Context(), store.RecordKey{ToolRef: memoryd.ToolRef{Workspace: "a"}, Kind: "note", ID: "w"}))
	}
	if n := restore(t, s, file, backup.RestoreOptions{SkipExisting: true}); n.Tools != 1 || n.Skipped != 1 {
		t.Errorf("skipping: %s", n)
	}
	if got, _ := s.Tool(t.Context(), memoryd.ToolRef{Workspace: "a", Tool: "sh,ell "}); got.Lifetime != 1 {
		t.Errorf("the tool that was there became %+v", got)
	}
	if n := restore(t, s, file, backup.RestoreOptions{Replace: true}); n.Tools != 2 {
		t.Errorf("replacing: %s", n)
	}
	same(t, "after replacing", export(t, s, "a"), file)
	_, err = backup.Restore(t.Context(), s, bytes.NewReader(file), backup.RestoreOptions{Replace: true, SkipExisting: true})
	if !memoryd.IsKind(err, memoryd.Invalid) {
		t.Errorf("both: %v", err)
	}
}
