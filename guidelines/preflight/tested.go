package preflight

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"memoryd"
	"memoryd/guidelines/evidence"
	tested "memoryd/guidelines/rules"
	"memoryd/internal/origin"
)

// testedRule names the warnings that go by a rule which calls bear out.
const testedRule = "tested_rule"

// Tested is a rule that the calls of a tool support, with the keys of the calls behind it.
type Tested = tested.Rule

// plan reads a call of the run as mining would.
func (m *Model) plan(v *view, input json.RawMessage) *tested.Planned {
	var run json.RawMessage
	if v.Run != "" {
		run = json.RawMessage(`{"trajectory_id":"run"}`)
	}
	if v.observer == nil {
		v.observer = evidence.NewObserver()
		if v.World != nil {
			v.observer.In(v.World)
		}
		if slices.ContainsFunc(slices.Concat(m.options.Tested, m.options.Hints), func(t Tested) bool { return t.About() }) {
			v.past = map[memoryd.CallKey]*tested.Planned{}
			for _, c := range slices.Backward(v.RunCalls) {
				ob := v.observer.Observe(&memoryd.Call{
					ToolRef: c.ToolRef, Input: c.Input, Output: c.Output, Success: c.Success, Metadata: run,
					Evaluation: memoryd.Evaluation{State: c.State, Score: c.Score},
				})
				if c.Tool == m.options.Tool {
					v.past[c.Key] = ob.Planned()
				}
			}
		}
	}
	ob := v.observer.Observe(&memoryd.Call{ToolRef: memoryd.ToolRef{Tool: m.options.Tool}, Input: input, Metadata: run})
	ob.Turn, ob.Pause = v.turn(m.options.Tool)
	return ob.Planned()
}

// turn is which call of a tool in its run the planned one is, and how many seconds after the one
// before; see tested.Call.
func (v *view) turn(tool string) (n int, pause float64) {
	if v.Run == "" {
		return 0, -1
	}
	n, pause = 1, -1
	for i := range v.RunCalls {
		if r := &v.RunCalls[i]; r.Tool == tool {
			if n++; n == 2 && !r.Time.After(v.Now) {
				pause = v.Now.Sub(r.Time).Seconds()
			}
		}
	}
	return n, pause
}

// given lists what answers of a tool in the run gave for a parameter, newest first:
// where some stood under its name, these alone.
func (v *view) given(path, tool string) []tested.Given {
	name := path[strings.LastIndexByte(path, '.')+1:]
	var out, named []tested.Given
	for _, c := range v.valuesSeen() {
		switch {
		case tool != "" && c.tool != tool:
		case slices.Contains(c.Under, name):
			named = append(named, c.Given)
		default:
			out = append(out, c.Given)
		}
	}
	if len(named) > 0 {
		return named
	}
	return out
}

// broken are the warnings of the rules that a planned call breaks; where it breaks none, of those of other tools, else
// of what too little is known of for a rule.
func (m *Model) broken(v *view) []Warning {
	var out []Warning
	for _, t := range v.breaks {
		out = append(out, broke(t))
	}
	if len(out) > 0 {
		return out
	}
	if len(v.Elsewhere)+len(m.options.Hints) == 0 {
		return nil
	}
	p := m.plan(v, v.in.raw)
	for i := range v.Elsewhere {
		if t := &v.Elsewhere[i]; (t.all || t.one == v.Source) && t.Holds(p) && !t.Untried(p) && !v.contradicts(&t.Tested) {
			out = append(out, t.warning())
		}
	}
	if len(out) > 0 {
		return out
	}
	for i := range m.options.Hints {
		t := &m.options.Hints[i]
		if t.Source != v.Source || !t.Holds(p) || v.contradicts(t) {
			continue
		}
		w := broke(t)
		w.Line, w.Severity = "", Note
		out = append(out, w)
	}
	return out
}

// broke is the warning of a rule.
func broke(t *Tested) Warning {
	return Warning{
		Text: fmt.Sprintf("%s: %s.", t.Line, t.Found()), Line: t.Line, Rule: testedRule, Calls: t.Keys,
		Severity: severityOf(float64(t.Failed+t.Odd) / float64(t.Calls+t.Good+1)),
	}
}

// warning says where the rule was found. It stops no call: this tool bears it out by good calls alone.
func (e *Elsewhere) warning() Warning {
	w := broke(&e.Tested)
	w.Text = fmt.Sprintf("%s: in `%s`, %s.", e.Line, e.Tool, e.Found())
	if w.Severity == Stop {
		w.Severity = Ask
	}
	return w
}

// brokenBy lists the rules that a planned call breaks.
func (m *Model) brokenBy(p *tested.Planned) []*Tested {
	var out []*Tested
	for i := range m.options.Tested {
		if t := &m.options.Tested[i]; t.Effect == tested.Wrong && !t.Doubtful() && t.Holds(p) && !t.Untried(p) {
			out = append(out, t)
		}
	}
	return out
}

// against counts the good calls in a row, up to the newest, that broke a rule.
func (v *view) against(t *Tested) int {
	var newer []bool
	for i := range v.Since {
		ob := &v.Since[i]
		if ob.Evaluation.State == memoryd.Judged && t.Holds(ob.Planned()) {
			newer = append(newer, ob.Evaluation.Score >= memoryd.ScoreSuccess)
		}
	}
	return t.Against(newer)
}

// contradicts reports whether the newest call of the rule's condition speaks against it.
func (v *view) contradicts(t *Tested) bool { return v.against(t) > 0 }

// mend changes what the planned call breaks, if all of it can be mended.
func (m *Model) mend(v *view) fix {
	var f fix
	raw := v.in.raw
	for _, t := range v.breaks {
		p := m.plan(v, raw)
		if !t.Holds(p) {
			continue // mended by another change
		}
		edits := t.Mend(p, v.given)
		if len(edits) == 0 {
			return fix{}
		}
		for _, e := range edits {
			next, ok := applied(raw, e)
			if _, may := origin.Show(origin.Suggestion, e.Of, e.Text, maxValue); !ok || !may {
				return fix{}
			}
			raw = next
			f.path = e.Path
		}
	}
	if bytes.Equal(raw, v.in.raw) || len(slices.DeleteFunc(m.brokenBy(m.plan(v, raw)), v.contradicts)) > 0 {
		return fix{}
	}
	f.input = raw
	return f
}

// applied changes one parameter of an input.
func applied(raw json.RawMessage, e tested.Edit) (json.RawMessage, bool) {
	var tree map[string]any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&tree) != nil || tree == nil {
		return nil, false
	}
	at := tree
	path := strings.Split(e.Path, ".")
	for _, name := range path[:len(path)-1] {
		inner, ok := at[name].(map[string]any)
		if !ok {
			return nil, false
		}
		at = inner
	}
	last := path[len(path)-1]
	if e.Remove {
		delete(at, last)
	} else {
		at[last] = e.Value
	}
	b, err := json.Marshal(tree)
	return b, err == nil
}
