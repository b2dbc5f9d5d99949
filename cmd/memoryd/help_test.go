package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"memoryd"
)

// printed runs a command line and gives its exit code and what it printed.
func printed(t *testing.T, args ...string) (code int, out, err string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(t.Context(), args, streams{in: strings.NewReader(""), out: &stdout, err: &stderr})
	return code, stdout.String(), stderr.String()
}

// words reads a line as a shell does, as far as the examples need it.
var shellWord = regexp.MustCompile(`'[^']*'|"[^"]*"|[^\s'"]+`)

func TestEveryCommandHasExamplesThatAreUnderstood(t *testing.T) {
	parser, err := newParser(t.Context(), streams{}, func(int) { t.Error("help was served") })
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range parser.Model.Leaves(true) {
		name := n.Path()
		if n.Name == "serve" && n.Parent.Name == "mcp" {
			name = "mcp"
		}
		if name == "version" {
			continue
		}
		var examples []string
		for line := range strings.Lines(helpOf(name)) {
			if _, example, ok := strings.Cut(line, "memoryd "); ok && strings.HasPrefix(line, "    ") {
				examples = append(examples, example)
			}
		}
		if len(examples) == 0 {
			t.Errorf("%s has no example", name)
		}
		for _, example := range examples {
			example, _, _ = strings.Cut(example, " > ")
			var args []string
			for _, word := range shellWord.FindAllString(strings.TrimSuffix(strings.TrimSpace(example), `)"`), -1) {
				args = append(args, strings.Trim(word, `'"`))
			}
			if args[0] == "help" {
				continue
			}
			parsed, err := parser.Parse(args)
			if err != nil {
				t.Errorf("memoryd %s: %v", example, err)
			} else if got := parsed.Selected(); got != n && got.Parent != n.Parent {
				t.Errorf("memoryd %s is an example of %s, and stands at %s", example, got.Path(), name)
			}
		}
	}
}

func TestHelpAndVersion(t *testing.T) {
	for _, args := range [][]string{{"help"}, {"--help"}} {
		code, out, _ := printed(t, args...)
		for _, command := range []string{"demo", "serve", "import", "add", "tools", "show", "summarize", "preflight", "compact", "export"} {
			if code != 0 || !strings.Contains(out, "\n  "+command+" ") {
				t.Errorf("%q: exit code %d, %s is not in it", args, code, command)
			}
		}
	}
	for args, want := range map[string]string{
		"help import": "zcat old.jsonl.gz | memoryd import -", "help mcp install": "--client=STRING", "--version": "memoryd " + memoryd.Version() + " (commit ", "version": "memoryd " + memoryd.Version() + " (commit ",
		"completion bash": "complete -o default -F _memoryd memoryd", "completion zsh": "compdef _memoryd memoryd", "completion fish": "complete -c memoryd",
		"man": ".SS memoryd check\\-config",
	} {
		if code, out, err := printed(t, strings.Fields(args)...); code != 0 || !strings.Contains(out, want) || err != "" {
			t.Errorf("%s: exit code %d, %s%s", args, code, out, err)
		}
	}
}

func TestFaultsOfUsageSayWhatWasMeant(t *testing.T) {
	for args, want := range map[string]string{
		"shwo x":           `there is no command "shwo", did you mean "show"?`,
		"frobnicate":       `there is no command "frobnicate" (memoryd help lists them)`,
		"show t --clals 3": `unknown flag --clals, did you mean "--calls"? (memoryd help show`,
		"show":             `expected "<tool>" (memoryd help show`,
		"delete":           `name the tools, or say --all`,
		"import":           `expected "<file> ..." (memoryd help import`,
		"completion tcsh":  `must be one of "bash","zsh","fish"`,
	} {
		if code, out, err := printed(t, strings.Fields(args)...); code != exitUsage || !strings.Contains(err, want) || out != "" || strings.Count(err, "\n") != 1 {
			t.Errorf("%s: exit code %d, %s%s", args, code, out, err)
		}
	}
}

func TestCompletionOffersWhatMayFollow(t *testing.T) {
	url, stop := serveOnTheSide(t)
	defer stop()
	if code, _, err := printed(t, "add", "my tool", "--input", "i", "--output", "o", "--url", url); code != 0 {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"bash sh": "show", "zsh completion ": "bash\nzsh\nfish", "bash show --ca": "--calls",
		"bash evaluate --judge ca": "cascade", "bash mcp in": "install", "bash mcp install --client cu": "cursor",
		"bash show --url " + url + " ": "'my tool'", "fish show --url " + url + " m": "my tool", "bash export x": "",
	} {
		args := append([]string{completeCommand}, strings.Split(line, " ")...)
		if code, out, err := printed(t, args...); code != 0 || strings.TrimSpace(out) != want || err != "" {
			t.Errorf("%s: exit code %d, got %q %s, want %q", line, code, out, err, want)
		}
	}
}
