package rules

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"memoryd/internal/phrases"
	"memoryd/internal/textsafe"
)

// shellProgram is what a command line says about exit statuses: which of its
// commands decide the status of the whole and which cannot.
//
// The status of a pipeline is that of its last command, of a list that of its
// last pipeline; a failure left of || is caught, left of && it decides
// (POSIX.1-2024, XCU 2.9). What runs in a substitution is not looked at.
type shellProgram struct {
	parser   *syntax.Parser
	source   string
	reader   strings.Reader // of the source
	commands []command
	last     []command // those that run last
	stages   []stage
	room     []string // the words of the stages
	pipefail bool
	muffled  bool // complaints go to /dev/null
	viewed   bool // the output may be somebody else's text
	hides    bool // there is a pipe, which hides the status of all but its last command
	// told is true where the last command prints the exit status of the rest, between before
	// and after: echo "exit: $?". first is true where it is that of a pipe's first command.
	told, first   bool
	before, after string
	closing       string // a fixed text that the last commands print: echo done
}

// command is a program that runs.
type command struct {
	name    string // its base name
	decides bool   // its status may be that of the whole
}

// stage is one simple command.
type stage struct {
	words []string
	text  string // as it stands
	piped bool   // its output goes to another command
}

const maxStages = 64

// place is where a command stands.
type place struct {
	decides, final, piped bool
	fed                   bool // its input is what a command printed that does more than view
}

func (at place) masked() place { return place{piped: at.piped, fed: at.fed} }

// newShellParser reads what people type: Bash, with up to a few words missing.
func newShellParser() *syntax.Parser {
	return syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.RecoverErrors(8))
}

func parseShell(parser *syntax.Parser, line string) *shellProgram {
	p := &shellProgram{parser: parser}
	p.read(line)
	return p
}

// read reads a command line into an empty program.
func (p *shellProgram) read(line string) {
	p.source = unfenced(line)
	p.muffled, p.pipefail = strings.Contains(p.source, "/dev/null"), strings.Contains(p.source, "pipefail")
	p.list(p.statements(), place{decides: true, final: true})
}

// clear forgets the command line and keeps the room.
func (p *shellProgram) clear() {
	clear(p.commands)
	clear(p.stages)
	clear(p.room)
	*p = shellProgram{parser: p.parser, commands: p.commands[:0], stages: p.stages[:0], room: p.room[:0]}
}

// statements parses the source.
func (p *shellProgram) statements() []*syntax.Stmt {
	p.source = shallow(p.source)
	p.reader.Reset(p.source)
	f, err := p.parser.Parse(&p.reader, "")
	if err != nil {
		return nil
	}
	return f.Stmts
}

// maxOpen bounds what is open while it is parsed: the parser goes back over that, so that
// its time grows with the square of it.
const maxOpen = 100

// shallow is the beginning of a command line with a bounded number of brackets
// and keywords that open something.
func shallow(s string) string {
	if len(s) <= maxOpen {
		return s
	}
	open, word := 0, 0 // where the word begins
	for i := range len(s) {
		switch s[i] {
		case '(', '{', '[':
			open++
		case ' ', '\n':
			switch s[word:i] {
			case "if", "while", "until", "do":
				open++
			}
			word = i + 1
		case ';':
			word = i + 1
		}
		if open > maxOpen {
			return s[:i]
		}
	}
	return s
}

// unfenced takes off the fence of a quoted block.
func unfenced(command string) string {
	inner, ok := strings.CutPrefix(strings.TrimSpace(command), "```")
	if !ok {
		return command
	}
	for _, label := range []string{"bash", "shell", "sh", "zsh", "console"} {
		if rest, ok := strings.CutPrefix(inner, label); ok {
			inner = rest
			break
		}
	}
	return strings.TrimSuffix(strings.TrimSpace(inner), "```")
}

func (p *shellProgram) list(stmts []*syntax.Stmt, at place) {
	if at.final {
		stmts = p.substance(stmts)
	}
	for i, s := range stmts {
		here := at
		if i < len(stmts)-1 {
			here = at.masked()
		}
		p.stmt(s, here)
	}
}

func (p *shellProgram) stmt(s *syntax.Stmt, at place) {
	if len(p.stages) >= maxStages {
		return
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		p.call(c, s, at)
	case *syntax.BinaryCmd:
		p.binary(c, at)
	case *syntax.Subshell:
		p.list(c.Stmts, at)
	case *syntax.Block:
		p.list(c.Stmts, at)
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			p.list(c.Cond, at.masked())
			p.list(c.Then, at)
		}
	case *syntax.WhileClause:
		p.list(c.Cond, at.masked())
		p.list(c.Do, at)
	case *syntax.ForClause:
		p.list(c.Do, at)
	case *syntax.CaseClause:
		for _, item := range c.Items {
			p.list(item.Stmts, at)
		}
	case *syntax.FuncDecl:
		p.stmt(c.Body, at.masked())
	case *syntax.TimeClause:
		if c.Stmt != nil {
			p.stmt(c.Stmt, at)
		}
	case *syntax.TestClause:
		p.note([]string{"[["}, p.text(c), at)
	}
}

