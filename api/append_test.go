package api

import (
	"testing"

	"memoryd/api/wire"
	"memoryd/internal/stats"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

// What is written by hand is what reflection over the same types would write.
func TestAnAnswerToAnAddIsWrittenAsItsTypesSay(t *testing.T) {
	texts := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z ]{0,20}["\\\n\t\r\x00-\x1f\x7f]?[a-z ]{0,20}[é\x{2028}漢😀]{0,3}[a-z]{0,9}`),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
	values := rapid.SampledFrom([]jsontext.Value{
		jsontext.Value(`""`), jsontext.Value(` {"a": [1.50, "\u0041\/"], "a": {}} `), jsontext.Value("\"\xff\""), jsontext.Value(`{"b":`),
	})
	floats := rapid.Map(rapid.OneOf(rapid.SampledFrom([]float64{0, 1, -0.5, 1e14, 1e15, 1e21, 1e-7}), rapid.Float64Range(-1e22, 1e22)),
		func(f float64) wire.Float { return wire.Float(f) })
	calls := rapid.Custom(func(t *rapid.T) wire.Call {
		return wire.Call{
			ToolName: texts.Draw(t, "tool"), Input: values.Draw(t, "input"), Output: texts.Draw(t, "output"), Success: rapid.Bool().Draw(t, "success"),
			TimeCost: floats.Draw(t, "time"), TokenCost: rapid.Int64().Draw(t, "tokens"), CreateTime: texts.Draw(t, "created"),
			Metadata: values.Draw(t, "metadata"), Summary: texts.Draw(t, "summary"), Evaluation: texts.Draw(t, "evaluation"),
			Score: floats.Draw(t, "score"), CallHash: texts.Draw(t, "hash"), IsSummarized: rapid.Bool().Draw(t, "summarized"),
		}
	})
	memories := rapid.Custom(func(t *rapid.T) wire.Memory {
		return wire.Memory{
			WorkspaceID: texts.Draw(t, "workspace"), MemoryID: texts.Draw(t, "id"), MemoryType: texts.Draw(t, "type"), WhenToUse: texts.Draw(t, "when"),
			Content: texts.Draw(t, "content"), Score: floats.Draw(t, "mean"), TimeCreated: texts.Draw(t, "since"), TimeModified: texts.Draw(t, "changed"),
			Author: texts.Draw(t, "author"), ToolCallResults: rapid.SliceOfN(calls, 0, 3).Draw(t, "calls"),
			Metadata: wire.MemoryMetadata{Statistics: stats.Statistics{TotalCalls: rapid.IntRange(0, 1).Draw(t, "total")}, AskedAs: []string{"x"}},
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		answer := wire.AddResponse{Reply: wire.Reply{Answer: texts.Draw(t, "answer"), Success: rapid.Bool().Draw(t, "success")}, Metadata: &wire.AddMetadata{
			MemoryList: rapid.SliceOfN(memories, 0, 3).Draw(t, "memories"), DeletedMemoryIDs: []string{texts.Draw(t, "deleted")},
			IgnoredFields: map[string]int{texts.Draw(t, "ignored"): 1},
		}}
		want, werr := jsonv2.Marshal(answer, encoding)
		got, err := appendAdded(nil, &answer)
		if (err != nil) != (werr != nil) || err == nil && string(got) != string(want) {
			t.Fatalf("got  %s (%v)\nwant %s (%v)", got, err, want, werr)
		}
	})
}
