package records

import (
	"fmt"
	"slices"
	"strings"

	"memoryd/internal/origin"
)

// How lines begin that are no records.
const (
	userMark      = "user: "
	assistantMark = "assistant: "
	callMark      = "- "
	headMark      = "# "
	quoteMark     = "> " // a line of a tool, or a further line of what a person wrote
	gave          = " → "
)

// ourMarks are those that only we write.
var ourMarks = []string{userMark, assistantMark, callMark, headMark}

// Bounds of what was said, in bytes.
const (
	speechLimit = 400 // of one line of the assistant
	leadLimit   = 220 // of the line that tells what a text of the assistant is about
	wordsLimit  = 800 // from which what a person wrote may be cut, where it has data in it
)

// readUser makes a line of what a person wrote, word for word; of data that stand in it
// lines of one kind become one, and what is still too long loses its middle.
func (s *Set) readUser(t *Text) {
	lines := strings.Split(strings.ToValidUTF8(strings.TrimSpace(t.Body), "�"), "\n")
	limit := max(wordsLimit, s.o.Room*2/3) // a sixth of the room, of about four bytes a token
	gone := 0
	if len(t.Body) > limit {
		k := kindsIn(t.Body)
		for i := range lines {
			lines[i] = k.folded(lines[i])
		}
		lines, gone = s.cutLines(slices.DeleteFunc(lines, func(l string) bool { return l == "" }), limit, t.ID)
	}
	var b strings.Builder
	for i, l := range lines {
		if l = printable(l); l == "" {
			continue
		}
		if i > 0 {
			b.WriteString("\n" + quoteMark)
		}
		b.WriteString(l)
	}
	if b.Len() == 0 {
		return
	}
	text := s.redact("", b.String())
	s.add(&item{kind: userItem, place: t.Place, text: userMark + text, cut: gone > 0, values: s.values.words(text, t.Place, true)})
}

// cutLines keeps whole lines from both ends within limit bytes, and tells how many bytes it
// leaves out.
func (s *Set) cutLines(lines []string, limit int, id string) (kept []string, gone int) {
	size := func(lines []string) (n int) {
		for _, l := range lines {
			n += len(l) + 1
		}
		return n
	}
	if size(lines) <= limit {
		return lines, 0
	}
	if id != "" {
		id = ", whole under " + id
	}
	head, tail := 0, len(lines)
	for head < len(lines) && size(lines[:head+1]) <= limit*2/3 {
		head++
	}
	for tail > head && size(lines[:head])+size(lines[tail-1:]) <= limit {
		tail--
	}
	kept = slices.Clone(lines[:head])
	gone = size(lines[head:tail])
	if head == 0 {
		kept = append(kept, shorten(lines[0], limit*2/3))
		gone -= len(kept[0])
	}
	return append(append(kept, fmt.Sprintf("(%d bytes left out%s)", gone, id)), lines[tail:]...), gone
}

// visible is a text of a tool or of the assistant on one line.
func visible(s string) string {
	s, _ = origin.Show(origin.Compaction, origin.Run, s, len(s)+1)
	return s
}

// printable is a line without control characters and the white space at its end.
func printable(l string) string {
	return strings.TrimRight(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 {
			return ' '
		}
		return r
	}, l), " \t")
}

// readAssistant makes a line that tells what the assistant said, from its beginning and its
// end, and lines that only a model picks of what stands in between.
func (s *Set) readAssistant(t *Text) {
	lead := s.redact("", condensed(t.Body, leadLimit))
	if lead == "" {
		return
	}
	s.add(&item{kind: assistantItem, place: t.Place, text: assistantMark + lead, lead: true, values: s.values.words(lead, t.Place, true)})
	for p := range strings.SplitSeq(t.Body, "\n") {
		if p = visible(p); len(t.Body) > leadLimit && len(p) >= 12 {
			s.add(&item{kind: assistantItem, place: t.Place, text: assistantMark + s.redact("", shorten(p, speechLimit))})
		}
	}
}

// condensed puts a text on one line of at most limit bytes. What is too long loses its
// middle: the beginning says what it is about, the end what is asked.
func condensed(text string, limit int) string {
	return ends(visible(strings.NewReplacer("**", "", "`", "").Replace(text)), limit)
}
