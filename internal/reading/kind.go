package reading

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"memoryd/internal/loosejson"
	"memoryd/internal/textsafe"
)

// ID identifies a kind of output of a tool.
type ID uint64

// String returns the id as 16 hexadecimal digits.
func (id ID) String() string {
	var b [8]byte
	for i := range b {
		b[i] = byte(id >> (56 - 8*i))
	}
	return hex.EncodeToString(b[:])
}

// ParseID parses an id as String returns it.
func ParseID(s string) (ID, bool) {
	n, _ := strconv.ParseUint(s, 16, 64) // what is no number is another one
	return ID(n), ID(n).String() == s
}

// Levels is the number of levels at which kinds are distinguished. People see the kinds of
// the first level. The second level uses more of the output, and the third also uses the
// input. They split a kind that has both good and failed calls.
const Levels = 3

// Kind is what an output shares with others of the same tool: its words without the data, or
// the form of its structure with the short words that indicate an outcome. Numbers that
// decide are part of it: exit statuses, codes, zeros.
type Kind struct {
	// IDs identify the kind at each level, the coarsest first.
	IDs [Levels]ID
	// Template describes the kind for people, in at most 300 bytes.
	Template string
}

// ID returns the id of the kind that people see.
func (k *Kind) ID() ID { return k.IDs[0] }

// Bounds of what is read.
const (
	maxTemplate = 300
	maxInput    = 16 << 10
	maxLine     = 600
	maxPaths    = 40
	maxDepth    = 5
	maxValue    = 24           // of a small word
	maxWritten  = 6 * maxValue // of one with escapes
)

// KindOf returns the kind of a call's output. The input shows which parts of the output are
// data.
func KindOf(input []byte, output string) Kind {
	r := Read(input, output)
	defer r.Release()
	return r.Kind()
}

// Kind returns the kind of the output.
func (r *Reading) Kind() Kind {
	b := &r.builder
	b.readInput(&r.Input)
	if d := &r.Output; d.OK() && (d.Rest == "" || strings.IndexByte("{[", d.Rest[0]) >= 0) {
		b.structure(d)
	} else {
		b.text(r.Text)
	}
	k := Kind{Template: textsafe.Head(string(b.at(b.coarse)[:min(b.coarse.len(), maxTemplate+utf8.UTFMax)]), maxTemplate)}
	id := ID(fnvBasis)
	for level, part := range [Levels]span{b.coarse, b.fine, b.asked} {
		if level > 0 {
			id = with(id, "\x00")
		}
		id = with(id, b.at(part))
		k.IDs[level] = id
	}
	return k
}

// fnvBasis and fnvPrime are those of FNV-1a.
const (
	fnvBasis = 14695981039346656037
	fnvPrime = 1099511628211
)

// with gives the name of a kind that is told apart by one more text.
func with[T string | []byte](id ID, s T) ID {
	for i := range len(s) {
		id = (id ^ ID(s[i])) * fnvPrime
	}
	return id
}

// builder gathers what a kind is made of.
type builder struct {
	given               map[ID]bool // words of the input, by their hashes
	room                []byte      // all texts that are made
	asked, coarse, fine span        // texts in it
	piped               string      // the program at the end of a pipe, whose status is the call's
	lists               [4][]span   // texts in order, each once
}

// The lists of a builder.
const (
	paths    = iota // of the members of a structure
	outcomes        // values that tell an outcome
	small           // further small words
	requests        // what is asked for
)

// span is a text in a builder's room.
type span struct{ from, to int }

func (s span) len() int { return s.to - s.from }

func (b *builder) at(s span) []byte { return b.room[s.from:s.to] }

// since is what was written since the room was so long.
func (b *builder) since(from int) span { return span{from, len(b.room)} }

func (b *builder) write(s string) { b.room = append(b.room, s...) }

func (b *builder) clear() {
	clear(b.given)
	for i := range b.lists {
		b.lists[i] = b.lists[i][:0]
	}
	*b = builder{given: b.given, lists: b.lists, room: b.room[:0]}
}

// list puts a text into a list that is in order, where it is not there yet.
func (b *builder) list(i int, s span) {
	at, there := slices.BinarySearchFunc(b.lists[i], s, func(x, y span) int { return bytes.Compare(b.at(x), b.at(y)) })
	if !there {
		b.lists[i] = slices.Insert(b.lists[i], at, s)
	}
}

// joined writes texts with a sign between them.
func (b *builder) joined(list []span, sign string) {
	for i, s := range list {
		if i > 0 {
			b.write(sign)
		}
		b.room = append(b.room, b.at(s)...)
	}
}

// readInput remembers the words of the input, and what kind of request it is: its
// members, and the first word of each text.
func (b *builder) readInput(d *loosejson.Doc) {
	for i := range d.Nodes {
		n := &d.Nodes[i]
		from := len(b.room)
		b.write(n.Key)
		b.write(" ")
		if n.Kind == loosejson.String {
			b.readText(d.Str(int32(i)))
		}
		if n.Key != "" {
			b.list(requests, b.since(from))
		}
	}
	from := len(b.room)
	b.joined(b.lists[requests], "|")
	b.asked = b.since(from)
}

// readText remembers the words of a text of the input, and writes what the first one is.
func (b *builder) readText(s string) {
	if len(s) > 1 && strings.Contains(s[1:], "| ") {
		end, _, _ := strings.Cut(strings.TrimLeft(s[strings.LastIndex(s, "| ")+2:], " "), " ")
		b.piped = " | " + textsafe.Head(bare(end), maxValue)
	}
	word, s := nextWord(s)
	if word != "" {
		b.write(b.masked(word, ""))
	}
	for ; word != ""; word, s = nextWord(s) {
		if word = bare(word); len(word) > 2 {
			b.given[with(fnvBasis, word)] = true
		}
	}
}

