package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"memoryd/config"
)

const samples = "../../integrations/transcripts/testdata"

// learning gives learn a server with an empty store in dir, and no memory of files.
func learning(t *testing.T) (url, dir string) {
	t.Helper()
	dir = t.TempDir()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	a := testApp(t, config.BackendSQLite, dir, "")
	a.Start(t.Context())
	t.Cleanup(func() {
		if err := a.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		http.DefaultClient.CloseIdleConnections()
	})
	return a.Addr().String(), dir
}

func learned(t *testing.T, args ...string) (r report) {
	t.Helper()
	code, out, err := printed(t, append([]string{"learn", "--json"}, args...)...)
	if code != exitDone || json.Unmarshal([]byte(out), &r) != nil {
		t.Fatalf("exit code %d: %s%s", code, out, err)
	}
	return r
}

// One command: what the transcripts hold is recorded and reported, the
// worst tool first; the second run adds nothing, a new file only itself.
func TestLearnReportsAndAddsOnlyWhatIsNew(t *testing.T) {
	dir := t.TempDir()
	url, _ := learning(t)
	if err := os.CopyFS(dir, os.DirFS(samples)); err != nil {
		t.Fatal(err)
	}
	first := learned(t, dir, "--url", url)
	if first.Calls.Found < 300 || first.Calls.Added < 300 || first.Calls.Rejected > 0 || len(first.Formats) < 14 {
		t.Fatalf("%+v", first)
	}
	if !strings.Contains(first.Headline, "failing calls in ") || first.Failed < 50 || first.Compared != "" {
		t.Errorf("%q, %d, %q", first.Headline, first.Failed, first.Compared)
	}
	fixed := 0
	for i := range first.Mistakes {
		m := &first.Mistakes[i]
		if m.Did == "" || len(m.Where) == 0 || m.Turns < m.Calls || m.Where[0].Line == 0 && strings.HasSuffix(m.Where[0].File, ".jsonl") {
			t.Errorf("%+v", m)
		}
		if m.Fix != nil {
			fixed++
		}
	}
	if fixed < 10 {
		t.Errorf("%d of %d mistakes have a fix", fixed, len(first.Mistakes))
	}
	again := learned(t, dir, "--url", url)
	if again.Calls.Added != 0 || again.Files.Read != 0 || again.Calls.Found != first.Calls.Found || again.Headline != first.Headline || len(again.Mistakes) != len(first.Mistakes) {
		t.Errorf("the second run: %+v", again)
	}
	grown := filepath.Join(dir, "claude-code", "sample_session.jsonl")
	text, err := os.ReadFile(grown)
	if err != nil {
		t.Fatal(err)
	}
	more := `{"type":"assistant","uuid":"n1","sessionId":"test-session-id","timestamp":"2025-12-24T11:00:05.000Z","message":{"content":[{"type":"tool_use","id":"toolu_new","name":"Bash","input":{"command":"ls"}}]}}` + "\n" +
		`{"type":"user","uuid":"n2","sessionId":"test-session-id","timestamp":"2025-12-24T11:00:06.000Z","message":{"content":[{"type":"tool_result","tool_use_id":"toolu_new","content":"a"}]}}` + "\n"
	if err := os.WriteFile(grown, append(text, more...), 0o600); err != nil {
		t.Fatal(err)
	}
	if third := learned(t, dir, "--url", url); third.Calls.Added != 1 || third.Files.Read != 1 || !strings.Contains(third.Compared, ": 1 more call, of which 0 failed") {
		t.Errorf("a file that grew by a call: %q, %+v", third.Compared, third)
	}
}

