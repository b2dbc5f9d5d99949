package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"memoryd/test/crash/daemon"
)

// A command of the README: perhaps NAME=$(, then the method, the address, the
// body and the filter.
var (
	curlCommand = regexp.MustCompile(`(?s)(?:(\w+)=\$\()?curl -s (?:-X (\w+) )?"?http://127\.0\.0\.1:8002(/[^\s"]*)"?(?:\s+(?:\\\n\s+)?-d '(.*?)')? \| jq -r '?([^'\n)]*)`)
	readyLine   = regexp.MustCompile(`(?m)^memoryd is ready on .*$`)
)

// The README's examples have to be what the program does: each request is sent
// as it stands there, in order, and each line shown below it has to be in the
// answer.
func TestTheREADMEShowsWhatTheProgramDoes(t *testing.T) {
	readme := rootFile(t, "README.md")
	s := start(t, t.TempDir(), nil)
	shown := readyLine.FindString(readme)
	if want := normalReady.ReplaceAllString(s.Ready, ""); normalReady.ReplaceAllString(shown, "") != strings.TrimSpace(want) {
		t.Errorf("the README's ready line is %q, the program's %q", shown, s.Ready)
	}
	commands := curlCommand.FindAllStringSubmatchIndex(readme, -1)
	if all := strings.Count(readme, "curl -s"); len(commands) < 2 || len(commands) != all {
		t.Fatalf("%d of the README's %d curl commands are understood", len(commands), all)
	}
	variables := map[string]string{}
	for _, at := range commands {
		part := func(n int) string {
			if at[2*n] < 0 {
				return ""
			}
			return readme[at[2*n]:at[2*n+1]]
		}
		name, method, path, body, filter := part(1), part(2), part(3), part(4), part(5)
		for v, value := range variables {
			path = strings.ReplaceAll(path, "$"+v, value)
		}
		answer := carriedOut(t, s, method, path, body)
		if name == "" {
			checkShown(t, path, outputAfter(readme[at[1]:]), answer)
		} else if variables[name] = picked(t, answer, filter); variables[name] == "" {
			t.Fatalf("%s: %s finds nothing", path, filter)
		}
	}
}

// carriedOut sends what curl would send and gives the body of the answer.
func carriedOut(t *testing.T, s *daemon.Process, method, path, body string) []byte {
	t.Helper()
	if method == "" {
		if method = http.MethodGet; body != "" {
			method = http.MethodPost
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %d %v %s", method, path, resp.StatusCode, err, answer)
	}
	return answer
}

// picked gives the text that a filter such as .calls[0].id finds.
func picked(t *testing.T, answer []byte, filter string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(answer, &v); err != nil {
		t.Fatal(err)
	}
	for _, step := range regexp.MustCompile(`\w+`).FindAllString(filter, -1) {
		switch at := v.(type) {
		case map[string]any:
			v = at[step]
		case []any:
			n, err := strconv.Atoi(step)
			if err != nil || n >= len(at) {
				return ""
			}
			v = at[n]
		}
	}
	text, _ := v.(string)
	return text
}

// normalReady matches what differs from run to run in the ready line.
var normalReady = regexp.MustCompile(`http://[0-9.:]+|sqlite in [^;]+`)

// outputAfter is the block below the block that text starts in.
func outputAfter(text string) string {
	parts := strings.SplitN(text, "```", 4)
	if len(parts) < 4 {
		return ""
	}
	return strings.TrimSpace(parts[2])
}

// checkShown expects each line of a block somewhere in the texts of an answer.
func checkShown(t *testing.T, path, block string, answer []byte) {
	t.Helper()
	var v any
	if err := json.Unmarshal(answer, &v); err != nil {
		t.Fatal(err)
	}
	all := strings.Join(textsIn(v), "\n")
	if block == "" {
		t.Errorf("%s: the README shows no output", path)
	}
	for line := range strings.SplitSeq(block, "\n") {
		if _, summary, scored := strings.Cut(line, "  "); scored && !strings.HasPrefix(line, " ") {
			line = summary // "0.5  what happened"
		}
		if !strings.Contains(all, line) {
			t.Errorf("%s: the README shows %q, which the answer does not hold:\n%s", path, line, all)
		}
	}
}

// textsIn collects the strings of a JSON value.
func textsIn(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var all []string
		for _, e := range v {
			all = append(all, textsIn(e)...)
		}
		return all
	case map[string]any:
		var all []string
		for _, e := range v {
			all = append(all, textsIn(e)...)
		}
		return all
	}
	return nil
}

