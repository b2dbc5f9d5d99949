package api

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"memoryd/internal/configtest"
	"memoryd/internal/textsafe"

	"memoryd"
	"memoryd/compact"
	"memoryd/guidelines/preflight"
	"memoryd/guidelines/revisions"
	"memoryd/internal/access"
	"memoryd/internal/accounts"
	"memoryd/internal/telemetry/metrics"
	"memoryd/llm/usage"
	"memoryd/ops"
	"memoryd/ops/survey"
	"memoryd/store"
	"memoryd/store/backup"
	"memoryd/store/mem"
	"memoryd/store/storetest"

	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v3"
)

// document is the OpenAPI description with its schemas ready to validate.
type document struct {
	Paths map[string]map[string]struct {
		RequestBody struct {
			Content map[string]struct{ Schema map[string]any }
		} `json:"requestBody"`
		Responses map[string]response
	}
	Components struct {
		Schemas   map[string]any
		Responses map[string]response
	}
	resolved map[string]*jsonschema.Resolved
}

type response struct {
	Ref     string `json:"$ref"`
	Content map[string]struct{ Schema map[string]any }
}

func openapi(t *testing.T) *document {
	t.Helper()
	d := document{resolved: map[string]*jsonschema.Resolved{}}
	text, err := os.ReadFile("openapi.json") // which -update may just have written
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	if err != nil {
		t.Fatal(err)
	}
	return &d
}

// validate holds text to a schema. OpenAPI 3.1 schemas are JSON Schema 2020-12;
// only the place of the shared ones differs.
func (d *document) validate(t *testing.T, schema map[string]any, text []byte) error {
	t.Helper()
	root := maps.Clone(schema)
	root["$defs"] = d.Components.Schemas
	raw, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	return d.resolve(t, bytes.ReplaceAll(raw, []byte("#/components/schemas/"), []byte("#/$defs/"))).Validate(v)
}

