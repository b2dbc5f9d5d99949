package usage_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"memoryd/internal/configtest"

	"memoryd"
	"memoryd/llm/usage"
	"memoryd/store"
	"memoryd/store/mem"
	"memoryd/store/storetest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newLedger makes a ledger on the store with the default configuration as change
// leaves it. The caller starts it; it is stopped when the test ends.
func newLedger(t testing.TB, s store.Records, change func(*usage.Config)) *usage.Ledger {
	t.Helper()
	cfg := configtest.Section[usage.Config]("usage")
	if change != nil {
		change(&cfg)
	}
	b := usage.NewLedger(cfg, s, slog.New(slog.DiscardHandler), time.Now)
	t.Cleanup(b.Stop)
	return b
}

var ref = memoryd.ToolRef{Workspace: "w", Tool: "t"}

func tokenUsage(prompt, completion int) memoryd.Usage {
	return memoryd.Usage{PromptTokens: prompt, CompletionTokens: completion}
}

// today is the report of the hours around now.
func today(t testing.TB, b *usage.Ledger, workspace string) []usage.Row {
	t.Helper()
	rows, err := b.Report(context.Background(), workspace, time.Now().Add(-24*time.Hour), time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func wantRows(t testing.TB, got []usage.Row, want ...usage.Row) {
	t.Helper()
	if len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestALedgerAddsUpOverReplicasAndHours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mem.New()
		one, two := newLedger(t, s, nil), newLedger(t, s, nil)
		one.Start(t.Context())
		two.Start(t.Context())
		begin := time.Now()
		one.Attempt("w", "t", "evaluate", "m", true, tokenUsage(100, 10))
		one.Attempt("w", "t", "evaluate", "m", false, tokenUsage(-5, 0))
		one.Verdict(ref, "llm:m")
		one.Verdict(ref, "rules")
		two.Attempt("w", "t", "evaluate", "m", true, tokenUsage(50, 5))
		two.Attempt("w", "", "compact", "m", true, tokenUsage(7, 7))
		two.Verdict(ref, "person:somebody")
		two.Attempt("other", "t", "evaluate", "m", true, tokenUsage(1, 1))
		want := []usage.Row{
			{Workspace: "w", Op: "compact", By: "llm:m", Requests: 1, PromptTokens: 7, CompletionTokens: 7},
			{Workspace: "w", Tool: "t", Op: "evaluate", By: "llm:m", Requests: 3, Failed: 1, PromptTokens: 150, CompletionTokens: 15, Verdicts: 1},
			{Workspace: "w", Tool: "t", Op: "evaluate", By: "person", Verdicts: 1},
			{Workspace: "w", Tool: "t", Op: "evaluate", By: "rules", Verdicts: 1},
		}
		time.Sleep(2 * configtest.Section[usage.Config]("usage").FlushInterval)
		wantRows(t, today(t, one, "w"), want...)
		wantRows(t, today(t, two, "w"), want...)
		// The hours have left the memory. Half an interval keeps the test out of the
		// instant of a flush, which would write what is "not flushed yet" below.
		time.Sleep(3*time.Hour + configtest.Section[usage.Config]("usage").FlushInterval/2)
		wantRows(t, today(t, one, "w"), want...)
		two.Verdict(ref, "cache")
		third := newLedger(t, s, nil)
		wantRows(t, today(t, third, "w"), want...) // not flushed yet
		want = append([]usage.Row{want[0], {Workspace: "w", Tool: "t", Op: "evaluate", By: "cache", Verdicts: 1}}, want[1:]...)
		wantRows(t, today(t, two, "w"), want...)
		two.Stop()
		wantRows(t, today(t, third, "w"), want...)
		wantRows(t, today(t, third, ""),
			usage.Row{Op: "compact", By: "llm:m", Requests: 1, PromptTokens: 7, CompletionTokens: 7},
			usage.Row{Op: "evaluate", By: "cache", Verdicts: 1},
			usage.Row{Op: "evaluate", By: "llm:m", Requests: 4, Failed: 1, PromptTokens: 151, CompletionTokens: 16, Verdicts: 1},
			usage.Row{Op: "evaluate", By: "person", Verdicts: 1},
			usage.Row{Op: "evaluate", By: "rules", Verdicts: 1},
		)
		rows, err := third.Report(t.Context(), "w", begin.Add(time.Hour), time.Now().Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		wantRows(t, rows, usage.Row{Workspace: "w", Tool: "t", Op: "evaluate", By: "cache", Verdicts: 1})
		one.Stop()
	})
}

// A store that fails for a while, before or after a write took effect, changes
// no number, and is complained of once.
func TestAFailingStoreLosesNothing(t *testing.T) {
	for name, stage := range map[string]storetest.Stage{"before": storetest.Before, "after": storetest.After} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var down bool
				var mu sync.Mutex
				s := storetest.NewFaults(mem.New(), func(method string, at storetest.Stage) error {
					mu.Lock()
					defer mu.Unlock()
					if down && at == stage && method == "PutRecord" {
						return memoryd.Errorf(memoryd.Unavailable, "the store is down")
					}
					return nil
				})
				set := func(v bool) {
					mu.Lock()
					defer mu.Unlock()
					down = v
				}
				var log bytes.Buffer
				b := usage.NewLedger(configtest.Section[usage.Config]("usage"), s, slog.New(slog.NewTextHandler(&log, nil)), time.Now)
				b.Start(t.Context())
				set(true)
				for range 10 {
					b.Verdict(ref, "rules")
					time.Sleep(10 * time.Second)
				}
				wantRows(t, today(t, b, "w"), usage.Row{Workspace: "w", Tool: "t", Op: "evaluate", By: "rules", Verdicts: 10})
				set(false)
				time.Sleep(10 * time.Second)
				b.Stop()
				b.Stop()
				wantRows(t, today(t, newLedger(t, s, nil), "w"), usage.Row{Workspace: "w", Tool: "t", Op: "evaluate", By: "rules", Verdicts: 10})
				if n := strings.Count(log.String(), "cannot write or read the cost ledger"); n != 1 || !strings.Contains(log.String(), "written again") {
					t.Errorf("said %d times: %s", n, log.String())
				}
			})
		})
	}
}

