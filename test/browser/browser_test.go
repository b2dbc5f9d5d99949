// Package browser drives the dashboard in a real browser, over the real program and
// recorded calls. It is a module of its own, so that nobody who uses memoryd gets
// its libraries. Without Chromium it says so and skips.
package browser

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

var noAxe = flag.Bool("no-axe", false, "leave the check of accessibility out")

var thorough = flag.Bool("thorough", false, "run all rules of axe in each width and colour")

var shots = flag.String("shots", "", "folder to write the screenshots of docs/dashboard.md to")

// chromium finds the browser.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("the dashboard is not tested in a browser: no Chromium is installed here")
	return ""
}

// shared is what all tests use: one program, one browser and one copy of axe.
type shared struct {
	program, axe string
	browser      context.Context
}

var (
	common   shared
	commonly sync.Once
	ending   []func()
)

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	for _, end := range slices.Backward(ending) {
		end()
	}
	os.Exit(code)
}

// start makes what the tests share. What starts the browser must not have a time
// limit, nor the context of a test: the browser ends with it.
func start(t *testing.T) shared {
	t.Helper()
	path := chromium(t)
	commonly.Do(func() {
		dir, err := os.MkdirTemp("", "memoryd-browser-")
		if err != nil {
			t.Fatal(err)
		}
		ending = append(ending, func() { _ = os.RemoveAll(dir) })
		program := filepath.Join(dir, "memoryd")
		if built := os.Getenv("MEMORYD_TEST_BINARY"); built != "" {
			program = built // spares the building
		} else if out, err := goBuild(t, program); err != nil {
			t.Fatalf("build: %v\n%s", err, out)
		}
		opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.ExecPath(path),
			chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-gpu", true))
		allocator, stop := chromedp.NewExecAllocator(context.Background(), opts...)
		ctx, end := chromedp.NewContext(allocator)
		ending = append(ending, stop, end)
		if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
			t.Fatal(err)
		}
		common = shared{program: program, axe: axeCore(t), browser: ctx}
	})
	if common.browser == nil {
		t.Fatal("the browser did not start")
	}
	return common
}

// serve starts memoryd on a new folder, with recorded calls if that is asked for,
// and gives its address.
func serve(t *testing.T, program string, recordings bool) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command(program, "serve", "--listen", "127.0.0.1:0", "--data", filepath.Join(dir, "data")) //nolint:noctx // it is stopped below
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("memoryd said nothing: %v", err)
	}
	_, rest, _ := strings.Cut(line, "http://")
	addr, _, _ := strings.Cut(rest, " ")
	base := "http://" + addr
	if !recordings {
		return base
	}
	load := exec.CommandContext(t.Context(), program, "import", "cmd/memoryd/demo/calls.jsonl.gz", "--url", base)
	load.Dir = "../.."
	if out, err := load.CombinedOutput(); err != nil {
		t.Fatalf("import: %v\n%s", err, out)
	}
	return base
}

func goBuild(t *testing.T, program string) ([]byte, error) {
	t.Helper()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./cmd/memoryd")
	build.Dir = "../.."
	return build.CombinedOutput()
}

// tab is a page of the browser that remembers what went wrong in it.
type tab struct {
	*testing.T
	ctx  context.Context
	base string
	axe  string

	mu     sync.Mutex
	faults []string
}

