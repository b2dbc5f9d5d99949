package api

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"memoryd"
	"memoryd/evaluate/kinds"
	"memoryd/guidelines"
	"memoryd/internal/access"
	outputs "memoryd/internal/reading"
	"memoryd/internal/telemetry/metrics"
	"memoryd/ops"
	"memoryd/store/mem"

	"github.com/labstack/echo/v4"
)

func now() time.Time { return time.Date(2025, 1, 1, 12, 0, 0, 0, time.Local) }

type kindJudge struct{}

func (kindJudge) Prejudge(_ context.Context, calls []memoryd.Call) {
	for i := range calls {
		if calls[i].Output != "later" {
			calls[i].Evaluation = memoryd.Evaluation{State: memoryd.Judged, Score: 1, JudgedBy: "rules", Rule: "r", Summary: "s", Evaluation: "e"}
		}
	}
}

func (kindJudge) Await(context.Context, []memoryd.Call) {}

func (kindJudge) Relabelled(memoryd.ToolRef) {}

func (kindJudge) Moved(string) {}

func (kindJudge) Withdrawn(context.Context, memoryd.Call) error { return nil }

func (kindJudge) Under(_ context.Context, c *memoryd.Call, book *kinds.Book) (memoryd.Evaluation, bool) {
	k := outputs.KindOf(c.Input, c.Output)
	if v, ok := book.Decide(&k, c.Source()); ok {
		return memoryd.Evaluation{State: memoryd.Judged, Score: v.Score, JudgedBy: memoryd.KindPrefix + v.By}, true
	}
	return memoryd.Evaluation{State: memoryd.Judged, Score: 1, JudgedBy: "rules", Rule: "r", Summary: "s", Evaluation: "e"}, false
}

type oneLiner struct{}

func (oneLiner) Compose(_ context.Context, tool memoryd.Tool, calls []memoryd.Call, _ int, _ *guidelines.Document) (*guidelines.Document, error) {
	if tool.Tool == "u" {
		return nil, errors.New("no model")
	}
	return &guidelines.Document{Author: "rules", Fingerprint: "f", Items: []guidelines.Item{
		{ID: "item-1", Section: "Core Function", Text: fmt.Sprintf("%d calls", len(calls))},
	}, MaxWords: 200}, nil
}

func testConfig() Config {
	return Config{
		Listen: "127.0.0.1:0", AllowedHosts: []string{"example.com"}, MaxBodyBytes: 1 << 20, MaxItems: 1000, MaxInFlight: 4, MaxInFlightBytes: 4 << 20,
		ShutdownTimeout: time.Second,
	}
}

type route struct{ method, path string }

func routesOf(h http.Handler) []route {
	e, ok := h.(*echo.Echo)
	if !ok {
		return nil
	}
	var all []route
	for _, r := range e.Routes() {
		all = append(all, route{r.Method, r.Path})
	}
	return all
}

func TestEveryKindOfErrorHasAStatus(t *testing.T) {
	for _, kind := range memoryd.Kinds() {
		if statusOf[kind] == 0 {
			t.Errorf("%s has none", kind)
		}
	}
	if f := describe(errors.New("file /secret")); f.status != 500 || strings.Contains(f.msg, "secret") {
		t.Errorf("an error without a kind is shown as %+v", f)
	}
	if f := describe(fmt.Errorf("op: %w", &ops.Refusal{Answer: "no"})); f.status != 200 || f.msg != "no" {
		t.Errorf("a refusal is %+v", f)
	}
	if f := describe(fmt.Errorf("op: %w", context.Canceled)); f.status != 503 {
		t.Errorf("an ended request is %d", f.status)
	}
}

func TestGzippedBodiesAreReadWithinTheLimit(t *testing.T) {
	h := newHandler(t, mem.New())
	send := func(body []byte) int {
		var b bytes.Buffer
		zw := gzip.NewWriter(&b)
		_, _ = zw.Write(body)
		_ = zw.Close()
		req := httptest.NewRequest("POST", "/add_tool_call_result", &b)
		req.Header.Set("Content-Encoding", "gzip")
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, req)
		return rec.Code
	}
	if code := send([]byte(`{"tool_name":"t","tool_call_results":[{"output":"o"}]}`)); code != 200 {
		t.Errorf("a small one: %d", code)
	}
	if code := send(bytes.Repeat([]byte(" "), 2<<20)); code != 413 {
		t.Errorf("one that unpacks to 2 MiB: %d", code)
	}
}

