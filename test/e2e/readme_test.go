package e2e

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

var (
	curlCommand = regexp.MustCompile(`(?s)curl -s http://127\.0\.0\.1:8002(/\w+) -d '(.*?)' \| jq`)
	readyLine   = regexp.MustCompile(`(?m)^memoryd is ready on .*$`)
)

// The README's examples have to be what the program does: each request is sent
// as it stands there, and each line shown below it has to be in the answer.
func TestTheREADMEShowsWhatTheProgramDoes(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme := string(text)
	s := start(t, t.TempDir(), nil)
	shown := readyLine.FindString(readme)
	if want := normalReady.ReplaceAllString(s.Ready, ""); normalReady.ReplaceAllString(shown, "") != strings.TrimSpace(want) {
		t.Errorf("the README's ready line is %q, the program's %q", shown, s.Ready)
	}
	commands := curlCommand.FindAllStringSubmatchIndex(readme, -1)
	if len(commands) != 3 {
		t.Fatalf("%d curl commands in the README, want 3", len(commands))
	}
	for _, at := range commands {
		path, body := readme[at[2]:at[3]], readme[at[4]:at[5]]
		r, err := s.Send(path, []byte(body))
		if err != nil || r.Status != 200 {
			t.Fatalf("%s: %d %v %s", path, r.Status, err, r.Body)
		}
		checkShown(t, path, outputAfter(readme[at[1]:]), r.Body)
	}
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