// resolve makes a schema ready, once.
func (d *document) resolve(t *testing.T, raw []byte) *jsonschema.Resolved {
	t.Helper()
	if known := d.resolved[string(raw)]; known != nil {
		return known
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	d.resolved[string(raw)] = resolved
	return resolved
}

// checkAnswer holds an answer to what the document says of its status.
func (d *document) checkAnswer(t *testing.T, method, path string, rec *httptest.ResponseRecorder) {
	t.Helper()
	op, ok := d.Paths[path][strings.ToLower(method)]
	if !ok {
		t.Fatalf("%s %s is not described", method, path)
	}
	r, ok := op.Responses[strconv.Itoa(rec.Code)]
	if !ok {
		t.Fatalf("%s %s: the answer %d is not described: %s", method, path, rec.Code, rec.Body)
	}
	if r.Ref != "" {
		r = d.Components.Responses[r.Ref[strings.LastIndexByte(r.Ref, '/')+1:]]
	}
	if len(r.Content) == 0 && rec.Body.Len() == 0 {
		return
	}
	contentType, _, _ := strings.Cut(rec.Header().Get("Content-Type"), ";")
	content, ok := r.Content[contentType]
	if !ok {
		t.Fatalf("%s %s: content type %q is not described for %d", method, path, contentType, rec.Code)
	}
	if contentType == "text/html" || contentType == "text/plain" {
		return
	}
	if contentType == "application/x-ndjson" {
		for line := range bytes.Lines(rec.Body.Bytes()) {
			if err := d.validate(t, content.Schema, line); err != nil {
				t.Errorf("%s %s: %v\n%s", method, path, err, line)
			}
		}
		return
	}
	if err := d.validate(t, content.Schema, rec.Body.Bytes()); err != nil {
		t.Errorf("%s %s: %d does not fit its description: %v\n%s", method, path, rec.Code, err, rec.Body)
	}
}

// newHandler is the HTTP face over a store, with a judge that gives every call
// 1.0 unless its output is "later", and an author that counts.
func newHandler(t testing.TB, s store.Store) http.Handler {
	t.Helper()
	return New(testConfig(), depsOver(t, s))
}

// depsOver is what newHandler works with.
func depsOver(t testing.TB, s store.Store) Deps {
	t.Helper()
	reader := ops.MemoryReader{Store: s, Recent: 20}
	curator := &revisions.Manager{
		Store: s, Composer: oneLiner{}, Recent: 20, Config: configtest.Section[revisions.Config]("revisions"), Now: now,
		Sourced: func(context.Context, memoryd.ToolRef, ...string) ([]memoryd.Call, error) { return nil, nil },
	}
	kept := ops.Originals{Records: s, Keep: time.Hour, Now: now}
	compactor := compact.New(configtest.Section[compact.Config]("compact"), compact.Deps{
		Originals: kept, Mask: textsafe.Mask, Logger: slog.New(slog.DiscardHandler),
	})
	view := survey.New(s, slog.New(slog.DiscardHandler), time.Now)
	t.Cleanup(view.Stop)
	d := ops.Deps{
		Survey: view, Intake: accounts.NewIntake(time.Now), Names: ops.NewNames(s, time.Now), Told: ops.NewTold(),
		Keyed: func() bool { return true }, Redaction: ops.NewRedaction(s, ops.Privacy{}, slog.New(slog.DiscardHandler), time.Now),
		Forget: func(context.Context, memoryd.ToolRef, string) error { return nil }, ForgetSource: func(context.Context, string, string) error { return nil },
		Audit: access.NewAudit(s, slog.New(slog.DiscardHandler), time.Now),
		Store: s, Reader: reader, Judge: kindJudge{}, Revisions: curator, Compactor: compactor,
		Forecasts: preflight.NewCache(s, configtest.Section[preflight.Config]("op.preflight_tool_call_op.params"), slog.New(slog.DiscardHandler), time.Now),
		Mover:     &backup.Actions{Store: s, Dir: t.TempDir(), RecentCalls: 20, Now: now, Kinds: revisions.Kinds()},
		Ledger:    newBook(t, s),
		Corrected: func(context.Context, memoryd.Call, memoryd.Evaluation) {}, Logger: slog.New(slog.DiscardHandler), Now: now,
	}
	return Deps{
		Flows: defaultPlan(t).Build(d, nil), Logger: slog.New(slog.DiscardHandler), Meter: metrics.New(metrics.Build{}),
		Checks: []ops.Check{{Name: "store", Vital: true, Run: s.Ping}},
		Keys:   access.NewKeys(s, access.Limits{}, slog.New(slog.DiscardHandler), time.Now),
		Audit:  access.NewAudit(s, slog.New(slog.DiscardHandler), time.Now),
	}
}

// defaultPlan is the plan of default.yaml.
func defaultPlan(t testing.TB) *ops.Plan {
	t.Helper()
	var c struct {
		Op map[string]struct {
			Backend string
			Params  yaml.Node
		}
		Flow map[string][]string
	}
	if err := yaml.Unmarshal(memoryd.DefaultConfig, &c); err != nil {
		t.Fatal(err)
	}
	specs := map[string]ops.Spec{}
	for name, op := range c.Op {
		specs[name] = ops.Spec{Backend: op.Backend, Params: op.Params.Decode}
	}
	plan, problems := ops.NewPlan(c.Flow, specs)
	for _, p := range problems {
		t.Error(p)
	}
	return plan
}

func ask(h http.Handler, method, path, body string) *httptest.ResponseRecorder {
	req := httptest.NewRequest(method, path, strings.NewReader(body))
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, req)
	return rec
}

func newBook(t testing.TB, s store.Store) *usage.Ledger {
	t.Helper()
	cfg := configtest.Section[usage.Config]("usage")
	cfg.TokensPerHour = 1000
	b := usage.NewLedger(cfg, s, slog.New(slog.DiscardHandler), time.Now)
	b.SetPrices(usage.Prices{"tiny": {Prompt: 0.15, Completion: 0.6}})
	b.Attempt("default", "t", "evaluate", "tiny", true, memoryd.Usage{PromptTokens: 70, CompletionTokens: 7})
	b.Verdict(memoryd.ToolRef{Workspace: "default", Tool: "t"}, "rules")
	return b
}

