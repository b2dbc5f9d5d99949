package api

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"strings"
	"testing"

	"memoryd"
	"memoryd/api/wire"
	"memoryd/internal/access"
	"memoryd/internal/telemetry/metrics"
	"memoryd/store"
	"memoryd/store/mem"
)

var publicRoutes = map[string]bool{
	"GET /health": true, "GET /livez": true, "GET /readyz": true, "GET /metrics": true, "GET /openapi.json": true, "GET /docs": true, "GET /": true,
	"GET /ui/login": true, "POST /ui/login": true, "POST /ui/logout": true,
}

// TestEveryRouteDeclaresItsRole is what keeps a new route from being open to all
// by accident.
func TestEveryRouteDeclaresItsRole(t *testing.T) {
	s := newServer(testConfig(), Deps{})
	for _, e := range s.endpoints() {
		name := e.method + " " + e.path
		if e.role == 0 {
			t.Errorf("%s declares no role", name)
		}
		if open := e.role&access.Public != 0; open != publicRoutes[name] {
			t.Errorf("%s: open to everybody: %v", name, open)
		}
	}
}

func TestOnlyOwnHostsAreAnswered(t *testing.T) {
	h := newHandler(t, mem.New())
	send := func(method, path, host, origin string) *httptest.ResponseRecorder {
		req := httptest.NewRequest(method, path, strings.NewReader(`{"action":"delete"}`))
		req.Host = host
		if origin != "" {
			req.Header.Set("Origin", origin)
			req.Header.Set("Sec-Fetch-Site", "same-origin")
		}
		addr := net.TCPAddrFromAddrPort(netip.MustParseAddrPort("10.1.2.3:8002"))
		req = req.WithContext(context.WithValue(req.Context(), http.LocalAddrContextKey, addr))
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, req)
		return rec
	}
	// S6: a page of a site whose name leads here deleted a workspace.
	if rec := send("POST", "/vector_store", "evil.example:8002", "http://evil.example:8002"); rec.Code != 421 || !strings.Contains(rec.Body.String(), `"success":false`) {
		t.Errorf("S6: %d %s", rec.Code, rec.Body)
	}
	for _, r := range routesOf(h) {
		for _, host := range []string{"evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "10.1.2.4", "", "a b", "evil.example:127.0.0.1"} {
			if rec := send(r.method, strings.ReplaceAll(r.path, ":", ""), host, ""); rec.Code != 421 {
				t.Errorf("%s %s for %q: %d", r.method, r.path, host, rec.Code)
			}
		}
	}
	if rec := send("GET", "/no/such/route", "evil.example", ""); rec.Code != 421 {
		t.Errorf("an unknown route: %d", rec.Code)
	}
	for _, host := range []string{"localhost", "LOCALHOST:8002", "localhost.", "127.0.0.1:1", "127.8.8.8", "[::1]:8002", "[::ffff:127.0.0.1]", "10.1.2.3:8002", "example.com:99", "EXAMPLE.com."} {
		if rec := send("GET", "/health", host, ""); rec.Code != 200 {
			t.Errorf("%q: %d %s", host, rec.Code, rec.Body)
		}
	}
}

// guarded is a server that asks for keys, over a store that holds the same in the
// workspaces mine and theirs; the keys are bound to mine.
type guarded struct {
	h      http.Handler
	keys   *access.Keys
	store  *mem.Store
	tokens map[string]string // by the name of the role
	callOf map[string]string // ids of calls, by workspace
}

var roles = map[string]access.Role{"record": access.Record, "read": access.Read, "curate": access.Curate, "admin": access.Admin}

// secret stands in every call of the other workspace and of no answer.
const secret = "a word that nobody of mine may see"

