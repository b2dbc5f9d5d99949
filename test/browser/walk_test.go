package browser

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/chromedp/chromedp"
)

// TestTheDashboardInABrowser walks each page over recorded calls, corrects a verdict,
// edits a line, pins a version and undoes a compaction. No page breaks the security policy, writes
// to the console, is wider than its window, or fails axe at levels A and AA.
func TestTheDashboardInABrowser(t *testing.T) {
	b := open(t, true)
	const tool = "book_reservation"
	b.post("/summary_tool_memory", map[string]any{"tool_names": []string{tool, "update_reservation_flights"}})
	b.try(chromedp.EmulateViewport(1440, 900))

	b.shop()
	b.shoot("overview", 1440)
	b.visit("")
	b.wait(`document.querySelectorAll("#most ~ *, section table tbody tr").length > 5`)
	for _, view := range []string{"", "tools", "calls", "runs", "review", "compaction", "judge", "spend", "live", "workspaces", "sources"} {
		b.survey(view)
	}
	b.visit("tools", "q", "nothing-is-called-so")
	b.audit("tools that are not there", true)
	b.visit("calls", "verdict", "failed", "judge", "rules", "q", "payment")
	b.survey("run", "run", "airline#0/task11/trial2")
	b.survey("kinds", "t", tool)
	b.visit("tool", "t", tool)
	b.click(".guideline details:has(.ground a) > summary")
	b.lookAround("tool with its evidence")
	b.shoot("tool", 1440)
	b.shoot("tool-narrow", 390)
	b.correct(tool)
	b.edit(tool)
	b.pin(tool)
	b.predict(tool)
	b.compact()
	b.watch()
}

// correct settles a failed call from the list with one key, takes it back, and
// corrects it on its own page with a reason.
func (b *tab) correct(tool string) {
	b.Helper()
	b.visit("calls", "t", tool, "verdict", "failed")
	row := evaluate[string](b, `document.querySelector("tr[data-row]").id`)
	before := evaluate[int](b, `document.querySelectorAll("tr[data-row]").length`)
	b.key("j")
	b.key("g")
	b.wait(`document.querySelector(".said") !== null`)
	b.look("corrected")
	if evaluate[bool](b, fmt.Sprintf(`document.getElementById(%q) !== null`, row)) {
		b.Error("a call that a person says is good is still listed as failed")
	}
	b.key("u")
	b.wait(fmt.Sprintf(`document.getElementById(%q) !== null`, row))
	if n := evaluate[int](b, `document.querySelectorAll("tr[data-row]").length`); n != before {
		b.Errorf("%d calls failed before the correction and %d after it was taken back", before, n)
	}
	b.click("#" + row + " th a")
	b.wait(`document.querySelector("form.correct.wide") !== null`)
	b.lookAround("call")
	b.shoot("call", 1440)
	evaluate[any](b, `document.getElementById("reason").value = "the price was shown"; document.getElementById("main").focus(); null`)
	b.key("p")
	b.wait(`document.querySelector(".said") !== null && document.querySelector(".why").textContent.includes("the price was shown")`)
	b.check("call corrected")
}

// edit sets a line of the guideline as a person, and takes that back.
func (b *tab) edit(tool string) {
	b.Helper()
	b.visit("tool", "t", tool)
	evaluate[any](b, `(() => { const line = document.querySelectorAll(".guideline > li > details")[2]; line.open = true;
		line.querySelector("textarea").value = "Ask before you book."; line.querySelector(".edit button").click(); return null })()`)
	b.wait(`document.querySelector(".said") !== null && document.querySelector(".guideline").parentElement.textContent.includes("Ask before you book.")`)
	if n := evaluate[int](b, `document.querySelectorAll(".guideline summary .chip").length`); n != 1 {
		b.Errorf("%d lines are marked as a person's, not 1", n)
	}
	evaluate[any](b, `document.querySelector("summary:has(.chip)").click(); null`)
	b.lookAround("a line that a person set")
	evaluate[any](b, `document.getElementById("main").focus(); null`)
	b.key("u")
	b.wait(`document.querySelector(".guideline summary .chip") === null`)
	b.check("the line is back")
}

func (b *tab) pin(tool string) {
	b.Helper()
	b.visit("tool", "t", tool)
	b.click(`form[action="/ui/rewrite"] button`)
	b.wait(`document.querySelector(".said") !== null`)
	b.visit("versions", "t", tool)
	b.click(`form[action="/ui/pin"] button`)
	b.wait(`document.querySelector("form[action='/ui/unpin'] button[aria-label]") !== null`)
	b.lookAround("pinned")
	b.key("u")
	b.wait(`document.querySelector("form[action='/ui/unpin'] button[aria-label]") === null`)
	b.check("unpinned")
}