// open starts a server and a tab of the browser for it.
func open(t *testing.T, recordings bool) *tab {
	t.Helper()
	t.Parallel()
	all := start(t)
	ctx, end := chromedp.NewContext(all.browser)
	t.Cleanup(end)
	b := &tab{T: t, ctx: ctx, base: serve(t, all.program, recordings), axe: all.axe}
	err := chromedp.Do(ctx, chromedp.Navigate("about:blank"))
	if err == nil {
		err = chromedp.Listen(ctx, b.hear)
	}
	if err == nil {
		_, err = chromedp.Call(ctx, log.Enable, cdp.Empty{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// hear notes console errors, exceptions and what the security policy refused.
func (b *tab) hear(ev any) {
	fault := ""
	switch e := ev.(type) {
	case *runtime.EventExceptionThrown:
		fault = "exception: " + e.ExceptionDetails.Text
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "warning" {
			fault = "console: " + string(e.Type)
		}
	case *log.EventEntryAdded:
		fault = "log: " + e.Entry.Text
	}
	if fault != "" {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.faults = append(b.faults, fault)
	}
}

// axeCore is the source of axe-core, which npm fetches; "" where there is no npm.
func axeCore(t *testing.T) string {
	t.Helper()
	if *noAxe {
		t.Log("NOT CHECKED for accessibility: -no-axe")
		return ""
	}
	dir := filepath.Join(os.TempDir(), "memoryd-axe-4.11.0")
	source := filepath.Join(dir, "node_modules", "axe-core", "axe.min.js")
	if text, err := os.ReadFile(source); err == nil {
		return string(text)
	}
	npm := exec.CommandContext(t.Context(), "npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", dir, "axe-core@4.11.0")
	if out, err := npm.CombinedOutput(); err != nil {
		t.Logf("NOT CHECKED for accessibility: npm could not fetch axe-core: %v %s", err, out)
		return ""
	}
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (b *tab) try(a chromedp.Action[chromedp.Void]) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 2*time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, a); err != nil {
		b.Fatal(err)
	}
}

func evaluate[T any](b *tab, js string) T {
	b.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](js))
	if err != nil {
		b.Fatalf("%s: %v", js, err)
	}
	return v
}

// visit opens a view, and holds it to everything but accessibility.
func (b *tab) visit(view string, pairs ...string) {
	b.Helper()
	b.try(chromedp.Navigate(b.base + address(view, pairs...)))
	b.check(view)
}

// widths are the windows that a view is looked at in; the style sheet has one layout
// for the wide ones and another for the narrow one.
var widths = []int64{1440, 1024, 390}

// survey opens a view and looks at it in each width, in light and dark colours.
func (b *tab) survey(view string, pairs ...string) {
	b.Helper()
	b.try(chromedp.Navigate(b.base + address(view, pairs...)))
	b.lookAround(view)
}

// lookAround looks at the page in each width, in light and dark colours. The colours
// are the same in each width, and 1024 is laid out as 1440 is: there axe looks
// again only where the flag asks for it.
func (b *tab) lookAround(view string) {
	b.Helper()
	for _, width := range widths {
		b.try(chromedp.EmulateViewport(width, 900))
		at := fmt.Sprintf("%s at %d", view, width)
		b.check(at)
		if width == 1024 && !*thorough {
			continue
		}
		b.audit(at, true)
		if width == 1440 || *thorough {
			evaluate[any](b, `document.documentElement.dataset.theme = "dark"; null`)
			b.audit(at+", dark", *thorough)
			evaluate[any](b, `delete document.documentElement.dataset.theme; null`)
		}
	}
	b.try(chromedp.EmulateViewport(1440, 900))
}

func address(view string, pairs ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	return "/ui/" + view + "?" + q.Encode()
}

// look holds the page to what every page promises, as it is now.
func (b *tab) look(view string) {
	b.Helper()
	b.check(view)
	b.audit(view, true)
}

// check looks at all but accessibility.
func (b *tab) check(view string) {
	b.Helper()
	if evaluate[bool](b, `document.querySelector("main h1") === null`) {
		b.Errorf("%s: the page has no heading", view)
	}
	if alarm := evaluate[string](b, `(document.querySelector("main > .alarm") || {textContent: ""}).textContent`); alarm != "" {
		b.Errorf("%s: %s", view, alarm)
	}
	if over := evaluate[int](b, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
		b.Errorf("%s: the page is %d pixels wider than the window", view, over)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.faults {
		b.Errorf("%s: %s", view, f)
	}
	b.faults = nil
}

// audit runs axe for the levels A and AA; of a page that was audited before in other
// colours, those rules that depend on them.
func (b *tab) audit(view string, all bool) {
	b.Helper()
	rules := `["color-contrast", "link-in-text-block"]`
	if all {
		rules = `["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]`
	}
	if b.axe == "" {
		return
	}
	if evaluate[bool](b, `!window.axe`) {
		evaluate[any](b, b.axe+"; null")
	}
	// The rows of a list are alike: its first ones stand for the others.
	page := `{exclude: ["tbody tr:nth-child(n+13)"]}`
	if *thorough {
		page = `document`
	}
	raw, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`axe.run(`+page+`, {runOnly: `+rules+`, resultTypes: ["violations"], preload: false})
		.then((r) => JSON.stringify(r.violations.map((v) => v.id + ": " + v.nodes.slice(0, 2).map((n) => n.html.slice(0, 160) + " " + (n.any[0] || {}).message).join(" | "))))`,
		chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatal(err)
	}
	var found []string
	if err := json.Unmarshal([]byte(raw), &found); err != nil {
		b.Fatal(err)
	}
	for _, v := range found {
		b.Errorf("%s: axe: %s", view, v)
	}
}

// wait waits until an expression holds.
func (b *tab) wait(js string) {
	b.Helper()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		// An error is a page that goes while it is asked: the next one answers.
		if done, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](js)); err == nil && done {
			return
		} else if time.Now().After(end) {
			b.Fatalf("it did not come to: %s (%v)", js, err)
		}
	}
}

func (b *tab) click(sel string) {
	b.Helper()
	if !evaluate[bool](b, fmt.Sprintf("(() => { const e = document.querySelector(%q); if (!e) return false; e.click(); return true; })()", sel)) {
		b.Fatalf("there is no %s on the page", sel)
	}
}

func (b *tab) key(k string) {
	b.Helper()
	b.try(chromedp.KeyEvent(k))
}

// post sends JSON to the API.
func (b *tab) post(path string, body any) map[string]any {
	b.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		b.Fatal(err)
	}
	resp, err := http.Post(b.base+path, "application/json", strings.NewReader(string(text)))
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	var out map[string]any
	if err != nil || resp.StatusCode != http.StatusOK || json.Unmarshal(answer, &out) != nil {
		b.Fatalf("%s: %d %.300s", path, resp.StatusCode, answer)
	}
	return out
}