// callOfTest is the call that TestEveryAnswerFitsItsDescription records with a
// time of its own.
var (
	timed = memoryd.Identity{
		ToolRef: memoryd.ToolRef{Workspace: "default", Tool: "t"}, Input: []byte(`"x"`), Output: "timed", CreateTime: "2025-01-01 00:00:00",
	}
	versionsOfTest = "/v1/workspaces/default/tools/t/guidelines"

	callOfTest  = "/v1/workspaces/default/tools/t/calls/" + timed.Key().String()
	unknownCall = "/v1/workspaces/default/tools/t/calls/00000000000000000000000000000000"
)

func TestEveryAnswerFitsItsDescription(t *testing.T) {
	if testing.Short() {
		t.Skip("asks one thing after the other: the race detector has nothing to see")
	}
	d := openapi(t)
	faults := storetest.NewFaults(mem.New(), nil)
	h := newHandler(t, faults)
	steps := []struct {
		method, path, body string
		status             int
		store              bool // it needs the store
	}{
		{"POST", "/add_tool_call_result", `{"tool_name":"t","tool_call_results":[{"output":"o","input":{"a":1},"metadata":{"x":1}},{"output":5},{"tool_name":"u","output":"later"}]}`, 200, true},
		{"POST", "/add_tool_call_result", `{"tool_name":"t","tool_call_results":[{"output":"again","input":"text","token_cost":3,"time_cost":0.5}],"include_history":false,"async":true}`, 200, true},
		{"POST", "/add_tool_call_result", `{"tool_name":"t","tool_call_results":[{"input":"x","output":"timed","create_time":"2025-01-01 00:00:00"}]}`, 200, true},
		{"POST", "/add_tool_call_result", `{"tool_call_results":[]}`, 200, false},
		{"POST", "/add_tool_call_result", `{"tool_name":"t","tool_call_results":[1]}`, 200, false},
		{"POST", "/add_tool_call_result", `{"tool_call_results":1}`, 422, false},
		{"POST", "/add_tool_call_result", strings.Repeat(" ", 2<<20), 413, false},
		{"POST", "/summary_tool_memory", `{"tool_names":"t,u,nobody"}`, 200, true},
		{"POST", "/summary_tool_memory", `{"tool_names":"t"}`, 200, true},
		{"POST", "/summary_tool_memory", `{"tool_names":"fails","force":true}`, 200, true},
		{"POST", "/summary_tool_memory", `{}`, 422, false},
		{"POST", "/retrieve_tool_memory", `{"tool_names":["t","u","nobody"]}`, 200, true},
		{"POST", "/retrieve_tool_memory", `{"tool_names":""}`, 200, false},
		{"POST", "/retrieve_tool_memory", `nonsense`, 422, false},
		{"GET", "/health", "", 200, false},
		{"GET", "/livez", "", 200, false},
		{"GET", "/metrics", "", 200, false},
		{"GET", "/readyz", "", 200, true},
		{"GET", "/openapi.json", "", 200, false},
		{"GET", "/v1/workspaces", "", 200, true},
		{"GET", "/v1/workspaces?limit=0", "", 422, false},
		{"GET", "/v1/workspaces?cursor=%21", "", 404, false},
		{"GET", "/v1/workspaces/default/tools?limit=1", "", 200, true},
		{"GET", "/v1/workspaces/default/tools?name=t", "", 200, true},
		{"GET", "/v1/workspaces/none/tools", "", 404, true},
		{"GET", "/v1/workspaces/none/tools?name=t", "", 404, true},
		{"GET", "/v1/workspaces/default/tools?name=none", "", 200, true},
		{"GET", "/v1/workspaces/default/tools/t", "", 200, true},
		{"GET", "/v1/workspaces/default/tools/none", "", 404, true},
		{"POST", "/v1/snapshot", "", 200, false},
		{"POST", "/v1/snapshot", `{"workspace_id":"default"}`, 200, true},
		{"POST", "/v1/snapshot", `{"workspace_id":"none"}`, 404, true},
		{"POST", "/v1/snapshot", `{"workspace_id":1}`, 422, false},
		{"GET", "/v1/workspaces/default/tools?query=t+calls", "", 200, true},
		{"GET", "/v1/workspaces/default/tools?query=t&cursor=dA", "", 422, false},
		{"GET", "/v1/workspaces/default/tools/t/calls?limit=1", "", 200, true},
		{"GET", "/v1/workspaces/default/tools/none/calls", "", 404, true},
		{"GET", callOfTest, "", 200, true},
		{"GET", "/v1/workspaces/default/tools/t/calls/0123", "", 422, false},
		{"PUT", callOfTest + "/evaluation", `{"score":0.5,"by":"ann","evaluation":"seen"}`, 200, true},
		{"PUT", callOfTest + "/evaluation", `{"score":0.7}`, 422, false},
		{"PUT", callOfTest + "/evaluation", `{"score":"high"}`, 422, false},
		{"PUT", unknownCall + "/evaluation", `{"score":1}`, 404, true},
		{"DELETE", callOfTest + "/evaluation", "", 200, true},
		{"DELETE", callOfTest + "/evaluation", "", 409, true},
		{"GET", "/v1/workspaces/default/overview", "", 200, false},
		{"GET", "/v1/workspaces/default/overview?by=luck", "", 422, false},
		{"GET", "/v1/workspaces/default/calls?limit=1&verdict=good", "", 200, false},
		{"GET", "/v1/workspaces/default/calls?cursor=dA", "", 404, false},
		{"GET", "/v1/workspaces/default/runs/a%2Fb", "", 200, true},
		{"GET", "/v1/workspaces/default/runs", "", 200, false},
		{"GET", "/v1/sources", "", 200, false},
		{"GET", "/v1/workspaces/default/corrections", "", 200, true},
		{"POST", "/vector_store", `{"action":"list"}`, 200, true},
		{"POST", "/vector_store", `{"action":"dump","path":"x"}`, 200, true},
		{"POST", "/vector_store", `{"action":"load","path":"x"}`, 200, true},
		{"POST", "/vector_store", `{"action":"load","path":"../x"}`, 200, false},
		{"POST", "/vector_store", `{"action":"copy","workspace_id":"c","src_workspace_id":"default"}`, 200, true},
		{"POST", "/vector_store", `{"action":"delete_ids","workspace_id":"c","memory_ids":["0"]}`, 200, true},
		{"POST", "/vector_store", `{"action":"delete","workspace_id":"c"}`, 200, true},
		{"POST", "/vector_store", `{"action":"explode"}`, 200, false},
		{"POST", "/vector_store", `{"workspace_id":"c"}`, 422, false},
		{"POST", "/preflight_tool_call", `{"tool_name":"t","input":{"a":1}}`, 200, true},
		{"POST", "/preflight_tool_call", `{"tool_name":"never seen","input":"x"}`, 200, true},
		{"POST", "/preflight_tool_call", `{"tool_name":""}`, 200, false},
		{"POST", "/preflight_tool_call", `{"input":"x"}`, 422, false},
		{"POST", "/preflight_tool_call", `{"tool_name":"t","input":5}`, 422, false},
		{"GET", versionsOfTest, "", 200, true},
		{"GET", versionsOfTest + "/1", "", 200, true},
		{"GET", versionsOfTest + "/1?with=0", "", 200, true},
		{"GET", versionsOfTest + "/1?with=99", "", 404, true},
		{"GET", versionsOfTest + "/1?with=x", "", 422, false},
		{"GET", versionsOfTest + "/99", "", 404, true},
		{"GET", versionsOfTest + "/x", "", 422, false},
		{"PUT", versionsOfTest, `{"decision":"pin","revision":1,"by":"ann"}`, 200, true},
		{"PUT", versionsOfTest, `{"decision":"pin"}`, 422, false},
		{"PUT", versionsOfTest, `{"decision":"pin","revision":0}`, 422, false},
		{"PUT", versionsOfTest, `{"decision":"burn","revision":1}`, 422, false},
		{"PUT", versionsOfTest, `{"revision":1}`, 422, false},
		{"PUT", versionsOfTest, `{"decision":"pin","revision":99}`, 404, true},
		{"PUT", versionsOfTest, `{"decision":"unpin","revision":1}`, 422, false},
		{"PUT", versionsOfTest, `{"decision":"unpin"}`, 204, true},
		{"PUT", versionsOfTest, `{"decision":"roll_back","revision":1}`, 409, true},
		{"PUT", versionsOfTest, `{"decision":"roll_back","revision":99,"by":"ann"}`, 404, true},
		{"GET", versionsOfTest + "/lines", "", 200, true},
		{"POST", versionsOfTest + "/lines", `{"section":"Best Practices","text":"Be kind.","by":"ann"}`, 200, true},
		{"POST", versionsOfTest + "/lines", `{"text":"Be kind."}`, 422, false},
		{"PUT", versionsOfTest + "/lines/item-0", `{"decision":"set","text":"Be kind."}`, 404, true},
		{"PUT", versionsOfTest + "/lines/item-0", `{"decision":"set","text":" "}`, 422, false},
		{"PUT", versionsOfTest + "/lines/item-0", `{"decision":"set"}`, 422, false},
		{"PUT", versionsOfTest + "/lines/item-0", `{"text":"Be kind."}`, 422, false},
		{"PUT", versionsOfTest + "/lines/item-0", `{"decision":"remove","text":"Be kind."}`, 422, false},
		{"PUT", versionsOfTest + "/lines/item-0", `{"decision":"remove","by":"ann"}`, 404, true},
		{"PUT", versionsOfTest + "/lines/item-0", `{"decision":"undo"}`, 404, true},
		{"PUT", versionsOfTest + "/lines/none", `{"decision":"wait"}`, 404, true},
		{"PUT", versionsOfTest + "/lines/none", `{"decision":"perhaps"}`, 422, false},
		{"GET", "/v1/spend", "", 200, true},
		{"GET", "/v1/spend?workspace=default&hours=48", "", 200, true},
		{"GET", "/v1/spend?hours=0", "", 422, false},
		{"POST", "/compact_conversation", conversationBody(`,"force":true,"target_tokens":300`), 200, false},
		{"POST", "/compact_conversation", conversationBody(`,"profile":"forge","messages_old_threshold":5`), 200, false},
		{"POST", "/compact_conversation", `{"messages":[]}`, 200, false},
		{"POST", "/compact_conversation", `{"messages":5}`, 422, false},
		{"POST", "/compact_conversation", `{}`, 422, false},
		{"POST", "/compact_conversation", conversationBody(`,"profile":"none"`), 422, false},
		{"POST", "/compact_conversation", conversationBody(`,"overrides":{"no_such":1}`), 422, false},
		{"POST", "/compact_conversation", `{"messages":[`, 422, false},
		{"GET", "/v1/workspaces/default/originals?conversation_id=none&query=x", "", 404, false},
		{"GET", "/v1/workspaces/default/originals?query=x", "", 422, false},
		{"GET", "/v1/workspaces/default/originals/o_00000000000000000000", "", 404, false},
		{"GET", "/v1/workspaces/default/originals/nonsense", "", 422, false},
		{"GET", "/v1/workspaces/default/originals/o_00000000000000000000?offset=x", "", 422, false},
		{"POST", "/v1/workspaces/default/originals/c_00000000000000000000/undo", "", 404, false},
		{"POST", "/v1/workspaces/default/originals/o_00000000000000000000/undo", "", 422, false},
	}
	for _, s := range steps {
		rec := ask(h, s.method, s.path, s.body)
		if rec.Code != s.status {
			t.Errorf("%s %s %.60s: %d, want %d: %s", s.method, s.path, s.body, rec.Code, s.status, rec.Body)
			continue
		}
		d.checkAnswer(t, s.method, described(s.path), rec)
	}
	faults.Fail = func(string, storetest.Stage) error {
		return &memoryd.Error{Kind: memoryd.Unavailable, Msg: "the disk is full", Err: io.ErrShortWrite}
	}
	for _, s := range steps {
		if !s.store {
			continue
		}
		rec := ask(h, s.method, s.path, s.body)
		if rec.Code != 503 {
			t.Errorf("%s %s with the store down: %d %s", s.method, s.path, rec.Code, rec.Body)
		}
		if s.path != "/readyz" && rec.Header().Get("Retry-After") == "" {
			t.Errorf("%s: no Retry-After", s.path)
		}
		if strings.Contains(rec.Body.String(), "short write") {
			t.Errorf("%s shows inner detail: %s", s.path, rec.Body)
		}
		d.checkAnswer(t, s.method, described(s.path), rec)
	}
}