func (b *tab) predict(tool string) {
	b.Helper()
	b.visit("forecast", "t", tool, "input", `{"user_id":"mia_li_3668","cabin":"economy","payment_methods":[{"payment_id":"gift_card_1","amount":1}]}`)
	if text := evaluate[string](b, `document.querySelector("[aria-labelledby=answer]").textContent`); !strings.Contains(text, "Risk of failure") {
		b.Errorf("the forecast says %q", text)
	}
	b.lookAround("forecast with an answer")
}

// compact makes the sample conversation smaller and gives it back.
func (b *tab) compact() {
	b.Helper()
	file, err := os.Open(filepath.Join("..", "..", "cmd", "memoryd", "demo", "chat.json.gz"))
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	zr, err := gzip.NewReader(file)
	if err != nil {
		b.Fatal(err)
	}
	chat, err := io.ReadAll(zr)
	if err != nil {
		b.Fatal(err)
	}
	b.visit("compaction")
	text, err := json.Marshal(string(chat))
	if err != nil {
		b.Fatal(err)
	}
	evaluate[any](b, fmt.Sprintf(`document.getElementById("conversation").value = %s; document.querySelector("form.sheet button.main").click(); null`, text))
	b.wait(`document.getElementById("before") !== null`)
	b.lookAround("compacted")
	b.shoot("compaction", 1440)
	messages := evaluate[int](b, `document.querySelectorAll("[aria-labelledby=before] .talk > li").length`)
	b.click(`form[action="/ui/undo"] button`)
	b.wait(`document.querySelector(".said") !== null`)
	b.check("compaction undone")
	if n := evaluate[int](b, `document.querySelectorAll(".talk > li").length`); n != messages || n == 0 {
		b.Errorf("the undone conversation has %d messages, not %d", n, messages)
	}
}

// watch sees calls arrive, until it pauses.
func (b *tab) watch() {
	b.Helper()
	add := func(input string) {
		b.post("/add_tool_call_result", map[string]any{"tool_name": "live", "tool_call_results": []map[string]any{{"input": input, "output": "ok"}}})
	}
	b.visit("live")
	add("the first")
	b.wait(`document.getElementById("main").textContent.includes("the first")`)
	b.look("live with calls")
	b.click(`a[href*="paused"]`)
	b.wait(`document.querySelector("[data-reload]") === null`)
	add("the second")
	b.click(`.head a`)
	b.wait(`document.getElementById("main").textContent.includes("the second")`)
}

// shop records made-up calls of a shop's agents, which make three mistakes, and opens the
// overview of their workspace: it shows the advice about each.
func (b *tab) shop() {
	b.Helper()
	first := time.Now().Add(-12 * 24 * time.Hour)
	var calls []map[string]any
	for run := range 40 {
		add := func(tool string, input map[string]any, output string) {
			at := first.Add(time.Duration(run)*7*time.Hour + time.Duration(len(calls))*time.Second)
			calls = append(calls, map[string]any{
				"tool_name": tool, "input": input, "output": output, "time_cost": 0.5 + float64(run%7)/10,
				"create_time": at.Format(time.RFC3339), "metadata": map[string]any{"trajectory_id": fmt.Sprintf("run-%d", run)},
			})
		}
		fails := func(often int) bool { return run*7%10 < often-run/8 } // less often as time passes
		flight, day := fmt.Sprintf("HAT%03d", 100+run*3), time.Date(2026, 12, 1+run%28, 0, 0, 0, 0, time.UTC)
		if fails(8) {
			add("book_flight", map[string]any{"flight": flight, "date": day.Format("2 Jan")}, "Error: date must be in format YYYY-MM-DD")
		}
		add("book_flight", map[string]any{"flight": flight, "date": day.Format(time.DateOnly)}, "Booked "+flight+" on "+day.Format(time.DateOnly))
		if fails(6) {
			add("list_orders", map[string]any{"customer": 1000 + run, "limit": 100}, "Error: limit must be at most 50")
		}
		add("list_orders", map[string]any{"customer": 1000 + run, "limit": 20 + run%31}, fmt.Sprintf(`{"orders":[{"id":%d,"status":"delivered"}]}`, 5000+run))
		if fails(5) {
			add("send_email", map[string]any{"address": fmt.Sprintf("ann%d@example.com", run), "text": "Thank you."}, "Error: missing parameter 'to'")
		}
		add("send_email", map[string]any{"to": fmt.Sprintf("ann%d@example.com", run), "text": "Thank you."}, "Sent.")
	}
	b.post("/add_tool_call_result", map[string]any{"workspace_id": "shop", "tool_call_results": calls, "include_history": false})
	b.post("/summary_tool_memory", map[string]any{"workspace_id": "shop", "tool_names": "book_flight,list_orders,send_email"})
	b.visit("", "w", "shop")
	b.wait(`document.querySelectorAll(".worst .do").length === 3`)
	if texts := evaluate[string](b, `[...document.querySelectorAll(".worst .do")].map(d => d.textContent).join("\n")`); strings.Count(texts, "Agents read:") != 3 {
		b.Errorf("agents get no advice about one of the mistakes:\n%s", texts)
	}
}