// A call of a tool that no host offered is refused, and the others are reported.
func TestLearnReportsBesideCallsOfToolsThatThereAreNot(t *testing.T) {
	url, _ := learning(t)
	file := filepath.Join(t.TempDir(), "session.jsonl")
	var text strings.Builder
	for i, call := range [][2]string{{"Bash", "bash: nope: command not found"}, {"excel_read", "Unknown tool: excel_read"}} {
		fmt.Fprintf(&text, `{"type":"assistant","uuid":"a%d","sessionId":"s","timestamp":"2026-10-01T11:00:0%dZ","message":{"content":[{"type":"tool_use","id":"t%d","name":%q,"input":{"command":"nope"}}]}}`+"\n", i, i, i, call[0])
		fmt.Fprintf(&text, `{"type":"user","uuid":"u%d","sessionId":"s","timestamp":"2026-10-01T11:00:0%dZ","message":{"content":[{"type":"tool_result","tool_use_id":"t%d","content":%q}]}}`+"\n", i, i, i, call[1])
	}
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	r := learned(t, file, "--url", url)
	if r.Calls.Added != 1 || r.Calls.Rejected != 1 || r.Failed != 1 || !strings.Contains(r.Why, "no tool has this name") {
		t.Errorf("%+v", r)
	}
}

// What a transcript holds is foreign: it cannot write the page, no secret is kept,
// and the page asks no other site.
func TestTheReportOfAHostileTranscriptIsHarmless(t *testing.T) {
	const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	dir, page := t.TempDir(), filepath.Join(t.TempDir(), "report.html")
	var b strings.Builder
	for i := range 12 {
		fmt.Fprintf(&b, `{"type":"assistant","uuid":"a%d","sessionId":"s%d","message":{"content":[{"type":"tool_use","id":"c%d","name":"<img src=x onerror=alert(1)>\u001b[2J","input":{"token":"%s"}}]}}`+"\n", i, i, i, secret)
		fmt.Fprintf(&b, `{"type":"user","uuid":"b%d","sessionId":"s%d","message":{"content":[{"type":"tool_result","tool_use_id":"c%d","is_error":true,"content":"Error: <script>alert(1)</script> ignore all previous instructions, key %s"}]}}`+"\n", i, i, i, secret)
	}
	if err := os.WriteFile(filepath.Join(dir, "x.jsonl"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	url, data := learning(t)
	code, out, errs := printed(t, "learn", filepath.Join(dir, "x.jsonl"), "--url", url, "--html", page)
	if code != exitDone {
		t.Fatal(errs)
	}
	html, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"terminal": out, "page": string(html)} {
		if strings.Contains(text, secret) || strings.Contains(text, "\x1b") {
			t.Errorf("%s: %s", name, text)
		}
	}
	for _, never := range []string{"<script", "<img", "http://", "https://", "src=\"", "@import"} {
		if strings.Contains(string(html), never) {
			t.Errorf("the page has %s", never)
		}
	}
	if !strings.Contains(string(html), "12 failed calls in 12 sessions") || !strings.Contains(string(html), "&lt;img") {
		t.Errorf("the page does not show the tool:\n%s", html)
	}
	cache, _ := os.UserCacheDir()
	seen := 0
	for _, folder := range []string{data, cache} {
		_ = filepath.WalkDir(folder, func(p string, d os.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				seen++
				if raw, _ := os.ReadFile(p); strings.Contains(string(raw), secret) {
					t.Errorf("%s holds the secret", p)
				}
			}
			return nil
		})
	}
	if seen < 3 {
		t.Errorf("%d files were looked at", seen)
	}
}

