package preflight

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"memoryd"
	"memoryd/guidelines"
	"memoryd/guidelines/evidence"
)

// mostWarnings is how many warnings are given, shownCalls how many calls each
// names: the newest.
const (
	mostWarnings = 6
	shownCalls   = 20
	// enoughCalls is in how many calls a parameter must have been given always, or
	// never, for the opposite to be worth a word.
	enoughCalls = 10
)

// warnings tells what in the input went wrong before, most telling first.
func (m *Model) warnings(input json.RawMessage, p planned, near []neighbour) []Warning {
	match := evidence.MatchOf(input)
	var out []Warning
	for _, ws := range [][]Warning{
		m.tried(p, near), m.conditions(match), m.messages(match), m.alike(near), m.parameters(match), m.costs(match),
	} {
		for _, w := range ws {
			if w.Text != "" && len(out) < mostWarnings {
				w.Calls = w.Calls[max(0, len(w.Calls)-shownCalls):]
				out = append(out, w)
			}
		}
	}
	return out
}

// tried warns when the same input failed before.
func (m *Model) tried(p planned, near []neighbour) []Warning {
	judged := 0
	w := Warning{}
	for _, n := range near {
		c := &m.calls[n.call]
		if !c.judged || c.identity != p.identity {
			continue
		}
		judged++
		if c.failed() {
			w.Calls = append(w.Calls, c.key)
		}
	}
	if 2*len(w.Calls) < max(1, judged) {
		return nil
	}
	w.Text = fmt.Sprintf("The same input was tried before: %d of %d such calls failed.", len(w.Calls), judged)
	return []Warning{w}
}

// conditions warns of the conditions that the input meets, and of those that go
// with success and that it does not meet.
func (m *Model) conditions(match evidence.Match) []Warning {
	var out []Warning
	for i := range m.evidence.Conditions {
		c := &m.evidence.Conditions[i]
		facts, n, bad := c.Facts, c.With, c.WithBad
		if !c.Raises() {
			facts, n, bad = c.Contrast, c.Without, c.WithoutBad
		}
		held := holding(match, facts)
		if 2*len(held) < len(facts) || len(held) == 0 || c.Both && len(held) < 2 {
			continue
		}
		text := guidelines.Phrase(held)
		if text == "" {
			continue
		}
		out = append(out, Warning{
			Text:     fmt.Sprintf("%s: %d of %d such calls %s%s.", capital(text), bad, n, outcomeWord(c.Outcome), standing(c.Provisional)),
			Evidence: []string{c.ID}, Calls: c.Calls,
		})
	}
	return out
}

// standing marks what too little history bears out.
func standing(isProvisional bool) string {
	if isProvisional {
		return " (provisional)"
	}
	return ""
}

func holding(match evidence.Match, facts []evidence.Fact) []evidence.Fact {
	var held []evidence.Fact
	for _, f := range facts {
		if match.Holds(f) {
			held = append(held, f)
		}
	}
	return held
}

func outcomeWord(o evidence.Outcome) string {
	switch o {
	case evidence.Partial:
		return "scored 0.5"
	case evidence.Unsuccessful:
		return "were reported unsuccessful"
	}
	return "failed"
}

// messages warns of the message that goes with what the input has.
func (m *Model) messages(match evidence.Match) []Warning {
	var out []Warning
	for i := range m.evidence.Errors {
		e := &m.evidence.Errors[i]
		if e.When == nil || 5*e.When.WithBad < e.When.With || len(holding(match, e.When.Facts)) < len(e.When.Facts) {
			continue
		}
		text, message := guidelines.Phrase(e.When.Facts), ""
		if q, ok := guidelines.Quote(e.Template); ok && e.Template != "" {
			message = " with " + q
		}
		if text == "" {
			continue
		}
		out = append(out, Warning{
			Text:     fmt.Sprintf("%s: %d of %d such calls ended%s.", capital(text), e.When.WithBad, e.When.With, orBadly(message)),
			Evidence: []string{e.ID, e.When.ID}, Calls: e.When.Calls,
		})
	}
	return out
}

