package e2e

import (
	"regexp"
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
	`\bis told\b|\bare told\b`:        "receives, is reported",
	`\btells of\b|\btold of\b`:        "reports",
	`\btaken? back\b|\btakes back\b`:  "undo, roll back",
	`\bstands? (?:in|beside|there)\b`: "is in",
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
	if checked < 50 {
		t.Errorf("only %d pages are checked", checked)
	}
	_, help, _ := memoryd(t, "", "help")
	for _, fault := range faultsOf(help) {
		t.Errorf("memoryd help: %s", fault)
	}
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
