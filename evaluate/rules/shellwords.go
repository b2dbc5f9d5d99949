package rules

import "strings"

// shellWord is a word in the making. While it is a piece of the command line as
// it stands there it is kept as that piece.
type shellWord struct {
	start, end int
	buf        []byte // the word, once it is put together from several pieces
}

// splitShell splits a command line at its operators, minding quotes,
// substitutions, comments and here-documents. It never fails: unbalanced quotes
// run to the end.
func splitShell(command string) []stage {
	sp := shellSplitter{s: command}
	sp.all = make([]string, 0, strings.Count(command, " ")+4)
	sp.out = make([]stage, 0, 4)
	for sp.i < len(sp.s) && len(sp.out) < maxStages {
		sp.step()
	}
	sp.endStage("")
	return sp.out
}

type shellSplitter struct {
	s    string
	i    int
	word shellWord
	has  bool // the word is there, even if empty
	cur  stage
	all  []string // the words of all stages, one after the other
	from int      // where those of cur start
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
		end := sp.i + 1
		for end < len(sp.s) && shellPlain[sp.s[end]] {
			end++
		}
		sp.put(sp.i, end)
		sp.i = end
	}
}

// shellPlain are the bytes that never mean anything to the splitter.
var shellPlain = makeShellPlain()

func makeShellPlain() (plain [256]bool) {
	for c := range plain {
		plain[c] = strings.IndexByte("\\'\"$`#<> \t\r;|&\n()", byte(c)) < 0
	}
	return plain
}

func (sp *shellSplitter) peek(n int) byte {
	if sp.i+n < len(sp.s) {
		return sp.s[sp.i+n]
	}
	return 0
}

// put adds a piece of the command line to the word.
func (sp *shellSplitter) put(start, end int) {
	w := &sp.word
	sp.has = true
	switch {
	case len(w.buf) > 0:
		w.buf = append(w.buf, sp.s[start:end]...)
	case w.start == w.end:
		w.start, w.end = start, end
	case w.end == start:
		w.end = end
	default:
		w.buf = append(append(w.buf, sp.s[w.start:w.end]...), sp.s[start:end]...)
	}
}

// putText adds what stands nowhere in the command line.
func (sp *shellSplitter) putText(text string) {
	w := &sp.word
	sp.has = true
	if len(w.buf) == 0 {
		w.buf = append(w.buf, sp.s[w.start:w.end]...)
	}
	w.buf = append(w.buf, text...)
}

func (sp *shellSplitter) endWord() {
	if !sp.has {
		return
	}
	w := &sp.word
	if len(w.buf) > 0 {
		sp.all = append(sp.all, string(w.buf))
	} else {
		sp.all = append(sp.all, sp.s[w.start:w.end])
	}
	sp.word = shellWord{buf: w.buf[:0]}
	sp.has = false
}

func (sp *shellSplitter) endStage(op string) {
	sp.endWord()
	sp.cur.words = sp.all[sp.from:len(sp.all):len(sp.all)]
	sp.from = len(sp.all)
	if len(sp.cur.words) > 0 || len(sp.cur.subs) > 0 {
		sp.cur.op = op
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
		sp.put(sp.i+1, sp.i+2)
		sp.endWord()
	} else if n != 0 {
		sp.put(sp.i+1, sp.i+2)
	}
	sp.i += 2
}

func (sp *shellSplitter) single() {
	rest := sp.s[sp.i+1:]
	j := strings.IndexByte(rest, '\'')
	if j < 0 {
		j = len(rest)
	}
	sp.put(sp.i+1, sp.i+1+j)
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
			sp.put(sp.i+1, sp.i+2)
			sp.i += 2
		case c == '$' && sp.peek(1) == '(':
			sp.substitution(sp.i+2, ')')
		case c == '`':
			sp.backticks()
		default:
			sp.put(sp.i, sp.i+1)
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
		sp.putText("0")
		sp.i = min(end+1, len(sp.s))
		return
	}
	sp.sub(sp.s[min(start, end):end])
	sp.putText("$()")
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
	sp.putText("$()")
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
		sp.put(sp.i, sp.i+1)
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