// binary reads two commands with a pipe, && or || between them.
func (p *shellProgram) binary(c *syntax.BinaryCmd, at place) {
	left, right := at, at
	left.final, right.fed = false, false
	switch c.Op {
	case syntax.Pipe, syntax.PipeAll:
		p.hides = !p.pipefail
		if cutters[p.simple(c.Y)] {
			p.stmt(c.X, at)
			return
		}
		left.decides, left.piped = p.pipefail, true
		p.stmt(c.X, left)
		right.fed = true
	case syntax.OrStmt:
		left.decides = false
		p.stmt(c.X, left)
	default:
		p.stmt(c.X, left)
	}
	p.stmt(c.Y, right)
}

// call notes a simple command.
func (p *shellProgram) call(c *syntax.CallExpr, s *syntax.Stmt, at place) {
	from := len(p.room)
	for _, w := range c.Args {
		p.room = append(p.room, p.word(w.Parts))
	}
	if words := withoutOpeners(p.room[from:]); len(words) > 0 {
		p.note(words, p.text(s), at)
	}
}

// shellOpeners may stand before a command without being one.
var shellOpeners = phrases.Words("sudo", "nohup", "env", "command", "exec", "builtin", "nice", "doas")

// withoutOpeners is a command without those, and without their options and assignments.
func withoutOpeners(words []string) []string {
	first := slices.IndexFunc(words, func(w string) bool {
		return !shellOpeners[w] && !strings.HasPrefix(w, "-") && !strings.Contains(w, "=")
	})
	if first < 0 {
		return nil
	}
	return words[first:]
}

// note files the commands that a simple command runs under deciding or masked.
func (p *shellProgram) note(words []string, text string, at place) {
	p.stages = append(p.stages, stage{words: words, text: text, piped: at.piped})
	name := baseName(words[0])
	was := len(p.commands)
	p.file(name, at.decides)
	if shows(name, words, at) {
		p.viewed = true
	}
	switch name {
	case "xargs", "parallel":
		p.file(xargsCommand(words[1:]), at.decides)
	case "sh", "bash", "zsh", "dash", "ssh", "su", "eval", "timeout", "watch":
		for _, w := range words[1:] {
			if strings.ContainsAny(w, " ;|") {
				sub := parseShell(p.parser, w)
				for _, st := range sub.stages {
					p.file(st.words[0], at.decides)
				}
				if sub.viewed {
					p.viewed = true
				}
			}
		}
	}
	if at.final {
		p.last = p.commands[was:len(p.commands):len(p.commands)]
	}
}

// shows reports whether a command prints what somebody else wrote.
func shows(name string, words []string, at place) bool {
	switch {
	case at.fed:
		return false
	case listers[name]:
		return at.final
	case name == "echo", name == "printf": // what stands in the command line is no one else's
		return slices.ContainsFunc(words[1:], func(w string) bool { return strings.ContainsAny(w, "$`") })
	}
	return views(name, words)
}

func (p *shellProgram) file(name string, decides bool) {
	if name = baseName(name); name != "" {
		p.commands = append(p.commands, command{name, decides})
	}
}

// text is a node as it stands in the source.
func (p *shellProgram) text(n syntax.Node) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset()) //nolint:gosec // within a command line
	if from > to || to > len(p.source) {
		return ""
	}
	return p.source[from:to]
}

// word is a word without its quotes; what is put in at run time stays as it
// stands, save for substitutions.
func (p *shellProgram) word(parts []syntax.WordPart) string {
	if len(parts) == 1 {
		if lit, ok := parts[0].(*syntax.Lit); ok && strings.IndexByte(lit.Value, '\\') < 0 {
			return lit.Value
		}
	}
	var b strings.Builder
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			b.WriteString(unescaped.Replace(part.Value))
		case *syntax.SglQuoted:
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			b.WriteString(p.word(part.Parts))
		case *syntax.CmdSubst, *syntax.ProcSubst:
			b.WriteString("$()")
		default:
			b.WriteString(p.text(part))
		}
	}
	return b.String()
}

// unescaped takes off the backslashes before characters.
var unescaped = strings.NewReplacer(`\\`, `\`, `\`, "")

// xargsCommand is the command among the arguments of xargs.
func xargsCommand(args []string) string {
	for i := 0; i < len(args); i++ {
		switch {
		case takesArgument[args[i]]:
			i++
		case !strings.HasPrefix(args[i], "-"):
			return args[i]
		}
	}
	return "echo"
}

// takesArgument are the options of xargs whose argument is the next word.
var takesArgument = phrases.Words("-I", "-n", "-P", "-L", "-s", "-d", "-E", "-a")

func baseName(w string) string {
	w = quoting.Trim(w)
	return w[strings.LastIndexByte(w, '/')+1:]
}

// quoting are the signs that may stand around the name of a command.
var quoting = textsafe.BytesOf("", "`(){}!\"'")
