package rules

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Proposal is a proposed condition, for example from a model that read the evidence. It is
// tested like all others.
type Proposal struct {
	Parameter string `json:"parameter"`
	Predicate string `json:"predicate"`
	Value     any    `json:"value"`
}

// hypothesis is the condition, one of the simplest by its name; false for one that cannot be looked up.
func (p *Proposal) hypothesis() (h hypothesis, ok bool) {
	at := slices.IndexFunc(conditions[:notIn], func(c condition) bool { return c.name == p.Predicate })
	if at < 0 || !tellable(p.Parameter) {
		return h, false
	}
	h.what, h.p, ok = what(at), p.Parameter, true
	switch h.what {
	case above, below:
		h.bound, ok = p.Value.(float64)
	case is, begins:
		word, isText := p.Value.(string)
		h.set, ok = []string{word}, isText && shown(strings.TrimRight(word, "_-"))
	default:
	}
	return h, ok
}

// Known reports whether a proposal can be tested on calls.
func (p *Proposal) Known() bool {
	_, ok := p.hypothesis()
	return ok
}

// Is reports whether the rule has the condition of a proposal, whatever its limit.
func (r *Rule) Is(p *Proposal) bool {
	h, ok := p.hypothesis()
	return ok && h.what == r.when.what && h.p == r.when.p && (h.what != is && h.what != begins || h.set[0] == r.when.set[0])
}

func hypotheses(proposed []Proposal) (list []hypothesis) {
	for i := range proposed {
		if h, ok := proposed[i].hypothesis(); ok {
			list = append(list, h)
		}
	}
	return list
}

// stored is a rule as it is kept with the guideline that says it.
type stored struct {
	What  string   `json:"what"`
	P     string   `json:"p,omitempty"`
	Q     string   `json:"q,omitempty"`
	Op    string   `json:"op,omitempty"`
	Bound float64  `json:"bound,omitempty"`
	Set   []string `json:"set,omitempty"`
	Tool  string   `json:"tool,omitempty"`
	Where string   `json:"where,omitempty"`
	Value string   `json:"value,omitempty"`
	Not   bool     `json:"not,omitempty"`
	Edge  *float64 `json:"edge,omitempty"`
	plainRule
}

type plainRule Rule // without the methods

// MarshalJSON encodes the rule without the values that Mend would insert.
func (r Rule) MarshalJSON() ([]byte, error) {
	h := &r.when
	return json.Marshal(stored{h.what.String(), h.p, h.q, "", h.bound, h.set, h.tool, h.where, h.value, h.not, r.edge, plainRule(r)})
}

// UnmarshalJSON decodes what MarshalJSON wrote. Holds works afterwards; Mend returns nothing.
func (r *Rule) UnmarshalJSON(data []byte) error {
	var s stored
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	at := slices.IndexFunc(conditions, func(c condition) bool { return c.name == s.What })
	if at < 0 || s.Op != "" { // older programs stored rules on what two values make together
		return fmt.Errorf("a rule of an unknown kind: %q", s.What)
	}
	for _, of := range [...]string{"#each", "#least", "#most"} { // older programs named so what elements of lists give
		s.P = strings.TrimSuffix(s.P, of)
	}
	*r = Rule(s.plainRule)
	r.when = hypothesis{
		what: what(at), p: s.P, q: s.Q, bound: s.Bound, set: s.Set, tool: s.Tool, guard: guard{s.Where, s.Value, s.Not},
	}
	r.edge = s.Edge
	r.Parameter, _ = base(s.P)
	return nil
}
