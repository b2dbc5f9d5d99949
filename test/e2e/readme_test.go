package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"slices"
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
	if all := strings.Count(readme, "curl -s"); len(commands) < 3 || len(commands) != all {
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

// The README's endpoints have to be those that exist.
func TestTheREADMENamesTheEndpoints(t *testing.T) {
	readme := rootFile(t, "README.md")
	described := rootFile(t, "api/openapi.yaml")
	for _, path := range regexp.MustCompile("`(?:GET|POST|PUT|DELETE)? ?(/[^`\\s]*)`").FindAllStringSubmatch(readme, -1) {
		if page := path[1] == "/docs" || strings.HasPrefix(path[1], "/ui/"); !page && !strings.Contains(described, "\n  "+path[1]+":\n") {
			t.Errorf("the README names %s, which api/openapi.yaml does not", path[1])
		}
	}
	var known []string
	for _, m := range regexp.MustCompile(`(?m)^  /[^:]*:$`).FindAllString(described, -1) {
		known = append(known, strings.TrimSuffix(strings.TrimSpace(m), ":"))
	}
	for _, path := range known {
		if !strings.HasPrefix(path, "/v1/") && !strings.Contains(readme, path) {
			t.Errorf("the README does not name %s", path)
		}
	}
}

func TestTheREADMEShowsEveryCommandAsItIs(t *testing.T) {
	readme := rootFile(t, "README.md")
	_, help, _ := memoryd(t, "", "--help")
	commands := regexp.MustCompile(`(?m)^  ([a-z-]+)(?: |$)`).FindAllStringSubmatch(help, -1)
	if len(commands) < 8 {
		t.Fatalf("the help names only %v", commands)
	}
	var names []string
	for _, m := range commands {
		names = append(names, m[1])
	}
	for _, m := range regexp.MustCompile(`(?m)^\./memoryd ([a-z-]+)(.*)$`).FindAllStringSubmatch(readme, -1) {
		if !slices.Contains(names, m[1]) {
			t.Errorf("the README shows memoryd %s, which is no command", m[1])
			continue
		}
		_, flags, _ := memoryd(t, "", m[1], "--help")
		line, _, _ := strings.Cut(m[2], "#")
		for _, flag := range regexp.MustCompile(`--[a-z-]+`).FindAllString(line, -1) {
			if !strings.Contains(flags, flag) {
				t.Errorf("the README shows memoryd %s %s, which is no flag of it", m[1], flag)
			}
		}
	}
	for _, name := range names {
		if name != "serve" && !strings.Contains(readme, "./memoryd "+name) {
			t.Errorf("the README does not show memoryd %s", name)
		}
	}
}
