package records

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// lineLimit bounds a line of plain output, in bytes.
const lineLimit = 240

// maxLines bounds how many lines of one output may be chosen: who needs one of more
// looks it up.
const maxLines = 4000

// alike is how many lines of one kind are written as one.
const alike = 4

// kindOf is a line without what tells it from others of its kind: words with digits.
func kindOf(l string) string {
	var b strings.Builder
	for i := 0; i < len(l) && b.Len() < 160; {
		j, digits := i, false
		for j < len(l) && (l[j] >= '0' && l[j] <= '9' || l[j]|0x20 >= 'a' && l[j]|0x20 <= 'z' || l[j] >= 0x80) {
			digits = digits || l[j] <= '9'
			j++
		}
		switch {
		case j == i:
			b.WriteByte(l[i])
			j++
		case digits:
			b.WriteByte('0')
		default:
			b.WriteString(l[i:j])
		}
		i = j
	}
	return b.String()
}

// kinds are the kinds of lines that a text has, and its words.
type kinds struct {
	of    map[string]*kind
	words map[string]int // how often a word comes
	lines int
	usual float64 // how rare the rarest word of a line is, on average
	folds bool    // most lines have others like them
}

type kind struct {
	n    int
	last string
	told bool
}

func kindsIn(body string) kinds {
	k := kinds{of: map[string]*kind{}, words: map[string]int{}}
	for l := range strings.SplitSeq(body, "\n") {
		if l = strings.TrimSpace(l); l == "" {
			continue
		}
		name := kindOf(l)
		if k.of[name] == nil {
			k.of[name] = &kind{}
		}
		k.of[name].n++
		k.of[name].last = l
		k.lines++
		eachLetters(l, func(w string) { k.words[w]++ })
	}
	common := 0
	for name, x := range k.of {
		k.usual += float64(x.n) * k.rarest(name) / float64(k.lines)
		if x.n >= alike {
			common += x.n
		}
	}
	k.folds = k.lines >= 3*alike && 2*common > k.lines
	return k
}

// rarest tells how much less often the rarest word of a line comes than lines do.
func (k *kinds) rarest(l string) (most float64) {
	eachLetters(l, func(w string) { most = max(most, math.Log(float64(k.lines)/float64(max(1, k.words[w])))) })
	return most
}

// rare tells how much rarer than usual the rarest word of a line is: a line that is like
// no other has words that no other has.
func (k *kinds) rare(l string) float64 {
	if k.lines < 3*alike {
		return 0
	}
	return max(0, k.rarest(l)-2*k.usual)
}

// eachLetters gives the words of a line that have no digits.
func eachLetters(l string, f func(w string)) {
	for i := 0; i < len(l); {
		j, digits := i, false
		for j < len(l) && (l[j] >= '0' && l[j] <= '9' || l[j]|0x20 >= 'a' && l[j]|0x20 <= 'z' || l[j] >= 0x80) {
			digits = digits || l[j] <= '9'
			j++
		}
		if !digits && j-i > 2 {
			f(l[i:j])
		}
		i = max(j, i+1)
	}
}

// readLines makes lines of a text that is no JSON: blocks of indented "key: value"
// lines are records, lines of one kind become one, everything else stays line by line.
func (s *Set) readLines(t *Text, name, body string) {
	if t.Kept {
		s.cover(s.values.words(body, t.Place, false))
		return
	}
	r := &lineReader{walker: &walker{s: s, t: t, args: s.argCells(t)}, tool: name, asked: numbersIn(t.Body), kinds: kindsIn(body)}
	r.above = r.head(name, nil, nil)
	for l := range strings.SplitSeq(body, "\n") {
		if noise(l) {
			continue
		}
		r.line(OneLine(l), len(l)-len(strings.TrimLeft(l, " \t")))
	}
	r.line("", 0)
}

// lineReader reads a text line by line.
type lineReader struct {
	*walker
	tool   string
	above  *item // the head of what is quoted
	asked  []int // numbers that the call named
	kinds  kinds
	lines  int    // that may be chosen
	block  []cell // the record that is being read
	indent int    // of its first line
	// heading is the line before, which may be the heading of a block that stands
	// deeper than it.
	heading   string
	headingIn int
}

