package backup_test

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"
	"time"

	"memoryd"
	"memoryd/store"
	"memoryd/store/backup"
	"memoryd/store/mem"

	"pgregory.net/rapid"
)

var (
	anyName = rapid.SampledFrom([]string{"a", "b", "A", "a ", "a/b", "..", "con", "é", "\x00", "a\nb", "\u2028", "%61"})
	anyText = rapid.OneOf(
		rapid.SampledFrom([]string{"", "\xff", "\x00", "\xed\xa0\x80", "a\u2028b", "</script>", "\"\\", "\r\n", "\ufffd"}),
		rapid.String(), rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 20), func(b []byte) string { return string(b) }))
	anyRaw = rapid.OneOf(
		rapid.SampledFrom([]string{"", `{}`, `{ "a" : 1e2 }`, "{\n\"a\":\t[1 , 2]}", `"x"`, `"\u00e9\/"`, `{"a":1,"a":2}`, `{"n":12345678901234567890.0}`, "not json", `{"tool_call_id":"7"}`}),
		anyText)
	anyTime  = rapid.OneOf(rapid.Just(time.Time{}), rapid.Map(rapid.Int64Range(-1<<55, 1<<55), time.UnixMicro))
	anyFloat = rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, 0.1, math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 5e-324}))
	anyScore = rapid.SampledFrom([]float64{0, 0.5, 1, 0.3})
)

func drawEvaluation(t *rapid.T) memoryd.Evaluation {
	e := memoryd.Evaluation{
		State: rapid.SampledFrom([]memoryd.EvaluationState{memoryd.Pending, memoryd.Judged, memoryd.Failed}).Draw(t, "state"),
		Score: anyScore.Draw(t, "score"), Summary: anyText.Draw(t, "summary"), Evaluation: anyText.Draw(t, "evaluation"),
		JudgedBy: anyText.Draw(t, "by"), JudgedAt: anyTime.Draw(t, "at"), FailedChecks: anyText.Draw(t, "checks"),
		Attempts: rapid.Int().Draw(t, "attempts"), LastError: anyText.Draw(t, "error"), NotBefore: anyTime.Draw(t, "not before"),
		Cost: memoryd.Cost{Requests: rapid.Float64Range(0, 9).Draw(t, "cost"), PromptTokens: rapid.Int64().Draw(t, "tokens")},
	}
	if rapid.Bool().Draw(t, "overruled") {
		e.Overruled = &memoryd.Overruled{State: memoryd.Judged, Score: anyScore.Draw(t, "old"), JudgedBy: anyText.Draw(t, "old by")}
	}
	return e
}

func drawCall(t *rapid.T, ref memoryd.ToolRef) memoryd.Call {
	c := memoryd.Call{
		ToolRef: ref, Input: json.RawMessage(anyRaw.Draw(t, "input")), Output: anyText.Draw(t, "output"), Success: rapid.Bool().Draw(t, "ok"),
		TimeCost: anyFloat.Draw(t, "seconds"), TokenCost: rapid.Int64().Draw(t, "tokens"), CreateTime: anyText.Draw(t, "created"),
		Time: anyTime.Draw(t, "time"), Metadata: json.RawMessage(anyRaw.Draw(t, "metadata")), Evaluation: drawEvaluation(t),
	}
	c = identify(c)
	c.Hash = anyText.Draw(t, "hash")
	return c
}

