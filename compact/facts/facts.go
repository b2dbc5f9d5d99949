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

	shape       shape
	count       [sources]int
	first, last int // places
	quoted      bool
	named       bool // named a member of an object
	crowd       int  // facts of the smallest text that it stood in
	spans       int  // texts that it stood in
	lastSpan    int  // the newest of them
	beside      bool // stood beside a value that was passed or that a user named
	labels      []labelCount
	label       *use // of the facts with its label
	form        *use // of the facts that look like it
	score       float64
}

type labelCount struct {
	label string
	n     int
	keyed bool
}

// Set holds the facts of some spans.
type Set struct {
	facts    []Fact
	index    map[string]int
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
	s := &Set{index: map[string]int{}, argNames: map[string]bool{}, hidden: map[string]bool{}, end: o.End, hide: o.Hide}
	for _, name := range o.ArgNames {
		s.argNames[name] = true
	}
	for _, sp := range spans {
		s.end = max(s.end, sp.Place+1)
		s.span++
		s.room = maxFresh
		from := len(s.seq)
		scan(s, sp)
		s.crowded(s.seq[from:])
		s.seq = append(s.seq, -1)
		if sp.Source == FromResult {
			s.errorLines(sp)
		}
	}
	s.settle(cmp.Or(o.Weights, &fitted))
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
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.facts[b].score, s.facts[a].score) })
	return order
}

// add counts one appearance of a value.
func (s *Set) add(value, label string, keyed, quoted bool, sh shape, sp Span) *Fact {
	if s.hide != nil && s.hide(label, value) {
		s.hidden[value] = true
		return nil
	}
	k, ok := s.index[value]
	if !ok {
		if s.room--; s.room < 0 {
			return nil
		}
		k = len(s.facts)
		s.index[value] = k
		s.facts = append(s.facts, Fact{Value: value, shape: sh, first: sp.Place})
	}
	f := &s.facts[k]
	if f.lastSpan != s.span {
		f.lastSpan = s.span
		f.spans++
	}
	if sh != errText {
		s.seq = append(s.seq, int32(k))
	}
	f.count[sp.Source]++
	f.last = max(f.last, sp.Place)
	f.quoted = f.quoted || quoted
	for i := range f.labels {
		if f.labels[i].label == label {
			f.labels[i].n++
			f.labels[i].keyed = f.labels[i].keyed || keyed
			return f
		}
	}
	if label != "" && len(f.labels) < 6 {
		f.labels = append(f.labels, labelCount{label, 1, keyed})
	}
	return f
}