func newGuarded(t *testing.T) *guarded {
	t.Helper()
	g := &guarded{store: mem.New(), tokens: map[string]string{}, callOf: map[string]string{}}
	d := depsOver(t, g.store)
	open := New(testConfig(), d)
	for _, w := range []string{"mine", "theirs"} {
		output := "o"
		if w == "theirs" {
			output = secret
		}
		body := `{"workspace_id":"` + w + `","tool_name":"t","tool_call_results":[{"input":{"a":1},"output":"` + output + `"}]}`
		if rec := ask(open, "POST", "/add_tool_call_result", body); rec.Code != 200 {
			t.Fatal(rec.Body)
		}
		ask(open, "POST", "/summary_tool_memory", `{"workspace_id":"`+w+`","tool_names":"t"}`)
		calls := decode[wire.CallList](t, ask(open, "GET", "/v1/workspaces/"+w+"/tools/t/calls", "").Body.String())
		g.callOf[w] = calls.Calls[0].ID
	}
	g.callOf["absent"] = g.callOf["theirs"]
	d.KeysNeeded, d.Meter = true, metrics.New(metrics.Build{})
	g.h = New(testConfig(), d)
	g.keys = d.Keys
	for name, role := range roles {
		_, token, err := g.keys.Create(t.Context(), access.Wanted{Name: name, Roles: role, Workspaces: []string{"mine"}}, "test")
		if err != nil {
			t.Fatal(err)
		}
		g.tokens[name] = token
	}
	return g
}

func (g *guarded) ask(method, path, body, token string) *httptest.ResponseRecorder {
	req := httptest.NewRequest(method, path, strings.NewReader(body))
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	req.Header.Set("X-Request-Id", "r")
	rec := httptest.NewRecorder()
	g.h.ServeHTTP(rec, req)
	return rec
}

// requestOf is a request of a route that is about a workspace.
func (g *guarded) requestOf(r route, workspace string) (path, body string) {
	path = strings.NewReplacer(":workspace", workspace, ":tool", "t", ":call", g.callOf[workspace], ":revision", "1", ":kind", "0123456789abcdef", ":original", "nothing", ":key", "nobody").Replace(r.path)
	body = `{"workspace_id":"` + workspace + `","tool_name":"t","tool_names":"t","tool_call_results":[{"output":"p"}],"messages":[{"role":"user","content":"x"}],` +
		`"action":"list","input":{"a":1},"revision":1,"score":1,"decision":"accept","section":"Best Practices","text":"Be kind.","roles":["read"],"workspaces":["` + workspace + `"]}`
	return path, body
}

// ofTheServer are routes that are about no workspace, and answer a key that is bound
// to some 403.
var ofTheServer = map[string]bool{
	"GET /v1/spend": true, "GET /v1/sources": true, "GET /v1/keys": true, "POST /v1/keys": true, "POST /v1/keys/:key/rotate": true,
	"DELETE /v1/keys/:key": true, "GET /v1/audit": true,
}

// overviewRead is how far an overview is read in the background, which each request may find elsewhere.
var overviewRead = regexp.MustCompile(`"at":"[^"]*","reading":(?:true|false),`)

