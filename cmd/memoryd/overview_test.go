package main

import (
	"context"
	"html"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"memoryd/api/ui"
	"memoryd/ops"
)

// TestTheFirstVisitSaysNothingOfWhatIsNotRead: a workspace that was being read for the
// first time had "0 failed of 0 judged calls" and "No judged call went wrong".
func TestTheFirstVisitSaysNothingOfWhatIsNotRead(t *testing.T) {
	p := newPages(t, "off")
	for name, tc := range map[string]struct {
		page   ops.OverviewPage
		want   string
		absent []string
	}{
		"nothing is read yet": {page: func() (o ops.OverviewPage) { o.Reading = true; return o }(), want: "read for the first time"},
		"a part is read":      {page: func() (o ops.OverviewPage) { o.Reading, o.Tools, o.Judged = true, 3, 7; return o }(), want: "3 tools"},
		"nothing is judged":   {page: func() (o ops.OverviewPage) { o.Tools, o.Lifetime = 3, 9; return o }(), want: "o call is judged yet"},
	} {
		flows := *p.app.face.Flows
		flows.GetOverview = ops.FlowOf("get_overview", func(context.Context, ops.GetOverview) (ops.OverviewPage, error) { return tc.page, nil })
		pages := ui.New(ui.Deps{Flows: &flows, Logger: slog.New(slog.DiscardHandler), Now: time.Now})
		rec := httptest.NewRecorder()
		pages.ServeHTTP(rec, httptest.NewRequest("GET", "/ui/?w=default", nil))
		body := rec.Body.String()
		if rec.Code != 200 || !strings.Contains(body, tc.want) {
			t.Errorf("%s: %d, not %q\n%s", name, rec.Code, tc.want, body)
		}
		for _, claim := range []string{"failed of 0", "No judged call went wrong", "failed of 7"} {
			if strings.Contains(body, claim) {
				t.Errorf("%s: %q", name, claim)
			}
		}
	}
}

// A server that knows nothing yet says what to do, for the coding agents on its machine
// and no others.
func TestAnEmptyServerShowsCommandsForTheHostsOnThisMachine(t *testing.T) {
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, ".claude", "projects"), 0o700); err != nil {
		t.Fatal(err)
	}
	p := newPages(t, "off")
	hosts := hostsHere(func() (string, error) { return home, nil })
	pages := ui.New(ui.Deps{Flows: p.app.face.Flows, Logger: slog.New(slog.DiscardHandler), Now: time.Now, Hosts: hosts})
	rec := httptest.NewRecorder()
	pages.ServeHTTP(rec, httptest.NewRequest("GET", "/ui/?w=nothing-here", nil))
	body := rec.Body.String()
	for _, want := range []string{"Claude Code", "memoryd learn ~/.claude/projects --workspace nothing-here", "memoryd hook install claude-code --yes"} {
		if rec.Code != 200 || !strings.Contains(body, want) {
			t.Errorf("%d, not %q\n%s", rec.Code, want, body)
		}
	}
	if strings.Contains(body, "Codex") {
		t.Error("Codex is not on this machine")
	}
}

// From the first page one click opens the calls of the mistake that costs most, one the
// proposal that waits for its tool, and one accepts it; then agents read it.
func TestThreeClicksLeadFromAMistakeToItsCallsAndToTheAcceptedProposal(t *testing.T) {
	oneByOne(t)
	p := newPages(t, "off")
	p.record()
	part := func(page, pattern string) string {
		t.Helper()
		found := regexp.MustCompile(pattern).FindStringSubmatch(page)
		if found == nil {
			t.Fatalf("the page has no %s:\n%s", pattern, page)
		}
		return html.UnescapeString(found[1])
	}
	// A person sets a line, and then more calls show something else.
	tool := []string{"w", "default", "t", "book_reservation"}
	line := part(p.get("/ui/tool?t=book_reservation&w=default", 200), `name="line" value="(item-[0-9a-f]+)"`)
	p.post("/ui/line", 303, append(tool, "line", line, "text", "It books.")...)
	p.api("POST", "/add_tool_call_result", `{"tool_name":"book_reservation","tool_call_results":[{"input":{"voucher":"none"},"output":"booked"}]}`, 200)
	p.post("/ui/rewrite", 303, tool...)

	first := p.seen("/ui/", ">Decide</a>")
	cause := part(first, `<h3><a href="([^"]+)"`)
	if page := p.get(cause, 200); strings.Count(page, "<tr data-row") < 10 || strings.Contains(page, `chip good">`) {
		t.Errorf("%s does not show the failed calls:\n%.3000s", cause, page)
	}
	review := p.get(part(first, `<a href="([^"]+)">Decide</a>`), 200)
	p.post("/ui/release", 303, append(tool, "accept", "1", "id", part(review, `name="id" value="([^"]+)"`))...)
	answer := p.api("POST", "/retrieve_tool_memory", `{"tool_names":"book_reservation","include_history":false}`, 200)
	if strings.Contains(answer, "It books.") || !strings.Contains(answer, "In 24 good calls") {
		t.Errorf("agents do not read what was accepted: %s", answer)
	}
}
