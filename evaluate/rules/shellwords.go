package rules

import "strings"

// splitShell splits a command line at its operators, minding quotes,
// substitutions, comments and here-documents. It never fails: unbalanced quotes
// run to the end.
func splitShell(command string) []stage {
	sp := shellSplitter{s: command}
	for sp.i < len(sp.s) && len(sp.out) < maxStages {
		sp.step()
	}
	sp.endStage("")
	return sp.out
}

type shellSplitter struct {
	s    string
	i    int
	word strings.Builder
	has  bool // the word is there, even if empty
	cur  stage
	out  []stage
	docs []string // delimiters of here-documents that start after this line
}

func (sp *shellSplitter) step() {
	c := sp.s[sp.i]
	switch {
	case c == '\\':
		sp.escape()
	case c == '\'':
		sp.single()
	case c == '"':
		sp.double()
	case c == '$' && sp.peek(1) == '(', (c == '<' || c == '>') && sp.peek(1) == '(':
		sp.substitution(sp.i+2, ')')
	case c == '`':
		sp.backticks()
	case c == '#' && !sp.has:
		sp.i += lineEnd(sp.s[sp.i:])
	case c == '<' && sp.peek(1) == '<' && sp.peek(2) != '<' && (sp.i == 0 || sp.s[sp.i-1] != '<'):
		sp.hereDoc()
	case c == ' ' || c == '\t' || c == '\r':
		sp.endWord()
		sp.i++
	case strings.IndexByte(";|&\n()", c) >= 0:
		sp.operator(c)
	default:
		sp.put(c)
		sp.i++
	}
}

func (sp *shellSplitter) peek(n int) byte {
	if sp.i+n < len(sp.s) {
		return sp.s[sp.i+n]
	}
	return 0
}

func (sp *shellSplitter) put(c byte) {
	sp.word.WriteByte(c)
	sp.has = true
}

func (sp *shellSplitter) endWord() {
	if sp.has {
		sp.cur.words = append(sp.cur.words, sp.word.String())
		sp.word.Reset()
		sp.has = false
	}
}

func (sp *shellSplitter) endStage(op string) {
	sp.endWord()
	if len(sp.cur.words) > 0 || len(sp.cur.subs) > 0 {
		sp.cur.op = op
		sp.cur.low = strings.ToLower(strings.Join(sp.cur.words, "\n") + "\n" + strings.Join(sp.cur.subs, "\n"))
		sp.out = append(sp.out, sp.cur)
		sp.cur = stage{}
		return
	}
	if n := len(sp.out); n > 0 && op != "" && op != ";" {
		sp.out[n-1].op = op // as in ") |"
	}
}

func (sp *shellSplitter) escape() {
	if n := sp.peek(1); n == '\n' {
		sp.i += 2
		return
	} else if n == ';' {
		sp.endWord()
		sp.put(';')
		sp.endWord()
	} else if n != 0 {
		sp.put(n)
	}
	sp.i += 2
}

func (sp *shellSplitter) single() {
	rest := sp.s[sp.i+1:]
	j := strings.IndexByte(rest, '\'')
	if j < 0 {
		j = len(rest)
	}
	sp.word.WriteString(rest[:j])
	sp.has = true
	sp.i += j + 2
}

func (sp *shellSplitter) double() {
	sp.has = true
	for sp.i++; sp.i < len(sp.s); {
		switch c := sp.s[sp.i]; {
		case c == '"':
			sp.i++
			return
		case c == '\\' && sp.i+1 < len(sp.s):
			sp.put(sp.s[sp.i+1])
			sp.i += 2
		case c == '$' && sp.peek(1) == '(':
			sp.substitution(sp.i+2, ')')
		case c == '`':
			sp.backticks()
		default:
			sp.put(c)
			sp.i++
		}
	}
}

// substitution keeps the text up to the matching parenthesis as an inner
// command line.
func (sp *shellSplitter) substitution(start int, closer byte) {
	level, i := 1, start
	for ; i < len(sp.s); i++ {
		switch sp.s[i] {
		case '(':
			level++
		case closer:
			level--
		case '\\':
			i++
		}
		if level == 0 {
			break
		}
	}
	end := min(i, len(sp.s))
	if start < len(sp.s) && sp.s[start] == '(' { // arithmetic
		sp.put('0')
		sp.i = min(end+1, len(sp.s))
		return
	}
	sp.sub(sp.s[min(start, end):end])
	sp.word.WriteString("$()")
	sp.has = true
	sp.i = min(end+1, len(sp.s))
}

// sub keeps an inner command line, while there are not too many.
func (sp *shellSplitter) sub(command string) {
	if len(sp.cur.subs) < maxStages {
		sp.cur.subs = append(sp.cur.subs, command)
	}
}

// backticks are a substitution too, save for the fence of a quoted block.
func (sp *shellSplitter) backticks() {
	if strings.HasPrefix(sp.s[sp.i:], "```") {
		sp.i += 3
		sp.i += fenceLabel(sp.s[sp.i:])
		return
	}
	rest := sp.s[sp.i+1:]
	j := strings.IndexByte(rest, '`')
	if j < 0 {
		j = len(rest)
	}
	sp.sub(rest[:j])
	sp.word.WriteString("$()")
	sp.has = true
	sp.i += j + 2
}

// fenceLabel is the length of the language name after a fence.
func fenceLabel(s string) int {
	for _, l := range []string{"bash", "shell", "sh", "zsh", "console"} {
		if strings.HasPrefix(s, l) {
			return len(l)
		}
	}
	return 0
}

func (sp *shellSplitter) hereDoc() {
	sp.endWord()
	rest := strings.TrimLeft(strings.TrimPrefix(sp.s[sp.i+2:], "-"), " \t")
	end := strings.IndexAny(rest, " \t\n;|&>")
	if end < 0 {
		end = len(rest)
	}
	if word := strings.Trim(rest[:end], `"'\`); word != "" {
		sp.docs = append(sp.docs, word)
	}
	sp.i = len(sp.s) - len(rest) + end
}

func (sp *shellSplitter) operator(c byte) {
	double := sp.peek(1) == c
	switch {
	case c == '&' && (sp.peek(1) == '>' || sp.i > 0 && sp.s[sp.i-1] == '>'): // &> and >&
		sp.put(c)
		sp.i++
	case (c == '&' || c == '|') && double:
		sp.endStage(sp.s[sp.i : sp.i+2])
		sp.i += 2
	case c == '|' || c == '&':
		sp.endStage(string(c))
		sp.i++
		if c == '|' && sp.i < len(sp.s) && sp.s[sp.i] == '&' {
			sp.i++
		}
	case c == '\n':
		sp.endStage(";")
		sp.i++
		sp.skipDocs()
	case c == ';':
		sp.endStage(";")
		sp.i++
	default: // parentheses group; what is inside counts as if it stood outside
		sp.endWord()
		sp.cur.grouped = c == ')'
		sp.i++
	}
}

func (sp *shellSplitter) skipDocs() {
	for _, delim := range sp.docs {
		for sp.i < len(sp.s) {
			n := lineEnd(sp.s[sp.i:])
			l := strings.TrimSpace(sp.s[sp.i : sp.i+n])
			sp.i = min(sp.i+n+1, len(sp.s))
			if l == delim {
				break
			}
		}
	}
	sp.docs = nil
}

func lineEnd(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i
	}
	return len(s)
}
