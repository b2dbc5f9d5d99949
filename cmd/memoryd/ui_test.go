package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"memoryd/api/ui"
	"memoryd/config"
	"memoryd/internal/access"
)

// pages asks the dashboard, without a network, and holds its answers to what every
// page promises.
type pages struct {
	*testing.T
	app   *app
	token string
}

// newPages is a dashboard over a store in memory; with keys, callers need one.
func newPages(t *testing.T, keys string) *pages {
	t.Helper()
	cfg, err := config.Parse(nil, "test", nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Store.Backend, cfg.HTTP.Listen, cfg.HTTP.Keys = config.BackendMem, "127.0.0.1:0", keys
	a, err := newApp(t.Context(), cfg, os.Getenv, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Stop(context.Background()) })
	return &pages{T: t, app: a}
}

// record adds the recorded calls of the demonstration.
func (p *pages) record() {
	p.Helper()
	packed, err := sample.ReadFile("demo/calls.jsonl.gz")
	if err != nil {
		p.Fatal(err)
	}
	zr, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		p.Fatal(err)
	}
	lines, err := io.ReadAll(zr)
	if err != nil {
		p.Fatal(err)
	}
	all := slices.Collect(bytes.Lines(bytes.TrimSpace(lines)))
	for part := range slices.Chunk(all, 1000) {
		p.api("POST", "/add_tool_call_result", `{"include_history":false,"tool_call_results":[`+string(bytes.Join(part, []byte(",")))+`]}`, 200)
	}
	p.api("POST", "/summary_tool_memory", `{"tool_names":"book_reservation"}`, 200)
}

func (p *pages) ask(method, path, body, contentType string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://127.0.0.1:8002"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", contentType)
	r.Header.Set("Accept", "text/html")
	if p.token != "" {
		r.Header.Set("Authorization", "Bearer "+p.token)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	rec := httptest.NewRecorder()
	p.app.handler.ServeHTTP(rec, r)
	return rec
}

func (p *pages) api(method, path, body string, status int) string {
	p.Helper()
	rec := p.ask(method, path, body, "application/json")
	if rec.Code != status {
		p.Fatalf("%s %s: %d %.300s", method, path, rec.Code, rec.Body)
	}
	return rec.Body.String()
}

// get opens a view.
func (p *pages) get(path string, status int) string {
	p.Helper()
	rec := p.ask("GET", path, "", "")
	if rec.Code != status {
		p.Errorf("%s: %d, want %d: %.400s", path, rec.Code, status, rec.Body)
	}
	if policy := rec.Header().Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'") || rec.Header().Get("Cache-Control") != "no-store" {
		p.Errorf("%s: policy %q, Cache-Control %q", path, policy, rec.Header().Get("Cache-Control"))
	}
	page := rec.Body.String()
	for _, fault := range faultsOf(page) {
		p.Errorf("%s: %s", path, fault)
	}
	return page
}

// seen opens a view once the survey has read the workspace.
func (p *pages) seen(path, want string) string {
	p.Helper()
	for end := time.Now().Add(10 * time.Second); ; {
		page := p.get(path, 200)
		if strings.Contains(page, want) {
			return page
		}
		if time.Now().After(end) {
			p.Fatalf("%s never showed %q:\n%.3000s", path, want, page)
		}
	}
}

// post sends a form, and opens the page that it leads to.
func (p *pages) post(path string, status int, pairs ...string) string {
	p.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	rec := p.ask("POST", path, form.Encode(), "application/x-www-form-urlencoded")
	if rec.Code != status {
		p.Fatalf("%s %v: %d, want %d: %.600s", path, pairs, rec.Code, status, rec.Body)
	}
	if status == http.StatusSeeOther {
		return p.get(rec.Header().Get("Location"), 200)
	}
	return rec.Body.String()
}

// undo presses the button of the notice.
func (p *pages) undo(page string) string {
	p.Helper()
	found := regexp.MustCompile(`(?s)<div class="said".*?action="([^"]+)">(.*?)<button>Undo`).FindStringSubmatch(page)
	if found == nil {
		p.Fatalf("nothing can be undone:\n%.1500s", page)
	}
	var pairs []string
	for _, f := range regexp.MustCompile(`name="([^"]*)" value="([^"]*)"`).FindAllStringSubmatch(found[2], -1) {
		pairs = append(pairs, f[1], html.UnescapeString(f[2]))
	}
	return p.post(found[1], http.StatusSeeOther, pairs...)
}

var (
	tag     = regexp.MustCompile(`<(/?)([a-z][a-z0-9]*)((?:"[^"]*"|[^">])*)>`)
	tagID   = regexp.MustCompile(` id="([^"]*)"`)
	tagRefs = regexp.MustCompile(` (?:for|aria-labelledby|list)="([^"]*)"`)
	void    = []string{"area", "base", "br", "hr", "img", "input", "link", "meta", "rect", "line", "path"}
)