// described is the path as the document writes it.
func described(path string) string {
	path, _, _ = strings.Cut(path, "?")
	parts := strings.Split(path, "/")
	names := map[int]string{3: "{workspace}", 5: "{tool}", 7: "{call}"}
	if parts[1] == "v1" && parts[2] != "workspaces" {
		return path
	}
	if len(parts) > 7 && parts[6] == "pending" {
		names[7] = "{statement}"
	} else if len(parts) > 8 && parts[7] == "lines" {
		delete(names, 7)
		names[8] = "{line}"
	} else if len(parts) > 7 && parts[6] == "guidelines" && parts[7] != "lines" {
		names[7] = "{revision}"
	} else if len(parts) > 7 && parts[6] == "guidelines" {
		delete(names, 7)
	}
	if len(parts) > 4 && parts[4] == "runs" {
		names = map[int]string{3: "{workspace}", 5: "{run}"}
	}
	if len(parts) > 4 && parts[4] == "originals" {
		names = map[int]string{3: "{workspace}", 5: "{original}"}
	}
	for i, name := range names {
		if i < len(parts) && parts[1] == "v1" {
			parts[i] = name
		}
	}
	return strings.Join(parts, "/")
}

func TestDocumentedRequestsAreAccepted(t *testing.T) {
	d := openapi(t)
	h := newHandler(t, mem.New())
	bodies := map[string][]string{
		"/add_tool_call_result": {
			`{"workspace_id":"w","tool_name":"t","tool_call_results":[{"tool_name":"t","input":{},"output":"","success":false,"time_cost":1,"token_cost":-1,"create_time":"2025-01-01T00:00:00Z","metadata":{},"summary":"","evaluation":"","score":0,"call_hash":"h","is_summarized":true}],"async":false,"include_history":true}`,
		},
		"/vector_store":         {`{"action":"list","workspace_id":"w"}`},
		"/preflight_tool_call":  {`{"workspace_id":"w","tool_name":"t","input":{"a":[1,"x"]}}`, `{"tool_name":"t"}`},
		"/summary_tool_memory":  {`{"workspace_id":"w","tool_names":"t","force":true}`, `{"workspace_id":"w","tool_names":["t"]}`},
		"/retrieve_tool_memory": {`{"workspace_id":"w","tool_names":["t"],"max_tokens":50,"include_history":false,"include_calls":1}`},
	}
	for _, path := range slices.Sorted(maps.Keys(bodies)) {
		for _, body := range bodies[path] {
			schema := d.Paths[path]["post"].RequestBody.Content["application/json"].Schema
			if err := d.validate(t, schema, []byte(body)); err != nil {
				t.Errorf("%s: the request does not fit its description: %v", path, err)
			}
			if rec := ask(h, "POST", path, body); rec.Code != 200 || !strings.Contains(rec.Body.String(), `"success":true`) {
				t.Errorf("%s: %d %s", path, rec.Code, rec.Body)
			}
		}
	}
}

