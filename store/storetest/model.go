package storetest

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"memoryd"
	"memoryd/store"
	"memoryd/store/mem"

	"pgregory.net/rapid"
)

// Model runs random sequences of operations on b's store and on store/mem, and compares every
// answer and the whole content.
//
// It runs modelChecks sequences, in a short run shortChecks, unless -rapid.checks sets another number.
func Model(t *testing.T, b Backend) {
	b = b.ranked()
	if f := flag.Lookup("rapid.checks"); f != nil && f.Value.String() == f.DefValue {
		checks := modelChecks
		if testing.Short() {
			checks = shortChecks
		}
		if err := f.Value.Set(checks); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Value.Set(f.DefValue) })
	}
	rapid.Check(t, func(rt *rapid.T) {
		m := &machine{outer: t, b: b, got: b.Open(t), want: mem.New()}
		defer func() {
			if err := m.got.Close(); err != nil {
				rt.Errorf("close: %v", err)
			}
		}()
		actions := map[string]func(*rapid.T){
			"append": m.append, "settle": m.settle, "claim": m.claim, "guideline": m.guideline,
			"deleteTool": m.deleteTool, "deleteWorkspace": m.deleteWorkspace, "cache": m.cache,
			"override": m.override, "record": m.record, "restore": m.restore, "": m.compare,
		}
		if b.Reopen != nil {
			actions["reopen"] = m.reopen
		}
		rt.Repeat(actions)
	})
}

// modelChecks is how many sequences are tried by default: a deletion waits for the
// disk, and every backend has its turn.
const modelChecks = "25"

// shortChecks is how many in a short run: a sequence has one caller, of which the race detector
// learns little.
const shortChecks = "3"

// machine is a store beside its model.
type machine struct {
	outer     *testing.T
	b         Backend
	got, want store.Store
	minutes   int  // the clock of Claim, from base
	leased    int  // when the last lease ends
	anew      bool // some call was let wait anew: its place among the others is the backend's
}

func drawWorkspace(t *rapid.T) string {
	return rapid.SampledFrom([]string{"a", "A"}).Draw(t, "workspace")
}

func drawTool(t *rapid.T) string {
	return rapid.SampledFrom([]string{"t", "T", "t ", "t,u"}).Draw(t, "tool")
}

func drawRef(t *rapid.T) memoryd.ToolRef {
	return memoryd.ToolRef{Workspace: drawWorkspace(t), Tool: drawTool(t)}
}

// drawCall draws one of few calls, so that keys and contents meet again.
func drawCall(t *rapid.T, workspace string) memoryd.Call {
	n := rapid.IntRange(0, 7).Draw(t, "content")
	c := makeCall(drawTool(t), n)
	c.Workspace = workspace
	c.CreateTime = fmt.Sprint(rapid.IntRange(0, 5).Draw(t, "time"))
	c.Metadata = ofRun(rapid.SampledFrom(modelRuns()).Draw(t, "run"))
	c = identify(c)
	c.Input = json.RawMessage(fmt.Sprintf(`{"n": %d, "pad": %q}`, n, make([]byte, n*n*40)))
	if rapid.Bool().Draw(t, "pending") {
		c.Evaluation = memoryd.PendingEvaluation()
	}
	return c
}

func (m *machine) append(t *rapid.T) {
	b := store.Batch{Workspace: drawWorkspace(t), Keep: rapid.SampledFrom([]int{1, 2, 3, 5, 8}).Draw(t, "keep")}
	for range rapid.IntRange(1, 12).Draw(t, "calls") {
		b.Calls = append(b.Calls, drawCall(t, b.Workspace))
	}
	got, err := m.got.Append(t.Context(), b)
	want, wantErr := m.want.Append(t.Context(), b)
	same(t, "append", got, want, err, wantErr)
}

func (m *machine) settle(t *rapid.T) {
	var vs []store.Verdict
	for range rapid.IntRange(1, 6).Draw(t, "verdicts") {
		c := drawCall(t, drawWorkspace(t))
		v := verdictOn(c, makeVerdict(rapid.IntRange(0, 5).Draw(t, "verdict")))
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			v.Evaluation = failedTry(rapid.IntRange(1, 3).Draw(t, "attempts"), m.minutes+rapid.IntRange(-5, 40).Draw(t, "not before"))
		case 1:
			v.Evaluation.State = memoryd.Failed
		}
		vs = append(vs, v)
	}
	got, err := m.got.Settle(t.Context(), vs)
	want, wantErr := m.want.Settle(t.Context(), vs)
	same(t, "settle", got, want, err, wantErr)
}

