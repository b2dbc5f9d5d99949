package reading

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"memoryd/internal/loosejson"
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
	n, err := strconv.ParseUint(s, 16, 64)
	return ID(n), err == nil && len(s) == 16
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
	maxValue    = 24 // of a small word
)

// KindOf returns the kind of a call's output. The input shows which parts of the output are
// data.
func KindOf(input []byte, output string) Kind {
	b := builders.Get().(*builder) //nolint:forcetypeassert // the pool makes nothing else
	defer b.release()
	b.readInput(input)
	s := Bare(output)
	d := docs.Get().(*loosejson.Doc) //nolint:forcetypeassert // the pool makes nothing else
	defer release(d)
	if d.Parse(s); d.OK() && (d.Rest == "" || strings.IndexByte("{[", d.Rest[0]) >= 0) {
		b.structure(d)
	} else {
		b.text(s)
	}
	k := Kind{Template: cut(b.coarse, maxTemplate)}
	id := ID(fnvBasis)
	for level, part := range [Levels]string{b.coarse, b.fine, b.asked} {
		if level > 0 {
			id = id.with("\x00")
		}
		id = id.with(part)
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
func (id ID) with(s string) ID {
	for i := range len(s) {
		id = (id ^ ID(s[i])) * fnvPrime
	}
	return id
}

// builders can be used again.
var builders = sync.Pool{New: func() any { return &builder{given: map[string]struct{}{}} }}

func (b *builder) release() {
	clear(b.given)
	lists := b.lists
	for i := range lists {
		clear(lists[i])
		lists[i] = lists[i][:0]
	}
	*b = builder{given: b.given, lists: lists}
	builders.Put(b)
}

// builder gathers what a kind is made of.
type builder struct {
	given               map[string]struct{} // words of the input
	asked, coarse, fine string
	piped               string      // the program at the end of a pipe, whose status is the call's
	lists               [3][]string // room for a walk
}

// readInput remembers the words of the input, and what kind of request it is: its
// members, and the first word of each text.
func (b *builder) readInput(input []byte) {
	d := docs.Get().(*loosejson.Doc) //nolint:forcetypeassert // the pool makes nothing else
	defer release(d)
	d.Parse(string(input[:min(len(input), maxInput)]))
	var room [12]string
	asked := room[:0]
	for i := range d.Nodes {
		n := &d.Nodes[i]
		first := ""
		if n.Kind == loosejson.String {
			said := d.Str(int32(i))
			if at := strings.LastIndex(said, "| "); at > 0 {
				end, _, _ := strings.Cut(strings.TrimLeft(said[at+2:], " "), " ")
				b.piped = " | " + cut(bare(end), maxValue)
			}
			for word := range strings.FieldsSeq(said) {
				if first == "" {
					first = b.masked(word, "")
				}
				if word = bare(word); len(word) > 2 {
					b.given[word] = struct{}{}
				}
			}
		}
		if n.Key != "" {
			asked = append(asked, n.Key+" "+first)
		}
	}
	slices.Sort(asked)
	b.asked = strings.Join(slices.Compact(asked), "|")
}

// bare is a word without the signs around it.
func bare(word string) string {
	for word != "" && signs[word[0]] {
		word = word[1:]
	}
	for word != "" && signs[word[len(word)-1]] {
		word = word[:len(word)-1]
	}
	if word == "" || word[0] < utf8.RuneSelf && word[len(word)-1] < utf8.RuneSelf {
		return word
	}
	return strings.TrimFunc(word, isSign)
}

func isSign(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// signs are those of ASCII.
var signs = func() (t [256]bool) {
	for c := range rune(utf8.RuneSelf) {
		t[c] = isSign(c)
	}
	return t
}()

// How many words of the first and of the last line are a kind's on each level.
const (
	firstWords, lastWords         = 8, 5
	moreFirstWords, moreLastWords = 24, 16
)

// text describes an output that is no structure: by its first and its last line.
func (b *builder) text(s string) {
	first, rest := nextLine(s)
	if first == "" {
		b.coarse = cut("nothing, asked for "+b.asked+b.piped, maxTemplate) // silence says nothing of itself
		return
	}
	second, rest := nextLine(rest)
	last, size := "", "one line"
	if second != "" {
		last, size = second, "a few lines"
		if third, _ := nextLine(rest); third != "" {
			last = lastLine(rest)
		}
		if strings.Count(rest, "\n") >= 3 {
			size = "many lines"
		}
	}
	b.coarse = b.words(first, firstWords)
	b.fine = b.words(first, moreFirstWords) + "\n" + b.words(second, firstWords) + "\n" + b.words(last, moreLastWords)
	if last != "" {
		b.coarse += " … " + b.words(last, lastWords) + " (" + size + ")"
	}
	b.coarse += b.piped
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

// words gives the first words of a line with its data masked; what is masked alike in a
// row stands once.
func (b *builder) words(line string, most int) string {
	var room [firstWords]string
	out := room[:0]
	before := ""
	for line = strings.TrimSpace(line); line != "" && len(out) < most; line = strings.TrimSpace(line) {
		word := ""
		if end := quoteEnd(line); end > 0 {
			word, line = "‹text›", line[end:]
		} else {
			end := strings.IndexFunc(line, unicode.IsSpace)
			if end < 0 {
				end = len(line)
			}
			word, before, line = b.masked(line[:end], before), line[:end], line[end:]
		}
		if len(out) == 0 || out[len(out)-1] != word || word[0] < utf8.RuneSelf {
			out = append(out, word)
		}
	}
	return strings.Join(out, " ")
}

// quoteEnd gives where a quotation ends that a line begins with, 0 where it begins with
// none.
func quoteEnd(s string) int {
	closing := ""
	switch {
	case s[0] == '"' || s[0] == '\'' || s[0] == '`':
		closing = s[:1]
	case strings.HasPrefix(s, "“"):
		closing, s = "”", s[len("“")-1:]
		if end := strings.Index(s[1:], closing); end > 0 {
			return end + len("“") + len(closing)
		}
		return 0
	default:
		return 0
	}
	end := strings.Index(s[1:min(len(s), 200)], closing)
	if end <= 0 {
		return 0
	}
	return end + 2
}

// masked gives a word of an output, or what stands for it where it is data.
func (b *builder) masked(word, before string) string {
	core := bare(word)
	if _, ok := b.given[core]; ok && core != "" {
		return "‹given›"
	}
	switch {
	case strings.ContainsAny(core, "0123456789"):
		if decides(core, word, before) {
			return word
		}
		return "‹number›"
	case strings.ContainsAny(word, `/\`) && len(word) > 2:
		return "‹path›"
	}
	return cut(word, 40)
}

// decides reports whether a number tells how a call went: nothing at all, or the number
// behind a word such as "status".
func decides(core, word, before string) bool {
	if core == "0" {
		return true
	}
	if len(core) > 5 || strings.Trim(core, "0123456789") != "" || strings.ContainsAny(word, "%$€/") {
		return false
	}
	switch strings.ToLower(bare(before)) {
	case "code", "status", "exit", "http", "errno", "exited", "returned", "statuscode", "exitcode", "exit_code", "status_code":
		return true
	}
	return false
}

// cut gives at most n bytes of s, and no part of a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
