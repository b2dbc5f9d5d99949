package main

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"memoryd/config"
)

// BenchmarkAdd is one call of 2 KB through the whole server but the network:
// decoding, the rules judge, the store, the answer.
func BenchmarkAdd(b *testing.B) {
	for _, backend := range []string{config.BackendMem, config.BackendSQLite} {
		b.Run(backend, func(b *testing.B) {
			a := testApp(b, backend, b.TempDir(), "")
			a.Start(b.Context())
			b.Cleanup(func() { _ = a.Stop(context.Background()) })
			pad := strings.Repeat("lorem ipsum dolor sit amet ", 70)
			var n atomic.Int64
			b.ReportAllocs()
			b.SetParallelism(32)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					i := n.Add(1)
					body := fmt.Sprintf(`{"tool_name":"tool%d","async":true,"include_history":false,"tool_call_results":[`+
						`{"input":{"query":"q%d","k":10},"output":"found %d results %s","time_cost":1.5,"token_cost":12}]}`, i%100, i, i, pad)
					rec := httptest.NewRecorder()
					a.server.Handler.ServeHTTP(rec, httptest.NewRequest("POST", "/add_tool_call_result", strings.NewReader(body)))
					if rec.Code != 200 {
						b.Fatal(rec.Body)
					}
				}
			})
		})
	}
}
