package e2e

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// offenders are words and turns of phrase that a technical writer would not use, and
// what to write instead. docs/style.md has the pairs.
var offenders = map[string]string{
	`\banew\b`:                        "again, regenerated",
	`\bfor ever\b`:                    "permanently",
	`\bin vain\b`:                     "failed",
	`\bforeign\b`:                     "untrusted, of another source",
	`\b(?:is|are|was|were) told\b`:    "receives, is reported",
	`\btells? of\b|\btold of\b`:       "reports",
	`\btak(?:e|es|en) back\b`:         "undo, roll back",
	`\bstands? (?:in|beside|there)\b`: "is in",
	`\bis no (?:JSON|call)\b`:         "is not",
	`\bworth a look\b`:                "to review",
	`\bwhat .{3,40} says of\b`:        "what is known about",
	`\bWhoever\b`:                     "each, anyone who",
	`\bdear\b`:                        "expensive",
	`\bowner'?s? alone\b`:             "only the owner",
	`\bmay be had\b|\bcan be had\b`:   "is available",
	`\blet go\b`:                      "dropped",
	`\bgoes? the rounds\b`:            "runs in the background",
	`\bcompany\b`:                     "batch",
	`\bwants? (?:the way|no)\b`:       "requires",
	`\ba (?:page|line|document) a\b`:  "per",
}

// maxWords is how long a sentence may be.
const maxWords = 45

func TestPagesAreWrittenInPlainEnglish(t *testing.T) {
	checked := 0
	for _, p := range pages(t) {
		if p.name == "docs/style.md" { // quotes what not to write
			continue
		}
		checked++
		for _, fault := range faultsOf(p.text) {
			t.Errorf("%s: %s", p.name, fault)
		}
	}
	if checked < 43 {
		t.Errorf("only %d pages are checked", checked)
	}
	for _, name := range []string{"default.yaml", "docs/alerts.yaml", "deploy/helm/memoryd/values.yaml", "clients/python/README.md", "clients/typescript/README.md", "examples/README.md"} {
		for _, fault := range faultsOf(regexp.MustCompile(`(?m)^\s*#?|\s#|:`).ReplaceAllString(rootFile(t, name), "\n\n")) {
			t.Errorf("%s: %s", name, fault)
		}
	}
	described := regexp.MustCompile(`"(?:description|summary)": "((?:[^"\\]|\\.)*)"`).FindAllStringSubmatch(rootFile(t, "api/openapi.json"), -1)
	if len(described) < 300 {
		t.Errorf("only %d texts of api/openapi.json are checked", len(described))
	}
	for _, text := range described {
		for _, fault := range faultsOf(strings.ReplaceAll(text[1], `\n`, "\n")) {
			t.Errorf("api/openapi.json: %s", fault)
		}
	}
	_, help, _ := memoryd(t, "", "help")
	for _, fault := range faultsOf(help) {
		t.Errorf("memoryd help: %s", fault)
	}
}

// withoutMessages are folders and files whose texts are not the program's own words: they recognise
// what tools, models and attackers write, or serve tests.
var withoutMessages = []string{
	"bench", "test", "guidelines", "evaluate/rules", "evaluate/score", "internal/errortext", "internal/phrases", "internal/textsafe", "internal/arch", "internal/reading",
	"store/storetest", "compact/narrative.go", // a prompt
}

// Errors, lines of the log, help texts and pages of the dashboard are held to the same words.
func TestMessagesAreWrittenInPlainEnglish(t *testing.T) {
	checked := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(filepath.ToSlash(path), "../../")
		hidden := strings.HasPrefix(d.Name(), ".") && name != "../.."
		skipped := hidden || d.Name() == "testdata" || d.Name() == "node_modules" || slices.Contains(withoutMessages, name)
		switch {
		case d.IsDir() && skipped:
			return filepath.SkipDir
		case d.IsDir(), skipped, strings.HasSuffix(name, "_test.go"):
		case strings.HasSuffix(name, ".go"):
			for line, text := range sentencesOf(t, path) {
				checked++
				for _, fault := range faultsOf(text) {
					t.Errorf("%s:%d: %s", name, line, fault)
				}
			}
		case strings.HasPrefix(name, "api/ui/templates/"):
			checked++
			for _, fault := range faultsOf(regexp.MustCompile(`(?s)<[^>]*>|\{\{.*?\}\}`).ReplaceAllString(rootFile(t, name), "\n\n")) {
				t.Errorf("%s: %s", name, fault)
			}
		}
		return nil
	})
	if err != nil || checked < 800 {
		t.Errorf("only %d texts are checked, %v", checked, err)
	}
}

// noProse are texts for programs: SQL, regular expressions.
var noProse = regexp.MustCompile(`CREATE TABLE|octet_length|\(\?:`)

// sentencesOf are the texts of a file of Go that have four words or more, by line.
func sentencesOf(t *testing.T, path string) map[int]string {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := map[int]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil && len(strings.Fields(text)) > 3 && !noProse.MatchString(text) {
				found[fset.Position(lit.Pos()).Line] += text + "\n\n"
			}
		}
		return true
	})
	return found
}

// The control: the check finds what it is for, and leaves plain sentences alone.
func TestTheCheckOfEnglishFindsWhatItIsFor(t *testing.T) {
	for _, bad := range []string{
		"The guideline is written anew.", "All tools go, for ever.", "Texts of calls are foreign.", "Whoever holds a key is one source.",
		strings.Repeat("and so on ", 20) + ".",
	} {
		if len(faultsOf(bad)) != 1 {
			t.Errorf("%q: %q", bad, faultsOf(bad))
		}
	}
	if faults := faultsOf("Each API key counts as one source.\n\n```\nanew for ever\n```\n\n| anew | `for ever` |"); len(faults) != 1 {
		t.Errorf("%q", faults)
	}
}

// faultsOf are the offenders and the long sentences of a page, without its code.
func faultsOf(text string) (faults []string) {
	text = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`|<!--.*?-->").ReplaceAllString(text, "CODE")
	text = regexp.MustCompile(`\]\([^)]*\)`).ReplaceAllString(text, "]")
	for form, better := range offenders {
		for _, found := range regexp.MustCompile(form).FindAllString(text, -1) {
			faults = append(faults, "write \""+better+"\" instead of \""+found+"\"")
		}
	}
	text = regexp.MustCompile(`(?m)^\s*(?:[-*] |\d+\. |\||#).*$`).ReplaceAllStringFunc(text, func(line string) string {
		return "\n\n" + strings.ReplaceAll(line, "|", ".\n\n")
	})
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		for _, sentence := range regexp.MustCompile(`[.!?:;](?:\s|$)`).Split(paragraph, -1) {
			if n := len(strings.Fields(sentence)); n > maxWords {
				faults = append(faults, strings.Join(strings.Fields(sentence)[:8], " ")+" ...: a sentence of too many words")
			}
		}
	}
	return faults
}