// TestEveryRouteForEveryRoleAndWorkspace tries each route without a key, with a wrong
// one, and with a key of each role for its own workspace, one of others, and one that
// does not exist: the last two cannot be told apart.
func TestEveryRouteForEveryRoleAndWorkspace(t *testing.T) {
	g := newGuarded(t)
	for _, e := range newServer(testConfig(), Deps{}).endpoints() {
		name := e.method + " " + e.path
		if publicRoutes[name] {
			continue
		}
		path, body := g.requestOf(route{e.method, e.path}, "mine")
		for _, token := range []string{"", "x", "mrd_x", g.tokens["admin"] + "0"} {
			rec := g.ask(e.method, path, body, token)
			if rec.Code != 401 || !strings.Contains(rec.Header().Get("WWW-Authenticate"), "Bearer") {
				t.Errorf("%s with the key %q: %d %s", name, token, rec.Code, rec.Body)
			}
		}
		for roleName, role := range roles {
			p := access.Principal{Roles: role}
			switch role {
			case access.Admin:
				p.Roles = access.Admin | access.Curate | access.Read | access.Record
			case access.Curate:
				p.Roles |= access.Read
			default:
			}
			own := g.ask(e.method, path, body, g.tokens[roleName])
			missing := e.role &^ access.Known &^ p.Roles
			switch {
			case missing != 0:
				if own.Code != 403 || !strings.Contains(own.Body.String(), "the role "+missing.String()) {
					t.Errorf("%s as %s: %d %s", name, roleName, own.Code, own.Body)
				}
			case ofTheServer[name]:
				if own.Code != 403 || !strings.Contains(own.Body.String(), "for all workspaces") {
					t.Errorf("%s as %s: %d %s", name, roleName, own.Code, own.Body)
				}
			case own.Code == 401 || own.Code == 403 || own.Code >= 500:
				t.Errorf("%s as %s: %d %s", name, roleName, own.Code, own.Body)
			}
			var answers [2]*httptest.ResponseRecorder
			for i, workspace := range []string{"theirs", "absent"} {
				path, body := g.requestOf(route{e.method, e.path}, workspace)
				answers[i] = g.ask(e.method, path, body, g.tokens[roleName])
			}
			foreign, absent := answers[0], answers[1]
			said := func(r *httptest.ResponseRecorder) string {
				return overviewRead.ReplaceAllString(strings.ReplaceAll(r.Body.String(), "theirs", "absent"), "")
			}
			sameBytes := foreign.Body.String() == absent.Body.String()
			if foreign.Code != absent.Code || said(foreign) != said(absent) || sameBytes && foreign.Header().Get("ETag") != absent.Header().Get("ETag") {
				t.Errorf("%s as %s: a foreign workspace is told from an absent one:\n%d %s\n%d %s", name, roleName, foreign.Code, foreign.Body, absent.Code, absent.Body)
			}
			if strings.Contains(foreign.Body.String(), secret) || strings.Contains(foreign.Body.String(), "x00") {
				t.Errorf("%s as %s tells of another workspace: %s", name, roleName, foreign.Body)
			}
		}
	}
	if names, err := g.store.ListWorkspaces(t.Context(), "", 10); err != nil || len(names) != 2 {
		t.Errorf("workspaces %q, %v: a key made one that it is not bound to", names, err)
	}
}

// TestWhoOnlyRecordsIsToldNothing of what others recorded.
func TestWhoOnlyRecordsIsToldNothing(t *testing.T) {
	g := newGuarded(t)
	const body = `{"workspace_id":"mine","tool_name":"t","tool_call_results":[{"output":"new"}]}`
	rec := g.ask("POST", "/add_tool_call_result", body, g.tokens["record"])
	m := decode[struct{ Metadata wire.AddMetadata }](t, rec.Body.String()).Metadata.MemoryList[0]
	if len(m.ToolCallResults) != 1 || m.Content != "" || m.Metadata.Statistics.TotalCalls != 0 {
		t.Errorf("%s", rec.Body)
	}
	id := strings.Split(g.tokens["record"], "_")[1]
	if stored, err := g.store.History(t.Context(), memoryd.ToolRef{Workspace: "mine", Tool: "t"}, 0); err != nil || stored[0].Source() != access.Local || stored[1].Source() != id {
		t.Errorf("who wrote the calls is not kept: %v", err)
	}
	rec = g.ask("POST", "/add_tool_call_result", body, g.tokens["admin"])
	if m = decode[struct{ Metadata wire.AddMetadata }](t, rec.Body.String()).Metadata.MemoryList[0]; len(m.ToolCallResults) != 3 || m.Content == "" {
		t.Errorf("%s", rec.Body)
	}
}