// faultsOf says what is not well-formed in a page: tags that are not closed, ids that
// are there twice, references that lead nowhere, forms without a workspace.
func faultsOf(page string) (faults []string) {
	var open []string
	ids := map[string]bool{}
	for _, m := range tag.FindAllStringSubmatch(page, -1) {
		closing, name, attributes := m[1] != "", m[2], m[3]
		if id := tagID.FindStringSubmatch(attributes); id != nil {
			if ids[id[1]] {
				faults = append(faults, "the id "+id[1]+" is there twice")
			}
			ids[id[1]] = true
		}
		switch {
		case closing && (len(open) == 0 || open[len(open)-1] != name):
			return append(faults, fmt.Sprintf("</%s> closes %v", name, open))
		case closing:
			open = open[:len(open)-1]
		case !slices.Contains(void, name) && !strings.HasSuffix(attributes, "/"):
			open = append(open, name)
		}
	}
	for _, ref := range tagRefs.FindAllStringSubmatch(page, -1) {
		if !ids[ref[1]] {
			faults = append(faults, "there is no id "+ref[1])
		}
	}
	for _, form := range regexp.MustCompile(`(?s)<form[^>]*method="post"[^>]*>.*?</form>`).FindAllString(page, -1) {
		if !strings.Contains(form, `name="w"`) && !strings.Contains(form, "/ui/logout") {
			faults = append(faults, "a form without a workspace: "+form[:60])
		}
	}
	if len(open) > 0 {
		faults = append(faults, fmt.Sprintf("%v are not closed", open))
	}
	return faults
}

func TestEachViewOfTheDashboardShowsRecordings(t *testing.T) {
	oneByOne(t)
	p := newPages(t, "off")
	p.record()
	calls := p.seen("/ui/calls?t=book_reservation&verdict=failed", "data-row")
	key := regexp.MustCompile(`id="c([0-9a-f]{32})"`).FindStringSubmatch(calls)[1]
	for path, want := range map[string]string{
		"/ui/":                                                  "What costs most",
		"/ui/?by=time":                                          "did they fail?",
		"/ui/tools":                                             "update_reservation_flights",
		"/ui/tools?sort=name&q=book":                            "1 tool",
		"/ui/tools?q=nothing-is-called-so":                      "No tool matches",
		"/ui/tool?t=book_reservation":                           "Results since version 1",
		"/ui/versions?t=book_reservation":                       "What changed",
		"/ui/calls?verdict=failed&judge=rules":                  "calls",
		"/ui/calls?q=gift+card":                                 "were searched",
		"/ui/call?t=book_reservation&k=" + key:                  "Why this score",
		"/ui/run?run=airline%230/task11/trial2":                 "Run",
		"/ui/review":                                            "Outputs that the judge is unsure of",
		"/ui/forecast?t=book_reservation&p.user_id=mia_li_3668": "Risk of failure",
		"/ui/forecast?t=book_reservation&input=%7B":             "not valid JSON",
		"/ui/compaction":                                        "conversation",
		"/ui/judge":                                             "rules",
		"/ui/spend":                                             "Spend",
		"/ui/sources":                                           "api",
		"/ui/live":                                              "Live",
		"/ui/workspaces":                                        "max_history_tool_call_cnt",
		"/ui/tools?after":                                       "book_reservation",
	} {
		page := p.get(path, 200)
		for range 100 { // a page looks for questions in a bounded time alone, in which a busy machine reads few tools
			if strings.Contains(page, want) {
				break
			}
			page = p.get(path, 200)
		}
		if !strings.Contains(page, want) {
			t.Errorf("%s does not show %q:\n%.2000s", path, want, page)
		}
	}
	for _, r := range ui.Routes() {
		if r.Method == "GET" && r.Path != "/ui/export" {
			rec := p.ask("GET", r.Path+"?t=book_reservation&run=x&k="+key, "", "", "Accept-Encoding", "gzip")
			if rec.Code != 200 || rec.Body.Len() > 300<<10 {
				t.Errorf("%s: %d, %d bytes on the wire", r.Path, rec.Code, rec.Body.Len())
			}
		}
	}
	if rec := p.ask("GET", "/ui/export?w=default", "", ""); rec.Code != 200 || !strings.Contains(rec.Header().Get("Content-Disposition"), "memoryd-default.jsonl") || bytes.Count(rec.Body.Bytes(), []byte("\n")) < 100 {
		t.Errorf("the export: %d %s, %d bytes", rec.Code, rec.Header().Get("Content-Disposition"), rec.Body.Len())
	}
}