func orBadly(message string) string {
	if message == "" {
		return " badly"
	}
	return message
}

// alike warns when most of the nearest calls failed.
func (m *Model) alike(near []neighbour) []Warning {
	judged := 0
	w := Warning{}
	for _, n := range near {
		c := &m.calls[n.call]
		if n.similarity < likeness || judged == 10 {
			break
		}
		if !c.judged {
			continue
		}
		judged++
		if c.failed() {
			w.Calls = append(w.Calls, c.key)
		}
	}
	if judged < 3 || 2*len(w.Calls) <= judged || float64(len(w.Calls))*float64(m.judged) < 1.5*float64(m.failed)*float64(judged) {
		return nil
	}
	w.Text = fmt.Sprintf("%d of the %d most similar calls failed", len(w.Calls), judged)
	if e := m.commonError(w.Calls); e != nil {
		w.Evidence = []string{e.ID}
		if q, ok := guidelines.Quote(e.Template); ok && e.Template != "" {
			w.Text += ", most often with " + q
		}
	}
	w.Text += "."
	return []Warning{w}
}

// commonError is the error cluster that holds at least half of the calls.
func (m *Model) commonError(calls []memoryd.CallKey) *evidence.ErrorCluster {
	for i := range m.evidence.Errors {
		e, shared := &m.evidence.Errors[i], 0
		for _, k := range calls {
			if slices.Contains(e.Calls, k) {
				shared++
			}
		}
		if 2*shared >= len(calls) {
			return e
		}
	}
	return nil
}

// parameters warns of parameters that no call gave before, that all calls gave,
// and of types not seen yet.
func (m *Model) parameters(match evidence.Match) []Warning {
	if m.evidence.Calls < enoughCalls {
		return nil
	}
	var out []Warning
	known := map[string]bool{}
	for _, p := range m.evidence.Parameters {
		known[p.Path] = true
		if strings.ContainsAny(p.Path, ".[") || p.Path == "" || p.Given < enoughCalls {
			continue
		}
		got := match.Type(p.Path)
		switch {
		case p.Given == p.Of && got == "":
			out = append(out, Warning{Text: fmt.Sprintf("%s is missing: all %d calls gave it.", guidelines.Name(p.Path), p.Of)})
		case got != "" && !typed(p.Types, got):
			out = append(out, Warning{Text: fmt.Sprintf("%s is of type %s; in %d calls it was %s.", guidelines.Name(p.Path), got, p.Given, strings.Join(p.Types, " or "))})
		}
	}
	for _, path := range match.Paths() {
		if !known[path] {
			out = append(out, Warning{Text: fmt.Sprintf("%s was never given in %d calls.", guidelines.Name(path), m.evidence.Calls)})
		}
	}
	return out
}

func typed(types []string, got string) bool {
	return slices.Contains(types, got) || got == "number" && slices.Contains(types, "integer")
}

// costs warns of what takes long or much.
func (m *Model) costs(match evidence.Match) []Warning {
	var out []Warning
	for i := range m.evidence.Costs {
		c := &m.evidence.Costs[i]
		facts, dear, cheap := c.Facts, c.MedianWith, c.MedianWithout
		if dear < cheap {
			facts, dear, cheap = c.Contrast, cheap, dear
		}
		text := guidelines.Phrase(holding(match, facts))
		if text == "" || len(holding(match, facts)) < len(facts) {
			continue
		}
		out = append(out, Warning{
			Text:     fmt.Sprintf("%s: median %s, otherwise %s.", capital(text), guidelines.Amount(c.Resource, dear), guidelines.Amount(c.Resource, cheap)),
			Evidence: []string{c.ID}, Calls: c.Calls,
		})
	}
	return out
}

func capital(s string) string {
	if s[0] >= 'a' && s[0] <= 'z' {
		return string(s[0]-'a'+'A') + s[1:]
	}
	return s
}