// nextWord takes a word off a text, without the white space before it.
func nextWord(s string) (word, rest string) {
	start := blanks(s, true)
	end := start + blanks(s[start:], false)
	return s[start:end], s[end:]
}

// blanks is how many bytes at the beginning of a text are white space, or are none.
func blanks(s string, are bool) int {
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if classes[c]&isSpace != 0 != are {
				return i
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if unicode.IsSpace(r) != are {
			return i
		}
		i += n
	}
	return len(s)
}

// bare is a word without the signs around it.
func bare(word string) string {
	if word = signs.Trim(word); word != "" && word[0]|word[len(word)-1] >= utf8.RuneSelf {
		return strings.TrimFunc(word, func(r rune) bool { return r != '_' && !unicode.In(r, unicode.Letter, unicode.Digit) })
	}
	return word
}

// How many words of the first and of the last line are a kind's on each level.
const (
	firstWords, lastWords         = 8, 5
	moreFirstWords, moreLastWords = 24, 16
)

// text describes an output that is no structure: by its first and its last line.
func (b *builder) text(s string) {
	from := len(b.room)
	first, rest := nextLine(s)
	if first == "" {
		b.write("nothing, asked for ") // silence says nothing of itself
		b.joined([]span{b.asked}, "")
		b.write(b.piped)
		b.coarse = b.since(from)
		b.coarse.to = from + len(textsafe.Head(string(b.at(b.coarse)), maxTemplate))
		return
	}
	second, rest := nextLine(rest)
	last, size := "", " (one line)"
	if second != "" {
		last, size = second, " (a few lines)"
		if third, _ := nextLine(rest); third != "" {
			last = lastLine(rest)
		}
		if strings.Count(rest, "\n") >= 3 {
			size = " (many lines)"
		}
	}
	begins := span{from, b.words(first, moreFirstWords, firstWords)}
	b.write("\n")
	b.words(second, firstWords, 0)
	b.write("\n")
	ends := span{from: len(b.room)}
	ends.to = b.words(last, moreLastWords, lastWords)
	b.fine = b.since(from)

	from = len(b.room)
	b.joined([]span{begins}, "")
	if last != "" {
		b.write(" … ")
		b.joined([]span{ends}, "")
		b.write(size)
	}
	b.write(b.piped)
	b.coarse = b.since(from)
}

func nextLine(s string) (line, rest string) {
	for s != "" && line == "" {
		line, s, _ = strings.Cut(s, "\n")
		line = trim(line)
	}
	return line[:min(len(line), maxLine)], s
}

func lastLine(s string) string {
	s = trim(s)
	line := trim(s[strings.LastIndexByte(s, '\n')+1:])
	return line[:min(len(line), maxLine)]
}

// words writes the first words of a line with its data masked; what is masked alike in a
// row stands once. It gives where the first few of them end.
func (b *builder) words(line string, most, few int) (fewEnd int) {
	before, last := "", ""
	n := 0
	for line = line[blanks(line, true):]; line != "" && n < most; line = line[blanks(line, true):] {
		word := "‹text›"
		if end := quoteEnd(line); end > 0 {
			line = line[end:]
		} else {
			end := blanks(line, false)
			word, before, line = b.masked(line[:end], before), line[:end], line[end:]
		}
		if last == word && word[0] >= utf8.RuneSelf {
			continue
		}
		if n == few {
			fewEnd = len(b.room)
		}
		if n > 0 {
			b.write(" ")
		}
		b.write(word)
		last = word
		n++
	}
	if n <= few {
		fewEnd = len(b.room)
	}
	return fewEnd
}

// quoteEnd gives where a quotation ends that a line begins with, 0 where it begins with
// none.
func quoteEnd(s string) int {
	open, closing, most := 1, s[:1], 200
	switch {
	case strings.HasPrefix(s, "“"):
		open, closing, most = len("“"), "”", len(s)
	case strings.IndexByte("\"'`", s[0]) < 0:
		return 0
	}
	end := strings.Index(s[open:min(len(s), most)], closing)
	if end <= 0 {
		return 0
	}
	return open + end + len(closing)
}

// masked gives a word of an output, or what stands for it where it is data.
func (b *builder) masked(word, before string) string {
	core, made := bare(word), byte(0)
	for i := range len(word) {
		made |= classes[word[i]]
	}
	switch {
	case b.given[with(fnvBasis, core)]:
		return "‹given›"
	case made&isDigit != 0:
		if decides(core, before) {
			return word
		}
		return "‹number›"
	case len(word) > 2 && made&isSlash != 0:
		return "‹path›"
	}
	return textsafe.Head(word, 40)
}

// signs are what is of ASCII and neither letter, digit nor underscore.
var signs = textsafe.BytesOf("\x00/:@[^``{\x7f", "")

// What a byte can be, beside a sign.
const (
	isDigit = 1 << iota
	isSlash
	isSpace
)

var classes = func() (t [256]byte) {
	for c := '0'; c <= '9'; c++ {
		t[c] = isDigit
	}
	t['/'], t['\\'] = isSlash, isSlash
	for c := range rune(utf8.RuneSelf) {
		if unicode.IsSpace(c) {
			t[c] = isSpace
		}
	}
	return t
}()

// decides reports whether a number tells how a call went: nothing at all, or the number
// behind a word such as "status".
func decides(core, before string) bool {
	if core == "0" {
		return true
	}
	if len(core) > 5 || strings.Trim(core, "0123456789") != "" {
		return false
	}
	switch strings.ToLower(bare(before)) {
	case "code", "status", "exit", "http", "errno", "exited", "returned", "statuscode", "exitcode", "exit_code", "status_code":
		return true
	}
	return false
}