// The live view shows the newest call and asks for itself again, until it is paused.
func TestTheLiveViewGoesOnUntilItIsPaused(t *testing.T) {
	p := newPages(t, "off")
	p.api("POST", "/add_tool_call_result", `{"tool_name":"t","tool_call_results":[{"input":"the newest","output":"o"}]}`, 200)
	page := p.get("/ui/live", 200)
	for range 100 {
		if strings.Contains(page, "the newest") {
			break
		}
		page = p.get("/ui/live", 200)
	}
	paused := p.get("/ui/live?paused=1", 200)
	if !strings.Contains(page, "the newest") || !strings.Contains(page, `data-reload="2000"`) || !strings.Contains(page, `href="/ui/live?paused=1"`) {
		t.Errorf("it does not go on:\n%.2000s", page)
	}
	if strings.Contains(paused, "data-reload") || !strings.Contains(paused, `href="/ui/live?"`) && !strings.Contains(paused, `href="/ui/live"`) {
		t.Errorf("it is not paused:\n%.2000s", paused)
	}
}

func TestEmptyViewsSayWhatToDoNext(t *testing.T) {
	p := newPages(t, "off")
	for _, path := range []string{"/ui/", "/ui/tools", "/ui/calls", "/ui/sources", "/ui/workspaces"} {
		if page := p.get(path, 200); !strings.Contains(page, "data-copy") && !strings.Contains(page, "data-reload") {
			t.Errorf("%s has no command to copy:\n%.2000s", path, page)
		}
	}
	for _, path := range []string{"/ui/review", "/ui/forecast", "/ui/compaction", "/ui/judge", "/ui/spend", "/ui/live"} {
		p.get(path, 200)
	}
}

func TestErrorsOfTheDashboardArePages(t *testing.T) {
	p := newPages(t, "off")
	p.api("POST", "/add_tool_call_result", `{"tool_name":"t","tool_call_results":[{"output":"o"}]}`, 200)
	for path, status := range map[string]int{
		"/ui/nothing": 404, "/ui/tool?t=none": 404, "/ui/tool": 400, "/ui/call?t=t&k=12": 400, "/ui/call?t=t&k=" + strings.Repeat("0", 32): 404,
		"/ui/calls?after=%21": 400, "/ui/run": 400, "/ui/versions": 400,
	} {
		if page := p.get(path, status); !strings.Contains(page, "<h1>") {
			t.Errorf("%s is no page: %s", path, page)
		}
	}
	p.post("/ui/correct", 400, "w", "default", "t", "t", "k", strings.Repeat("0", 32), "score", "7")
	p.post("/ui/delete", 400, "w", "default", "typed", "another")
	p.post("/ui/line", 409, "w", "default", "t", "t", "section", "Best Practices", "text", "x")
	p.post("/ui/line/undo", 404, "w", "default", "t", "t", "line", "item-0")
	p.post("/ui/release/undo", 404, "w", "default", "t", "t", "id", "none")
	if rec := p.ask("POST", "/ui/pin", "w=default", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "cross-site"); rec.Code != 403 {
		t.Errorf("a form of another site: %d", rec.Code)
	}
	rec := p.ask("POST", "/ui/rewrite", "w=default&t=t&back=https%3A%2F%2Fexample.invalid%2Fui%2F", "application/x-www-form-urlencoded")
	if to := rec.Header().Get("Location"); rec.Code != 303 || !strings.HasPrefix(to, "/ui/") {
		t.Errorf("it leads back to another site: %d %s", rec.Code, to)
	}
	if page := p.get("/ui/?said=%3Cb%3Ehello", 200); strings.Contains(page, `class="said"`) {
		t.Error("an address puts words into a page")
	}
}