// A write that the end of the process cuts off is no failure: the last one follows.
func TestAFlushThatTheEndCutsOffIsNoFailure(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	s := storetest.NewFaults(mem.New(), func(method string, at storetest.Stage) error {
		if method == "PutRecord" && ctx.Err() == nil {
			stop()
			return memoryd.Errorf(memoryd.Unavailable, "context canceled")
		}
		return nil
	})
	var log bytes.Buffer
	b := usage.NewLedger(configtest.Section[usage.Config]("usage"), s, slog.New(slog.NewTextHandler(&log, nil)), time.Now)
	b.Verdict(ref, "rules")
	b.Flush(ctx)
	if log.Len() > 0 || ctx.Err() == nil {
		t.Errorf("it says %s", log.String())
	}
	b.Flush(t.Context())
	wantRows(t, today(t, newLedger(t, s, nil), "w"), usage.Row{Workspace: "w", Tool: "t", Op: "evaluate", By: "rules", Verdicts: 1})
}

func TestTheRowsOfAnHourAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newLedger(t, mem.New(), nil)
		const tools = 2500
		for i := range tools {
			b.Attempt("w", fmt.Sprint("tool", i), "evaluate", fmt.Sprint("model", i), true, tokenUsage(1, 1))
		}
		b.Attempt("w", "tool1", "evaluate", "model1", true, tokenUsage(1, 1))
		rows := today(t, b, "w")
		var total, first int64
		for _, r := range rows {
			total += r.Requests
			if r.Tool == "tool1" {
				first = r.Requests
			}
		}
		if len(rows) > 2001 || total != tools+1 || first != 2 {
			t.Errorf("%d rows with %d requests, %d of the first tool", len(rows), total, first)
		}
	})
}

func TestADeletedWorkspaceStaysAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mem.New()
		b := newLedger(t, s, nil)
		b.Start(t.Context())
		b.Verdict(ref, "rules")
		time.Sleep(time.Minute)
		b.Verdict(ref, "rules")
		if _, err := s.DeleteWorkspace(t.Context(), "w"); err != nil {
			t.Fatal(err)
		}
		b.Forget(t.Context(), "w")
		b.Forget(t.Context(), "")
		time.Sleep(time.Minute)
		wantRows(t, today(t, b, "w"))
		wantRows(t, today(t, b, ""), usage.Row{Op: "evaluate", By: "rules", Verdicts: 2})
		b.Stop()
	})
}

func TestABadRecordHidesNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mem.New()
		b := newLedger(t, s, nil)
		b.Start(t.Context())
		b.Verdict(ref, "")
		time.Sleep(time.Minute)
		for _, id := range []string{time.Now().UTC().Format("2006-01-02T15") + "/0", "2000-01-01T00/x", "garbage"} {
			_, err := s.PutRecord(t.Context(), store.Record{
				RecordKey: store.RecordKey{ToolRef: memoryd.ToolRef{Workspace: "w"}, Kind: "spend", ID: id}, Data: []byte("{"),
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		wantRows(t, today(t, newLedger(t, s, nil), "w"), usage.Row{Workspace: "w", Tool: "t", Op: "evaluate", By: "nobody", Verdicts: 1})
		b.Stop()
	})
}

func TestRowsExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mem.New()
		b := newLedger(t, s, func(c *usage.Config) { c.Keep = 48 * time.Hour })
		b.Start(t.Context())
		b.Verdict(ref, "rules")
		b.Stop()
		for _, c := range []struct {
			after time.Duration
			want  int
		}{{46 * time.Hour, 0}, {3 * time.Hour, 2}} { // the workspace's and the server's
			time.Sleep(c.after)
			if n, err := s.ExpireRecords(t.Context(), time.Now(), 10); err != nil || n != c.want {
				t.Errorf("%d records expired, %v, want %d", n, err, c.want)
			}
		}
	})
}

func TestStartAndStopInAnyOrder(t *testing.T) {
	for range 50 {
		b := newLedger(t, mem.New(), nil)
		var all sync.WaitGroup
		all.Go(func() { b.Start(t.Context()) })
		all.Go(b.Stop)
		all.Go(b.Stop)
		all.Go(func() { b.Verdict(ref, "rules") })
		all.Go(func() { b.Attempt("w", "t", "evaluate", "m", true, tokenUsage(1, 1)) })
		all.Wait()
	}
}
