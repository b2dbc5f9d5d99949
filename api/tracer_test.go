package api

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"

	"memoryd/internal/telemetry/metrics"
	"memoryd/ops"
)

// routesTraced is a tracer that writes down routes and statuses.
type routesTraced struct{ lines []string }

type tracedKey struct{}

func (r *routesTraced) Request(q *http.Request, route string) (context.Context, func(int)) {
	return context.WithValue(q.Context(), tracedKey{}, route), func(status int) {
		r.lines = append(r.lines, fmt.Sprintf("%q %d", route, status))
	}
}

func TestATracerFollowsRequestsButNotProbes(t *testing.T) {
	var seen any
	tracer := &routesTraced{}
	h := New(testConfig(), Deps{
		Flows: &ops.Flows{
			RetrieveToolMemory: ops.FlowOf("fine", func(ctx context.Context, _ ops.NamesRequest) (*ops.Retrieved, error) {
				seen = ctx.Value(tracedKey{})
				return &ops.Retrieved{}, nil
			}),
			SummaryToolMemory: ops.FlowOf("broken", func(context.Context, ops.NamesRequest) (*ops.Summaries, error) { panic("no") }),
			ListTools:         ops.FlowOf("list", func(context.Context, ops.ListTools) (ops.ToolPage, error) { return ops.ToolPage{}, nil }),
		},
		Meter: metrics.New(metrics.Build{}), Tracer: tracer, Logger: slog.New(slog.DiscardHandler),
	})
	for _, probe := range []string{"/livez", "/readyz", "/health", "/metrics"} {
		ask(h, "GET", probe, "")
	}
	ask(h, "POST", "/retrieve_tool_memory", `{"tool_names":"t"}`)
	ask(h, "POST", "/retrieve_tool_memory", `{"tool_names":`)
	ask(h, "POST", "/summary_tool_memory", `{"tool_names":"t"}`)
	ask(h, "GET", "/nothing/SECRET", "")
	ask(h, "GET", "/v1/workspaces/SECRET/tools", "")
	want := []string{
		`"/retrieve_tool_memory" 200`, `"/retrieve_tool_memory" 422`, `"/summary_tool_memory" 500`, `"" 404`, `"/v1/workspaces/:workspace/tools" 200`,
	}
	if !slices.Equal(tracer.lines, want) {
		t.Errorf("got  %q\nwant %q", tracer.lines, want)
	}
	if seen != "/retrieve_tool_memory" {
		t.Errorf("the op ran within the context of %v", seen)
	}
}

func TestPprofIsForThisMachineUnlessItIsSaidOtherwise(t *testing.T) {
	for listen, want := range map[string]string{
		"": "", "127.0.0.1:6060": "", "[::1]:6060": "", "localhost:6060": "", "127.8.9.1:0": "",
		":6060": "pprof_listen: must be a loopback", "0.0.0.0:6060": "pprof_listen: must be a loopback", "[::]:1": "pprof_listen: must be a loopback",
		"192.168.1.2:6060": "pprof_listen: must be a loopback", "localhost.example.org:6060": "pprof_listen: must be a loopback", "6060": "pprof_listen: must be a loopback",
	} {
		cfg := testConfig()
		cfg.PprofListen = listen
		err := cfg.Validate()
		if got := fmt.Sprint(err); want == "" && err != nil || want != "" && !strings.HasPrefix(got, want) {
			t.Errorf("%q: got %v, want %q", listen, err, want)
		}
	}
}