func (m *machine) claim(t *rapid.T) {
	m.minutes += rapid.IntRange(-5, 15).Draw(t, "passed")
	limit := rapid.IntRange(0, 6).Draw(t, "limit")
	if m.anew {
		limit = 1000 // all: which of them a smaller number takes depends on their order
	}
	minutes := rapid.IntRange(1, 10).Draw(t, "lease")
	lease := time.Duration(minutes) * time.Minute
	m.leased = max(m.leased, m.minutes+minutes)
	got, err := m.got.Claim(t.Context(), at(m.minutes), lease, limit)
	want, wantErr := m.want.Claim(t.Context(), at(m.minutes), lease, limit)
	same(t, "claim", len(got), len(want), err, wantErr)
	if m.anew {
		for _, calls := range [][]memoryd.Call{got, want} {
			slices.SortFunc(calls, func(a, b memoryd.Call) int {
				return cmp.Or(cmp.Compare(a.Workspace, b.Workspace), cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Seq, b.Seq))
			})
		}
	}
	if d := diffCalls(got, want); d != "" {
		t.Fatalf("claim: %s", d)
	}
}

func (m *machine) guideline(t *rapid.T) {
	r, expect := drawRef(t), int64(rapid.IntRange(0, 3).Draw(t, "expect"))
	g := memoryd.Guideline{Content: rapid.String().Draw(t, "text"), Author: "rules", BasedOn: 4, ThroughSeq: 2, Written: base}
	same(t, "guideline", 0, 0, m.got.PutGuideline(t.Context(), r, g, expect), m.want.PutGuideline(t.Context(), r, g, expect))
}

func (m *machine) deleteTool(t *rapid.T) {
	r := drawRef(t)
	same(t, "delete tool", 0, 0, m.got.DeleteTool(t.Context(), r), m.want.DeleteTool(t.Context(), r))
}

func (m *machine) deleteWorkspace(t *rapid.T) {
	w := drawWorkspace(t)
	got, err := m.got.DeleteWorkspace(t.Context(), w)
	want, wantErr := m.want.DeleteWorkspace(t.Context(), w)
	same(t, "delete workspace", got, want, err, wantErr)
}

func (m *machine) cache(t *rapid.T) {
	key := [16]byte{byte(rapid.IntRange(0, 3).Draw(t, "key"))}
	if rapid.Bool().Draw(t, "put") {
		e := makeVerdict(rapid.IntRange(0, 9).Draw(t, "verdict"))
		same(t, "cache", 0, 0, m.got.CacheVerdict(t.Context(), key, e), m.want.CacheVerdict(t.Context(), key, e))
	}
	got, err := m.got.CachedVerdict(t.Context(), key)
	want, wantErr := m.want.CachedVerdict(t.Context(), key)
	same(t, "cached", plainEvaluation(got), plainEvaluation(want), err, wantErr)
}

// reopen also lets all leases end, for they need not survive.
func (m *machine) reopen(*rapid.T) {
	m.got = m.b.Reopen(m.outer, m.got)
	m.minutes = max(m.minutes, m.leased) + 10_000 // the clock may go back a little later
}

