package rules

import (
	"slices"
	"strings"

	"memoryd/internal/phrases"
)

// shellOpeners may stand before a command without being one.
var shellOpeners = phrases.Words("then", "do", "else", "{", "!", "time", "sudo", "nohup", "env", "command", "exec", "builtin", "nice", "doas")

var shellConditions = phrases.Words("if", "while", "until", "elif")

var shellClosers = phrases.Words("fi", "done", "esac", "}", ";;")

// commandWords are the words of the command that the stage runs, without
// keywords, assignments and redirections before it.
func (st *stage) commandWords() []string {
	w := st.words
	for len(w) > 0 {
		switch first := w[0]; {
		case shellOpeners[first], shellConditions[first], shellClosers[first], isAssignment(first):
			w = w[1:]
		case first == "for" || first == "case" || first == "function" || first == "select":
			return nil
		case strings.HasPrefix(first, "-") && len(w) < len(st.words): // options of sudo, env
			w = w[1:]
		case isRedirection(first):
			if w = w[1:]; strings.HasSuffix(first, "<") || strings.HasSuffix(first, ">") {
				w = w[min(1, len(w)):]
			}
		default:
			return w
		}
		for len(w) > 0 && w[0] == "" {
			w = w[1:]
		}
	}
	return nil
}

// isRedirection recognises <file, >file, 2>file and the bare operators.
func isRedirection(w string) bool {
	return w[0] == '<' || w[0] == '>' || len(w) > 1 && phrases.IsDigit(w[0]) && w[1] == '>'
}

func isAssignment(w string) bool {
	eq := strings.IndexByte(w, '=')
	if eq <= 0 {
		return w == ""
	}
	for i := range eq {
		if !phrases.IsWord(w[i]) {
			return false
		}
	}
	return true
}

func (st *stage) isCondition() bool { return len(st.words) > 0 && shellConditions[st.words[0]] }

// isBranch reports whether the stage starts the other branch of a conditional.
func (st *stage) isBranch() bool {
	return len(st.words) > 0 && (st.words[0] == "else" || st.words[0] == "elif")
}

// isCloser reports whether the stage only ends a compound command.
func (st *stage) isCloser() bool {
	return len(st.words) > 0 && shellClosers[st.words[0]] && len(st.commandWords()) == 0
}

// viewers are commands that print what they find, so that their output may hold
// anything.
var viewers = phrases.Words(
	"cat", "head", "tail", "less", "more", "grep", "egrep", "fgrep", "rg", "ag", "zgrep", "zcat", "awk", "gawk", "sed",
	"find", "ls", "tree", "git", "journalctl", "dmesg", "strings", "echo", "printf", "jq", "yq", "xxd", "hexdump", "od",
	"sort", "uniq", "cut", "tr", "nl", "tac", "bat", "diff", "man", "info", "curl", "wget", "locate", "history", "logs",
	"objdump", "w3m", "lynx", "wc", "du", "stat", "file", "column", "fold", "paste", "tee", "xargs", "docker",
	"kubectl", "open", "view", "search_file", "search_dir", "find_file", "Get-Content", "type", "select-string",
)

// printers are the viewers that have no errors but those that they sign with
// their name.
var printers = phrases.Words(
	"cat", "head", "tail", "less", "more", "grep", "egrep", "fgrep", "rg", "ag", "zgrep", "zcat", "sed", "strings",
	"echo", "printf", "jq", "yq", "sort", "uniq", "cut", "tr", "nl", "tac", "bat", "column", "fold", "paste", "tee",
	"cd", "wc",
)

// prints reports whether the last command is a printer, onlyPrints whether all
// are.
func (p *shellProgram) prints() bool { return phrases.HasAny(p.last, printers) }

func (p *shellProgram) onlyPrints() bool {
	for _, name := range slices.Concat(p.deciding, p.masked) {
		if !printers[name] {
			return false
		}
	}
	return true
}

// reads reports whether the output of the program may be somebody else's text.
func (p *shellProgram) reads() bool {
	return phrases.HasAny(p.deciding, viewers) || phrases.HasAny(p.masked, viewers)
}

func (p *shellProgram) asksHelp() bool {
	for i := range p.stages {
		for j, w := range p.stages[i].words {
			switch w {
			case "--help", "-h", "-help", "-?", "/?", "--usage", "--version":
				return true
			case "help", "man", "info", "usage":
				if j <= 1 {
					return true
				}
			}
		}
	}
	return false
}

// answersByStatus are commands that say "no" or "different" with exit status 1
// and often without a word.
var answersByStatus = phrases.Words(
	"grep", "egrep", "fgrep", "zgrep", "rg", "ag", "test", "[", "[[", "diff", "cmp", "comm", "pgrep", "which", "type",
	"command", "expr", "systemctl", "pidof", "mountpoint", "getent", "locate", "hash", "compgen",
)

// alwaysPrints reports whether the program ends by printing something of its
// own.
func (p *shellProgram) alwaysPrints() bool { return p.endsWith("echo") && !p.redirects() }

// redirects reports whether the last command writes to a file.
func (p *shellProgram) redirects() bool {
	for _, w := range p.stages[len(p.stages)-1].words {
		if strings.HasPrefix(w, ">") || strings.HasPrefix(w, "1>") || strings.HasPrefix(w, "&>") {
			return true
		}
	}
	return false
}

// reached reports whether the program came to its end, as far as that shows: one
// that ends by echoing a text has printed it.
func (p *shellProgram) reached(out string) bool {
	if !p.endsWith("echo") || p.redirects() {
		return true
	}
	for i := range p.stages {
		w := p.stages[i].commandWords()
		if len(w) > 1 && baseName(w[0]) == "echo" && (strings.Contains(w[1], "$") || strings.HasPrefix(w[1], "-") || strings.Contains(out, w[1])) {
			return true
		}
	}
	return false
}

// compares reports whether the status of the program says if two things differ.
func (p *shellProgram) compares() bool {
	return p.endsWith("diff") || p.endsWith("cmp") || p.endsWith("comm")
}

// mayAnswerByStatus reports whether the program's status may be an answer.
func (p *shellProgram) mayAnswerByStatus() bool {
	return phrases.HasAny(p.last, answersByStatus)
}
