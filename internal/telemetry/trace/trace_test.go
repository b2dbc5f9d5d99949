package trace_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"memoryd/internal/configtest"

	"memoryd"
	"memoryd/internal/telemetry/trace"
	"memoryd/test/tracetest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// running makes a started tracer that sends to url.
func running(t *testing.T, url string, change func(*trace.Config), log *slog.Logger) *trace.Tracer {
	t.Helper()
	cfg := configtest.Section[trace.Config]("trace")
	cfg.Endpoint = url
	if change != nil {
		change(&cfg)
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	tr, err := trace.New(cfg, trace.Build{Version: "v1.2.3"}, log)
	if err != nil {
		t.Fatal(err)
	}
	tr.Start()
	t.Cleanup(tr.Stop)
	return tr
}

func request(method string, header map[string]string) *http.Request {
	r := httptest.NewRequest(method, "/add_tool_call_result?key=SECRET-query", nil)
	for k, v := range header {
		r.Header.Set(k, v)
	}
	return r
}

const (
	callerTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	callerSpan  = "00f067aa0ba902b7"
)

func TestSpansOfARequestHangTogetherBelowTheCaller(t *testing.T) {
	c := tracetest.Start(t, nil)
	tr := running(t, c.URL(), nil, nil)
	ctx, end := tr.Request(request("POST", map[string]string{
		"traceparent": "00-" + callerTrace + "-" + callerSpan + "-01",
		"tracestate":  "vendor=SECRET-state", "baggage": "user=SECRET-baggage", "Authorization": "Bearer SECRET-key",
	}), "/add_tool_call_result")
	ctx, endOp := tr.Op(ctx, "add_tool_call_result", "parse_op", memoryd.Subject{Workspace: "w", Tool: "search", Tools: 1, Calls: 3})
	_, endModel := tr.Attempt(ctx, memoryd.Attempt{Op: "evaluate", Model: "judge-1", Workspace: "w", Tool: "search", Waited: 1500 * time.Millisecond})
	endModel(memoryd.Attempt{Outcome: "ok", Usage: memoryd.Usage{PromptTokens: 120, CompletionTokens: 8}})
	endOp(nil)
	end(200)
	tr.Stop()

	server, op, model := c.One(t, "POST /add_tool_call_result"), c.One(t, "parse_op"), c.One(t, "chat judge-1")
	for _, pair := range []struct {
		child  tracetest.Span
		parent string
	}{{server, callerSpan}, {op, server.ID}, {model, op.ID}} {
		if pair.child.TraceID != callerTrace || pair.child.Parent != pair.parent {
			t.Errorf("%s: trace %s, parent %s, want %s, %s", pair.child.Name, pair.child.TraceID, pair.child.Parent, callerTrace, pair.parent)
		}
	}
	for _, want := range []struct {
		span       tracetest.Span
		key, value string
	}{
		{server, "http.request.method", "POST"},
		{server, "http.route", "/add_tool_call_result"},
		{server, "http.response.status_code", "200"},
		{op, "memoryd.flow", "add_tool_call_result"},
		{op, "memoryd.workspace", "w"},
		{op, "memoryd.tool", "search"},
		{op, "memoryd.calls", "3"},
		{model, "gen_ai.request.model", "judge-1"},
		{model, "gen_ai.usage.input_tokens", "120"},
		{model, "gen_ai.usage.output_tokens", "8"},
		{model, "memoryd.waited_seconds", "1.5"},
		{model, "memoryd.op", "evaluate"},
		{model, "memoryd.outcome", "ok"},
	} {
		if got := want.span.Attributes[want.key]; got != want.value {
			t.Errorf("%s: %s is %q, want %q", want.span.Name, want.key, got, want.value)
		}
	}
	if server.Kind != "SPAN_KIND_SERVER" || op.Kind != "SPAN_KIND_INTERNAL" || model.Kind != "SPAN_KIND_CLIENT" {
		t.Errorf("kinds %s, %s, %s", server.Kind, op.Kind, model.Kind)
	}
	if c.Resource("service.name") != "memoryd" || c.Resource("service.version") != "v1.2.3" || c.Header(":path") != "/v1/traces" {
		t.Errorf("resource %q %q, path %q", c.Resource("service.name"), c.Resource("service.version"), c.Header(":path"))
	}
	if strings.Contains(c.Raw(), "SECRET") {
		t.Errorf("text from outside left the server: %q", c.Raw())
	}
}

func TestFailuresAreToldAsWordsOnly(t *testing.T) {
	c := tracetest.Start(t, nil)
	tr := running(t, c.URL(), nil, nil)
	cases := map[string]error{
		"internal": errors.New("SECRET of an error"), "overloaded": memoryd.Errorf(memoryd.Overloaded, "SECRET"),
		"cancelled": context.Canceled, "timeout": context.DeadlineExceeded,
	}
	for word, err := range cases {
		_, end := tr.Op(t.Context(), "", "op-"+word, memoryd.Subject{})
		end(err)
	}
	_, endModel := tr.Attempt(t.Context(), memoryd.Attempt{Model: "m"})
	endModel(memoryd.Attempt{Outcome: "rate_limited"})
	_, end := tr.Request(request("SECRETMETHOD", nil), "")
	end(503)
	_, end = tr.Request(request("GET", nil), "/docs")
	end(404)
	func() {
		defer func() { _ = recover() }()
		_, end := tr.Op(t.Context(), "", "panicking", memoryd.Subject{})
		defer end(errors.New("the op panicked"))
		panic("SECRET of a panic")
	}()
	tr.Stop()
	for word := range cases {
		if s := c.One(t, "op-"+word); !s.Failed || s.Attributes["error.type"] != word || s.Message != "" || s.Events != 0 {
			t.Errorf("%s: %+v", word, s)
		}
	}
	if s := c.One(t, "chat m"); !s.Failed || s.Attributes["error.type"] != "rate_limited" {
		t.Errorf("%+v", s)
	}
	if s := c.One(t, "_OTHER"); !s.Failed || s.Attributes["http.response.status_code"] != "503" {
		t.Errorf("%+v", s)
	}
	if s := c.One(t, "GET /docs"); s.Failed {
		t.Errorf("an error of the client's is shown as one of the server's: %+v", s)
	}
	if s := c.One(t, "panicking"); !s.Failed || s.Events != 0 {
		t.Errorf("%+v", s)
	}
	if strings.Contains(c.Raw(), "SECRET") {
		t.Errorf("text from outside left the server: %q", c.Raw())
	}
}

// One string that is not UTF-8 would make the whole batch impossible to send.
func TestNamesFromOutsideAreCutAndValid(t *testing.T) {
	c := tracetest.Start(t, nil)
	tr := running(t, c.URL(), nil, nil)
	names := []string{strings.Repeat("é", 90), "a\xffb\x00c", strings.Repeat("x", 99) + "é", "\x80" + strings.Repeat("\xbf", 300), "plain"}
	for _, name := range names {
		_, end := tr.Op(t.Context(), "", "op", memoryd.Subject{Workspace: name, Tool: name})
		end(nil)
	}
	tr.Stop()
	spans := c.Named("op")
	if len(spans) != len(names) {
		t.Fatalf("%d spans arrived, want %d", len(spans), len(names))
	}
	for i, s := range spans {
		for _, got := range []string{s.Attributes["memoryd.workspace"], s.Attributes["memoryd.tool"]} {
			if len(got) > 100 || !utf8.ValidString(got) {
				t.Errorf("%q became %q (%d bytes)", names[i], got, len(got))
			}
		}
	}
	if got := spans[4].Attributes["memoryd.tool"]; got != "plain" {
		t.Errorf("got %q", got)
	}
}

func TestNamesCanBeHashed(t *testing.T) {
	c := tracetest.Start(t, nil)
	tr := running(t, c.URL(), func(cfg *trace.Config) { cfg.HashNames = true }, nil)
	for _, tool := range []string{"CANARY-a", "CANARY-a", "CANARY-b"} {
		_, end := tr.Op(t.Context(), "", "op", memoryd.Subject{Workspace: "CANARY-w", Tool: tool})
		end(nil)
	}
	tr.Stop()
	s := c.Named("op")
	if len(s) != 3 || strings.Contains(c.Raw(), "CANARY") {
		t.Fatalf("%d spans: %q", len(s), c.Raw())
	}
	if s[0].Attributes["memoryd.tool"] != s[1].Attributes["memoryd.tool"] || s[0].Attributes["memoryd.tool"] == s[2].Attributes["memoryd.tool"] {
		t.Errorf("hashes do not tell tools apart: %v", s)
	}
}

func TestOnlyAShareIsTracedUnlessTheCallerSaysOtherwise(t *testing.T) {
	c := tracetest.Start(t, nil)
	tr := running(t, c.URL(), func(cfg *trace.Config) { cfg.Sample = 0.25 }, nil)
	const n = 2000
	for range n {
		ctx, end := tr.Request(request("GET", nil), "/own")
		_, endOp := tr.Op(ctx, "", "own op", memoryd.Subject{})
		endOp(nil)
		end(200)
	}
	for header, route := range map[string]string{"-01": "/wanted", "-00": "/unwanted"} {
		_, end := tr.Request(request("GET", map[string]string{"traceparent": "00-" + callerTrace + "-" + callerSpan + header}), route)
		end(200)
	}
	tr.Stop()
	got := len(c.Named("GET /own"))
	if got < n/5 || got > n*3/10 {
		t.Errorf("%d of %d requests traced, want about a quarter", got, n)
	}
	if ops := len(c.Named("own op")); ops != got {
		t.Errorf("%d ops of %d requests: a trace was cut", ops, got)
	}
	if len(c.Named("GET /wanted")) != 1 || len(c.Named("GET /unwanted")) != 0 {
		t.Error("the caller's wish was not heard")
	}
}

func TestAMalformedTraceparentStartsATraceOfItsOwn(t *testing.T) {
	c := tracetest.Start(t, nil)
	tr := running(t, c.URL(), nil, nil)
	for _, header := range []string{"", "00-0-0-01", "ff-" + callerTrace + "-" + callerSpan + "-01", strings.Repeat("0", 10000), "00-" + strings.Repeat("0", 32) + "-" + callerSpan + "-01"} {
		_, end := tr.Request(request("GET", map[string]string{"traceparent": header}), "/r")
		end(200)
	}
	tr.Stop()
	spans := c.Named("GET /r")
	if len(spans) != 5 {
		t.Errorf("%d spans, want 5", len(spans))
	}
	for _, s := range spans {
		if s.Parent != "" || s.TraceID == callerTrace {
			t.Errorf("%+v", s)
		}
	}
}

func TestTracingTurnedOffIsANilTracerThatWorks(t *testing.T) {
	tr, err := trace.New(configtest.Section[trace.Config]("trace"), trace.Build{}, slog.New(slog.DiscardHandler))
	if err != nil || tr != nil {
		t.Fatalf("got %v, %v", tr, err)
	}
	tr.Start()
	defer tr.Stop()
	r := request("GET", nil)
	allocs := testing.AllocsPerRun(100, func() {
		ctx, end := tr.Request(r, "/r")
		ctx, endOp := tr.Op(ctx, "", "op", memoryd.Subject{})
		ctx, endModel := tr.Attempt(ctx, memoryd.Attempt{Model: "m"})
		if ctx != r.Context() {
			t.Error("the context was changed")
		}
		endModel(memoryd.Attempt{})
		endOp(nil)
		end(200)
	})
	if allocs != 0 {
		t.Errorf("%v allocations, want none", allocs)
	}
}

func TestTheLogSaysOnceThatTheCollectorIsOutOfReachAndOnceThatItIsBack(t *testing.T) {
	asked, n := make(chan struct{}, 3), 0
	c := tracetest.Start(t, func(w http.ResponseWriter, _ *http.Request) {
		if n++; n <= 2 {
			http.Error(w, strings.Repeat("no thanks ", 1000), http.StatusBadRequest)
		}
		asked <- struct{}{}
	})
	var log bytes.Buffer
	tr := running(t, c.URL(), func(cfg *trace.Config) { cfg.Queue = 1 }, slog.New(slog.NewTextHandler(&log, nil)))
	for range 3 {
		_, end := tr.Op(t.Context(), "", "op", memoryd.Subject{})
		end(nil)
		<-asked // taken out of the queue, which holds one
	}
	tr.Stop()
	text := log.String()
	if strings.Count(text, "spans cannot be sent") != 1 || strings.Count(text, "being sent again") != 1 {
		t.Errorf("the log says %s", text)
	}
	if len(text) > 2000 {
		t.Errorf("the log shows the collector's whole answer: %d bytes", len(text))
	}
}

func TestEachWrongSettingIsNamed(t *testing.T) {
	for want, change := range map[string]func(*trace.Config){
		"otlp_endpoint: must be an address":      func(c *trace.Config) { c.Endpoint = "localhost:4318" },
		"otlp_endpoint: must hold neither":       func(c *trace.Config) { c.Endpoint = "http://user:pw@host:4318" },
		"otlp_endpoint: must be an address such": func(c *trace.Config) { c.Endpoint = "grpc://host:4317" },
	} {
		cfg := configtest.Section[trace.Config]("trace")
		change(&cfg)
		if err := cfg.Validate(); err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "pw") {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