// TestActionsOnWholeMemoriesAreAnAdmins, within its workspaces.
func TestActionsOnWholeMemoriesAreAnAdmins(t *testing.T) {
	g := newGuarded(t)
	before, _ := g.store.Tool(t.Context(), memoryd.ToolRef{Workspace: "theirs", Tool: "t"})
	for _, action := range []string{"delete", "delete_ids", "copy", "dump", "load"} {
		body := `{"workspace_id":"mine","action":"` + action + `","src_workspace_id":"theirs","memory_ids":["` + before.MemoryID() + `"]}`
		if rec := g.ask("POST", "/vector_store", body, g.tokens["curate"]); rec.Code != 403 || !strings.Contains(rec.Body.String(), "admin") {
			t.Errorf("%s as curate: %d %s", action, rec.Code, rec.Body)
		}
		foreign := g.ask("POST", "/vector_store", strings.Replace(body, "mine", "theirs", 1), g.tokens["admin"])
		absent := g.ask("POST", "/vector_store", strings.Replace(body, "mine", "absent", 1), g.tokens["admin"])
		if foreign.Code != 404 || foreign.Body.String() != absent.Body.String() {
			t.Errorf("%s of a foreign workspace: %d %s; of an absent one: %d %s", action, foreign.Code, foreign.Body, absent.Code, absent.Body)
		}
	}
	copied := g.ask("POST", "/vector_store", `{"workspace_id":"mine","action":"copy","src_workspace_id":"theirs"}`, g.tokens["admin"])
	if strings.Contains(copied.Body.String(), `"size":1`) {
		t.Errorf("copied from a foreign workspace: %s", copied.Body)
	}
	load := g.ask("POST", "/vector_store", `{"workspace_id":"mine","action":"load","path":"theirs.jsonl"}`, g.tokens["admin"])
	if load.Code != 403 {
		t.Errorf("loaded another workspace's dump: %d %s", load.Code, load.Body)
	}
	if after, err := g.store.Tool(t.Context(), before.ToolRef); err != nil || after != before {
		t.Errorf("the foreign workspace changed: %v", err)
	}
}