// retrieving is a handler whose only flow is that of retrieve_tool_memory.
func retrieving(t *testing.T, log *slog.Logger, run func(context.Context, ops.NamesRequest) (*ops.Retrieved, error)) http.Handler {
	t.Helper()
	return New(testConfig(), Deps{
		Flows: &ops.Flows{RetrieveToolMemory: ops.FlowOf("retrieve_tool_memory", run)}, Meter: metrics.New(metrics.Build{}), Logger: log,
	})
}

func TestMoreRequestsThanTheServerBearsGet429(t *testing.T) {
	entered, letGo := make(chan struct{}), make(chan struct{})
	h := retrieving(t, slog.New(slog.DiscardHandler), func(context.Context, ops.NamesRequest) (*ops.Retrieved, error) {
		entered <- struct{}{}
		<-letGo
		return &ops.Retrieved{}, nil
	})
	const body = `{"tool_names":"t"}`
	done := make(chan int)
	for range 4 {
		go func() { done <- ask(h, "POST", "/retrieve_tool_memory", body).Code }()
		<-entered
	}
	rec := ask(h, "POST", "/retrieve_tool_memory", body)
	if rec.Code != 429 || rec.Header().Get("Retry-After") == "" || !strings.Contains(rec.Body.String(), `"success":false`) {
		t.Errorf("the fifth of four: %d %s", rec.Code, rec.Body)
	}
	close(letGo)
	for range 4 {
		if code := <-done; code != 200 {
			t.Errorf("one that was let in: %d", code)
		}
	}
	if rec := ask(h, "GET", "/livez", ""); rec.Code != 200 {
		t.Errorf("livez: %d", rec.Code)
	}
}

func TestBodiesUnderWayAreBoundedByTheirBytes(t *testing.T) {
	s := &server{cfg: Config{MaxInFlight: 10, MaxBodyBytes: 10, MaxInFlightBytes: 15}}
	s.quota = quotaOf(s.cfg)
	e := echo.New()
	type serve = func(echo.Context, []byte) (any, error)
	inner := func(echo.Context, []byte) (any, error) { return nil, nil }
	send := func(handle serve) error {
		req := httptest.NewRequest("POST", "/", strings.NewReader("0123456789"))
		return s.handler(endpoint{"POST", "/", access.Public, withBody, page(handle)})(e.NewContext(req, httptest.NewRecorder()))
	}
	if err := send(inner); err != nil {
		t.Errorf("a body within the budget: %v", err)
	}
	err := send(func(echo.Context, []byte) (any, error) { return nil, send(inner) })
	if !memoryd.IsKind(err, memoryd.Overloaded) {
		t.Errorf("twice ten bytes in a budget of fifteen: %v", err)
	}
	if left := s.quota.UnderWay(); left != 0 {
		t.Errorf("%d requests are left", left)
	}
}

// unread is a body that fails the test if it is read before there is an answer.
type unread struct {
	t   *testing.T
	rec *httptest.ResponseRecorder
}

func (b unread) Read([]byte) (int, error) {
	if b.rec.Body.Len() == 0 {
		b.t.Error("the body was read before the request was turned away")
	}
	return 0, io.EOF
}

func TestABodyThatHasNoRoomIsTurnedAwayBeforeAnythingIsReadOrAsked(t *testing.T) {
	s := &server{cfg: Config{MaxInFlight: 10, MaxBodyBytes: 10, MaxInFlightBytes: 15}, traits: map[string]traits{"/": withBody | toolMemory}}
	s.quota, s.guards = quotaOf(s.cfg), []guard{s.room}
	e := echo.New()
	e.HTTPErrorHandler = s.handleError
	asked := 0
	send := func(size int64) int {
		rec := httptest.NewRecorder()
		req := httptest.NewRequest("POST", "/", unread{t, rec})
		req.ContentLength = size
		c := e.NewContext(req, rec)
		c.SetPath("/")
		_ = s.guarded(c, func(echo.Context) error { asked++; return nil }) // it is answered
		return rec.Code
	}
	if send(10); asked != 1 {
		t.Fatal("a body within the budget is not let in")
	}
	lease, err := s.quota.Admit(10)
	if err != nil {
		t.Fatal(err)
	}
	if code := send(10); code != 429 || asked != 1 {
		t.Errorf("ten bytes beside ten in a budget of fifteen: %d, %d let in", code, asked)
	}
	if send(5); asked != 2 {
		t.Error("a body that there is room for is not let in")
	}
	lease.Release()
	if send(100); asked != 3 { // it is refused for its size, which the next say
		t.Error("a body over the limit is refused for want of room")
	}
}

