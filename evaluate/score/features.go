package score

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"memoryd/internal/errortext"
	"memoryd/internal/loosejson"
	"memoryd/internal/textsafe"
)

// Call is a call to score.
type Call struct {
	Input   string // the texts of the input
	Output  string // without white space around it
	Body    *loosejson.Doc
	Purpose Purpose
}

// Purpose is what a call is for, as far as it counts: what the name of a tool says of it does not.
type Purpose uint32

// The purposes of calls.
const (
	Other    Purpose = iota
	Commands         // it runs commands
	Shows            // it runs commands that show what others wrote
)

// Bounds of what is read: a message stands at the head or at the end of an output.
const (
	maxInput   = 4 << 10
	headBytes  = 240
	tailBytes  = 160
	valueBytes = 160
	wordBytes  = 40
	maxDepth   = 5
	maxMembers = 12
	maxItems   = 3
	shortText  = 4 // words in which one says how the call went
)

// Bits is the number of bits kept of a feature's hash.
const Bits = 21

// Features are the hashed features of one call, each once. They can be reused.
type Features struct {
	List  []uint32
	seen  [1 << Bits / 64]uint64
	given map[uint32]bool // the words of the input

	place         uint32 // where the text stands that is read
	purpose       uint32
	before, start uint32 // the word before, and those that the text began with
	first         [shortText]uint32
	words         int
	alone         bool // the text is all that the output says in words
	bare          bool // the output has no word, so that nothing says that a number is a status
}

// kind keeps features of different kinds apart.
type kind uint32

const (
	ofWord    kind = iota + 1
	ofPair         // a word and the one before it
	ofStem         // how a long word begins
	ofHead         // the first words of a text
	ofTail         // the first words of the end of a long text
	ofShape        // what the output is made of, and its size
	ofKey          // the name of a member
	ofState        // what kind of value a member has
	ofShort        // a word of a text of few words
	ofPurpose      // what the tool is for
	ofName         // the output is the name of a failure, or begins as a message of one
	ofUse          // what the tool is for, and one of the first words
	ofRecord       // a word that stands in a record of several members
)

// basis begins the hash of a text, with continues it by one byte.
func basis(k kind) uint32          { return 2166136261 ^ uint32(k)*0x9E3779B1 }
func with(h uint32, c byte) uint32 { return (h ^ uint32(c)) * 16777619 }

func hash(k kind, s string) uint32 {
	h := basis(k)
	for i := range len(s) {
		h = with(h, s[i])
	}
	return h
}

// hashLower is the hash of a text in lower case.
func hashLower(k kind, s string) uint32 {
	h := basis(k)
	for i := range len(s) {
		c := s[i]
		if c >= utf8.RuneSelf {
			return hash(k, strings.ToLower(s))
		}
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		h = with(h, c)
	}
	return h
}

// What stands for a quotation, for a number, and for a word that the input brought.
var (
	quotation = hash(ofWord, "“”")
	number    = hash(ofWord, "#")
	givenWord = hash(ofWord, "<>")
)

func mix(k kind, a, b uint32) uint32 {
	return (a*0x85EBCA6B ^ b*0xC2B2AE35 ^ uint32(k)*0x27D4EB2F) * 16777619
}

func (f *Features) add(h uint32) {
	x := fold(h)
	if at := &f.seen[x>>6]; *at>>(x&63)&1 == 0 {
		*at |= 1 << (x & 63)
		f.List = append(f.List, x)
	}
}

func fold(h uint32) uint32 {
	h ^= h >> 15
	h *= 0x2C1B3C6D
	h ^= h >> 12
	return h & (1<<Bits - 1)
}

// Read fills in the features of a call.
func (f *Features) Read(c *Call) {
	for _, x := range f.List {
		f.seen[x>>6] = 0
	}
	f.List = f.List[:0]
	f.readInput(c.Input[:min(len(c.Input), maxInput)])
	f.purpose = uint32(c.Purpose)
	f.shape(c)
	f.alone = !c.Body.OK() || c.Body.Nodes[0].Kind == loosejson.Object && (c.Body.Nodes[0].Count == 1 || isMessage(c.Body))
	f.bare = !strings.ContainsFunc(c.Output, unicode.IsLetter)
	if c.Body.OK() {
		f.member(c.Body, 0, 0, 0)
		f.text(textsafe.Head(c.Body.Rest, tailBytes), ofTail)
		return
	}
	if errortext.FailureName(strings.TrimRight(c.Output, ".!")) {
		f.add(mix(ofName, 0, 0))
		f.add(mix(ofName, 1, f.purpose))
	}
	head := textsafe.Head(c.Output, headBytes)
	first, _, _ := strings.Cut(head, "\n")
	if errortext.Heads(strings.ToLower(first)) {
		f.add(mix(ofName, 2, 0))
		f.add(mix(ofName, 3, f.purpose))
	}
	f.text(head, ofHead)
	if rest := c.Output[len(head):]; rest != "" {
		f.text(rest[max(0, len(rest)-tailBytes):], ofTail)
	}
}

