package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"memoryd/integrations/transcripts"

	"github.com/alecthomas/kong"
)

// The page is written from the table of the commands: go test ./cmd/memoryd -run CommandsPage -update.
func TestTheCommandsPageIsTheTable(t *testing.T) {
	parser, err := newParser(t.Context(), streams{}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	var page strings.Builder
	page.WriteString("# Commands\n\nThis page is generated from the program. `memoryd help COMMAND` prints the same.\n\n" +
		"Exit codes: 0 done, 1 failed, 2 wrong usage. Errors go to standard error. `NO_COLOR` turns colours off.\n")
	page.WriteString("\nMany commands take these:\n\n| flag | meaning |\n| --- | --- |\n" +
		"| `--url` (`MEMORYD_URL`) | Address of the server. |\n| `--key` (`MEMORYD_KEY`) | API key of the server. |\n" +
		"| `--workspace` (`MEMORYD_WORKSPACE`) | The workspace. |\n| `--json` | Print JSON, one document per line. |\n" +
		"| `--config` (`MEMORYD_CONFIG`) | Configuration file. |\n| `--data` (`MEMORYD_DATA`) | Folder of the embedded store. |\n" +
		"| `--no-daemon` (`MEMORYD_NO_DAEMON`) | Start no server in the background. |\n")
	formats := strings.Join(transcripts.FormatNames(), ", ")
	for _, n := range parser.Model.Leaves(true) {
		fmt.Fprintf(&page, "\n## memoryd %s\n\n%s\n", n.Path(), n.Help)
		rows := ""
		for _, v := range n.Positional {
			rows += fmt.Sprintf("- `%s`: %s\n", v.Summary(), escaped(v.Help))
		}
		for _, f := range n.Flags {
			if f.Hidden || common(f, page.String()) {
				continue
			}
			variable := ""
			if len(f.Envs) > 0 {
				variable = " (`" + f.Envs[0] + "`)"
			}
			rows += fmt.Sprintf("- `--%s`%s: %s\n", f.Name, variable, strings.Replace(escaped(f.Help), formats, "see [Formats](ingest.md#formats)", 1))
		}
		if rows != "" {
			page.WriteString("\n" + rows)
		}
		if n.Detail != "" {
			page.WriteString("\n" + fenced(n.Detail) + "\n")
		}
	}
	const name = "../../docs/commands.md"
	if *update {
		if err := os.WriteFile(name, []byte(page.String()), 0o644); err != nil { //nolint:gosec // a page
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(name); err != nil || string(text) != page.String() {
		t.Errorf("docs/commands.md is not what the table says (%v); go test ./cmd/memoryd -run CommandsPage -update writes it", err)
	}
}

// common reports whether a flag is one of those that the head of the page explains, of
// the same variable.
func common(f *kong.Flag, page string) bool {
	head, _, _ := strings.Cut(page, "\n## ")
	row := "| `--" + f.Name + "`"
	if len(f.Envs) > 0 {
		row += " (`" + f.Envs[0] + "`)"
	}
	return strings.Contains(head, row+" |")
}

// escaped is a text in which Markdown finds nothing to mark.
func escaped(text string) string {
	return strings.NewReplacer("*", `\*`, "<", `\<`).Replace(text)
}

// fenced puts the examples of a help text into blocks.
func fenced(text string) string {
	var out []string
	inside := false
	for line := range strings.SplitSeq(text, "\n") {
		code := strings.HasPrefix(line, "    ")
		switch {
		case code && !inside:
			if len(out) > 0 && out[len(out)-1] != "" {
				out = append(out, "")
			}
			out = append(out, "```sh")
		case !code && inside:
			out = append(out, "```")
		}
		inside = code
		out = append(out, strings.TrimPrefix(line, "    "))
	}
	if inside {
		out = append(out, "```")
	}
	return strings.Join(out, "\n")
}