func TestAPanicIsA500AndTheServerLives(t *testing.T) {
	var log bytes.Buffer
	h := retrieving(t, slog.New(slog.NewTextHandler(&log, nil)), func(context.Context, ops.NamesRequest) (*ops.Retrieved, error) {
		panic("secret")
	})
	rec := ask(h, "POST", "/retrieve_tool_memory", `{"tool_names":"t"}`)
	if rec.Code != 500 || strings.Contains(rec.Body.String(), "secret") || !strings.Contains(log.String(), "secret") {
		t.Errorf("%d %s\nlog: %s", rec.Code, rec.Body, log.String())
	}
}

func TestRequestIDsComeBack(t *testing.T) {
	h := newHandler(t, mem.New())
	for sent, kept := range map[string]bool{"abc-1": true, "": false, "a b": false, strings.Repeat("x", 200): false} {
		req := httptest.NewRequest("GET", "/health", nil)
		req.Header.Set("X-Request-Id", sent)
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, req)
		got := rec.Header().Get("X-Request-Id")
		if got == "" || (got == sent) != kept {
			t.Errorf("sent %q, got %q", sent, got)
		}
	}
}

func TestClientsOwnJudgementDoesNotShow(t *testing.T) {
	h := newHandler(t, mem.New())
	rec := ask(h, "POST", "/add_tool_call_result", `{"tool_name":"t","tool_call_results":[{"output":"later","score":1,"summary":"mine",`+
		`"metadata":{"evaluation_state":"judged","judged_by":"me","judged_rule":"x","evaluation_error":"y","keep":1}}]}`)
	body := rec.Body.String()
	if !strings.Contains(body, `"evaluation_state":"pending"`) || strings.Contains(body, `"me"`) || strings.Contains(body, "mine") || !strings.Contains(body, `"keep":1`) {
		t.Errorf("got %s", body)
	}
}

func TestPagesOfOtherSitesAreRefused(t *testing.T) {
	h := newHandler(t, mem.New())
	for header, want := range map[string]int{"": 200, "same-origin": 200, "none": 200, "cross-site": 403} {
		req := httptest.NewRequest("POST", "/add_tool_call_result", strings.NewReader(`{"tool_name":"t","tool_call_results":[{}]}`))
		if header != "" {
			req.Header.Set("Sec-Fetch-Site", header)
		}
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, req)
		if rec.Code != want {
			t.Errorf("Sec-Fetch-Site %q: %d, want %d", header, rec.Code, want)
		}
	}
}

func TestNamesInPathsMayHoldAnything(t *testing.T) {
	h := newHandler(t, mem.New())
	if rec := ask(h, "POST", "/add_tool_call_result", `{"workspace_id":"a/b %c","tool_name":"x,y?","tool_call_results":[{"output":"o"}]}`); rec.Code != 200 {
		t.Fatal(rec.Body)
	}
	for _, path := range []string{"/v1/workspaces/a%2Fb%20%25c/tools", "/v1/workspaces/a%2Fb%20%25c/tools?name=x%2Cy%3F"} {
		if rec := ask(h, "GET", path, ""); !strings.Contains(rec.Body.String(), `"x,y?"`) {
			t.Errorf("%s: %s", path, rec.Body)
		}
	}
}

func TestAClientThatGoesAwayIsNotAnsweredWith500(t *testing.T) {
	h := newHandler(t, mem.New())
	req := httptest.NewRequest("POST", "/add_tool_call_result", io.MultiReader(strings.NewReader(`{"tool_`), errReader{}))
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, req)
	if rec.Code != 422 {
		t.Errorf("a body that breaks off: %d %s", rec.Code, rec.Body)
	}
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