// compare reads everything.
func (m *machine) compare(t *rapid.T) {
	for _, s := range []store.Store{m.got, m.want} {
		if err := s.Ping(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	spaces, err := m.got.ListWorkspaces(t.Context(), "", 9)
	wantSpaces, wantErr := m.want.ListWorkspaces(t.Context(), "", 9)
	same(t, "workspaces", fmt.Sprint(spaces), fmt.Sprint(wantSpaces), err, wantErr)
	for _, w := range wantSpaces {
		got, err := m.got.ListTools(t.Context(), w, "", 9)
		want, wantErr := m.want.ListTools(t.Context(), w, "", 9)
		same(t, "tools", len(got), len(want), err, wantErr)
		for i := range want {
			if d := diffTool(got[i], want[i]); d != "" {
				t.Fatal(d)
			}
			m.compareTool(t, want[i])
		}
		for _, run := range modelRuns() {
			m.compareRun(t, w, run)
		}
	}
}

func (m *machine) compareTool(t *rapid.T, want memoryd.Tool) {
	tool, err := m.got.Tool(t.Context(), want.ToolRef)
	if err != nil {
		t.Fatal(err)
	}
	if d := diffTool(tool, want); d != "" {
		t.Fatal(d)
	}
	got, err := m.got.History(t.Context(), want.ToolRef, 0)
	if err != nil {
		t.Fatal(err)
	}
	calls, err := m.want.History(t.Context(), want.ToolRef, 0)
	if err != nil {
		t.Fatal(err)
	}
	forgetLeases(got)
	forgetLeases(calls)
	if d := diffCalls(got, calls); d != "" {
		t.Fatal(d)
	}
	described, err := m.got.Described(t.Context(), want.ToolRef)
	if err != nil {
		t.Fatal(err)
	}
	if d := diffTool(described.Tool, want) + diffSamples(described.Samples, calls); d != "" {
		t.Fatalf("described: %s", d)
	}
	m.comparePages(t, calls)
}

// forgetLeases drops what a backend may or may not show of a lease.
func forgetLeases(calls []memoryd.Call) {
	for i := range calls {
		if calls[i].Evaluation.State == memoryd.Pending {
			calls[i].Evaluation.NotBefore = time.Time{}
		}
	}
}

// same compares two answers and the kinds of their errors.
func same[V any](t *rapid.T, what string, got, want V, err, wantErr error) {
	t.Helper()
	if (err == nil) != (wantErr == nil) || kindOf(err) != kindOf(wantErr) {
		t.Fatalf("%s: got error %v, want %v", what, err, wantErr)
	}
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		t.Fatalf("%s:\ngot  %s\nwant %s", what, g, w)
	}
}

func kindOf(err error) memoryd.Kind {
	if err == nil {
		return ""
	}
	kind, _ := memoryd.KindOf(err)
	return kind
}

func (m *machine) override(t *rapid.T) {
	c := drawCall(t, drawWorkspace(t))
	v := verdictOn(c, correction(rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(t, "score"), makeVerdict(1)))
	if rapid.Bool().Draw(t, "amended") {
		kept, err := m.want.Call(t.Context(), c.ToolRef, c.Key)
		if err != nil && !memoryd.IsKind(err, memoryd.NotFound) {
			t.Fatal(err)
		}
		amend(&c, kept.Run())
		v.Amendment = memoryd.AmendmentOf(&c)
		if rapid.Bool().Draw(t, "to be judged anew") {
			v.Evaluation, m.anew = memoryd.PendingEvaluation(), true
		}
	}
	got, err := m.got.Override(t.Context(), v)
	want, wantErr := m.want.Override(t.Context(), v)
	same(t, "override", got.Seq, want.Seq, err, wantErr)
	pair := [][]memoryd.Call{{got}, {want}}
	forgetLeases(pair[0])
	forgetLeases(pair[1])
	if d := diffCalls(pair[0], pair[1]); d != "" {
		t.Fatalf("override: %s", d)
	}
}

func drawRecordKey(t *rapid.T) store.RecordKey {
	k := store.RecordKey{ToolRef: drawRef(t), Kind: "note", ID: rapid.SampledFrom([]string{"1", "2", "3"}).Draw(t, "id")}
	if rapid.Bool().Draw(t, "of the workspace") {
		k.Tool = ""
	}
	return k
}

func (m *machine) record(t *rapid.T) {
	k := drawRecordKey(t)
	switch rapid.IntRange(0, 4).Draw(t, "record op") {
	case 0, 1:
		r := store.Record{
			RecordKey: k, Revision: int64(rapid.IntRange(-1, 3).Draw(t, "revision")), Data: []byte(rapid.String().Draw(t, "data")),
			Expires: at(rapid.IntRange(1, 100).Draw(t, "expires")),
		}
		got, err := m.got.PutRecord(t.Context(), r)
		want, wantErr := m.want.PutRecord(t.Context(), r)
		same(t, "put record", got, want, err, wantErr)
	case 2:
		same(t, "delete record", 0, 0, m.got.DeleteRecord(t.Context(), k), m.want.DeleteRecord(t.Context(), k))
	case 3:
		now := at(rapid.IntRange(1, 100).Draw(t, "now"))
		got, err := m.got.ExpireRecords(t.Context(), now, 99)
		want, wantErr := m.want.ExpireRecords(t.Context(), now, 99)
		same(t, "expire records", got, want, err, wantErr)
	default:
		k.ID = rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, "after")
		limit := rapid.IntRange(0, 3).Draw(t, "limit")
		got, err := m.got.ListRecords(t.Context(), k, limit)
		want, wantErr := m.want.ListRecords(t.Context(), k, limit)
		same(t, "list records", plainRecords(got), plainRecords(want), err, wantErr)
	}
}

func plainRecords(rs []store.Record) string {
	var out strings.Builder
	for _, r := range rs {
		fmt.Fprintf(&out, "%+v %d %s %q\n", r.RecordKey, r.Revision, instant(r.Expires).Format(time.RFC3339Nano), r.Data)
	}
	return out.String()
}

// restore moves a tool through its own export: what a store gives back it takes.
func (m *machine) restore(t *rapid.T) {
	r := drawRef(t)
	tool, err := m.want.Tool(t.Context(), r)
	if err != nil {
		return
	}
	calls, err := m.want.History(t.Context(), r, 0)
	if err != nil {
		t.Fatal(err)
	}
	if rapid.Bool().Draw(t, "deleted before") {
		same(t, "delete tool", 0, 0, m.got.DeleteTool(t.Context(), r), m.want.DeleteTool(t.Context(), r))
	}
	same(t, "restore", 0, 0, m.got.RestoreTool(t.Context(), tool, calls), m.want.RestoreTool(t.Context(), tool, calls))
}
