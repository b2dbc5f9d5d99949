package evidence

import (
	"cmp"
	"slices"
	"strings"

	"memoryd"
)

// ErrorCluster is error messages of one form.
type ErrorCluster struct {
	ID string `json:"id"`
	// Template is the message with the parts that vary masked: N for a number,
	// ID, PATH, URL, '…' for a quoted text, … for anything else. A part that is
	// the same in all messages stands as it is. "" when the outputs hold no
	// error message.
	Template string `json:"template"`
	// Rule is the rule of the rules judge that decided, where the outputs hold no
	// message; "" when it was another judge.
	Rule string `json:"rule,omitempty"`
	// EmptyOutput says that the outputs were empty.
	EmptyOutput bool `json:"empty_output,omitempty"`
	// Count counts the calls.
	Count int               `json:"count"`
	Calls []memoryd.CallKey `json:"calls"`
}

const (
	// similarity is the share of equal tokens from which two messages of equal
	// length are of one form; Drain's st.
	similarity  = 0.7
	maxClusters = 200
)

// clusters are the error clusters and the cluster of each call.
type clusters struct {
	items []ErrorCluster
	// of is the place in items of the call's cluster, -1 for a call that went
	// well or lies beyond maxClusters.
	of []int
}

// form is a cluster under construction.
type form struct {
	pieces []piece // a raw part that varies is ""
	rule   string
	empty  bool
	calls  []int
}

// clusterErrors groups the calls that failed or scored 0.5 by their message.
func clusterErrors(obs []Observation) clusters {
	b := builder{exact: map[string]*form{}, bySize: map[int][]*form{}}
	owner := make([]*form, len(obs))
	for i := range obs {
		if !wrong(&obs[i].Call) {
			continue
		}
		if owner[i] = b.place(&obs[i]); owner[i] != nil {
			owner[i].calls = append(owner[i].calls, i)
		}
	}
	slices.SortStableFunc(b.forms, func(x, y *form) int {
		return cmp.Or(cmp.Compare(len(y.calls), len(x.calls)), cmp.Compare(y.calls[len(y.calls)-1], x.calls[len(x.calls)-1]))
	})
	out := clusters{of: make([]int, len(obs))}
	at := map[*form]int{}
	for i, f := range b.forms {
		out.items = append(out.items, f.item(obs))
		at[f] = i
	}
	for i, f := range owner {
		out.of[i] = -1
		if f != nil {
			out.of[i] = at[f]
		}
	}
	return out
}

// builder sorts messages into forms.
type builder struct {
	forms  []*form
	exact  map[string]*form // by masked text
	bySize map[int][]*form  // by number of tokens
}

func (b *builder) place(ob *Observation) *form {
	said := ob.message()
	if said.text == "" {
		return b.wordless(&ob.Call)
	}
	ps := said.pieces
	f := b.exact[said.masked]
	if f == nil {
		for _, other := range b.bySize[len(ps)] {
			if other.like(ps) {
				f = other
				break
			}
		}
	}
	if f == nil {
		if len(b.forms) >= maxClusters {
			return nil
		}
		f = &form{pieces: slices.Clone(ps)}
		b.forms = append(b.forms, f)
		b.bySize[len(ps)] = append(b.bySize[len(ps)], f)
	}
	b.exact[said.masked] = f
	f.merge(ps)
	return f
}

// wordless places a call whose output holds no message.
func (b *builder) wordless(c *memoryd.Call) *form {
	rule := ""
	if c.Evaluation.JudgedBy == memoryd.JudgedByRules {
		rule = c.Evaluation.Rule
	}
	empty := content(c.Output) == ""
	key := "\x00" + rule
	if empty {
		key += "\x00"
	}
	f := b.exact[key]
	if f == nil {
		f = &form{rule: rule, empty: empty}
		b.exact[key] = f
		b.forms = append(b.forms, f)
	}
	return f
}

// like reports whether ps, of the same number of tokens, has the form f.
func (f *form) like(ps []piece) bool {
	same := 0
	for i, p := range ps {
		if f.pieces[i].mask == p.mask {
			same++
		}
	}
	return float64(same) >= similarity*float64(len(ps))
}

// merge takes a message into the form.
func (f *form) merge(ps []piece) {
	for i, p := range ps {
		if f.pieces[i].raw != p.raw {
			f.pieces[i].raw = ""
		}
		if f.pieces[i].mask != p.mask {
			f.pieces[i].mask = maskAny
		}
	}
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

func (f *form) item(obs []Observation) ErrorCluster {
	c := ErrorCluster{ID: f.id(), Template: f.template(), Rule: f.rule, EmptyOutput: f.empty, Count: len(f.calls)}
	for _, i := range f.calls {
		c.Calls = append(c.Calls, obs[i].Key)
	}
	return c
}

func (f *form) id() string {
	if f.empty {
		return itemID("error", "", f.rule, "empty")
	}
	return itemID("error", join(f.pieces), f.rule)
}

// template shows what all messages share.
func (f *form) template() string {
	shown := make([]string, len(f.pieces))
	for i, p := range f.pieces {
		shown[i] = p.raw
		if p.raw == "" {
			shown[i] = p.mask
		}
	}
	text := strings.Join(shown, " ")
	for strings.Contains(text, maskAny+" "+maskAny) {
		text = strings.ReplaceAll(text, maskAny+" "+maskAny, maskAny)
	}
	return text
}
