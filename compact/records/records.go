// Package records keeps what tools returned as records: an object of an output
// with its identifying key and the values that tell it from its rivals, one a
// line, in a notation that a model reads at a glance:
//
//	# get_product_details variants: name Keyboard, product 1656367028
//	item 4202497723: color blue, switch clicky, backlight RGB, price 134
//
// Collect reads the texts of a conversation, oldest first, into candidate lines:
// records of JSON and of indented text, lines of other outputs, calls with their
// arguments, what people and the assistant wrote. Select takes the lines that
// later requests are most likely about, in a given number of tokens. Nothing here
// asks a model and values are copied byte for byte.
package records

import (
	"slices"
	"strings"
)

// Source says who wrote a text.
type Source uint8

// The sources.
const (
	Result    Source = iota // a tool's output
	Call                    // the arguments of a tool call
	Assistant               // the model's own words
	User                    // what a person wrote
	Earlier                 // lines of an earlier selection
	Written                 // a line that stands in the summary in any case
)

// Text is one text of a conversation.
type Text struct {
	Body string
	From Source
	// Place is the number of the message; later is newer.
	Place int
	// Tool is the tool called, for outputs and arguments; Args are the arguments
	// that an output answers.
	Tool, Args string
	// Outcome is what became of a call, in a few words; for arguments only.
	Outcome string
	// Kept says that the text stays in the conversation: it tells what is
	// mentioned and needs no lines.
	Kept bool
	// Fresh says that nobody has answered the text yet.
	Fresh bool
	// Answered says that the current request answers this text.
	Answered bool
	// Quiet says that a call needs no line of its own, for the records that it
	// gave tell what was asked.
	Quiet bool
}

// Options steer a collection. Count is required.
type Options struct {
	// End is the place that ages are counted from; 0 means after the last text.
	End int
	// Count counts tokens.
	Count func(string) int
	// Room is how many tokens the lines will have, about; 0 means that all have room.
	Room int
	// Redact rewrites a value that stands behind a label; nil writes it as it is.
	Redact func(label, value string) string
	// Ranking replaces DefaultRanking; nil takes it.
	Ranking *Ranking
}

// Set holds the candidate lines of some texts.
type Set struct {
	o      Options
	rank   Ranking
	values values
	items  []*item
	heads  map[string]*item // by their text
	newest map[identity]*row
	order  int
	fresh  map[int]bool    // places of texts that nobody answered
	asked  map[string]bool // words of what people wrote and stays
	quoted map[string]int  // how often a line of other outputs was given
}

// item is one line, or a unit of a record, that may be chosen.
type item struct {
	text   string
	cost   int
	place  int
	order  int // in the conversation
	kind   itemKind
	values []int32
	// head is the line that must stand above, which names the tool and what it was
	// asked.
	head      *item
	row       *row   // the record that it is a unit of
	label     string // names a unit inside its record; "" for the record's own values
	labelCost int
	// bare is the text below a unit of the same shape.
	bare, shape string
	bareCost    int
	near        float64 // what a line of a listing is worth more than others
	rows        int     // records below a head, chosen or not
	carried     bool    // it stood in an earlier selection
	own         bool    // a head that holds nothing but what the assistant asked
	asked       bool    // a part of a record that holds a word of what people wrote and stays
}

type itemKind uint8

const (
	rowItem itemKind = iota
	quoteItem
	callItem
	assistantItem
	userItem
	headItem
	singleItem // a value alone
)

// identity names a thing by the key and the value that identify it.
type identity struct{ key, value string }

// Collect reads the texts, oldest first.
func Collect(texts []Text, o Options) *Set {
	s := &Set{o: o, rank: DefaultRanking(), heads: map[string]*item{}, newest: map[identity]*row{}, fresh: map[int]bool{}, asked: map[string]bool{}, quoted: map[string]int{}}
	if o.Ranking != nil {
		s.rank = *o.Ranking
	}
	s.values.init()
	for i := range texts {
		s.o.End = max(s.o.End, texts[i].Place+1)
		if texts[i].Fresh {
			s.fresh[texts[i].Place] = true
		}
		if texts[i].Kept && texts[i].From == User {
			eachWord(texts[i].Body, func(w string) { s.asked[stem(w)] = true })
		}
	}
	for i := range texts {
		s.read(&texts[i])
	}
	for _, it := range s.items {
		if it.kind == quoteItem && s.quoted[it.text] <= 2 {
			s.hold(it.values)
		}
	}
	for i := range texts {
		if f := texts[i].From; f == User || f == Assistant || f == Written {
			s.values.mention(&texts[i])
		}
	}
	return s
}

func (s *Set) read(t *Text) {
	switch t.From {
	case Result:
		from := len(s.items)
		s.readOutput(t)
		if s.fresh[t.Place] { // how an output ends that nobody has answered yet is what it came to
			for _, it := range s.items[max(from, len(s.items)-3):] {
				if it.kind == quoteItem {
					it.near = max(it.near, 1) * 4
				}
			}
		}
	case Call:
		s.readCall(t)
	case User, Assistant:
		if !t.Kept {
			s.readSpeech(t)
		}
	case Earlier:
		s.readEarlier(t)
	}
}