// drawStore makes a store by a random history of writes.
func drawStore(t *rapid.T, ctx testing.TB) store.Store {
	s := mem.New()
	for range rapid.IntRange(1, 8).Draw(t, "writes") {
		ref := memoryd.ToolRef{Workspace: anyName.Draw(t, "workspace"), Tool: anyName.Draw(t, "tool")}
		b := store.Batch{Workspace: ref.Workspace, Keep: rapid.IntRange(1, 4).Draw(t, "keep")}
		for range rapid.IntRange(1, 4).Draw(t, "calls") {
			b.Calls = append(b.Calls, drawCall(t, ref))
		}
		_, err := s.Append(ctx.Context(), b)
		must(ctx, err)
		tool, err := s.Tool(ctx.Context(), ref)
		must(ctx, err)
		switch rapid.IntRange(0, 3).Draw(t, "then") {
		case 0:
			must(ctx, s.PutGuideline(ctx.Context(), ref, memoryd.Guideline{
				Content: anyText.Draw(t, "content"), Author: anyText.Draw(t, "author"), BasedOn: tool.Revision, ThroughSeq: tool.Lifetime - 1,
				Written: anyTime.Draw(t, "written"),
			}, tool.Guideline.Revision))
		case 1:
			must(ctx, s.PutRecords(ctx.Context(), []store.Record{{
				RecordKey: store.RecordKey{ToolRef: ref, Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), ID: anyName.Draw(t, "id")},
				Data:      rapid.SliceOf(rapid.Byte()).Draw(t, "data"),
			}}))
		case 2:
			must(ctx, s.DeleteTool(ctx.Context(), ref))
		}
	}
	return s
}

func TestAnyStoreSurvivesEveryWayOfMoving(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawStore(rt, t)
		file := export(t, s, "")
		other := mem.New()
		restore(t, other, file, backup.RestoreOptions{})
		same(t, "export and restore", export(t, other, ""), file)
		names, err := s.ListWorkspaces(t.Context(), "", 99)
		must(t, err)
		for _, name := range names {
			want := export(t, s, name)
			loaded, dir := mem.New(), t.TempDir()
			_, err := actions(s, dir).Dump(t.Context(), name, "")
			must(t, err)
			_, err = actions(loaded, dir).Load(t.Context(), name, "")
			must(t, err)
			same(t, "dump and load", export(t, loaded, name), want)
			_, err = actions(loaded, dir).Copy(t.Context(), name, "copy of it")
			must(t, err)
			back := mem.New()
			restore(t, back, export(t, loaded, "copy of it"), backup.RestoreOptions{Workspace: name})
			same(t, "copy and back", export(t, back, name), want)
		}
	})
}

func FuzzRestore(f *testing.F) {
	file := export(f, makeStore(f), "a")
	f.Add(file)
	f.Add(signed(linesOf(file)[:9]))
	f.Add([]byte("{\"manifest\":{\"format\":\"memoryd\",\"version\":1,\"scope\":\"store\"}}\n"))
	f.Add(bytes.Replace(file, []byte(`"seq":38`), []byte(`"seq":-38`), 1))
	f.Fuzz(func(t *testing.T, b []byte) {
		if lines := linesOf(b); len(lines) > 2 && hashText.MatchString(lines[len(lines)-1]) {
			b = signed(lines) // so that more than the hash is tried
		}
		s, piped := mem.New(), mem.New()
		n, err := backup.Restore(t.Context(), s, bytes.NewReader(b), backup.RestoreOptions{})
		_, pipeErr := backup.Restore(t.Context(), piped, bytes.NewBuffer(bytes.Clone(b)), backup.RestoreOptions{})
		if (err == nil) != (pipeErr == nil) {
			t.Fatalf("a file says %v, a pipe %v", err, pipeErr)
		}
		if err != nil {
			if names, _ := s.ListWorkspaces(t.Context(), "", 1); len(names) > 0 || memoryd.IsKind(err, memoryd.Internal) {
				t.Fatalf("got %v with %s", err, n)
			}
			return
		}
		again := export(t, s, "")
		other := mem.New()
		restore(t, other, again, backup.RestoreOptions{})
		same(t, "round trip", export(t, other, ""), again)
	})
}

func FuzzReMe(f *testing.F) {
	for _, l := range linesBytes(remeFile(f)) {
		f.Add(l)
	}
	f.Add([]byte(`{"content":"t","metadata":{"memory_type":"tool","tool_call_results":"[{}]"},"unique_id":7}`))
	f.Add([]byte(`{"unique_id":"1","content":"t","metadata":{"memory_type":"tool","tool_call_results":[{"input":{"a":1,"a":2},"metadata":{"reme":{},"reme_":1},"x":1}]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		for m, err := range backup.MemoriesOfReMe(b, base) {
			if err != nil {
				continue
			}
			s := mem.New()
			must(t, s.RestoreTool(t.Context(), m.Tool, m.Calls))
			must(t, s.PutRecords(t.Context(), m.Records))
		}
	})
}
