package records

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// lineLimit bounds a line of plain output, in bytes.
const lineLimit = 240

// maxLines bounds how many lines of one output are looked at: who needs one of
// more looks it up.
const maxLines = 4000

// readLines makes lines of an output that is no JSON: blocks of indented "key:
// value" lines are records, everything else stays line by line.
func (s *Set) readLines(t *Text, body string) {
	if t.Kept {
		s.cover(s.values.words(body, t.Place, false))
		return
	}
	w := &walker{s: s, t: t, args: s.argCells(t)}
	tool := t.Tool
	if t.From == Call {
		tool += " was given"
	}
	head := w.head(tool, nil, nil)
	var block []cell
	indent, asked := 0, numbersIn(t.Args)
	flush := func() {
		if len(block) > 0 {
			key := -1
			if block[0].ident {
				key = 0
			}
			w.emit(tool, nil, block, key)
		}
		block = nil
	}
	n := 0
	for l := range strings.SplitSeq(body, "\n") {
		if n++; n > maxLines {
			break
		} else if noise(l) {
			continue
		}
		in := len(l) - len(strings.TrimLeft(l, " \t"))
		text := OneLine(l)
		if text == "" {
			flush()
			continue
		}
		item1 := strings.HasPrefix(text, "- ")
		name, v, keyed := member(strings.TrimPrefix(text, "- "))
		if keyed {
			if item1 && in <= indent || in < indent {
				flush()
			}
			if len(block) == 0 {
				indent = in
			}
			c := cell{label: label(name), whole: v, ident: identifies(v), text: s.redact(name, short(strings.Trim(v, "'\"")))}
			c.bare, c.shape = c.text, c.label
			c.values = s.values.leaf(c.text, t.Place)
			s.values.labelled(c.label, c.values, false)
			block = append(block, c)
			continue
		}
		if len(block) > 0 && in > indent { // goes on the line above
			if last := &block[len(block)-1]; len(last.text) < valueLimit {
				last.text = s.redact("", short(last.text+" "+text))
				last.bare = last.text
				last.values = append(last.values, s.values.words(last.text, t.Place, false)...)
			}
			continue
		}
		flush()
		at, bodyAt := numbered(text)
		for len(text) > 0 {
			var piece string
			piece, text = cutPiece(text)
			piece = s.redact("", piece)
			it := &item{kind: quoteItem, place: t.Place, head: head, text: "> " + piece, near: nearness(at, asked)}
			it.values = s.values.words(piece[min(bodyAt, len(piece)):], t.Place, true)
			bodyAt = 0
			s.add(it)
			s.hold(it.values)
		}
	}
	flush()
}

// numbered reads the number that a line of a listing begins with, as programs that
// show files write it; body is where its text begins. at is 0 for other lines.
func numbered(l string) (at, body int) {
	for body < len(l) && body < 7 && l[body] >= '0' && l[body] <= '9' {
		at = at*10 + int(l[body]-'0')
		body++
	}
	if body == 0 || body == len(l) || l[body] != ':' && l[body] != '|' && l[body] != ' ' {
		return 0, 0
	}
	return at, body + 1
}

// numbersIn lists the numbers in the arguments of a call.
func numbersIn(args string) []int {
	var ns []int
	for _, w := range strings.FieldsFunc(args, func(r rune) bool { return r < '0' || r > '9' }) {
		if n, err := strconv.Atoi(w); err == nil && len(ns) < 8 {
			ns = append(ns, n)
		}
	}
	return ns
}

// nearness is what a numbered line is worth more than others the nearer it is to a
// number that was asked for.
func nearness(at int, asked []int) float64 {
	best := 0.0
	for _, n := range asked {
		best = max(best, math.Exp(-math.Abs(float64(at-n))/4))
	}
	if at == 0 {
		return 1
	}
	return 1 + 2*best
}

// cutPiece takes the beginning of a long line, to a sentence or a word.
func cutPiece(s string) (piece, rest string) {
	if len(s) <= lineLimit {
		return s, ""
	}
	at := lineLimit
	for at > 0 && !utf8.RuneStart(s[at]) {
		at--
	}
	if k := strings.LastIndex(s[:at], ". "); k > lineLimit/3 {
		at = k + 1
	} else if k := strings.LastIndexByte(s[:at], ' '); k > lineLimit/3 {
		at = k
	}
	return s[:at], strings.TrimSpace(s[at:])
}

