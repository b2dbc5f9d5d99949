package rules

import (
	"slices"
	"strings"
)

// shellProgram is what a command line says about exit statuses: which of its
// commands decide the status of the whole and which cannot.
//
// The status of a pipeline is that of its last command, of a list that of its
// last pipeline; a failure left of || is caught, left of && it decides, and
// what runs in a substitution or as find's -exec … \; is not seen (POSIX.1-2024,
// XCU 2.9; GNU findutils manual, "Single File").
type shellProgram struct {
	parsed   bool
	deciding []string // base names of commands
	last     []string // those of the command that runs last
	masked   []string
	stages   []stage
	muffled  bool // complaints go to /dev/null
}

// stage is one simple command of a pipeline.
type stage struct {
	words   []string
	op      string   // the operator after it: "|", "&&", "||", ";", "&" or ""
	subs    []string // the command lines of its substitutions
	grouped bool     // it ends a parenthesised list
}

const maxStages = 64

func parseShell(command string) shellProgram {
	var p shellProgram
	p.stages = splitShell(command)
	if len(p.stages) == 0 {
		return p
	}
	p.parsed = true
	p.muffled = strings.Contains(command, "/dev/null")
	pipefail := strings.Contains(command, "pipefail")
	deciding := true
	for i := len(p.stages) - 1; i >= 0; i-- {
		st := &p.stages[i]
		closer := st.isCloser()
		if i < len(p.stages)-1 {
			switch st.op {
			case "|":
				p.note(st, deciding && pipefail)
				deciding = deciding && !closer && !st.grouped
				continue
			case "||", "&":
				deciding = false
			case ";":
				if next := &p.stages[i+1]; !next.isCloser() && !next.isBranch() {
					deciding = false
				}
			case "&&":
			}
			deciding = deciding && !st.isCondition()
		}
		if closer {
			continue
		}
		p.note(st, deciding)
		if p.last == nil {
			p.last = slices.Clone(p.deciding)
		}
	}
	return p
}

// note files the commands that st runs under deciding or masked.
func (p *shellProgram) note(st *stage, deciding bool) {
	file := func(name string, decides bool) {
		if name = baseName(name); name == "" {
			return
		}
		if decides {
			p.deciding = append(p.deciding, name)
		} else {
			p.masked = append(p.masked, name)
		}
	}
	words := st.commandWords()
	if len(words) == 0 {
		for _, sub := range st.subs { // x=$(cmd): the status of cmd
			p.noteSub(sub, deciding, file)
		}
		return
	}
	name := baseName(words[0])
	file(name, deciding)
	switch name {
	case "xargs", "parallel":
		file(xargsCommand(words[1:]), deciding)
	case "find":
		noteExec(words, deciding, file)
	case "sh", "bash", "zsh", "dash", "ssh", "su", "eval", "timeout", "watch":
		for _, w := range words[1:] {
			if strings.ContainsAny(w, " ;|") {
				p.noteSub(w, deciding, file)
			}
		}
	}
	for _, sub := range st.subs {
		p.noteSub(sub, false, file)
	}
}

// noteSub files the commands of an inner command line.
func (p *shellProgram) noteSub(command string, deciding bool, file func(string, bool)) {
	for i, st := range splitShell(command) {
		if w := st.commandWords(); len(w) > 0 && i < maxStages {
			file(w[0], deciding)
			if n := baseName(w[0]); n == "xargs" {
				file(xargsCommand(w[1:]), deciding)
			}
		}
	}
}

// noteExec files the commands of find's -exec: with + their failure shows in
// the status of find, with ; it does not.
func noteExec(words []string, deciding bool, file func(string, bool)) {
	for i, w := range words {
		if w != "-exec" && w != "-execdir" && w != "-ok" || i+1 >= len(words) {
			continue
		}
		plus := false
		for _, end := range words[i+1:] {
			if end == ";" || strings.HasPrefix(end, "-exec") {
				break
			}
			plus = end == "+"
			if plus {
				break
			}
		}
		file(words[i+1], deciding && plus)
	}
}

// xargsCommand is the command among the arguments of xargs.
func xargsCommand(args []string) string {
	for i := 0; i < len(args); i++ {
		a := args[i]
		if !strings.HasPrefix(a, "-") {
			return a
		}
		if len(a) == 2 && strings.ContainsAny(a[1:], "InPLsdEa") {
			i++ // the option's own argument
		}
	}
	return "echo"
}

// low is the words and substitutions in lower case, one a line.
func (st *stage) low() string {
	return strings.ToLower(strings.Join(st.words, "\n") + "\n" + strings.Join(st.subs, "\n"))
}

// mentionsOnlyBefore reports whether the word stands in the command line, but in
// no stage that decides: those are the last one and what runs after it is seen.
func (p *shellProgram) mentionsOnlyBefore(word string) bool {
	found, low := false, strings.ToLower(word)
	for i := range p.stages {
		st := &p.stages[i]
		if !strings.Contains(st.low(), low) {
			continue
		}
		if st.op != "|" {
			return false
		}
		found = true
	}
	return found
}

func baseName(w string) string {
	for w != "" && isWrapping(w[0]) {
		w = w[1:]
	}
	for w != "" && isWrapping(w[len(w)-1]) {
		w = w[:len(w)-1]
	}
	return w[strings.LastIndexByte(w, '/')+1:]
}

// isWrapping reports whether a byte only stands around the name of a command.
func isWrapping(c byte) bool {
	switch c {
	case '`', '(', ')', '{', '}', '!', '"', '\'':
		return true
	}
	return false
}

// decides and masks report whether the program runs a command of that name in
// such a place.
func (p *shellProgram) decides(name string) bool { return slices.Contains(p.deciding, name) }
func (p *shellProgram) masks(name string) bool   { return slices.Contains(p.masked, name) }

// endsWith reports whether a command of that name runs last.
func (p *shellProgram) endsWith(name string) bool { return slices.Contains(p.last, name) }