func TestChangesInTheDashboardCanBeUndone(t *testing.T) {
	p := newPages(t, "off")
	p.record()
	const tool = "/ui/tool?t=book_reservation&w=default"
	form := []string{"w", "default", "t", "book_reservation", "back", tool}
	with := func(pairs ...string) []string { return append(slices.Clone(form), pairs...) }
	line := regexp.MustCompile(`name="line" value="(item-[0-9a-f]+)"`).FindStringSubmatch(p.get(tool, 200))[1]
	page := p.post("/ui/line", 303, with("line", line, "text", "Ask ann\nbefore you book.")...)
	if !strings.Contains(page, "Ask ann before you book.") || !strings.Contains(page, "person dashboard") || !strings.Contains(page, "In place of") {
		t.Errorf("the line is not marked as a person's:\n%.3000s", page)
	}
	p.post("/ui/rewrite", 303, form...)
	if answer := p.api("POST", "/retrieve_tool_memory", `{"tool_names":"book_reservation"}`, 200); !strings.Contains(answer, "Ask ann before you book.") {
		t.Error("the person's line did not outlast the writing anew")
	}
	if page = p.undo(page); strings.Contains(page, "Ask ann") {
		t.Error("the change of the line was not undone")
	}
	page = p.post("/ui/line", 303, with("line", line, "remove", "1")...)
	if !strings.Contains(page, "removed by person dashboard") {
		t.Error("it does not show what was taken out")
	}
	p.undo(page)
	page = p.post("/ui/line", 303, with("section", "Best Practices", "text", "Be kind.")...)
	if page = p.undo(page); strings.Contains(page, "Be kind.") {
		t.Error("the line that was added is still there")
	}

	page = p.post("/ui/pin", 303, with("n", "1", "back", "/ui/versions?t=book_reservation")...)
	if !strings.Contains(page, "is pinned") || !strings.Contains(p.undo(page), "No version is pinned") {
		t.Error("a pin was not undone")
	}
	calls := p.seen("/ui/calls?t=book_reservation&verdict=failed", "data-row")
	key := regexp.MustCompile(`id="c([0-9a-f]{32})"`).FindStringSubmatch(calls)[1]
	page = p.post("/ui/correct", 303, with("k", key, "score", "1", "reason", "it was <b>fine</b>", "back", "/ui/call?t=book_reservation&k="+key)...)
	if !strings.Contains(page, "it was &lt;b&gt;fine&lt;/b&gt;") {
		t.Errorf("the reason is not shown:\n%.2000s", page)
	}
	if page = p.undo(page); strings.Contains(page, "fine&lt;") {
		t.Error("the correction was not taken back")
	}
	// What the program says of a line changes after a person set it: that waits.
	p.post("/ui/line", 303, with("line", line, "text", "It books.")...)
	p.api("POST", "/add_tool_call_result", `{"tool_name":"book_reservation","tool_call_results":[{"input":{"voucher":"none"},"output":"booked"}]}`, 200)
	p.post("/ui/rewrite", 303, form...)
	review := p.get("/ui/review?t=book_reservation", 200)
	if id := regexp.MustCompile(`name="id" value="([^"]+)"`).FindStringSubmatch(review); id != nil {
		page = p.post("/ui/release", 303, with("id", id[1], "accept", "0", "back", "/ui/review?t=book_reservation")...)
		if strings.Contains(page, `name="id" value="`+id[1]+`"><input`) && !strings.Contains(page, "release/undo") {
			t.Error("the statement still waits")
		}
		if page = p.undo(page); !strings.Contains(page, `value="`+id[1]+`"`) {
			t.Error("the statement does not wait again")
		}
	} else {
		t.Error("no statement waits in the recordings")
	}
	var session struct{ Entries []json.RawMessage }
	if err := json.Unmarshal([]byte(p.api("GET", "/v1/audit?limit=100", "", 200)), &session); err != nil || len(session.Entries) < 10 {
		t.Errorf("%d entries in the audit log (%v)", len(session.Entries), err)
	}
	p.post("/ui/delete", 303, "w", "default", "typed", "default")
	p.get(tool, 404)
}

func TestAKeySeesAndChangesInTheDashboardWhatItsRolesAllow(t *testing.T) {
	p := newPages(t, "on")
	ctx := t.Context()
	make := func(name string, roles access.Role, workspaces ...string) string {
		t.Helper()
		_, token, err := p.app.keys.Create(ctx, access.Wanted{Name: name, Roles: roles, Workspaces: workspaces}, "test")
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	p.token = p.app.newKey
	p.api("POST", "/add_tool_call_result", `{"tool_name":"t","workspace_id":"theirs","tool_call_results":[{"output":"Error: secret plans"}]}`, 200)
	p.api("POST", "/add_tool_call_result", `{"tool_name":"t","workspace_id":"mine","tool_call_results":[{"output":"Error: nothing"}]}`, 200)
	p.token = make("reader", access.Read, "mine")
	for _, r := range ui.Routes() {
		if r.Role&(access.Curate|access.Admin) == 0 {
			continue
		}
		if rec := p.ask(r.Method, r.Path, "w=mine&t=t", "application/x-www-form-urlencoded"); rec.Code != 403 {
			t.Errorf("%s %s by a reader: %d", r.Method, r.Path, rec.Code)
		}
	}
	for _, path := range []string{"/ui/tool?w=theirs&t=t", "/ui/tool?w=none&t=t"} {
		p.get(path, 404)
	}
	if page := p.get("/ui/workspaces?w=theirs", 200); strings.Contains(page, ">theirs</bdi></a>") {
		t.Error("a foreign workspace is listed")
	}
	if page := p.get("/ui/calls?w=theirs", 200); strings.Contains(page, "secret plans") {
		t.Error("a foreign workspace is shown")
	}
	p.token = ""
	if rec := p.ask("GET", "/ui/tools", "", ""); rec.Code != 303 || rec.Header().Get("Location") != "/ui/login" {
		t.Errorf("without a key: %d %s", rec.Code, rec.Header().Get("Location"))
	}
}