// readEarlier takes lines of an earlier selection as they stand.
func (s *Set) readEarlier(t *Text) {
	var head *item
	for l := range strings.SplitSeq(t.Body, "\n") {
		it := &item{kind: rowItem, carried: true, place: t.Place, text: l, head: head, values: s.values.words(l, t.Place, true)}
		switch {
		case l == "":
			continue
		case strings.HasPrefix(l, "# "):
			if head = s.heads[l]; head == nil {
				it.kind, it.head = headItem, nil
				head = s.add(it)
				s.heads[l] = head
			}
			continue
		case strings.HasPrefix(l, "user: "):
			it.kind, it.head = userItem, nil
		case strings.HasPrefix(l, "assistant: "):
			it.kind, it.head = assistantItem, nil
		case strings.HasPrefix(l, "called "):
			it.kind, it.head = callItem, nil
		}
		s.add(it)
		s.hold(it.values)
	}
}

// Brief writes the members of a JSON object, or else the text, in at most limit
// bytes.
func Brief(text string, limit int) string {
	n, ok := parseJSON(text)
	if !ok || n.kind != '{' {
		return Shorten(OneLine(text), limit)
	}
	w := briefly()
	return Shorten(joined(w.cells(&n)), limit)
}

// Alike writes the arguments of several calls: what they share once, then what each has of its
// own, in each bytes at most. It reports false where one is no object or all share nothing.
func Alike(args []string, each int) (string, bool) {
	w := briefly()
	var common []cell
	calls := make([][]cell, len(args))
	same := func(a, b cell) bool { return a.label == b.label && a.text == b.text }
	for i, text := range args {
		n, ok := parseJSON(text)
		if !ok || n.kind != '{' {
			return "", false
		}
		calls[i] = w.cells(&n)
		if i == 0 {
			common = slices.Clone(calls[i])
		}
		common = slices.DeleteFunc(common, func(c cell) bool {
			return !slices.ContainsFunc(calls[i], func(o cell) bool { return same(c, o) })
		})
	}
	out := []string{joined(common)}
	for _, cells := range calls {
		cells = slices.DeleteFunc(cells, func(c cell) bool {
			return slices.ContainsFunc(common, func(o cell) bool { return same(c, o) })
		})
		if own := Shorten(joined(cells), each); own != "" && own != out[len(out)-1] {
			out = append(out, own)
		}
	}
	return strings.Join(out, "; "), len(common) > 0 && len(out) > 1
}

// News writes what an output says that is not known: a short text whole, of a JSON
// object the members, and the objects in them, with values that neither the
// arguments nor known hold, as far as limit bytes go.
func News(args, output string, limit int, known func(value string) bool) string {
	lead, n, _, ok := structured(unwrapped(output))
	if !ok || n.kind != '{' {
		if ok {
			return ""
		}
		output = unwrapped(output)
		return Shorten(OneLine(output[:min(len(output), 4*limit)]), limit)
	}
	w := briefly()
	told := func(values []int32) bool {
		return !slices.ContainsFunc(values, func(k int32) bool {
			v := w.s.values.all[k].text
			return !strings.Contains(args, v) && !known(v)
		})
	}
	var out []cell
	if lead != "" {
		out = append(out, cell{text: lead})
	}
	size := len(lead)
	for _, c := range w.cells(&n) {
		if len(c.parts) > 0 {
			var fresh []string
			for _, p := range c.parts {
				if !told(p.values) {
					fresh = append(fresh, p.text)
				}
			}
			c.text = "[" + strings.Join(fresh, "; ") + "]"
		}
		if c.text == "[]" || len(c.values) > 0 && told(c.values) || size+len(c.text)+len(c.label) > limit {
			continue
		}
		size += len(c.text) + len(c.label) + 3
		out = append(out, c)
	}
	return joined(out)
}

// briefly is a walker whose lines nobody takes.
func briefly() *walker {
	s := &Set{o: Options{Count: func(string) int { return 0 }}, heads: map[string]*item{}, newest: map[identity]*row{}, quoted: map[string]int{}}
	s.values.init()
	return &walker{s: s, t: &Text{Kept: true, From: Call}}
}

// add registers a line.
func (s *Set) add(it *item) *item {
	s.order++
	it.order = s.order
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

// answeredWorth is what a line is worth more when the current request answers it.
const answeredWorth = 2

// speechLimit bounds one line of what was said, in bytes.
const speechLimit = 400

// readSpeech makes lines of what a person or the assistant wrote: short texts of
// people whole, everything else line by line.
func (s *Set) readSpeech(t *Text) {
	kind, who := assistantItem, "assistant: "
	parts := strings.Split(t.Body, "\n")
	if t.From == User {
		kind, who = userItem, "user: "
		if len(t.Body) <= speechLimit {
			parts = []string{t.Body}
		}
	}
	for _, p := range parts {
		p = OneLine(p)
		if p == "" || noise(p) {
			continue
		}
		if kind == assistantItem && len(p) < 12 {
			continue
		}
		p = s.redact("", Shorten(p, speechLimit))
		it := &item{kind: kind, place: t.Place, text: who + p}
		if t.Answered {
			it.near = answeredWorth
		}
		it.values = s.values.words(p, t.Place, false)
		s.add(it)
	}
}
