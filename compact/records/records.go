// Package records builds the content of a summary: what people and the assistant said, what
// calls did, and what tools returned. Collect reads the texts of a conversation, oldest
// first, into candidate lines. Select chooses the most valuable lines for a number of tokens.
//
//	user: From now on A-17 has to stay below 40.
//	- update_entry(target A-17, amount 38) → ok yes, id R38
//	# get_product_details variants: name Keyboard, product 1656367028
//	item 4202497723: color blue, switch clicky, backlight RGB, price 134
//	> disk /dev/sda went away
//
// The beginning of a line shows whose it is, and no tool can write such a beginning. So
// Collect can read a summary back as a text. No model is involved, no word of any language
// has a meaning, and values are copied byte for byte.
package records

import (
	"strings"
)

// Source is who wrote a text.
type Source uint8

// The sources.
const (
	Result    Source = iota // a tool's output whose call is unknown
	Call                    // a tool call with its output
	Assistant               // the model's own words
	User                    // what a person wrote
	Earlier                 // the lines of an earlier selection
)

// Text is one text of a conversation.
type Text struct {
	// Body is the text, or the arguments of a call.
	Body string
	From Source
	// Place is the number of the message; a higher number is newer.
	Place int
	// Tool is the called tool, Output its result.
	Tool, Output string
	// Kept reports that the text stays in the conversation. It needs no lines, but shows what
	// is mentioned.
	Kept bool
	// Fresh reports that the text has no answer yet.
	Fresh bool
	// ID identifies the original of a text that is cut.
	ID string
}

// Options control a collection. Count is required.
type Options struct {
	// End is the place from which ages are counted; 0 means after the last text.
	End int
	// Count counts tokens.
	Count func(string) int
	// Room is the approximate number of tokens for the lines; 0 means no limit.
	Room int
	// Redact rewrites a value that follows a label; nil leaves it as it is.
	Redact func(label, value string) string
}

// Set holds the candidate lines of some texts.
type Set struct {
	o      Options
	values values
	items  []*item
	heads  map[string]*item // by their text
	newest map[identity]*row
	fresh  map[int]bool        // places of texts that nobody answered
	last   map[string]int      // the newest text with a call, by its key
	acts   map[string]bool     // tools that changed a record
	acted  map[string]act      // what was done last to a thing, by its identifier
	listed map[string]*listing // the newest with a line, by the line
	before int                 // the place of the request before the newest
	asked  int                 // the place of the newest request
	again  bool                // an earlier selection is among the texts
	spoke  int                 // the place of what the assistant said last
	brief  bool                // the conversation ends with a request too short to say what it asks
}

// item is one line, or a unit of a record, that may be chosen.
type item struct {
	text   string
	cost   int
	place  int
	kind   itemKind
	values []int32
	// head is the line that must stand above, which names the tool and what it was
	// asked.
	head  *item
	row   *row   // the record that it is a unit of
	label string // names a unit inside its record; "" for the record's own values
	// bare is the text below a unit of the same shape.
	bare, shape string
	bareCost    int
	cells       []cell   // a record's own values
	stale       bool     // a later record or call says it again
	rare        float64  // how much less often a line like it comes than others of its output
	near        float64  // how near it is to a line that was asked for
	things      []string // of a head: what was asked
	before      string   // of a head: the tool that changed what stands below it
	rows        int      // records below a head, chosen or not
	carried     bool     // it stood in an earlier selection
	cut         bool     // it lost its middle
	lead        bool     // it tells what a text of the assistant is about
	by          string   // the tool of a line that counts where this changes records
	plan        bool     // a list that a call left, as it stands
	picked      bool     // a model wants it
	taken       bool     // it is chosen
	meant       bool     // what stays speaks of it, or of the record that it begins
}

type itemKind uint8

const (
	rowItem itemKind = 1 << iota
	quoteItem
	callItem
	assistantItem
	userItem
	headItem
)

// is reports an item of one of the kinds.
func (it *item) is(kinds itemKind) bool { return it.kind&kinds != 0 }

// briefRequest is the length in bytes below which a request is an answer, such as "Yes,
// please.": what it answers has to stand beside it.
const briefRequest = 80

// identity names a thing by the key and the value that identify it.
type identity struct{ key, value string }

// Collect reads the texts, oldest first.
func Collect(texts []Text, o Options) *Set {
	s := &Set{
		o: o, heads: map[string]*item{}, newest: map[identity]*row{}, fresh: map[int]bool{}, last: map[string]int{},
		acted: map[string]act{}, acts: map[string]bool{}, listed: map[string]*listing{},
	}
	size := 0
	for i := range texts {
		t := &texts[i]
		size += len(t.Body) + len(t.Output)
		s.o.End = max(s.o.End, t.Place+1)
		if t.Fresh {
			s.fresh[t.Place] = true
		}
		switch t.From {
		case Call:
			s.last[keyOf(t)] = i
		case User:
			s.before, s.asked = s.asked, t.Place
		case Assistant:
			s.spoke = t.Place
		case Earlier:
			s.again = true
		}
	}
	s.values.init(size)
	for i := range texts {
		s.read(texts, i)
	}
	said, short := Text{}, false
	for i := range texts {
		t := &texts[i]
		switch t.From {
		case Assistant:
			said = *t
			fallthrough
		case User:
			s.values.mention(t, t.Kept || t.From == User && t.Place >= s.before)
			short = t.From == User && t.Kept && len(t.Body) < briefRequest
		}
		s.brief = short && t.From == User
	}
	if short {
		s.values.mention(&said, true)
	}
	for _, it := range s.items {
		it.stale = it.stale || it.by != "" && !s.acts[it.by]
	}
	return s
}

func (s *Set) read(texts []Text, i int) {
	switch t := &texts[i]; t.From {
	case Result:
		t.Output = t.Body
		t.Body = ""
		s.readOutput(t, nil)
	case Call:
		s.readCall(texts, i)
	case User:
		if !t.Kept {
			s.readUser(t)
		}
	case Assistant:
		if !t.Kept {
			s.readAssistant(t)
		}
	case Earlier:
		s.readEarlier(t)
	}
}

// readEarlier takes the lines of an earlier selection as they stand: each begins in a
// way that says what it is.
func (s *Set) readEarlier(t *Text) {
	var head *item
	lines := strings.Split(t.Body, "\n")
	for i := 0; i < len(lines); i++ {
		l := lines[i]
		it := &item{kind: rowItem, carried: true, place: t.Place, text: l, head: head, lead: true}
		switch {
		case l == "":
			continue
		case strings.HasPrefix(l, headMark):
			if head = s.heads[l]; head == nil {
				it.kind, it.head, it.values = headItem, nil, s.values.words(l, t.Place, true)
				head = s.add(it)
				s.heads[l] = head
			}
			continue
		case strings.HasPrefix(l, userMark):
			it.kind, it.head = userItem, nil
			for ; i+1 < len(lines) && strings.HasPrefix(lines[i+1], quoteMark); i++ {
				it.text += "\n" + lines[i+1]
			}
		case strings.HasPrefix(l, assistantMark):
			it.kind, it.head = assistantItem, nil
		case strings.HasPrefix(l, callMark):
			it.kind, it.head = callItem, nil
		}
		it.values = s.values.words(it.text, t.Place, true)
		s.add(it)
	}
}

// add registers a line.
func (s *Set) add(it *item) *item {
	it.cost = s.o.Count(it.text) + 1
	s.items = append(s.items, it)
	return it
}

func (s *Set) redact(label, value string) string {
	if s.o.Redact == nil {
		return value
	}
	return s.o.Redact(label, value)
}