func (s *Set) cover(ids []int32) {
	for _, k := range ids {
		s.values.all[k].covered = true
	}
}

// member reads "key: value" where the key is one short name.
func member(l string) (key, value string, ok bool) {
	i := strings.Index(l, ": ")
	if i <= 0 || i > 40 || i+2 >= len(l) {
		return "", "", false
	}
	for j := range i {
		c := l[j]
		if j == 0 && c|0x20 < 'a' || (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') && c != '_' && c != '-' && c != '.' {
			return "", "", false
		}
	}
	return l[:i], strings.TrimSpace(l[i+2:]), true
}

// noise reports lines of binary data.
func noise(l string) bool {
	bad := strings.Count(l, "\\u00") + strings.Count(l, "\\x")
	for i, r := range l {
		if r == utf8.RuneError || r < ' ' && r != '\t' && r != '\r' && r != 0x1b {
			if bad++; bad > 2 {
				return true
			}
		}
		if i > 2000 {
			break
		}
	}
	return bad > 2
}

// OneLine folds white space and control characters to single spaces.
func OneLine(s string) string {
	if isOneLine(s) {
		return s
	}
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "�"), func(r rune) bool {
		return r <= ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029
	}), " ")
}

// isOneLine reports ASCII without control characters, spaces at the ends or
// several in a row.
func isOneLine(s string) bool {
	before := byte(' ')
	for i := range len(s) {
		c := s[i]
		if c < ' ' || c >= 0x7f || c == ' ' && before == ' ' {
			return false
		}
		before = c
	}
	return s == "" || before != ' '
}

// Shorten cuts to about n bytes, at a character, with an ellipsis.
func Shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.TrimSpace(s[:n]) + "…"
}

// readCall makes a line of a call: its arguments and what became of it.
func (s *Set) readCall(t *Text) {
	n, ok := parseJSON(t.Body)
	var cells []cell
	if ok && n.kind == '{' {
		w := &walker{s: s, t: t}
		cells = w.cells(&n)
	} else if body := OneLine(t.Body); body != "" {
		text := s.redact("", Shorten(body, argsLimit))
		cells = []cell{{text: text, values: s.values.words(text, t.Place, true)}}
	}
	it := &item{kind: callItem, place: t.Place}
	for i := range cells {
		for _, k := range cells[i].values {
			s.values.all[k].passed = true
			s.values.all[k].covered = s.values.all[k].covered || t.Kept
			s.values.all[k].focus = s.values.all[k].focus || t.Kept
		}
		it.values = append(it.values, cells[i].values...)
	}
	if t.Kept || t.Quiet || len(cells) == 0 && t.Outcome == "" {
		return
	}
	text := "called " + label(t.Tool) + ": " + joined(cells)
	if t.Outcome != "" {
		text += " → " + t.Outcome
		it.values = append(it.values, s.values.words(t.Outcome, t.Place, false)...)
	}
	it.text = text
	s.add(it)
	if s.fresh[t.Place] {
		s.ends(t, &n)
	}
	for i := range n.kids { // a long text that was written is read like an output
		if w := (&walker{s: s, t: t}); w.long(&n.kids[i]) {
			s.readLines(t, n.kids[i].text)
		}
	}
	s.hold(it.values)
}

// ends tells how the long texts end that a call wrote which nobody has answered yet:
// there the next step goes on.
func (s *Set) ends(t *Text, n *node) {
	for i := range n.kids {
		s.ends(t, &n.kids[i])
	}
	if !n.scalar() || len(n.text) <= lineLimit {
		return
	}
	text := s.redact("", OneLine(strings.ToValidUTF8(n.text[len(n.text)-lineLimit:], "")))
	it := &item{kind: quoteItem, place: t.Place, head: s.headOf(t.Tool+" was given a text that ends", nil, t.Place), text: "> … " + text, near: answeredWorth}
	it.values = s.values.words(text, t.Place, true)
	s.add(it)
	s.hold(it.values)
}

// argCells are the arguments that an output answers.
func (s *Set) argCells(t *Text) []cell {
	n, ok := parseJSON(t.Args)
	if !ok || n.kind != '{' {
		return nil
	}
	w := &walker{s: s, t: t}
	return w.cells(&n)
}
