package compact_test

import (
	"strings"
	"testing"

	"memoryd/internal/configtest"

	"memoryd/compact"

	"github.com/go-json-experiment/json/jsontext"
)

func TestTheFactorOfAnUnknownModelIsLearned(t *testing.T) {
	in := longTalk()
	count := func(c *compact.Compactor, model string, reported int) int {
		return run(t, c, compact.Request{Messages: in, Model: model, Profile: "ra_aid", ReportedTokens: reported}).Report.TokensBefore
	}
	for name, tc := range map[string]struct {
		model  string
		factor float64 // of what is reported
		want   float64 // of the count in the end
	}{
		"an unknown model":                        {"somebody/new-model", 1.5, 1.5},
		"fewer tokens":                            {"claude-sonnet-4", 0.8, 0.8},
		"a known table stays":                     {"gpt-4o", 1.5, 1},
		"a hidden system prompt is no lesson":     {"somebody/new-model", 40, 1},
		"nothing reported":                        {"somebody/new-model", 0, 1},
		"what another model reports is another's": {"third/model", 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := configtest.Section[compact.Config]("compact")
			cfg.RememberFor = 0
			c := compactorWith(t, cfg, compact.Deps{})
			first := count(c, tc.model, 0)
			for range 20 {
				count(c, tc.model, int(tc.factor*float64(first)))
			}
			if got := float64(count(c, tc.model, 0)) / float64(first); got < tc.want-0.03 || got > tc.want+0.03 {
				t.Errorf("the count changed by %.2f, want %.2f", got, tc.want)
			}
			if other := count(c, "other/model", 0); name != "a known table stays" && other != first && tc.model == "somebody/new-model" {
				t.Errorf("another model counts %d, want %d", other, first)
			}
		})
	}
}

func TestBlocksAreAnsweredInKind(t *testing.T) {
	ms := []jsontext.Value{raw(obj{"role": "user", "content": []obj{{"type": "text", "text": "go"}}})}
	for i := range 12 {
		id := "toolu_" + strings.Repeat("x", i+1)
		ms = append(ms,
			raw(obj{"role": "assistant", "content": []obj{{"type": "thinking", "thinking": "hm", "signature": "c2ln"}, {"type": "tool_use", "id": id, "name": "f", "input": obj{"path": "/a/b.txt"}}}}),
			raw(obj{"role": "user", "content": []obj{{"type": "tool_result", "tool_use_id": id, "content": []obj{{"type": "text", "text": long(id, 80)}}}}}))
	}
	ms = append(ms, raw(obj{"role": "user", "content": []obj{{"type": "text", "text": "next"}}}))
	res := run(t, newCompactor(t), compact.Request{Messages: ms, Force: true, TargetTokens: 2500})
	if !res.Compacted {
		t.Fatal(res.Reason, res.Detail)
	}
	for _, m := range res.Messages {
		if s := string(m); !strings.Contains(s, `"content":[{`) {
			t.Errorf("not in blocks: %.100s", s)
		}
	}
	if res.Summary == "" || !strings.Contains(res.Summary, "/a/b.txt") && !strings.Contains(textOf(t, res.Messages), "/a/b.txt") {
		t.Errorf("the summary: %q", res.Summary)
	}
}