// The endpoints of docs/api.md have to be those that exist.
func TestTheAPIPageNamesTheEndpoints(t *testing.T) {
	page := rootFile(t, "docs/api.md")
	var described struct{ Paths map[string]any }
	if err := json.Unmarshal([]byte(rootFile(t, "api/openapi.json")), &described); err != nil || len(described.Paths) < 30 {
		t.Fatalf("%d paths are described (%v)", len(described.Paths), err)
	}
	for _, path := range regexp.MustCompile("`(?:GET|POST|PUT|DELETE)? ?(/[^`\\s]*)`").FindAllStringSubmatch(page, -1) {
		if own := path[1] == "/docs" || strings.HasPrefix(path[1], "/ui/"); !own && described.Paths[path[1]] == nil {
			t.Errorf("docs/api.md names %s, which api/openapi.json does not", path[1])
		}
	}
	for path := range described.Paths {
		if !strings.HasPrefix(path, "/v1/") && !strings.Contains(page, path) {
			t.Errorf("docs/api.md does not name %s", path)
		}
	}
}

// What a page shows of a command line has to exist.
func TestPagesShowCommandsAsTheyAre(t *testing.T) {
	_, help, _ := memoryd(t, "", "--help")
	flags := map[string]string{} // the help of a command
	for _, m := range regexp.MustCompile(`(?m)^  ([a-z-]+)(?: |$)`).FindAllStringSubmatch(help, -1) {
		_, flags[m[1]], _ = memoryd(t, "", m[1], "--help")
		if regexp.MustCompile(`(?m)^  ` + m[1] + ` [a-z]+ `).MatchString(flags[m[1]]) {
			for _, sub := range regexp.MustCompile(`(?m)^  `+m[1]+` ([a-z]+)(?: |$)`).FindAllStringSubmatch(flags[m[1]], -1) {
				_, more, _ := memoryd(t, "", m[1], sub[1], "--help")
				flags[m[1]] += more
			}
		}
	}
	if len(flags) < 20 {
		t.Fatalf("the help names only %d commands", len(flags))
	}
	shown := 0
	for _, page := range pages(t) {
		for _, block := range regexp.MustCompile("(?s)```(?:sh)?\n(.*?)```").FindAllStringSubmatch(page.text, -1) {
			for _, m := range regexp.MustCompile(`(?m)^(?:\$ )?(?:[A-Z_]+=\S+ )*(?:\./)?memoryd ([a-z-]+)(.*)$`).FindAllStringSubmatch(block[1], -1) {
				line, _, _ := strings.Cut(m[2], "#")
				line, _, _ = strings.Cut(line, " -- ")
				if m[1] == "is" { // the ready line
					continue
				}
				shown++
				if flags[m[1]] == "" {
					t.Errorf("%s shows memoryd %s, which is no command", page.name, m[1])
				}
				for _, flag := range regexp.MustCompile(`--[a-z-]+`).FindAllString(line, -1) {
					if !strings.Contains(flags[m[1]], flag) {
						t.Errorf("%s shows memoryd %s %s, which is no flag of it", page.name, m[1], flag)
					}
				}
			}
		}
	}
	if shown < 30 {
		t.Errorf("only %d commands are found in the pages", shown)
	}
}

// The picture of a warning says what the README's commands say.
func TestThePictureShowsWhatTheREADMESays(t *testing.T) {
	readme, picture := rootFile(t, "README.md"), rootFile(t, "docs/images/advice.svg")
	shown := regexp.MustCompile(`class="code ([a-z]*)"[^>]*>([^<]*)<`).FindAllStringSubmatch(picture, -1)
	if !strings.Contains(readme, "](docs/images/advice.svg)") || len(shown) != 6 {
		t.Fatalf("%d lines of the picture are shown", len(shown))
	}
	for i := 0; i < len(shown); i += 2 {
		said := shown[i][2] + " " + shown[i+1][2]
		if shown[i][1] == "good" { // the call that the warning asks for
			said = regexp.MustCompile(`on \d{4}-\d\d-\d\d`).FindString(said)
			if said == "" {
				t.Error("the good call has another date than the warning asks for")
			}
			continue
		}
		if !strings.Contains(readme, said) {
			t.Errorf("the picture says %q, which the README does not show", said)
		}
	}
}

func TestTheREADMEAndThePagesAreShort(t *testing.T) {
	readme := len(strings.Fields(rootFile(t, "README.md")))
	all := readme // the generated reference included
	for _, p := range pages(t) {
		if strings.HasPrefix(p.name, "docs/") {
			all += len(strings.Fields(p.text))
		}
	}
	if readme > 700 || all > 22_000 {
		t.Errorf("the README has %d words of at most 700, README and pages %d of at most 22,000", readme, all)
	}
}

// The report in the README is what the program says of the sessions named beside it.
func TestTheREADMEShowsAReportAsItIs(t *testing.T) {
	_, block, found := strings.Cut(rootFile(t, "README.md"), "<!-- learn: ")
	sessions, block, _ := strings.Cut(block, " -->\n```\n")
	block, _, closed := strings.Cut(block, "```")
	if !found || !closed {
		t.Fatal("the README has no report")
	}
	out, err := newHome(t, "XDG_CACHE_HOME="+t.TempDir()).run("learn", "../../"+sessions)
	for line := range strings.SplitSeq(strings.TrimSpace(block), "\n") {
		if err != nil || !strings.Contains(out, line) {
			t.Errorf("%v, the README shows %q of\n%s", err, line, out)
		}
	}
}