// isMessage reports whether an object is a text in words with addresses, codes and other values beside it. A record
// has more texts than one, or begins with what tells which thing it is of; a message may begin with how the call went.
func isMessage(d *loosejson.Doc) bool {
	spoken := false
	for c := d.Nodes[0].Child; c != 0; c = d.Nodes[c].Next {
		n := &d.Nodes[c]
		speaks := n.Kind == loosejson.String && strings.ContainsFunc(n.Val, isOfWords)
		if n.Child != 0 || speaks && spoken || !speaks && !spoken && !errortext.TellsOutcome(n.Key) {
			return false
		}
		spoken = spoken || speaks
	}
	return spoken
}

// isOfWords reports whether a character is in texts rather than in names and codes.
func isOfWords(r rune) bool { return r == ' ' || r >= utf8.RuneSelf }

// readInput remembers the words of the input: what the call itself brought says
// nothing of how it went.
func (f *Features) readInput(s string) {
	if f.given == nil {
		f.given = map[uint32]bool{}
	}
	clear(f.given)
	var w word
	for s != "" {
		s, _ = w.next(s)
		if w.n > 2 {
			f.given[w.hash] = true
		}
	}
}

func (f *Features) shape(c *Call) {
	form := uint32(1)
	switch {
	case c.Output == "":
	case c.Body.OK():
		form = 2 + uint32(c.Body.Nodes[0].Kind)
	case c.Output[0] == '<':
		form = 20
	default:
		form = 21
	}
	length, lines := len(c.Output), uint32(min(strings.Count(c.Output, "\n"), 3))
	if c.Body.OK() {
		length, lines = c.Body.Size(), 0
	}
	size := uint32(0)
	for n := length; n > 24; n /= 3 {
		size++
	}
	f.add(mix(ofShape, form, 0))
	f.add(mix(ofShape, form, 1+size))
	f.add(mix(ofShape, form, 100+lines))
	f.add(mix(ofPurpose, f.purpose, form))
	f.add(mix(ofPurpose, f.purpose, 100+size))
	f.add(mix(ofPurpose, f.purpose, 200+lines))
}

// member adds a value of a structure and what is below it: its name, what kind of
// value it is, and the words of its text.
func (f *Features) member(d *loosejson.Doc, at int32, depth, key uint32) {
	if depth > maxDepth {
		return
	}
	n := &d.Nodes[at]
	if n.Key != "" {
		key = hashLower(ofKey, n.Key)
		f.add(mix(ofKey, key, min(depth, 2)))
	}
	f.add(mix(ofState, key, state(n)))
	if n.Kind == loosejson.String {
		if depth <= 3 {
			f.text(textsafe.Head(n.Val, valueBytes), ofHead)
		}
	}
	most := maxMembers
	if n.Kind == loosejson.Array {
		most = maxItems
	}
	for c := n.Child; c != 0 && most > 0; c = d.Nodes[c].Next {
		f.member(d, c, depth+1, key)
		most--
	}
}

// state is what kind of value a node has, with the small values that decide.
func state(n *loosejson.Node) uint32 {
	s := uint32(n.Kind) * 16
	switch n.Kind {
	case loosejson.Object, loosejson.Array:
		return s + uint32(min(n.Count, 2))
	case loosejson.String:
		return s + uint32(min(len(n.Val), 1))
	case loosejson.Number:
		return s + digits(n.Val)
	default:
		return s
	}
}

// digits tells the numbers apart that state an outcome: 0, 1, three digits as a status
// has, and what is negative.
func digits(v string) uint32 {
	switch {
	case v == "0", v == "0.0":
		return 0
	case v == "1":
		return 1
	case len(v) == 3 && v[0] >= '1' && v[0] <= '5':
		return 2 + uint32(v[0]-'0')
	case v[0] == '-':
		return 8
	}
	return 9
}