// pages are for people and their browsers, and no part of the described interface.
var pages = map[string]bool{"GET /": true, "GET /docs": true, "GET /ui/login": true, "POST /ui/login": true, "POST /ui/logout": true}

var pathVariable = regexp.MustCompile(`:([a-z]+)`)

func TestEveryRouteIsDescribedAndEveryDescriptionIsServed(t *testing.T) {
	d := openapi(t)
	h := newHandler(t, mem.New())
	served := map[string]bool{}
	for _, route := range routesOf(h) {
		served[strings.ToLower(route.method)+pathVariable.ReplaceAllString(route.path, "{$1}")] = true
	}
	for path, methods := range d.Paths {
		for method := range methods {
			if !served[method+path] {
				t.Errorf("%s %s is described and not served", method, path)
			}
		}
	}
	for _, route := range routesOf(h) {
		if pages[route.method+" "+route.path] {
			continue
		}
		path := pathVariable.ReplaceAllString(route.path, "{$1}")
		described, ok := d.Paths[path][strings.ToLower(route.method)]
		if !ok {
			t.Errorf("%s %s is served and not described", route.method, route.path)
			continue
		}
		for _, status := range []string{"401", "403", "421"} {
			_, ok := described.Responses[status]
			if public := publicRoutes[route.method+" "+route.path]; !ok && (!public || status == "421") {
				t.Errorf("%s %s does not describe %s", route.method, route.path, status)
			}
		}
	}
}
