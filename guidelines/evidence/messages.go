package evidence

import (
	"cmp"
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

	pieces []piece // a raw part that varies is ""
	short  bool    // some went on in another way
	runs   map[uint64]bool
	by     backers
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
				s = &shape{pieces: slices.Clone(said.pieces), runs: map[uint64]bool{}, by: backers{}, Message: Message{ID: itemID("message", said.masked)}}
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
		s.Runs, s.Sole, s.Text = len(s.runs), who.sole(s.by), s.text()
		list[i] = s.Message
	}
	return list
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
	s.Calls++
	s.Keys = append(s.Keys, ob.Key)
	s.runs[ob.ownRun()] = true
	s.by.add(party)
}

// text shows what all messages share.
func (s *shape) text() string {
	shown := make([]string, 0, len(s.pieces))
	for _, p := range s.pieces {
		word := p.raw
		if word == "" {
			word = maskAny
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
