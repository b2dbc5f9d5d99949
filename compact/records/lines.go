package records

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"memoryd/internal/textsafe"
)

// lineLimit bounds a line of plain output, in bytes.
const lineLimit = 240

// maxLines bounds how many lines of one output may be chosen: who needs one of more
// looks it up.
const maxLines = 4000

// alike is how many lines of one kind are written as one.
const alike = 4

// kindOf is a line without what tells it from others of its kind: words with digits. each is
// told its words of letters.
func kindOf(l string, each func(w string)) string {
	var b strings.Builder
	b.Grow(min(len(l), 160))
	eachPart(l, func(part string, letters, digits bool) {
		if letters {
			each(part)
		}
		switch {
		case b.Len() >= 160:
		case digits:
			b.WriteByte('0')
		default:
			b.WriteString(part)
		}
	})
	return b.String()
}

// inWords are the bytes of words: ASCII letters and digits, and characters beyond ASCII.
var inWords = textsafe.BytesOf("09azAZ\x80\xff", "")

// eachPart gives the words of a line and the characters between them, and tells which words are of
// letters, more than two, and which have digits.
func eachPart(l string, f func(part string, letters, digits bool)) {
	for i := 0; i < len(l); {
		j, digits := i, false
		for j < len(l) && inWords[l[j]] {
			digits = digits || l[j] <= '9'
			j++
		}
		letters := j > i+2 && !digits
		j = max(j, i+1)
		f(l[i:j], letters, digits)
		i = j
	}
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
		if l = visible(l); l == "" { // as it is quoted
			continue
		}
		name := kindOf(l, func(w string) { k.words[w]++ })
		x := k.of[name]
		if x == nil {
			x = &kind{}
			k.of[name] = x
		}
		x.n++
		x.last = l
		k.lines++
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

// folded writes the lines of one kind as one where they stand first, and "" for the others,
// if most lines are of few kinds.
func (k *kinds) folded(l string) string {
	if !k.folds {
		return l
	}
	x := k.of[kindOf(visible(l), func(string) {})]
	switch {
	case x == nil || x.n < alike:
		return l
	case x.told:
		return ""
	}
	x.told = true
	return fmt.Sprintf("%s … %s (%d lines like these)", shorten(visible(l), lineLimit/3), shorten(visible(x.last), lineLimit/3), x.n)
}

// rarest tells how much less often the rarest word of a line comes than lines do.
func (k *kinds) rarest(l string) float64 {
	least := k.lines
	eachPart(l, func(w string, letters, _ bool) {
		if letters {
			least = min(least, max(1, k.words[w]))
		}
	})
	return math.Log(float64(k.lines) / float64(least))
}

// rare tells how much rarer than usual the rarest word of a line is: a line that is like
// no other has words that no other has.
func (k *kinds) rare(l string) float64 {
	if k.lines < 3*alike {
		return 0
	}
	return max(0, k.rarest(l)-2*k.usual)
}

// readLines makes lines of a text that is no JSON: lines of one kind become one,
// everything else stays line by line. One line with escaped line breaks, as programs that
// log an object send it, is several.
func (w *walker) readLines(body string) {
	s, t := w.s, w.t
	if !strings.Contains(body, "\n") {
		body = strings.NewReplacer(`\n`, "\n", `\"`, `"`, `\'`, "'").Replace(body)
	}
	shown := listingOf(body)
	s.relist(shown, label(t.Tool))
	if t.Kept {
		s.cover(s.values.words(body, t.Place, false))
		return
	}
	r := &lineReader{s: s, t: t, kinds: kindsIn(body), above: w.head(t.Tool, nil, nil), shown: shown}
	for _, n := range numberIn.FindAllString(t.Body, 8) {
		r.asked = append(r.asked, number(n))
	}
	for l := range strings.SplitSeq(body, "\n") {
		r.quote(l)
	}
}

// listing is a part of a file as an output shows it, line by line with numbers.
type listing struct {
	lines       map[int]string
	first, last int
	items       map[*item]int // with the numbers of their lines
	prior       []*listing    // earlier ones of the file, which was not changed since
}

// leastListed is the number of lines that make a listing, or that show two of one file.
const leastListed = 3

// listingOf reads the numbered lines of an output; none where it has few, or two with one number.
func listingOf(body string) *listing {
	x := &listing{lines: map[int]string{}, items: map[*item]int{}}
	for l := range strings.SplitSeq(body, "\n") {
		n, _, end := numbered(l)
		if end == 0 {
			continue
		}
		if len(x.lines) == 0 {
			x.first = n
		} else if n <= x.last {
			return &listing{}
		}
		x.lines[n], x.last = l, n
	}
	if len(x.lines) < leastListed || x.last-x.first > 2*len(x.lines) {
		return &listing{}
	}
	return x
}

// relist takes out of earlier listings of a file what a later one shows again: they are of one
// file where most lines with equal numbers are equal. Of each line only the newest listing is
// known, so that much reading of a file costs no more than its length.
func (s *Set) relist(x *listing, tool string) {
	equal := map[*listing]int{}
	for _, l := range x.lines {
		if says(l) {
			equal[s.listed[l]]++
			s.listed[l] = x
		}
	}
	delete(equal, nil)
	for old, same := range equal {
		both := 0
		for n, l := range old.lines {
			if _, ok := x.lines[n]; ok && says(l) {
				both++
			}
		}
		if same < max(leastListed, both/2+1) {
			continue
		}
		for it, n := range old.items {
			it.stale = it.stale || n >= x.first && n <= x.last
		}
		if x.prior = append(append(old.prior, old), x.prior...); same < both {
			for _, p := range x.prior {
				for it := range p.items {
					it.head.before = tool
				}
			}
			x.prior = nil
		}
	}
}

// says reports a line that says more than its number.
func says(l string) bool {
	_, _, end := numbered(l)
	return len(l) > 2*end
}

// lineReader reads a text line by line.
type lineReader struct {
	s     *Set
	t     *Text
	above *item // the head of what is quoted
	kinds kinds
	asked []int // numbers that the call named
	lines int   // that may be chosen
	shown *listing
}

// quote makes lines of a text. White space that it begins with stays: in code it has a meaning.
func (r *lineReader) quote(line string) {
	text := visible(line)
	if text == "" {
		return
	}
	rare, near := 0.0, r.nearness(text)
	whole, at := text, -1
	if near == 0 {
		text = r.kinds.folded(text)
	}
	if text == whole {
		rare = r.kinds.rare(text)
		_, mark, _ := numbered(line)
		lead := mark + blanks(line[mark:min(len(line), mark+40)])
		text = line[:lead] + visible(line[lead:])
	}
	n, _, number := numbered(text) // tells where it stands, not what it says
	if number > 0 {
		at = n
	}
	if number == len(text) {
		return
	}
	for len(text) > 0 && (r.lines < maxLines || rare > 0) {
		var piece string
		piece, text = cutPiece(text)
		piece = r.s.redact("", piece)
		it := &item{kind: quoteItem, place: r.t.Place, head: r.above, text: quoteMark + piece, rare: rare, near: near}
		it.values = r.s.values.words(piece[min(number, len(piece)):], r.t.Place, true)
		number = 0
		r.lines++
		r.s.add(it)
		if r.shown.items != nil && at >= 0 {
			r.shown.items[it] = at
		}
	}
}

var numberIn = regexp.MustCompile(`[0-9]{1,7}`)

// numbered reads the number that a line of a listing begins with, up to the mark behind it and
// up to the text; 0 where there is none.
func numbered(l string) (n, mark, end int) {
	from := blanks(l)
	to := from
	for to < len(l) && l[to] >= '0' && l[to] <= '9' {
		to++
	}
	if to == from || to-from > 7 || to == len(l) || strings.IndexByte(":|\t ", l[to]) < 0 {
		return 0, 0, 0
	}
	return number(l[from:to]), to + 1, to + 1 + blanks(l[to+1:])
}

func number(digits string) int {
	n, _ := strconv.Atoi(digits) // are digits
	return n
}

// blanks counts the white space at the beginning of a line.
func blanks(l string) int { return len(l) - len(strings.TrimLeft(l, " \t")) }

// nearness tells how near the number of a line of a listing is to one that was asked for.
func (r *lineReader) nearness(l string) float64 {
	at, _, end := numbered(l)
	if end == 0 {
		return 0
	}
	least := math.Inf(1)
	for _, n := range r.asked {
		least = min(least, math.Abs(float64(at-n)))
	}
	return math.Exp(-least / 4)
}

// cutPiece takes the beginning of a long line, to a word.
func cutPiece(s string) (piece, rest string) {
	piece = textsafe.Head(s, lineLimit)
	if k := strings.LastIndexByte(piece, ' '); len(piece) < len(s) && k > lineLimit/3 {
		piece = piece[:k]
	}
	return piece, strings.TrimSpace(s[len(piece):])
}

func (s *Set) cover(ids []int32) {
	for _, k := range ids {
		s.values.all[k].covered = true
	}
}

// shorten cuts to about n bytes, between characters, with an ellipsis.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.TrimSpace(textsafe.Head(s, n)) + textsafe.Ellipsis
}

// ends shortens to about n bytes, and keeps the end as well: commands that begin alike differ
// there.
func ends(s string, n int) string {
	if len(s) <= n {
		return s
	}
	tail := strings.ToValidUTF8(s[len(s)-n*2/5:], "")
	return shorten(s, n*3/5) + " " + tail[strings.IndexByte(tail[:min(len(tail), 20)], ' ')+1:]
}
