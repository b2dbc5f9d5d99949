// Package facts finds what a later step of an agent may need to quote exactly:
// identifiers, numbers, paths, names, dates, short named values and error lines.
// It ranks them by how likely they are needed and writes the best of them into a
// block of a given size, each behind the word that says what it is.
//
// Nothing here asks a model. Values are copied byte for byte.
//
// How likely a fact is needed is estimated from named features of it, most of
// them relative to its conversation (see Features), by two small nets whose
// weights (weights.go) were fitted to recorded conversations:
// docs/decisions/0008 says to which, how to fit them again, and how they do on
// kinds of conversations that they were not fitted to.
package facts

import (
	"cmp"
	"iter"
	"slices"
)

// Source says where a text stood.
type Source uint8

// The sources.
const (
	FromResult    Source = iota // a tool's output
	FromArgs                    // the arguments of a tool call
	FromAssistant               // the model's own words
	FromUser                    // what a person wrote
	FromLedger                  // the block of an earlier compaction
	sources
)

// Span is one text of a conversation.
type Span struct {
	Text   string
	Source Source
	// Ledger says that the text is a line of an earlier block: a label, a colon and
	// values.
	Ledger bool
	// Place is the number of the message; later is newer.
	Place int
}

// Fact is a value and what is known of its use.
type Fact struct {
	Value string
	// Label is the name or word that the value stood behind most tellingly.
	Label string

	score       float64 // once it is rated
	count       [sources]int32
	first, last int32 // places
	crowd       int32 // facts of the smallest text that it stood in
	spans       int32 // texts that it stood in
	lastSpan    int32 // the newest of them
	// labels and newest are the first and the last of the places in Set.behind
	// that tell which labels it stood behind, 0 for none.
	labels, newest int32
	label          int32 // in Set.written
	form           int32 // in Set.forms
	shape          shape
	quoted         bool
	named          bool // named a member of an object
	rated          bool
	beside         bool  // stood beside a value that was passed or that a user named
	behind         uint8 // how many labels are told
}

// Set holds the facts of some spans.
type Set struct {
	facts    []Fact
	index    valueIndex
	names    labels
	weights  *Weights
	behind   []behind // which facts stood behind which labels; the first is none
	written  []written
	places   map[string]int32 // of the texts in written
	forms    []use
	formOf   map[form]int32
	argNames map[string]bool
	end      int // the place after the newest span
	hide     func(label, value string) bool
	hidden   map[string]bool // what hide kept out behind one label stays out behind all
	// seq lists the facts as they stood, -1 between texts.
	seq  []int32
	span int // the number of the text that is read
	room int // how many new facts the text may still give
	// kinds tells how the facts of each shape were used.
	kinds [errText + 1]use
}

// Options steer a collection.
type Options struct {
	// End is the place that ages are counted from; 0 means after the last span.
	End int
	// ArgNames are names of tool parameters that are known from elsewhere, such
	// as tool schemas. Names seen in FromArgs spans are known anyway.
	ArgNames []string
	// Hide keeps a value out, for secrets; nil hides nothing.
	Hide func(label, value string) bool
	// Weights rank the facts; nil takes those that were fitted.
	Weights *Weights
}

// maxFresh bounds how many new facts one text gives. Who needs a value out of
// thousands names it again, and a hostile text must not cost more than its length.
const maxFresh = 4000

// Collect reads the spans, oldest first.
func Collect(spans []Span, o Options) *Set {
	return new(Collector).Collect(spans, o)
}

// Collector collects again and again in the same room.
type Collector struct{ set Set }

// Collect is the function Collect; the Set is valid until the next one.
func (c *Collector) Collect(spans []Span, o Options) *Set {
	s := &c.set
	s.clear()
	s.end, s.hide, s.weights = o.End, o.Hide, cmp.Or(o.Weights, &fitted)
	for _, name := range o.ArgNames {
		s.argNames[name] = true
	}
	s.makeRoom(spans)
	for i, sp := range spans {
		s.end = max(s.end, sp.Place+1)
		s.span++
		s.room = maxFresh
		from := len(s.seq)
		scan(s, &spans[i])
		s.crowded(s.seq[from:])
		s.seq = append(s.seq, -1)
		if sp.Source == FromResult {
			s.errorLines(&spans[i])
		}
	}
	s.settle()
	return s
}

// Len is the number of different facts.
func (s *Set) Len() int { return len(s.facts) }

// All gives every value and its features, for fitting.
func (s *Set) All() iter.Seq2[string, Features] {
	return func(yield func(string, Features) bool) {
		for i := range s.facts {
			if f := &s.facts[i]; f.shape != errText && !yield(f.Value, s.features(f)) {
				return
			}
		}
	}
}

// Values lists the facts, most likely needed first.
func (s *Set) Values() []string {
	order := s.ranked()
	out := make([]string, len(order))
	for i, k := range order {
		out[i] = s.facts[k].Value
	}
	return out
}

func (s *Set) ranked() []int {
	order := make([]int, len(s.facts))
	for i := range order {
		order[i] = i
		s.rate(&s.facts[i])
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.facts[b].score, s.facts[a].score) })
	return order
}

// makeRoom reserves about as much as the texts will take, so that it does not have
// to grow while they are read.
func (s *Set) makeRoom(spans []Span) {
	const bytesOfFact = 32 // of text, by experience
	n := 0
	for i := range spans {
		n += min(len(spans[i].Text)/bytesOfFact, maxFresh)
	}
	s.facts, s.seq, s.behind = slices.Grow(s.facts, n), slices.Grow(s.seq, 2*n), slices.Grow(s.behind, 2*n)
}

// clear forgets everything but the room.
func (s *Set) clear() {
	*s = Set{
		facts: s.facts[:0], index: s.index, names: s.names, behind: append(s.behind[:0], behind{}), written: s.written[:0], places: s.places,
		forms: s.forms[:0], formOf: emptied(s.formOf), argNames: emptied(s.argNames), hidden: emptied(s.hidden), seq: s.seq[:0],
	}
	s.index.clear()
	s.names.clear()
}

// emptied gives an empty map: m, unless to empty it costs more than a new one.
func emptied[K comparable, V any](m map[K]V) map[K]V {
	if m == nil || len(m) > maxFresh {
		return map[K]V{}
	}
	clear(m)
	return m
}

// add counts one appearance of a value behind a label; nil is none.
func (s *Set) add(value string, label *label, keyed, quoted bool, sh shape, sp *Span) *Fact {
	if s.hide != nil && s.hide(label.String(), value) {
		s.hidden[value] = true
		return nil
	}
	k, ok := s.index.find(value, s.facts)
	if !ok {
		if s.room--; s.room < 0 {
			return nil
		}
		s.index.add(k)
		s.facts = append(s.facts, Fact{Value: value, shape: sh, first: int32(sp.Place)})
	}
	f := &s.facts[k]
	if span := int32(s.span); f.lastSpan != span {
		f.lastSpan = span
		f.spans++
	}
	if sh != errText {
		s.seq = append(s.seq, k)
	}
	f.count[sp.Source]++
	f.last = max(f.last, int32(sp.Place))
	f.quoted = f.quoted || quoted
	if label != nil {
		s.stoodBehind(f, s.names.id(label), keyed)
	}
	return f
}