// shoot takes a picture for docs/dashboard.md, where the flag asks for it.
func (b *tab) shoot(name string, width int64) {
	b.Helper()
	if *shots == "" {
		return
	}
	b.try(chromedp.EmulateViewport(width, 1000))
	picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(filepath.Join(*shots, "dashboard-"+name+".png"), picture, 0o600)
	}
	if err != nil {
		b.Fatal(err)
	}
	b.try(chromedp.EmulateViewport(width, 900))
}

// TestHostileTextsStayTexts records calls whose names, inputs and outputs try to
// become markup, script or layout: nothing runs, and no page is wider than its window.
func TestHostileTextsStayTexts(t *testing.T) {
	b := open(t, false)
	b.try(chromedp.EmulateViewport(1024, 800))
	evil := hostile()
	if len(evil) < 250 {
		t.Fatalf("there are %d hostile texts", len(evil))
	}
	for from := 0; from < len(evil); from += 50 {
		var calls []map[string]any
		for i, s := range evil[from:min(from+50, len(evil))] {
			calls = append(calls, map[string]any{
				"tool_name": nameOf(from+i, s), "input": map[string]any{s: s, "nested": []any{map[string]any{s: s}}},
				"output": "Error: " + s, "metadata": map[string]any{"trajectory_id": s, "agent_id": s},
			})
		}
		b.post("/add_tool_call_result", map[string]any{"tool_call_results": calls, "workspace_id": "hostile"})
	}
	b.visit("", "w", "hostile")
	for page := 1; page <= 6; page++ {
		b.visit("tools", "w", "hostile", "page", fmt.Sprint(page), "sort", "name")
	}
	for range 8 {
		b.visit("calls", "w", "hostile")
		next := evaluate[string](b, `(document.querySelector("a[rel=next]") || {href: ""}).href`)
		if next == "" {
			break
		}
		b.try(chromedp.Navigate(next))
		b.check("calls")
	}
	for i, s := range evil {
		if i%10 == 0 {
			name := nameOf(i, s)
			b.visit("tool", "w", "hostile", "t", name)
			b.visit("run", "w", "hostile", "run", s)
			b.visit("calls", "w", "hostile", "q", s, "t", name)
			if evaluate[bool](b, `document.querySelector("tr[data-row] a") !== null`) {
				b.click("tr[data-row] a")
				b.wait(`location.pathname === "/ui/call" && document.readyState === "complete"`)
				b.check("call")
			}
		}
	}
	if evaluate[bool](b, `window.pwned === true || document.title.includes("pwned!")`) {
		t.Error("a text of a call ran")
	}
}

// nameOf is a tool's name with a hostile text in it, as far as names may hold it: control
// and invisible characters, more than five words and more than 256 bytes are refused.
func nameOf(i int, s string) string {
	text := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl):
			return -1
		case unicode.IsSpace(r):
			return '_'
		}
		return r
	}, s)
	return fmt.Sprintf("%d %s", i, strings.ToValidUTF8(text[:min(len(text), 250)], ""))
}

// hostile lists texts that try to be more than that.
func hostile() []string {
	run := `window.pwned=true`
	seeds := []string{
		"<script>" + run + "</script>", `"><script>` + run + `</script>`, `'><img src=x onerror=` + run + `>`, `<svg onload=` + run + `>`,
		`</pre></main></body><script>` + run + `</script>`, `javascript:` + run, `{{.}}{{template "layout.html" .}}`, `</style><style>*{display:none}</style>`,
		`<iframe srcdoc="<script>parent.pwned=true</script>">`, `<math><mtext></table><mglyph><style><img src=x onerror=` + run + `>`,
		`<base href="https://example.invalid/">`, `<meta http-equiv=refresh content=0;url=//example.invalid>`, `<form action=//example.invalid><button>`,
		`<a href="data:text/html,<script>` + run + `</script>">x</a>`, `<link rel=stylesheet href=//example.invalid/x.css>`, `<!--`, `]]>`, `&lt;script&gt;`,
		"\u202eright to left\u2066", "zero\u200bwidth\u200djoin", "a\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301", "..", "../../ui/workspaces", "a/b?c=d#e&f=g%2e%2e",
	}
	shapes := []func(string) string{
		func(s string) string { return s }, strings.ToUpper, func(s string) string { return s + s },
		func(s string) string { return "`" + s + "`" }, func(s string) string { return strings.ReplaceAll(s, " ", "/") },
		func(s string) string { return "ok\n\t" + s }, func(s string) string { return `{"a":"` + strings.ReplaceAll(s, `"`, `\"`) + `"}` },
		func(s string) string { return s + strings.Repeat("W", 900) }, func(s string) string { return strings.Repeat("字", 40) + s },
		func(s string) string { return "%3C" + s }, func(s string) string { return s + "\u2028" + s },
	}
	var all []string
	for _, shape := range shapes {
		for _, s := range seeds {
			all = append(all, shape(s))
		}
	}
	return all
}