func TestKeysAreMadeListedRotatedAndRevokedByTheAPI(t *testing.T) {
	g := newGuarded(t)
	d := openapi(t)
	root, err := g.keys.First(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	ask := func(method, path, template, body string, status int) string {
		rec := g.ask(method, path, body, root)
		if rec.Code != status {
			t.Errorf("%s %s %s: %d %s", method, path, body, rec.Code, rec.Body)
		}
		d.checkAnswer(t, method, template, rec)
		return rec.Body.String()
	}
	const keys, one, rotate = "/v1/keys", "/v1/keys/{key}", "/v1/keys/{key}/rotate"
	made := decode[wire.NewKey](t, ask("POST", keys, keys, `{"name":"ci","roles":["record","read"],"workspaces":["mine"],"expires":"2199-01-01T00:00:00Z","rate":5000}`, 200))
	if rec := g.ask("GET", "/v1/workspaces/mine/tools", "", made.Token); rec.Code != 200 {
		t.Errorf("the new key: %d %s", rec.Code, rec.Body)
	}
	if list := ask("GET", keys, keys, "", 200); !strings.Contains(list, `"created_by":"first"`) || strings.Contains(list, made.Token[20:]) || strings.Contains(list, "sha256") {
		t.Errorf("%s", list)
	}
	again := decode[wire.NewKey](t, ask("POST", keys+"/"+made.Key.ID+"/rotate", rotate, `{}`, 200))
	if rec := g.ask("GET", "/v1/session", "", made.Token); rec.Code != 401 {
		t.Errorf("the old token: %d", rec.Code)
	}
	if rec := g.ask("GET", "/v1/session", "", again.Token); rec.Code != 200 || !strings.Contains(rec.Body.String(), `"source":"`+made.Key.ID+`"`) {
		t.Errorf("the new token: %d %s", rec.Code, rec.Body)
	}
	ask("DELETE", keys+"/"+made.Key.ID, one, "", 200)
	if rec := g.ask("GET", "/v1/session", "", again.Token); rec.Code != 401 {
		t.Errorf("a revoked key: %d", rec.Code)
	}
	if answer := ask("POST", keys, keys, `{"roles":["read"],"workspaces":["a"],"expires":"2001-01-01T00:00:00Z"}`, 409); !strings.Contains(answer, "must be in the future") {
		t.Errorf("a past end: %s", answer)
	}
	for body, want := range map[string]string{
		`{"workspaces":["a"]}`: "roles", `{"roles":["root"],"workspaces":["a"]}`: "root", `{"roles":["read"]}`: "workspaces",
		`{"roles":["read"],"workspaces":[]}`: "workspaces", `{"roles":["read"],"workspaces":["a"],"expires":"soon"}`: "expires",
		`{"roles":["read"],"workspaces":["a"],"rate":-1}`: "rate",
	} {
		if answer := ask("POST", keys, keys, body, 422); !strings.Contains(answer, want) {
			t.Errorf("%s: %s", body, answer)
		}
	}
	ask("POST", keys+"/nobody/rotate", rotate, "", 404)
	ask("DELETE", keys+"/nobody", one, "", 404)
	log := ask("GET", "/v1/audit", "/v1/audit", "", 200)
	for _, want := range []string{`"action":"key.create"`, `"action":"key.rotate"`, `"action":"key.revoke"`, `"outcome":"failed"`, `"source":"first"`} {
		if !strings.Contains(log, want) {
			t.Errorf("the audit log has no %s: %s", want, log)
		}
	}
	if strings.Contains(log, made.Token[20:]) || strings.Contains(log, again.Token[20:]) {
		t.Error("the audit log holds a key")
	}
	var chain access.Chain
	for _, e := range decode[wire.AuditList](t, log).Entries {
		if err := chain.Add(e); err != nil {
			t.Errorf("as it is answered the log cannot be verified: %v", err)
		}
	}
}

// TestDecisionsAreInTheAuditLog: corrections, pins and whatever moves memories.
func TestDecisionsAreInTheAuditLog(t *testing.T) {
	g := newGuarded(t)
	tool := "/v1/workspaces/mine/tools/t"
	for _, r := range [][3]string{
		{"PUT", tool + "/calls/" + g.callOf["mine"] + "/evaluation", `{"score":0}`},
		{"PUT", tool + "/guidelines", `{"decision":"pin","revision":1}`},
		{"PUT", tool + "/guidelines", `{"decision":"unpin"}`},
		{"PUT", tool + "/guidelines", `{"decision":"roll_back","revision":1}`},
		{"POST", "/v1/snapshot", `{"workspace_id":"mine"}`},
		{"POST", "/vector_store", `{"workspace_id":"mine","action":"dump"}`},
		{"POST", "/vector_store", `{"workspace_id":"mine","action":"load"}`},
		{"POST", "/vector_store", `{"workspace_id":"mine","action":"delete"}`},
	} {
		g.ask(r[0], r[1], r[2], g.tokens["admin"])
	}
	done := map[string]bool{}
	for r, err := range store.AllRecords(t.Context(), g.store, store.RecordKey{Kind: access.AuditKind}) {
		var e access.Entry
		if err != nil || json.Unmarshal(r.Data, &e) != nil || e.Workspace != "mine" || e.Source == access.Local {
			t.Errorf("%s, %v", r.Data, err)
		}
		done[e.Action] = true
	}
	for _, action := range []string{"correct", "pin", "unpin", "rollback", "export", "dump", "load", "delete"} {
		if !done[action] {
			t.Errorf("%s left no trace", action)
		}
	}
	if n, err := access.VerifyAudit(t.Context(), g.store); err != nil || n < 8 {
		t.Errorf("%d entries, %v", n, err)
	}
}

// TestWhateverNeedsACuratorOrAnAdminLeavesATrace holds new routes to it.
func TestWhateverNeedsACuratorOrAnAdminLeavesATrace(t *testing.T) {
	g := newGuarded(t)
	root, err := g.keys.First(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	decisions := map[string]string{"/guidelines": "unpin", "/guidelines/lines/:line": "remove"}
	for _, e := range newServer(testConfig(), Deps{}).endpoints() {
		if e.role&(access.Curate|access.Admin) == 0 || e.method == "GET" {
			continue
		}
		before, err := access.VerifyAudit(t.Context(), g.store)
		if err != nil {
			t.Fatal(err)
		}
		path, body := g.requestOf(route{e.method, e.path}, "mine")
		if decision := decisions[strings.TrimPrefix(e.path, "/v1/workspaces/:workspace/tools/:tool")]; decision != "" && e.method == "PUT" {
			body = `{"decision":"` + decision + `"}`
		}
		rec := g.ask(e.method, path, body, root)
		if after, err := access.VerifyAudit(t.Context(), g.store); err != nil || after == before {
			t.Errorf("%s %s left no trace: %v, %d %s", e.method, e.path, err, rec.Code, rec.Body)
		}
	}
}

func TestABrowserLogsInWithAKey(t *testing.T) {
	g := newGuarded(t)
	form := func(key string, tls bool) *httptest.ResponseRecorder {
		target := "http://example.com/ui/login"
		if tls {
			target = "https://example.com/ui/login"
		}
		req := httptest.NewRequest("POST", target, strings.NewReader("key="+key))
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		rec := httptest.NewRecorder()
		g.h.ServeHTTP(rec, req)
		return rec
	}
	if rec := form("mrd_x_y", false); rec.Code != 401 || len(rec.Result().Cookies()) != 0 || !strings.Contains(rec.Body.String(), "not valid") {
		t.Errorf("a wrong key: %d %s", rec.Code, rec.Body)
	}
	for _, tls := range []bool{false, true} {
		rec := form(g.tokens["read"], tls)
		cookies := rec.Result().Cookies()
		if rec.Code != 303 || len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteStrictMode || cookies[0].Secure != tls ||
			strings.Contains(cookies[0].Value, g.tokens["read"][20:]) {
			t.Fatalf("%d %v", rec.Code, cookies)
		}
		req := httptest.NewRequest("GET", "/v1/session", nil)
		req.AddCookie(cookies[0])
		rec = httptest.NewRecorder()
		if g.h.ServeHTTP(rec, req); rec.Code != 200 || !strings.Contains(rec.Body.String(), `"roles":["read"]`) {
			t.Errorf("with the cookie: %d %s", rec.Code, rec.Body)
		}
		req = httptest.NewRequest("POST", "/add_tool_call_result", strings.NewReader(`{}`))
		req.AddCookie(cookies[0])
		rec = httptest.NewRecorder()
		if g.h.ServeHTTP(rec, req); rec.Code != 403 {
			t.Errorf("a session may more than its key: %d %s", rec.Code, rec.Body)
		}
	}
}

// TestWithoutKeysAGoodKeyStillTellsWhoIsThere, and a bad one is refused.
func TestWithoutKeysAGoodKeyStillTellsWhoIsThere(t *testing.T) {
	s := mem.New()
	d := depsOver(t, s)
	h := New(testConfig(), d)
	if err := d.Keys.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	key, token, err := d.Keys.Create(t.Context(), access.Wanted{Roles: access.Read}, "test")
	if err != nil {
		t.Fatal(err)
	}
	g := guarded{h: h}
	for token, want := range map[string]string{"": `"source":"local"`, "anything": `"source":"local"`, token: `"source":"` + key.ID + `"`, token + "0": "not valid"} {
		if rec := g.ask("GET", "/v1/session", "", token); !strings.Contains(rec.Body.String(), want) {
			t.Errorf("%q: %d %s", token, rec.Code, rec.Body)
		}
	}
}
