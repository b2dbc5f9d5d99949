package evidence

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"memoryd"
)

// Message is a message of calls that went wrong, in one form.
type Message struct {
	ID string `json:"id"`
	// Text is the message with "…" for the parts that vary and for what callers sent; "" if
	// the outputs have no message.
	Text string `json:"text"`
	// Calls counts the calls and Runs their runs. Sole reports that one of several parties
	// alone got it. Unexplained counts the calls that no rule explains.
	Calls       int  `json:"calls"`
	Runs        int  `json:"runs"`
	Sole        bool `json:"sole,omitempty"`
	Unexplained int  `json:"unexplained"`

	Keys   []memoryd.CallKey `json:"-"`
	weight float64
}

const (
	// similarity is the share of equal tokens from which two messages of equal
	// length are of one form; Drain's st.
	similarity  = 0.7
	maxClusters = 200
	// comparedPieces are by how many tokens at the beginning longer messages are told
	// apart: they go on with what differs from call to call.
	comparedPieces = 12
	// halfWeight is after how many calls a message counts half, at least.
	halfWeight = 40
)

// shape is the form of messages while they are collected.
type shape struct {
	Message
	backing

	pieces []piece // a raw part that varies is ""
	short  bool    // some went on in another way
	said   []saying
}

// saying is one call's message.
type saying struct {
	pieces     []piece
	run, party uint64
}

// messagesOf groups what calls that went wrong said by form. That is Drain (He, Zhu, Zheng
// and Lyu, "Drain: an online log parsing approach with fixed depth tree", ICWS 2017) with
// the number of tokens as its only level.
func messagesOf(obs []Observation, who *parties, found []Rule) []Message {
	explained := map[memoryd.CallKey]bool{}
	for i := range found {
		for _, k := range found[i].Keys {
			explained[k] = true
		}
	}
	odd := Odd(obs)
	half := max(halfWeight, float64(len(obs))/4)
	exact, bySize := map[string]*shape{}, map[int][]*shape{}
	var all []*shape
	for i := range obs {
		ob := &obs[i]
		if ob.Evaluation.State != memoryd.Judged || ob.Good() && !odd(ob) {
			continue
		}
		said := ob.message()
		s := exact[said.masked]
		if s == nil {
			size := min(len(said.pieces), comparedPieces)
			at := slices.IndexFunc(bySize[size], func(o *shape) bool { return o.like(said.pieces[:size]) })
			if at >= 0 {
				s = bySize[size][at]
			} else if len(all) < maxClusters {
				s = &shape{pieces: slices.Clone(said.pieces), Message: Message{ID: itemID("message", said.masked)}}
				all = append(all, s)
				bySize[size] = append(bySize[size], s)
			} else {
				continue
			}
			exact[said.masked] = s
		}
		s.take(ob, said.pieces, who.of[i])
		s.weight += math.Exp2(-float64(len(obs)-1-i) / half)
		if !explained[ob.Key] {
			s.Unexplained++
		}
	}
	slices.SortStableFunc(all, func(a, b *shape) int { return cmp.Compare(b.weight, a.weight) })
	list := make([]Message, len(all))
	for i, s := range all {
		s.Calls, s.Runs, s.Sole, s.Text = s.calls, len(s.runs), who.sole(s.by), s.text(who)
		list[i] = s.Message
	}
	return list
}

// sameInputs is how many different inputs get one answer that is told, sameWords how long it is:
// one word says that something was done.
const (
	sameInputs = 3
	sameWords  = 3
)

