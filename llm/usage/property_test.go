package usage_test

import (
	"cmp"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"testing"
	"time"

	"memoryd/internal/configtest"

	"memoryd"
	"memoryd/llm/usage"
	"memoryd/store/mem"
	"memoryd/store/storetest"

	"pgregory.net/rapid"
)

// TestNoNumberIsLostOrDoubled compares the ledger with a plain count, whatever
// replicas count, fail to write, stop and start again.
func TestNoNumberIsLostOrDoubled(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		now := time.Date(2026, 11, 21, 22, 30, 0, 0, time.UTC)
		clock := func() time.Time { return now }
		inner := mem.New()
		fail := false
		faulty := storetest.NewFaults(inner, func(_ string, stage storetest.Stage) error {
			if fail && (stage == storetest.After) == (now.Second()%2 == 0) {
				return memoryd.Errorf(memoryd.Unavailable, "down")
			}
			return nil
		})
		open := func() *usage.Ledger {
			b := usage.NewLedger(configtest.Section[usage.Config]("usage"), faulty, slog.New(slog.DiscardHandler), clock)
			return b
		}
		books := []*usage.Ledger{open(), open(), open()}
		want := map[string]*usage.Row{}
		begin := now
		rt.Repeat(map[string]func(*rapid.T){
			"count": func(rt *rapid.T) {
				b := books[rapid.IntRange(0, 2).Draw(rt, "book")]
				r := usage.Row{
					Workspace: "w", Tool: fmt.Sprint(rapid.IntRange(0, 2).Draw(rt, "tool")), Op: "evaluate", By: "llm:m",
					Requests: 1, PromptTokens: int64(rapid.IntRange(0, 9).Draw(rt, "tokens")),
				}
				b.Attempt(r.Workspace, r.Tool, r.Op, "m", true, tokenUsage(int(r.PromptTokens), 0))
				if w := want[r.Tool]; w == nil {
					want[r.Tool] = &r
				} else {
					w.Requests, w.PromptTokens = w.Requests+1, w.PromptTokens+r.PromptTokens
				}
			},
			"wait": func(rt *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(1, 90*60).Draw(rt, "wait")) * time.Second)
			},
			"flush": func(rt *rapid.T) {
				fail = rapid.Bool().Draw(rt, "fail")
				books[rapid.IntRange(0, 2).Draw(rt, "book")].Flush(t.Context())
				fail = false
			},
			"restart": func(rt *rapid.T) {
				i := rapid.IntRange(0, 2).Draw(rt, "book")
				books[i].Flush(t.Context())
				books[i] = open()
			},
			"": func(rt *rapid.T) {
				for _, b := range books {
					b.Flush(t.Context())
				}
				got, err := books[0].Report(t.Context(), "w", begin, now.Add(time.Second))
				if err != nil {
					rt.Fatal(err)
				}
				var rows []usage.Row
				for _, r := range want {
					rows = append(rows, *r)
				}
				slices.SortFunc(rows, func(a, b usage.Row) int { return cmp.Compare(a.Tool, b.Tool) })
				if len(got) != len(rows) || len(rows) > 0 && !reflect.DeepEqual(got, rows) {
					rt.Fatalf("got  %+v\nwant %+v", got, rows)
				}
			},
		})
	})
}