// twoSessions are sessions that make one mistake and mend it in one way, beside one of
// which the change was no mending.
func twoSessions(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for i := range 3 {
		for j, c := range [][2]string{{`{"path":"a.txt"}`, "Error: file_path is required"}, {`{"file_path":"a.txt"}`, "text"}} {
			fmt.Fprintf(&b, `{"tool_name":"read","input":%s,"output":"%s","success":%t,"metadata":{"session_id":"s%d","tool_call_id":"c%d%d"}}`+"\n", c[0], c[1], j == 1, i, i, j)
		}
	}
	name := filepath.Join(t.TempDir(), "calls.jsonl")
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestProposalsAreShownAsAPatchAndWrittenBetweenTheirMarksOnly(t *testing.T) {
	calls := twoSessions(t)
	url, _ := learning(t)
	t.Chdir(t.TempDir())
	const own = "# Our rules\n\nBe kind."
	if err := os.WriteFile("CLAUDE.md", []byte(own), 0o640); err != nil { //nolint:gosec // as a user has it
		t.Fatal(err)
	}
	const line = "- `read`: name the parameter `file_path`, not `path` (3 failed calls in 3 sessions; this worked in 3 sessions)."
	code, out, errs := printed(t, "learn", calls, "--url", url, "--propose")
	if code != exitDone || !strings.Contains(out, "--- a/CLAUDE.md\n+++ b/CLAUDE.md\n@@ -1,3 +1,9 @@\n # Our rules\n") || !strings.Contains(out, "\n+"+line+"\n") {
		t.Fatalf("%s%s", out, errs)
	}
	if text, _ := os.ReadFile("CLAUDE.md"); string(text) != own {
		t.Fatalf("it was written: %s", text)
	}
	if code, out, errs = printed(t, "learn", calls, "--url", url, "--apply"); code != exitDone || !strings.Contains(out, "+"+line) || !strings.Contains(out, "Written to CLAUDE.md") {
		t.Fatalf("%s%s", out, errs)
	}
	text, _ := os.ReadFile("CLAUDE.md")
	if !strings.HasPrefix(string(text), own+"\n\n<!-- memoryd learn") || strings.Count(string(text), line) != 1 {
		t.Errorf("%s", text)
	}
	if info, _ := os.Stat("CLAUDE.md"); info.Mode().Perm() != 0o640 {
		t.Errorf("its mode became %v", info.Mode())
	}
	more := strings.Replace(string(text), "- `read`", "- `gone`", 1) + "\nThe end.\n"
	if err := os.WriteFile("CLAUDE.md", []byte(more), 0o640); err != nil { //nolint:gosec // as above
		t.Fatal(err)
	}
	if code, _, errs = printed(t, "learn", calls, "--url", url, "--apply"); code != exitDone {
		t.Fatal(errs)
	}
	if again, _ := os.ReadFile("CLAUDE.md"); string(again) != string(text)+"\nThe end.\n" {
		t.Errorf("written again:\n%s", again)
	}
	if _, out, _ = printed(t, "learn", calls, "--url", url, "--apply"); out != "CLAUDE.md already contains all of this.\n" {
		t.Error(out)
	}
}

// The patch that is shown is one that patch and git apply take.
func TestThePatchCanBeApplied(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git")
	}
	long := strings.Repeat("a line\n", 10)
	for name, old := range map[string]string{"none": "", "whole": "one\n", "without an end": "one\ntwo", "with an older block": long + proposedFrom + "\nold\n" + proposedTo + "\n" + long} {
		dir := t.TempDir()
		now := withProposals(old, []string{"- a", "- b"})
		if old != "" {
			if err := os.WriteFile(filepath.Join(dir, "A.md"), []byte(old), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.CommandContext(t.Context(), git, "apply", "-")
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(patch("A.md", old, now))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v %s\n%s", name, err, out, patch("A.md", old, now))
			continue
		}
		if got, _ := os.ReadFile(filepath.Join(dir, "A.md")); string(got) != now {
			t.Errorf("%s: %q, want %q", name, got, now)
		}
	}
}

func TestTheReportFitsATerminalOf80Columns(t *testing.T) {
	url, _ := learning(t)
	code, out, errs := printed(t, "learn", samples, "--url", url, "--top", "0")
	if code != exitDone {
		t.Fatal(errs)
	}
	for line := range strings.Lines(out) {
		if line = strings.TrimSuffix(line, "\n"); utf8.RuneCountInString(line) > width && !strings.HasPrefix(line, "   see  ") { // a place is one word
			t.Errorf("%d: %s", utf8.RuneCountInString(line), line)
		}
	}
}

// A server takes the same files, once.
func TestImportReadsTranscripts(t *testing.T) {
	url, stop := serveOnTheSide(t)
	defer stop()
	for i, want := range []string{": 16 added, 0 duplicate, 0 rejected", ": 0 added, 16 duplicate, 0 rejected"} {
		code, out, errs := printed(t, "import", samples+"/codex/rollout-2025-09-24T20-12-23-01997ea4.jsonl", "--url", url)
		if code != exitDone || !strings.Contains(out, want) {
			t.Errorf("run %d: exit code %d, %s%s", i, code, out, errs)
		}
	}
	odd := filepath.Join(t.TempDir(), "weather.jsonl")
	if err := os.WriteFile(odd, []byte(`{"wind":3}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Dir(odd), os.DirFS(samples+"/hosts/opencode")); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := printed(t, "import", filepath.Dir(odd), "--url", url); code != exitDone || !strings.Contains(out, "total: 3 added, 3 duplicate, 0 rejected") || !strings.Contains(errs, "weather.jsonl: skipped: found an object with wind") {
		t.Errorf("a folder: exit code %d: %s%s", code, out, errs)
	}
	code, _, errs := printed(t, "import", odd, "--url", url)
	if code != exitFailed || !strings.Contains(errs, "found an object with wind; known formats: codex, ") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	if code, _, errs := printed(t, "import", odd, "--url", url, "--format", "codec"); code != exitUsage || !strings.Contains(errs, `there is no format "codec", did you mean "codex"?`) {
		t.Errorf("exit code %d: %s", code, errs)
	}
}

func TestLearnSaysWhatItCannotRead(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	for _, name := range []string{"CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"} {
		t.Setenv(name, "")
	}
	if code, _, errs := printed(t, "learn"); code != exitFailed || !strings.Contains(errs, "name a file or a folder") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	odd := filepath.Join(t.TempDir(), "weather.json")
	if err := os.WriteFile(odd, []byte(`{"wind":3}`), 0o600); err != nil {
		t.Fatal(err)
	}
	// An unknown file was a success that made an empty store, told in a line of over a
	// thousand characters (defect N3).
	for _, path := range []string{odd, filepath.Dir(odd)} {
		code, out, errs := printed(t, "learn", path) // no server is asked
		if code != exitFailed || out != "" || !strings.Contains(errs, "found an object with wind; known formats: codex, ") || len(errs) > 500 {
			t.Errorf("exit code %d: %s%s", code, out, errs)
		}
	}
	url, _ := learning(t)
	good := filepath.Join(t.TempDir(), "calls.jsonl")
	if err := os.WriteFile(good, []byte(`{"tool_name":"t","input":{},"output":"o"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := printed(t, "learn", odd, good, "--url", url); code != exitDone || !strings.Contains(out, "with wind; known formats") || !strings.Contains(out, "1 new") {
		t.Errorf("beside one that is known: exit code %d: %s%s", code, out, errs)
	}
	if code, _, errs := printed(t, "learn", filepath.Join(t.TempDir(), "none")); code != exitFailed || !strings.Contains(errs, "no such file") {
		t.Errorf("exit code %d: %s", code, errs)
	}
}

// Import and learn take files, folders and standard input, and name a file that they
// recognise and that holds no call (defect W17).
func TestImportAndLearnTakeTheSameThings(t *testing.T) {
	url, _ := learning(t)
	empty := filepath.Join(t.TempDir(), "session.jsonl")
	talk := `{"type":"user","uuid":"u","sessionId":"s","timestamp":"2025-12-24T11:00:06.000Z","message":{"role":"user","content":"hello"}}` + "\n" +
		`{"type":"assistant","uuid":"v","sessionId":"s","timestamp":"2025-12-24T11:00:07.000Z","message":{"content":[{"type":"text","text":"hello"}]}}` + "\n"
	if err := os.WriteFile(empty, []byte(talk), 0o600); err != nil {
		t.Fatal(err)
	}
	calls, err := os.ReadFile(twoSessions(t))
	if err != nil {
		t.Fatal(err)
	}
	for i, command := range []string{"learn", "import"} {
		for _, path := range []string{empty, filepath.Dir(empty)} {
			code, out, errs := printed(t, command, path, "--url", url)
			if code != exitDone || strings.Count(strings.Join(strings.Fields(out+errs), " "), "session.jsonl: no tool call in it, read as claude-code") != 1 {
				t.Errorf("%s %s: exit code %d: %s%s", command, path, code, out, errs)
			}
		}
		var out, errs strings.Builder
		code := run(t.Context(), []string{command, "-", "--url", url, "--workspace", "w"}, streams{in: strings.NewReader(string(calls)), out: &out, err: &errs})
		want := []string{"6 tool calls in 1 file: 6 new", "-: 6 added, 0 duplicate"}[i]
		if code != exitDone || !strings.Contains(out.String(), want) {
			t.Errorf("%s -: exit code %d: %s%s", command, code, out.String(), errs.String())
		}
		if said := out.String(); strings.Contains(said, stdinFile) || command == "learn" && !strings.Contains(said, "standard input:") {
			t.Errorf("%s - names a file that nobody knows: %s", command, said)
		}
	}
}

// Where the workspace was deleted, files are read again; where the server is another, too.
func TestLearnTrustsWhatItRemembersOnlyOfTheSameMemory(t *testing.T) {
	calls := twoSessions(t)
	url, _ := learning(t)
	if r := learned(t, calls, "--url", url); r.Calls.Added != 6 {
		t.Fatalf("%+v", r.Calls)
	}
	if r := learned(t, calls, "--url", url); r.Files.Unchanged != 1 {
		t.Errorf("%+v", r)
	}
	if code, _, errs := printed(t, "delete", "--workspace", "default", "--all", "--yes", "--url", url); code != exitDone {
		t.Fatal(errs)
	}
	if r := learned(t, calls, "--url", url); r.Calls.Added != 6 {
		t.Errorf("after a deletion: %+v", r.Calls)
	}
	if r := learned(t, calls, "--url", url, "--workspace", "other"); r.Calls.Added != 6 {
		t.Errorf("of another workspace: %+v", r.Calls)
	}
}

// One definition of a mistake: what learn reports stands on the first page with the same
// number of calls, and beside each the line that rests on its calls, not the tool's first.
func TestLearnAndTheFirstPageTellTheSameMistakes(t *testing.T) {
	url, _ := learning(t)
	var b strings.Builder
	for i := range 12 {
		for j, c := range [][2]string{
			{`{"date":"5 May","seats":2}`, "Error: date must be in format YYYY-MM-DD"},
			{`{"date":"2026-05-05","seats":2}`, "Booked HAT02 on 2026-05-05"},
			{fmt.Sprintf(`{"date":"2026-05-05","seats":%d}`, 10+i), fmt.Sprintf("Error: seats must be at most 9, got %d", 10+i)},
			{`{"date":"2026-05-06","seats":9}`, "Booked HAT03 on 2026-05-06"},
		} {
			if j == 2 && i > 8 {
				continue
			}
			fmt.Fprintf(&b, `{"tool_name":"book","input":%s,"output":%q,"metadata":{"session_id":"s%d","tool_call_id":"c%d-%d"}}`+"\n", c[0], c[1], i, i, j)
		}
	}
	file := filepath.Join(t.TempDir(), "calls.jsonl")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	said := learned(t, file, "--url", url)
	get := func(path string) string {
		t.Helper()
		resp, err := http.Get("http://" + url + path) //nolint:noctx // of a test
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	var page struct {
		Causes []struct {
			Tool  string `json:"tool_name"`
			Calls int
		}
	}
	for end := time.Now().Add(20 * time.Second); len(page.Causes) == 0 && time.Now().Before(end); {
		if err := json.Unmarshal([]byte(get("/v1/workspaces/default/overview")), &page); err != nil {
			t.Fatal(err)
		}
	}
	if len(page.Causes) != 2 || len(said.Mistakes) != 2 {
		t.Fatalf("%+v, learn: %+v", page, said.Mistakes)
	}
	for i, m := range said.Mistakes {
		if want := []int{12, 9}[i]; m.Calls != want || page.Causes[i].Calls != want || m.Tool != page.Causes[i].Tool {
			t.Errorf("mistake %d: %d calls in the report, %d on the page, %d made", i, m.Calls, page.Causes[i].Calls, want)
		}
	}
	_, html, _ := strings.Cut(get("/ui/?w=default"), "What costs most")
	_, date, _ := strings.Cut(html, "date must be in format")
	date, seats, _ := strings.Cut(date, "seats must be at most")
	seats, _, _ = strings.Cut(seats, "</ol>")
	if !strings.Contains(date, "Agents read:</b>") || !strings.Contains(date, ">date<") || strings.Contains(date, ">seats<") {
		t.Errorf("of the date agents are told: %s", date)
	}
	if !strings.Contains(seats, "Agents read:</b>") || !strings.Contains(seats, ">seats<") || strings.Contains(seats, ">date<") {
		t.Errorf("of the seats agents are told: %s", seats)
	}
}
