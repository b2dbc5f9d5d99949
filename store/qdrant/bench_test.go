package qdrant_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"memoryd"
	"memoryd/store"
)

// BenchmarkSingleCalls adds calls of 2 KB, one in each request, by 64 clients of
// one replica on the real server: all to one tool, or each client to its own.
func BenchmarkSingleCalls(b *testing.B) {
	const clients = 64
	for name, tools := range map[string]int{"one tool": 1, "64 tools": clients} {
		b.Run(name, func(b *testing.B) {
			s := realBackend(b).Beside(b)
			var n atomic.Int64
			for tool := range tools {
				if _, err := add(b.Context(), s, 100, call(fmt.Sprint("t", tool), -1-tool, 1)); err != nil {
					b.Fatal(err)
				}
			}
			b.ResetTimer()
			var wg sync.WaitGroup
			for client := range clients {
				wg.Go(func() {
					for i := n.Add(1); i <= int64(b.N); i = n.Add(1) {
						if _, err := add(b.Context(), s, 100, call(fmt.Sprint("t", client%tools), int(i), 2048)); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "adds/s")
		})
	}
}

// BenchmarkRestoreTool restores tools of 12 calls with a record, as the command
// restore does: one after another, or eight beside each other.
func BenchmarkRestoreTool(b *testing.B) {
	for _, beside := range []int{1, 8} {
		b.Run(fmt.Sprint(beside, " beside each other"), func(b *testing.B) {
			s := realBackend(b).Beside(b)
			var n atomic.Int64
			b.ResetTimer()
			var wg sync.WaitGroup
			for range beside {
				wg.Go(func() {
					for i := n.Add(1); i <= int64(b.N); i = n.Add(1) {
						if err := restoreOne(b.Context(), s, fmt.Sprint("t", i)); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tools/s")
		})
	}
}

func restoreOne(ctx context.Context, s store.Store, tool string) error {
	const kept = 12
	now := time.Now()
	calls := make([]memoryd.Call, kept)
	for i := range calls {
		calls[i] = call(tool, i, 1024)
		calls[i].Seq, calls[i].Evaluation = int64(i+1), memoryd.Evaluation{State: memoryd.Judged, Score: 1, JudgedBy: "rules", JudgeVersion: "v1"}
	}
	t := memoryd.Tool{ToolRef: ref(tool), Created: now, Modified: now, Kept: kept}
	t.Lifetime, t.Revision = kept, 2*kept
	t.Guideline = memoryd.Guideline{Revision: 1, Content: "Give a path that exists.", Author: "rules", Written: now}
	if err := s.RestoreTool(ctx, t, calls); err != nil {
		return err
	}
	return s.PutRecords(ctx, []store.Record{{RecordKey: store.RecordKey{ToolRef: t.ToolRef, Kind: "guideline", ID: "1"}, Data: []byte(`{"revision":1}`)}})
}