// line reads a line that is indented by in; an empty one ends what came before.
func (r *lineReader) line(text string, in int) {
	name, v, keyed := member(strings.TrimPrefix(text, "- "))
	switch {
	case text != "" && r.kinds.folds && r.kinds.of[kindOf(text)] != nil && r.kinds.of[kindOf(text)].n >= alike:
		r.quote(text)
	case text != "" && keyed:
		if strings.HasPrefix(text, "- ") && in <= r.indent || in < r.indent {
			r.flush()
		}
		if len(r.block) == 0 {
			r.indent = in
			r.begin(in)
		}
		c := cell{label: label(name), whole: v, ident: identifies(v), text: r.s.redact(name, short(strings.Trim(v, "'\"")))}
		c.bare, c.shape = c.text, c.label
		c.values = r.s.values.leaf(c.text, r.t.Place)
		r.s.values.labelled(c.label, c.values, false)
		r.block = append(r.block, c)
	case text != "" && len(r.block) > 0 && in > r.indent: // goes on the line above
		if names(text) {
			return
		}
		if last := &r.block[len(r.block)-1]; len(last.text) < valueLimit {
			last.text = r.s.redact("", short(last.text+" "+text))
			last.bare = last.text
			last.values = append(last.values, r.s.values.words(last.text, r.t.Place, false)...)
		}
	default:
		r.flush()
		r.quote(r.heading)
		r.heading, r.headingIn = text, in
	}
}

// begin begins a block below its heading, if it has one.
func (r *lineReader) begin(in int) {
	h := r.heading
	r.heading = ""
	if h == "" || in <= r.headingIn || len(h) > lineLimit || strings.ContainsAny(h[len(h)-1:], ":{([;,") {
		r.quote(h)
		return
	}
	c := cell{text: r.s.redact("", Shorten(h, valueLimit)), values: r.s.values.words(h, r.t.Place, true)}
	c.bare = c.text
	r.block = append(r.block, c)
}

// flush makes a record of the block.
func (r *lineReader) flush() {
	if len(r.block) > 0 {
		key := -1
		if r.block[0].ident {
			key = 0
		} else if r.block[0].label == "" { // what identifies a block stands below its heading
			key = slices.IndexFunc(r.block, func(c cell) bool { return c.ident })
			r.block[0].ident = true
		}
		r.emit(r.tool, nil, r.block, key)
	}
	r.block = nil
}

// names reports the name of what stands below, which nobody needs without it.
func names(text string) bool {
	return strings.HasSuffix(text, ":") && strings.IndexByte(text, ' ') < 0
}

// quote makes lines of a text that is no member of a record.
func (r *lineReader) quote(text string) {
	s := r.s
	if names(text) {
		return
	}
	at, bodyAt := numbered(text)
	near, rare := nearness(at, r.asked), 0.0
	if x := r.kinds.of[kindOf(text)]; x != nil && text != "" {
		switch {
		case x.n >= alike && r.kinds.folds && near <= 1:
			if x.told {
				return
			}
			x.told = true
			text = fmt.Sprintf("%s … %s (%d lines like these)", Shorten(text, lineLimit/3), Shorten(OneLine(x.last), lineLimit/3), x.n)
		default:
			rare = r.kinds.rare(text)
		}
	}
	for len(text) > 0 && (r.lines < maxLines || rare > 0) {
		var piece string
		piece, text = cutPiece(text)
		piece = s.redact("", piece)
		it := &item{kind: quoteItem, place: r.t.Place, head: r.above, text: quoteMark + piece, boost: near, rare: rare}
		it.values = s.values.words(piece[min(bodyAt, len(piece)):], r.t.Place, true)
		bodyAt = 0
		r.lines++
		s.add(it)
	}
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
	return 1 + 4*best
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

// argCells are the arguments that an output answers.
func (s *Set) argCells(t *Text) []cell {
	n, ok := parseJSON(t.Body)
	if !ok || n.kind != '{' {
		return nil
	}
	w := &walker{s: s, t: t, call: true}
	return w.cells(&n)
}
