package api

import (
	"strings"
	"testing"

	"memoryd/store/mem"
)

// The page shows the fields of each type, and loads nothing from another site.
func TestThePageShowsFieldsTypesAndExamples(t *testing.T) {
	h := newHandler(t, mem.New())
	if rec := ask(h, "GET", "/", ""); rec.Code != 302 || rec.Header().Get("Location") != "/docs" {
		t.Errorf("/ answers %d, %s", rec.Code, rec.Header().Get("Location"))
	}
	page := ask(h, "GET", "/docs", "").Body.String()
	for _, want := range []string{
		`"><code>POST /add_tool_call_result</code></a>`, `id="POST /add_tool_call_result"`, `Takes <a href="#AddRequest">AddRequest</a>`,
		`<code>time_cost</code>`, `number or string`, `Left out: <code>-1</code>`, `&#34;query&#34;: &#34;go generics&#34;`, `<code>deleted_memory_ids</code>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not hold %s", want)
		}
	}
	for _, foreign := range []string{"src=", "@import", "href=\"http"} {
		if strings.Contains(page, foreign) {
			t.Errorf("the page holds %s", foreign)
		}
	}
}
