package evidence

import (
	"cmp"
	"slices"
	"strings"
	"unsafe"
)

// wording is what the output of a call that went wrong says: the message on one line,
// its tokens, and these masked.
type wording struct {
	text   string
	pieces []piece
	masked string
}

// message is what the output of a call that went wrong says, without what the caller
// sent.
func (ob *Observation) message() *wording {
	if ob.said == nil {
		text := messageOf(cmp.Or(ob.Output, ob.Answer.Text))
		for _, l := range ob.values() {
			if l.kind == '"' && len(l.text) > 2 {
				text = strings.ReplaceAll(text, l.text, maskAny)
			}
		}
		ps := pieces(text)
		ob.said = &wording{text, ps, join(ps)}
	}
	return ob.said
}

// values are those of the input.
func (ob *Observation) values() []leafValue {
	if ob.leaves == nil {
		if ob.leaves = leavesOf(ob.Input); ob.leaves == nil {
			ob.leaves = []leafValue{} // read, and none there
		}
	}
	return ob.leaves
}

// Digest parses the bodies of trimmed observations of one tool, so that repeated mining does
// not have to, and returns roughly how much memory they take. Equal texts are kept once.
func Digest(list []Observation) int {
	t := texts{known: map[string]string{}, size: len(list) * int(unsafe.Sizeof(Observation{}))}
	for i := range list {
		ob := &list[i]
		t.size += rounded(len(ob.Input))
		ob.Output, ob.Evaluation.Rule, ob.Evaluation.JudgedBy = t.one(ob.Output), t.one(ob.Evaluation.Rule), t.one(ob.Evaluation.JudgedBy)
		t.input(ob)
		t.message(ob)
		t.context(ob)
	}
	return t.size
}

// texts are those that were met, each once, with the size of all that holds them.
type texts struct {
	known map[string]string
	size  int
}

// rounded is what an allocation of n bytes takes, about.
func rounded(n int) int { return (n + 15) &^ 15 }

func (t *texts) one(s string) string {
	known, ok := t.known[s]
	if !ok {
		known = strings.Clone(s)
		t.known[known] = known
		t.size += rounded(len(s))
	}
	return known
}

func sizeOf[T any](list []T) int { return rounded(cap(list) * int(unsafe.Sizeof(*new(T)))) }

func (t *texts) input(ob *Observation) {
	ob.leaves = slices.Clip(ob.values())
	for i := range ob.leaves {
		l := &ob.leaves[i]
		l.path, l.text = t.one(l.path), t.one(l.text)
	}
	ob.form = t.one(pathSet(ob.leaves))
	t.size += sizeOf(ob.leaves)
}

func (t *texts) message(ob *Observation) {
	if !wrong(&ob.Call) {
		return
	}
	said := ob.message()
	said.text, said.masked, said.pieces = t.one(said.text), t.one(said.masked), slices.Clip(said.pieces)
	for i := range said.pieces {
		p := &said.pieces[i]
		p.raw, p.mask = t.one(p.raw), t.one(p.mask)
	}
	t.size += int(unsafe.Sizeof(*said)) + sizeOf(said.pieces)
}

func (t *texts) context(ob *Observation) {
	for i := range ob.Sources {
		s := &ob.Sources[i]
		s.Path, s.Tool, s.State = t.one(s.Path), t.one(s.Tool), t.one(s.State)
	}
	for i := range ob.Before {
		ob.Before[i] = t.one(ob.Before[i])
	}
	t.size += sizeOf(ob.Sources) + sizeOf(ob.Before)
}
