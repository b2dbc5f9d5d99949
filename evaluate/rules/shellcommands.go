package rules

import (
	"regexp"
	"slices"
	"strings"

	"memoryd/internal/phrases"
)

// viewers are commands that print what they find, so that their output may hold
// anything.
var viewers = phrases.Words(
	"cat", "head", "tail", "less", "more", "grep", "egrep", "fgrep", "rg", "ag", "zgrep", "zcat", "awk", "gawk", "sed",
	"find", "ls", "tree", "journalctl", "dmesg", "strings", "echo", "printf", "jq", "yq", "xxd", "hexdump", "od",
	"sort", "uniq", "cut", "tr", "nl", "tac", "bat", "diff", "man", "info", "curl", "wget", "locate", "history", "logs",
	"objdump", "w3m", "lynx", "wc", "du", "stat", "file", "column", "fold", "paste", "tee", "xargs",
	"rev", "comm", "join", "bzcat", "xzcat",
	"open", "view", "search_file", "search_dir", "find_file", "Get-Content", "type", "select-string",
)

// listers are viewers that show names and figures, hardly sentences.
var listers = phrases.Words("ls", "tree", "find", "du", "stat", "wc", "file", "locate")

// managers are commands that view or do according to their first words;
// managerViews are the words that make them view.
var (
	managers = phrases.Words("git", "docker", "podman", "kubectl", "oc", "gh", "glab", "helm", "aws", "gcloud", "az",
		"systemctl", "svn", "hg")
	managerViews = phrases.Words(
		"log", "show", "diff", "blame", "grep", "cat-file", "logs", "get", "describe", "ps", "images", "inspect", "ls", "list", "branch",
		"config", "top", "events", "remote", "tag", "reflog", "ls-files", "ls-tree", "shortlog", "exec", "history", "search",
		"view", "help", "stats",
		"issue", "status", "api",
	)
)

// views reports whether a command prints what it finds.
func views(name string, words []string) bool {
	if managers[name] {
		return phrases.HasAny(words[1:min(len(words), 4)], managerViews)
	}
	return viewers[name]
}

// printers are the viewers that have no errors but those that they sign with
// their name.
var printers = phrases.Words(
	"cat", "head", "tail", "less", "more", "grep", "egrep", "fgrep", "rg", "ag", "zgrep", "zcat", "sed", "strings",
	"echo", "printf", "jq", "yq", "sort", "uniq", "cut", "tr", "nl", "tac", "bat", "column", "fold", "paste", "tee",
	"cd", "wc",
)

// prints reports whether the last command is a printer, onlyPrints whether all
// are.
func (p *shellProgram) prints() bool { return p.endsWith(printers) }

func (p *shellProgram) onlyPrints() bool {
	return !slices.ContainsFunc(p.commands, func(c command) bool { return !printers[c.name] })
}

// feeds reports whether a command that does more than print sends its output to
// another one.
func (p *shellProgram) feeds() bool {
	return slices.ContainsFunc(p.stages, func(st stage) bool {
		return st.piped && !views(baseName(st.words[0]), st.words)
	})
}

// runs reports whether the program runs a command of that name, decides whether it does so in
// such a place.
func (p *shellProgram) runs(name string) bool {
	return slices.ContainsFunc(p.commands, func(c command) bool { return c.name == name })
}

func (p *shellProgram) decides(name string) bool {
	return slices.Contains(p.commands, command{name, true})
}

// endsWith reports whether one of those commands runs last.
func (p *shellProgram) endsWith(names phrases.Set) bool {
	return slices.ContainsFunc(p.last, func(c command) bool { return c.decides && names[c.name] })
}

// mentionsOnlyBefore reports whether the word stands in the command line, but in
// no stage that decides: those are the last one and what runs after it is seen.
func (p *shellProgram) mentionsOnlyBefore(word string) bool {
	found, low := false, strings.ToLower(word)
	for i := range p.stages {
		if !strings.Contains(strings.ToLower(p.stages[i].text), low) {
			continue
		}
		if !p.stages[i].piped {
			return false
		}
		found = true
	}
	return found
}

// reached reports whether the program came to its end, as far as that shows: one
// that ends by echoing a text has printed it.
func (p *shellProgram) reached(out string) bool {
	if !slices.Contains(p.last, command{"echo", true}) {
		return true
	}
	return slices.ContainsFunc(p.stages, func(st stage) bool {
		w := st.words
		return len(w) > 1 && baseName(w[0]) == "echo" && (strings.ContainsAny(w[1], "$-") || strings.Contains(out, w[1]))
	})
}

// Commands that say something with exit status 1, often without a word: searchers that no line
// matches, comparers that two things differ, deniers no. countOption is how searchers are told to
// print how many lines they found: grep -c.
var (
	searchers = phrases.Words("grep", "egrep", "fgrep", "zgrep", "rg", "ag")
	comparers = phrases.Words("diff", "cmp", "comm")
	deniers   = phrases.Words("test", "[", "[[", "pgrep", "which", "type", "command", "expr", "systemctl", "pidof", "mountpoint", "getent",
		"locate", "hash", "compgen")
	countOption = regexp.MustCompile(`^(?:-[a-zA-Z]*c|--count)`)
)

// compares reports whether a comparer runs last, counts whether a searcher does and counts, and
// mayAnswerByStatus whether the program's status may be an answer.
func (p *shellProgram) compares() bool { return p.endsWith(comparers) }

func (p *shellProgram) counts() bool {
	return p.endsWith(searchers) && slices.ContainsFunc(p.stages[len(p.stages)-1].words, countOption.MatchString)
}

func (p *shellProgram) mayAnswerByStatus() bool {
	return p.endsWith(searchers) || p.endsWith(comparers) || p.endsWith(deniers)
}
