package wire_test

import (
	"testing"

	"memoryd/api/wire"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

// The answer to an add is written by hand; all others, and all readers of this one, go
// by the types.
func TestTheAnswerToAnAddIsWrittenAsItsTypesSay(t *testing.T) {
	options := jsonv2.JoinOptions(jsonv2.Deterministic(true), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "plain", "\xff broken", "<b>&\u2028\x00\n\"\\", "日本"}))
	number := rapid.Map(rapid.OneOf(rapid.Float64Range(0, 1e9), rapid.SampledFrom([]float64{0, 1, 0.5, 1e15, 1e-9})), func(f float64) wire.Float { return wire.Float(f) })
	value := rapid.Map(rapid.SampledFrom([]string{"", `{}`, `{"a": [1, "\u0041", null]}`, ` "x" `, `{"b":1,"b":2}`, "\"\xff\""}), func(s string) jsontext.Value {
		if s == "" {
			return nil
		}
		return jsontext.Value(s)
	})
	call := rapid.Custom(func(t *rapid.T) wire.Call {
		return wire.Call{
			ToolName: text.Draw(t, "tool"), Input: value.Draw(t, "input"), Output: text.Draw(t, "output"), Success: rapid.Bool().Draw(t, "success"),
			TimeCost: number.Draw(t, "time"), TokenCost: rapid.Int64().Draw(t, "tokens"), CreateTime: text.Draw(t, "at"), Metadata: value.Draw(t, "metadata"),
			Summary: text.Draw(t, "summary"), Evaluation: text.Draw(t, "evaluation"), Score: number.Draw(t, "score"), CallHash: text.Draw(t, "hash"),
			IsSummarized: rapid.Bool().Draw(t, "summarized"),
		}
	})
	memory := rapid.Custom(func(t *rapid.T) wire.Memory {
		m := wire.Memory{
			WorkspaceID: text.Draw(t, "workspace"), MemoryID: text.Draw(t, "id"), MemoryType: "tool", WhenToUse: text.Draw(t, "when"),
			Content: text.Draw(t, "content"), Score: number.Draw(t, "score"), TimeCreated: text.Draw(t, "created"), TimeModified: text.Draw(t, "modified"),
			Author: text.Draw(t, "author"), ToolCallResults: rapid.SliceOfN(call, 0, 3).Draw(t, "calls"),
		}
		if m.Metadata.GuidelineRevision = rapid.Int64Range(0, 2).Draw(t, "revision"); m.Metadata.GuidelineRevision > 0 {
			m.Metadata.Statistics = wire.Statistics{TotalCalls: 3, SuccessRate: 1. / 3, SuccessRateCI95: &wire.Interval{.1, .7}, PendingCalls: 2}
		}
		return m
	})
	count := rapid.IntRange(0, 1000)
	rapid.Check(t, func(t *rapid.T) {
		meta := &wire.AddMetadata{
			MemoryList: rapid.SliceOfN(memory, 0, 3).Draw(t, "memories"), DeletedMemoryIDs: rapid.SliceOfN(text, 0, 2).Draw(t, "deleted"),
			UpdateResult:       wire.UpdateResult{DeletedCount: count.Draw(t, "n"), InsertedCount: count.Draw(t, "n")},
			ValidationStats:    wire.ValidationStats{TotalInput: count.Draw(t, "n"), Valid: count.Draw(t, "n"), Filtered: count.Draw(t, "n")},
			DeduplicationStats: wire.DeduplicationStats{TotalNew: count.Draw(t, "n"), Deduplicated: count.Draw(t, "n"), Added: count.Draw(t, "n")},
		}
		if rapid.Bool().Draw(t, "rare") {
			meta.Rejected = []wire.Rejection{{Index: 2, Reason: text.Draw(t, "reason")}}
			meta.IgnoredFields = map[string]int{"colour": 1, "a": 2}
			meta.Verdicts = []wire.Verdict{{CallID: "c", State: "judged", Score: number.Draw(t, "score"), Summary: text.Draw(t, "said")}}
		}
		r := wire.Response{Answer: text.Draw(t, "answer"), Success: rapid.Bool().Draw(t, "ok"), Metadata: meta}
		want, err := jsonv2.Marshal(r, options)
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.AppendAdded(nil, meta, options)
		if err != nil || string(got) != string(want) {
			t.Fatalf("%s\nwant %s (%v)", got, want, err)
		}
	})
}
