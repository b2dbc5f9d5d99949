package trace_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"memoryd/internal/telemetry/trace"
	"memoryd/test/tracetest"
)

func TestLinesOfATracedRequestNameItsTrace(t *testing.T) {
	var text bytes.Buffer
	log := slog.New(slog.NewTextHandler(&text, nil))
	tr := running(t, tracetest.Start(t, nil).URL(), nil, log)
	line := func(flag string) string {
		text.Reset()
		ctx, end := tr.Request(request("GET", map[string]string{"traceparent": "00-" + callerTrace + "-" + callerSpan + flag}), "/r")
		tr.Log(log).With("a", 1).InfoContext(ctx, "hello")
		end(200)
		return text.String()
	}
	if got := line("-01"); !strings.Contains(got, "a=1 trace_id="+callerTrace) {
		t.Errorf("a traced request's line: %s", got)
	}
	if got := line("-00"); strings.Contains(got, "trace_id") {
		t.Errorf("the line of one that is not traced: %s", got)
	}
	text.Reset()
	tr.Log(log).Info("hello")
	if strings.Contains(text.String(), "trace_id") {
		t.Errorf("a line of no request: %s", text.String())
	}
	if (*trace.Tracer)(nil).Log(log) != log {
		t.Error("tracing that is off changes the log")
	}
}
