// Package kinds remembers verdicts on kinds of outputs: what a person or a model said about
// one call applies to similar calls of its tool, until somebody decides otherwise.
//
// A model's verdict applies only to sources that recorded such a call themselves, until calls
// of two sources agree, because an author of outputs could make a model say anything. A
// person's verdict applies to all. Contradicting verdicts split their kind by what else
// distinguishes the calls. If nothing does, the kind decides nothing.
package kinds

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"memoryd"
	"memoryd/internal/reading"
)

// RecordKind is the kind of the records that hold labels, one record per kind of output.
const RecordKind = "output_kind"

// Label is a verdict on one call that applies to its kind.
type Label struct {
	IDs   [reading.Levels]reading.ID
	Score float64
	// By names the judge as memoryd.Evaluation does: "person:ann", "llm:tiny".
	By string
	// Source is the source that recorded the call.
	Source string `json:",omitempty"`
	// Call is the judged call.
	Call    memoryd.CallKey
	At      time.Time
	Reason  string `json:",omitempty"`
	Version string `json:",omitempty"` // of the judge
}

// ByPerson reports whether a person gave the label.
func (l *Label) ByPerson() bool { return strings.HasPrefix(l.By, memoryd.PersonPrefix) }

// mostLabels is how many labels of a kind are kept; the newest stay.
const mostLabels = 16

// Add returns the labels of a kind with one more. A judge has one label per call, and a
// person one per part of the kind.
func Add(labels []Label, l Label) []Label {
	labels = append(slices.DeleteFunc(slices.Clone(labels), l.replaces), l)
	return labels[max(0, len(labels)-mostLabels):]
}

// replaces reports whether a label takes the place of an earlier one.
func (l *Label) replaces(o Label) bool {
	samePart := o.IDs == l.IDs
	switch {
	case samePart && o.ByPerson():
		return l.ByPerson()
	case o.By == l.By:
		return o.Call == l.Call || samePart && o.Source == l.Source
	}
	return false
}

// Book holds what is known about the kinds of one tool.
type Book struct {
	byKind map[reading.ID][]Label
}

// Put replaces the labels of a kind.
func (b *Book) Put(id reading.ID, labels []Label) {
	if b.byKind == nil {
		b.byKind = map[reading.ID][]Label{}
	}
	if b.byKind[id] = labels; len(labels) == 0 {
		delete(b.byKind, id)
	}
}

// Of returns the labels of a kind.
func (b *Book) Of(id reading.ID) []Label {
	return b.byKind[id]
}

// Empty reports whether nothing is known.
func (b *Book) Empty() bool { return len(b.byKind) == 0 }

// Verdict is what is known about a kind.
type Verdict struct {
	Label
	// Split reports that labels contradict each other on the kind that people see.
	Split bool
}

// Decide returns what is known about the kind of a call that source recorded. ok is false if
// nothing is known, or the labels contradict each other.
func (b *Book) Decide(k *reading.Kind, source string) (v Verdict, ok bool) {
	labels := b.Of(k.ID())
	if len(labels) == 0 {
		return v, false
	}
	for level := range reading.Levels {
		said := slices.Clone(labels)
		said = slices.DeleteFunc(said, func(l Label) bool { return l.IDs[level] != k.IDs[level] })
		said = believed(said, source)
		switch {
		case len(said) == 0:
			return v, false
		case agree(said):
			newest := slices.MaxFunc(said, func(a, b Label) int { return cmp.Compare(a.At.UnixMicro(), b.At.UnixMicro()) })
			return Verdict{Label: newest, Split: level > 0}, true
		}
	}
	return v, false
}

// believed leaves those labels that count for a call of a source: those of persons; else
// those on the source's own calls, and those that calls of two sources agree on.
func believed(labels []Label, source string) []Label {
	if persons := slices.DeleteFunc(slices.Clone(labels), func(l Label) bool { return !l.ByPerson() }); len(persons) > 0 {
		return persons
	}
	shared := map[float64]string{} // a score and the first source that says it
	for _, l := range labels {
		if first, seen := shared[l.Score]; !seen {
			shared[l.Score] = l.Source
		} else if first != l.Source {
			return labels
		}
	}
	return slices.DeleteFunc(labels, func(l Label) bool { return l.Source != source })
}

func agree(labels []Label) bool {
	return !slices.ContainsFunc(labels, func(l Label) bool { return l.Score != labels[0].Score })
}
