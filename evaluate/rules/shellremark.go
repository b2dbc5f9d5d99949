package rules

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"memoryd/internal/phrases"
)

// Agents add remarks to the command that they mean: what bounds its output (| tail -20), a
// text before or after it, its exit status, a file that it wrote to. They are set aside here,
// so that the command is judged as if it stood alone.

// substance takes off what only says how it went: fixed texts at the end, the exit status of
// the rest, and the file shown that the rest wrote to.
func (p *shellProgram) substance(stmts []*syntax.Stmt) []*syntax.Stmt {
	for last := len(stmts) - 1; last > 0; last-- {
		text := p.echoed(stmts[last])
		switch {
		case plain(text):
			p.closing = "\n" + text + p.closing
			p.told = false // it would be the status of this
		case !p.told && p.tells(text):
		case p.shows(stmts[last], stmts[last-1]):
			return stmts[:last]
		default:
			return stmts
		}
		stmts = stmts[:last]
	}
	return stmts
}

// echoed is what a statement prints that is but an echo, "" of any other.
func (p *shellProgram) echoed(s *syntax.Stmt) string {
	if p.simple(s) != "echo" {
		return ""
	}
	var words []string
	for _, w := range s.Cmd.(*syntax.CallExpr).Args[1:] { //nolint:forcetypeassert // it is simple
		words = append(words, p.word(w.Parts))
	}
	return strings.Join(words, " ")
}

// plain reports whether an echo prints its text as it stands.
func plain(text string) bool { return text != "" && !strings.ContainsAny(text, "$`\n\\") }

// tells reports whether a text holds the exit status of what ran before it, and remembers
// what stands around that.
func (p *shellProgram) tells(text string) bool {
	for _, status := range []string{"$?", pipeStatus} {
		if p.before, p.after, p.told = strings.Cut(text, status); p.told {
			p.first = status == pipeStatus
			return true
		}
	}
	return false
}

// pipeStatus is Bash's name for the status of a pipe's first command.
const pipeStatus = "${PIPESTATUS[0]}"

// shows reports whether a command hands out the end of a file that the one before it wrote to.
func (p *shellProgram) shows(s, before *syntax.Stmt) bool {
	if !cutters[p.simple(s)] {
		return false
	}
	args := s.Cmd.(*syntax.CallExpr).Args //nolint:forcetypeassert // it is simple
	file := p.word(args[len(args)-1].Parts)
	return slices.ContainsFunc(before.Redirs, func(r *syntax.Redirect) bool { return r.Word != nil && p.word(r.Word.Parts) == file })
}

// simple is the name of the only command of a statement, "" if it is more than that.
func (p *shellProgram) simple(s *syntax.Stmt) string {
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 {
		return ""
	}
	return baseName(p.word(c.Args[0].Parts))
}

// cutters are commands behind a pipe that only bound what is seen: what comes out of
// it is what the command before them printed, and what is judged is that.
var cutters = phrases.Words("head", "tail", "cat", "tee", "less", "more")

// withoutRemarks is an output without the fixed texts that the program prints at its end.
func (p *shellProgram) withoutRemarks(out string) string {
	if p.closing == "" {
		return out
	}
	return strings.TrimSuffix(strings.TrimRight(out, "\r\n "), p.closing)
}
