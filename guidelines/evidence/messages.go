package evidence

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"memoryd"
	"memoryd/guidelines/rules"
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
	// similarity is the share of equal tokens from which two messages of equal length are of one
	// form; Drain's st.
	similarity = 0.7
	maxShapes  = 200
	// oftenSaid is in how many calls, and runs, a message stands word for word that is one of its own;
	// of others what varies is masked.
	oftenSaid = 2
	// comparedPieces are by how many tokens at the beginning others are told apart: longer ones go on
	// with what differs from call to call.
	comparedPieces = 12
	// halfWeight is after how many calls a message counts half, at least.
	halfWeight = 40
	// goOn is how many messages, those that count most, are told with what follows them, readOn in how
	// many calls of each that is looked for.
	goOn   = 12
	readOn = 24
)

// shape is the form of messages while they are collected.
type shape struct {
	Message
	backing

	pieces []piece        // a raw part that varies is ""
	short  bool           // some went on in another way
	some   []*Observation // of the calls
}

// shapes are the forms of messages: the list of all, by what of a message names them, and of those
// that are not often said word for word, by their number of tokens.
type shapes struct {
	list   []*shape
	byForm map[string]*shape
	rare   map[int][]*shape
}

// of is the form of a message; nil where there are too many.
func (all *shapes) of(said *wording, often bool) *shape {
	begins := said.pieces[:min(len(said.pieces), comparedPieces)]
	form := join(begins)
	if often {
		form = said.text
	}
	if s := all.byForm[form]; s != nil {
		return s
	}
	if !often {
		rare := all.rare[len(begins)]
		if at := slices.IndexFunc(rare, func(o *shape) bool { return o.like(begins) }); at >= 0 {
			all.byForm[form] = rare[at]
			return rare[at]
		}
	}
	if len(all.list) == maxShapes {
		return nil
	}
	s := &shape{pieces: slices.Clone(said.pieces), Message: Message{ID: itemID("message", form)}}
	all.list, all.byForm[form] = append(all.list, s), s
	if !often {
		all.rare[len(begins)] = append(all.rare[len(begins)], s)
	}
	return s
}

// messagesOf groups what calls that went wrong said: word for word what is often said, by several
// parties where they are known, and the rest by form. That is Drain (He, Zhu, Zheng and Lyu, "Drain:
// an online log parsing approach with fixed depth tree", ICWS 2017) with the number of tokens as its
// only level.
func messagesOf(obs []Observation, who *parties, found []rules.Rule) []Message {
	explained := map[memoryd.CallKey]bool{}
	for i := range found {
		for _, k := range found[i].Keys {
			explained[k] = true
		}
	}
	went, whole := wentWrong(obs), map[string]*backing{}
	var wrong []int
	for i := range obs {
		ob := &obs[i]
		if how := went(ob); how == well || how == asUsual {
			continue
		}
		wrong = append(wrong, i)
		text := ob.message().text
		if whole[text] == nil {
			whole[text] = &backing{}
		}
		whole[text].add(ob.OwnRun(), who.of[i])
	}
	half := max(halfWeight, float64(len(obs))/4)
	all := shapes{byForm: map[string]*shape{}, rare: map[int][]*shape{}}
	for _, i := range wrong {
		ob := &obs[i]
		said := ob.message()
		w := whole[said.text]
		s := all.of(said, w.calls >= oftenSaid && len(w.runs) >= oftenSaid && !who.sole(w.by))
		if s == nil {
			continue
		}
		if s.take(ob, said.pieces, who.of[i]); len(s.some) < readOn {
			s.some = append(s.some, ob)
		}
		s.weight += math.Exp2(-float64(len(obs)-1-i) / half)
		if !explained[ob.Key] {
			s.Unexplained++
		}
	}
	told := joined(all.list)
	slices.SortStableFunc(told, func(a, b *shape) int { return cmp.Compare(b.weight, a.weight) })
	list := make([]Message, len(told))
	for i, s := range told {
		s.Calls, s.Runs, s.Sole = s.calls, len(s.runs), who.sole(s.by)
		if i < goOn && len(s.runs) >= oftenSaid && (2*s.Unexplained >= s.calls || strings.HasSuffix(s.Text, ":")) && !s.short {
			s.Text = strings.TrimSpace(s.Text + " " + s.goesOn()) // it may tell what no rule does, and a heading alone tells nothing
		}
		list[i] = s.Message
	}
	return list
}

// goesOn is the longest sentence after the message that all of the calls got; "" if they share none.
func (s *shape) goesOn() (line string) {
	all := s.some[0].rest()
	for _, ob := range s.some[1:] {
		if len(all) == 0 {
			return ""
		}
		own := ob.rest()
		all = slices.DeleteFunc(all, func(l string) bool { return !slices.Contains(own, l) })
	}
	for _, l := range all {
		if len(l) > len(line) || len(l) == len(line) && l < line {
			line = l
		}
	}
	return line
}

// joined makes forms one that are told with the same text.
func joined(all []*shape) (list []*shape) {
	byText := map[string]*shape{}
	for _, s := range all {
		s.Text = s.text()
		one := byText[s.Text]
		if one == nil {
			byText[s.Text], list = s, append(list, s)
			continue
		}
		one.join(&s.backing)
		one.Keys, one.Unexplained, one.weight = append(one.Keys, s.Keys...), one.Unexplained+s.Unexplained, one.weight+s.weight
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
	s.short = s.short || len(ps) != len(s.pieces)
	s.pieces = s.pieces[:min(len(ps), len(s.pieces))]
	for i := range s.pieces {
		if s.pieces[i].raw != ps[i].raw {
			s.pieces[i].raw = ""
		}
		if s.pieces[i].mask != ps[i].mask {
			s.pieces[i].mask = maskAny
		}
	}
	s.add(ob.OwnRun(), party)
	s.Keys = append(s.Keys, ob.Key)
}

// text shows what all messages share, and masks what varies.
func (s *shape) text() string {
	shown := make([]string, len(s.pieces), len(s.pieces)+1)
	for i, p := range s.pieces {
		shown[i] = cmp.Or(p.raw, p.mask)
	}
	if s.short {
		shown = append(shown, maskAny)
	}
	shown = slices.CompactFunc(shown, func(a, b string) bool { return a == maskAny && b == maskAny })
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