// text adds the words of a text, one and two at a time. Those that stand in a record of several members are told
// apart from those of a message: a record of a failed job is no failure.
func (f *Features) text(s string, place kind) {
	f.place, f.before, f.start, f.words = uint32(place), 0, 0, 0
	var w word
	for i := 0; i < len(s); {
		if end := quoted(s, i); end > 0 {
			f.put(quotation)
			i = end
			continue
		}
		rest, mark := w.next(s[i:])
		switch {
		case mark != 0:
			f.put(with(basis(ofWord), mark))
		case w.n > 0:
			f.put(f.word(&w))
		}
		i = len(s) - len(rest)
	}
	if f.words <= shortText && f.alone {
		for _, h := range f.first[:f.words] {
			f.add(mix(ofShort, 0, h))
		}
	}
}

func (f *Features) put(h uint32) {
	f.add(h)
	if !f.alone {
		h = mix(ofRecord, 0, h)
	}
	f.add(mix(ofPair, f.before, h))
	if f.words < 8 {
		f.add(mix(ofUse, f.purpose, h))
	}
	if f.words < shortText {
		f.first[f.words] = h
	}
	if f.words < 3 {
		f.add(mix(kind(f.place), f.start, h))
		f.start = h
	}
	f.words++
	f.before = h
}

// word is the hash of a word. Numbers are alike but for those that decide, and so are
// the words that the input brought.
func (f *Features) word(w *word) uint32 {
	switch {
	case w.n == 1 && w.first == '0':
		return w.hash
	case w.n == 3 && w.first >= '2' && w.first <= '5' && !f.bare:
		return with(basis(ofWord), w.first)
	case w.digit:
		return number
	case f.given[w.hash]:
		return givenWord
	case w.runes > 6, w.runes > 4 && w.n > w.runes:
		f.add(w.stem)
	}
	return w.hash
}

// word is a word of a text, in lower case and cut.
type word struct {
	hash, stem uint32 // of what was read, and of its beginning: five letters, four of other writing than Latin
	n, runes   int
	first      byte
	digit      bool
}

// byte appends a letter or digit of ASCII, in lower case.
func (w *word) byte(c byte) {
	w.runes++
	if w.n >= wordBytes {
		return
	}
	if w.n == 0 {
		w.first = c
	}
	w.n++
	w.hash = with(w.hash, c)
	if w.runes <= 4 || w.n == 5 && w.runes == 5 {
		w.stem = with(w.stem, c)
	}
}

// rune appends any other letter.
func (w *word) rune(r rune) {
	if r < utf8.RuneSelf {
		w.byte(byte(r)) //nolint:gosec // it is below 128
		return
	}
	w.runes++
	if w.n >= wordBytes {
		return
	}
	var buf [utf8.UTFMax]byte
	n := utf8.EncodeRune(buf[:], r)
	if w.n == 0 {
		w.first = buf[0]
	}
	w.n += n
	for _, c := range buf[:n] {
		w.hash = with(w.hash, c)
		if w.runes <= 4 {
			w.stem = with(w.stem, c)
		}
	}
}

// letters gives the characters of ASCII that words are made of in lower case; of signs that
// tell of a text's form it has 1, of all else 0.
var letters = func() (t [utf8.RuneSelf]byte) {
	for _, c := range []byte("abcdefghijklmnopqrstuvwxyz0123456789_") {
		t[c] = c
	}
	for c := byte('A'); c <= 'Z'; c++ {
		t[c] = c | 0x20
	}
	for _, c := range []byte(":!?\n{[<=") {
		t[c] = 1
	}
	return t
}()

// next takes the next word off a text. A sign that tells of the text's form is
// given as mark; of writing without blanks a character is a word.
func (w *word) next(s string) (rest string, mark byte) {
	*w = word{hash: basis(ofWord), stem: basis(ofStem)}
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			low := letters[c]
			switch {
			case low > 1:
				w.byte(low)
				w.digit = w.digit || c <= '9'
			case w.n > 0:
				return s[i:], 0
			case low == 1:
				return s[i+1:], c
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r >= 0x2E80 && unicode.IsLetter(r) && !unicode.Is(unicode.Hangul, r):
			if w.n == 0 {
				w.rune(r)
				i += n
			}
			return s[i:], 0
		case unicode.IsLetter(r) || unicode.IsMark(r):
			w.rune(unicode.ToLower(r))
		case w.n > 0:
			return s[i:], 0
		}
		i += n
	}
	return "", 0
}

// quoted gives where the quotation ends that begins at s[i], and 0 where none does.
func quoted(s string, i int) int {
	c := s[i]
	if c != '"' && c != '`' && c != '\'' || i > 0 && s[i-1] >= '0' && strings.IndexByte(":;<=>?[]", s[i-1]) < 0 {
		return 0
	}
	end := strings.IndexByte(s[i+1:min(len(s), i+80)], c)
	if end <= 0 {
		return 0
	}
	return i + end + 2
}
