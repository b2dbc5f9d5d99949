package trace_test

import (
	"log/slog"
	"testing"

	"memoryd"
	"memoryd/internal/configtest"

	"memoryd/internal/telemetry/trace"
	"memoryd/test/tracetest"
)

// BenchmarkRequest is the tracing of a request with two ops: turned off, not
// among the share that is traced, and traced.
func BenchmarkRequest(b *testing.B) {
	for name, sample := range map[string]float64{"off": -1, "unsampled": 0, "traced": 1} {
		b.Run(name, func(b *testing.B) {
			cfg := configtest.Section[trace.Config]("trace")
			if sample >= 0 {
				cfg.Endpoint, cfg.Sample = tracetest.Start(b, nil).URL(), sample
			}
			tr, err := trace.New(cfg, trace.Build{}, slog.New(slog.DiscardHandler))
			if err != nil {
				b.Fatal(err)
			}
			tr.Start()
			b.Cleanup(tr.Stop)
			r := request("POST", nil)
			b.ReportAllocs()
			for b.Loop() {
				ctx, end := tr.Request(r, "/add_tool_call_result")
				for _, op := range []string{"validate", "parse"} {
					_, endOp := tr.Op(ctx, "add_tool_call_result", op, memoryd.Subject{Workspace: "default", Tool: "search", Calls: 1})
					endOp(nil)
				}
				end(200)
			}
		})
	}
}
