package storetest

import (
	"fmt"
	"strings"
	"time"

	"memoryd"
	"memoryd/store"

	"pgregory.net/rapid"
)

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
			v.Evaluation = memoryd.PendingEvaluation()
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
