package facts_test

import (
	"slices"
	"strings"
	"testing"

	"memoryd/compact/facts"

	"pgregory.net/rapid"
)

// TestACollectorForgets: what was collected before leaves no trace.
func TestACollectorForgets(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		`{"user_id": "abc_123", "total": 1204}`, "order HAT139 of 2024-05-20\n", "Error: no such file /var/log/app.log\n", "**foo-bar** (bike, car) ",
		"see https://example.com/a?b=1 and mia@example.com ", "when: 2024-05-20T10:00:00 ", "\x00\xff\\u00e9 ", strings.Repeat("k7 v8x9 ", 40),
	})
	span := rapid.Custom(func(t *rapid.T) facts.Span {
		return facts.Span{
			Text:   strings.Join(rapid.SliceOfN(piece, 1, 5).Draw(t, "pieces"), ""),
			Source: facts.Source(rapid.IntRange(0, 4).Draw(t, "source")), Place: rapid.IntRange(0, 9).Draw(t, "place"),
		}
	})
	var reused facts.Collector
	rapid.Check(t, func(t *rapid.T) {
		spans := rapid.SliceOfN(span, 0, 6).Draw(t, "spans")
		limit := rapid.IntRange(0, 900).Draw(t, "limit")
		o := facts.Options{ArgNames: []string{"user_id"}, Hide: func(_, v string) bool { return v == "1204" }}
		got, want := reused.Collect(spans, o), facts.Collect(spans, o)
		if !slices.Equal(got.Values(), want.Values()) {
			t.Fatalf("values %q, want %q", got.Values(), want.Values())
		}
		if a, b := got.Block(limit, nil), want.Block(limit, nil); a != b {
			t.Fatalf("block\n%s\nwant\n%s", a, b)
		}
	})
}
