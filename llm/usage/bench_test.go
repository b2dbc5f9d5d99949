package usage_test

import (
	"strconv"
	"testing"

	"memoryd/store/mem"
)

// BenchmarkAttempt counts for a hundred tools from several goroutines.
func BenchmarkAttempt(b *testing.B) {
	book := newLedger(b, mem.New(), nil)
	tools := make([]string, 100)
	for i := range tools {
		tools[i] = "tool" + strconv.Itoa(i)
	}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			book.Attempt("w", tools[i%len(tools)], "evaluate", "model", true, tokenUsage(500, 50))
		}
	})
}