// sameAnswer is the text that nine in ten good calls were answered with, whatever their inputs.
func sameAnswer(obs []Observation, who *parties) *Message {
	type answered struct {
		backing

		inputs map[uint64]bool
	}
	good, texts := 0, map[string]*answered{}
	for i := range obs {
		ob := &obs[i]
		if !ob.Good() {
			continue
		}
		good++
		if len(strings.Fields(ob.Answer.Text)) < sameWords {
			continue
		}
		a := texts[ob.Answer.Text]
		if a == nil {
			a = &answered{inputs: map[uint64]bool{}}
			texts[ob.Answer.Text] = a
		}
		a.add(ob.ownRun(), who.of[i])
		a.inputs[hashOf("input", string(ob.Input))] = true
	}
	for text, a := range texts {
		if 10*a.calls >= 9*good && len(a.inputs) >= sameInputs {
			return &Message{Text: text, Calls: a.calls, Runs: len(a.runs), Sole: who.sole(a.by)}
		}
	}
	return nil
}

// like reports whether a message that begins with ps has the form.
func (s *shape) like(ps []piece) bool {
	same := 0
	for i, p := range ps {
		if s.pieces[i].mask == p.mask {
			same++
		}
	}
	return float64(same) >= similarity*float64(len(ps))
}

func (s *shape) take(ob *Observation, ps []piece, party uint64) {
	if n := min(len(ps), len(s.pieces)); len(ps) != len(s.pieces) {
		ps, s.pieces, s.short = ps[:n], s.pieces[:n], true
	}
	for i, p := range ps {
		if s.pieces[i].raw != p.raw {
			s.pieces[i].raw = ""
		}
		if s.pieces[i].mask != p.mask {
			s.pieces[i].mask = maskAny
		}
	}
	s.add(ob.ownRun(), party)
	s.Keys = append(s.Keys, ob.Key)
	s.said = append(s.said, saying{ps, ob.ownRun(), party})
}

// text shows what all messages share, and of what varies that which is often said.
func (s *shape) text(who *parties) string {
	shown := make([]string, 0, len(s.pieces))
	for from, to := 0, 0; from < len(s.pieces); from = to {
		word := s.pieces[from].raw
		for to = from + 1; word == "" && to < len(s.pieces) && s.pieces[to].raw == ""; to++ {
		}
		if word == "" {
			word = s.often(from, to, who)
		}
		if word != maskAny || len(shown) == 0 || shown[len(shown)-1] != maskAny {
			shown = append(shown, word)
		}
	}
	if s.short && shown[len(shown)-1] != maskAny {
		shown = append(shown, maskAny)
	}
	return strings.Join(shown, " ")
}

// Limits of what is shown of a part that varies: so many words, each said in so many calls
// and runs, by several parties where they are known, which are half of all together.
const (
	oftenWords = 4
	oftenSaid  = 2
)

// often lists what stands often in a part that varies; else maskAny. Of several words in a row
// those stand masked.
func (s *shape) often(from, to int, who *parties) string {
	words := map[string]*backing{}
	for i := range s.said {
		said := &s.said[i]
		word := said.pieces[from].raw
		if to > from+1 {
			word = strings.Join(slices.Compact(strings.Fields(join(said.pieces[from:to]))), " ")
		}
		t := words[word]
		if t == nil {
			if len(words) > 2*oftenWords {
				return maskAny
			}
			t = &backing{}
			words[word] = t
		}
		t.add(said.run, said.party)
	}
	list, covered := slices.Sorted(maps.Keys(words)), 0
	list = slices.DeleteFunc(list, func(w string) bool {
		t := words[w]
		return t.calls < oftenSaid || len(t.runs) < oftenSaid || who.sole(t.by)
	})
	slices.SortStableFunc(list, func(a, b string) int { return cmp.Compare(words[b].calls, words[a].calls) })
	for _, w := range list[:min(oftenWords, len(list))] {
		covered += words[w].calls
	}
	if 2*covered < s.calls {
		return maskAny
	}
	list = list[:min(oftenWords, len(list))]
	if covered < s.calls {
		list = append(list, maskAny)
	}
	return strings.Join(list, "|")
}

func join(ps []piece) string {
	var b strings.Builder
	for i, p := range ps {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(p.mask)
	}
	return b.String()
}
