package guidelines

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"memoryd/guidelines/evidence"
	"memoryd/guidelines/rules"
	"memoryd/internal/origin"

	"memoryd/internal/textsafe"
)

// shownParameters is how many parameters are named, shownValues how many values
// of one.
const (
	shownParameters = 8
	shownValues     = 4
	shownMembers    = 5
	longestChoice   = 24 // bytes of a value that is one of a few
)

// core words what the tool takes, in good calls where there are some, and what it returns.
func (f *findings) core(d *draft) {
	name := code(f.tool.Tool)
	if name == withheld {
		name = "it" // readers know which
	}
	var top []evidence.Parameter
	unnamed := 0
	for _, p := range f.evidence.Parameters {
		switch {
		case strings.ContainsAny(p.Path, ".["), f.given(p) == 0:
		case p.Sole:
			unnamed++ // whoever sends it alone would write here
		default:
			top = append(top, p)
		}
	}
	if f.evidence.Calls == 0 {
		d.add(coreFunction, 0, "Not enough data: no call of "+name+" is kept.", "none", coreValue)
		return
	}
	took, of := "no parameters", count(f.evidence.Calls, "call")
	if f.evidence.Good > 0 {
		of = count(f.evidence.Good, "good call")
	}
	switch {
	case len(top) > 0:
		took = f.took(top, unnamed)
	case unnamed > 0:
		took = count(unnamed, "parameter") + ", known from one source alone"
	}
	d.add(coreFunction, 0, "In "+of+" "+name+" took "+took+".", "takes", coreValue, parametersGround)
	d.add(coreFunction, mostPractices, f.returns(), "returns", returnsValue, outputGround)
}

// took lists parameters, the most frequent first, and counts those without a name.
func (f *findings) took(top []evidence.Parameter, unnamed int) string {
	slices.SortStableFunc(top, func(a, b evidence.Parameter) int { return f.given(b) - f.given(a) })
	var always, sometimes []described
	for _, p := range top[:min(len(top), shownParameters)] {
		if given := f.given(p); given == cmp.Or(f.evidence.Good, p.Of) {
			always = append(always, f.describe(p, ""))
		} else {
			sometimes = append(sometimes, f.describe(p, "in "+number(float64(given))))
		}
	}
	text := enumerate(always)
	switch {
	case len(always) == 0:
		text = enumerate(sometimes)
	case len(sometimes) > 0:
		text += "; sometimes " + enumerate(sometimes)
	}
	if more := max(0, len(top)-shownParameters) + unnamed; more > 0 {
		text += "; " + count(more, "further parameter")
	}
	return text
}

// described is a parameter's name and what is said of it.
type described struct{ name, note string }

// describe words one parameter: its type unless values show it, what is typical,
// and how often it is given where that is not always.
func (f *findings) describe(p evidence.Parameter, given string) described {
	note := noteOf(p.Types[0], f.hint(p))
	if given != "" {
		note += ", " + given
	}
	return described{pathName(p.Path), note}
}

var typeWords = map[string]string{
	"string": "text", "integer": "integer", "number": "number", "boolean": "true/false", "null": "null", "object": "object", "array": "list",
}

// noteOf says of what type a value is, with a hint at what it holds where there is one.
func noteOf(kind, hint string) string {
	switch {
	case hint == "":
		return typeWords[kind]
	case kind == "array":
		return "list of " + hint
	case kind == "object":
		return "object with " + hint
	case kind == "string":
		return hint
	}
	return typeWords[kind] + ", " + hint
}

// enumerate lists parameters, with one note for neighbours that share it.
func enumerate(ps []described) string {
	var texts []string
	for i, p := range ps {
		if i+1 < len(ps) && ps[i+1].note == p.note {
			texts = append(texts, p.name)
			continue
		}
		if p.note != "" {
			p.name += " (" + p.note + ")"
		}
		texts = append(texts, p.name)
	}
	return list(texts, "and")
}

// hint shows the values of a parameter that has few, the range of a number, or
// the members of a list's elements.
func (f *findings) hint(p evidence.Parameter) string {
	if p.Types[0] == "array" || p.Types[0] == "object" {
		return f.members(p.Path)
	}
	if p.Types[0] == "boolean" || textsafe.SecretName(p.Path) {
		return ""
	}
	known := 0 // calls whose value is short enough to be listed
	for _, v := range p.Top {
		known += v.Calls
	}
	if p.Distinct > 0 && p.Distinct <= shownValues && known >= p.Given && p.Given > p.Distinct {
		return f.choices(p)
	}
	if p.Form != "" {
		return p.Form
	}
	least, from := origin.Show(origin.Recommendation, origin.Slot, number(p.Least), valueLimit)
	greatest, to := origin.Show(origin.Recommendation, origin.Slot, number(p.Greatest), valueLimit)
	if p.Least < p.Greatest && isNumeric(p) && from && to && !f.refused(p, least) && !f.refused(p, greatest) {
		return least + " to " + greatest
	}
	return ""
}

// choices lists the values of a parameter that has few; "" where they are texts or names, or some of
// them would mislead.
func (f *findings) choices(p evidence.Parameter) string {
	var values []string
	for _, v := range slices.SortedStableFunc(slices.Values(p.Top[:min(len(p.Top), p.Distinct)]), bySize) {
		if len(v.Value) > longestChoice || evidence.MayName(v.Value, p.Distinct, p.Given) {
			return ""
		}
		if v.Sole || v.Good == 0 || f.refused(p, v.Value) {
			continue // whoever gives it alone would write here; what never worked is no example
		}
		shown, ok := shownValue(p.Path, v.Value)
		if !ok {
			return ""
		}
		if v.Value != "" {
			values = append(values, shown)
		}
	}
	return list(values, "or")
}

func isNumeric(p evidence.Parameter) bool { return p.Types[0] == "integer" || p.Types[0] == "number" }

// refused reports whether a rule advises against a value of a parameter.
func (f *findings) refused(p evidence.Parameter, value string) bool {
	return slices.ContainsFunc(f.evidence.Rules, func(r rules.Rule) bool { return r.Refuses(p.Path, value, isNumeric(p)) })
}

// bySize orders numbers and leaves other values as they are.
func bySize(a, b evidence.ValueCount) int {
	x, noNumber := strconv.ParseFloat(a.Value, 64)
	y, neither := strconv.ParseFloat(b.Value, 64)
	if noNumber != nil || neither != nil {
		return 0
	}
	return cmp.Compare(x, y)
}

// members describes what the objects at path, or in the list at path, hold: what good
// calls gave, where there are some.
func (f *findings) members(path string) string {
	var ms []described
	outer := 0
	for _, p := range f.evidence.Parameters {
		if p.Path == path {
			outer = f.given(p)
		}
		rest, ok := strings.CutPrefix(p.Path, path+"[].")
		if !ok {
			rest, ok = strings.CutPrefix(p.Path, path+".")
		}
		if !ok || strings.ContainsAny(rest, ".[") || len(ms) == shownMembers || p.Sole || f.given(p) == 0 {
			continue
		}
		hint := f.hint(p)
		m := described{name: code(rest)}
		switch {
		case isNumeric(p):
			m.note = p.Types[0]
		case p.Types[0] != "string" || hint != "":
			m.note = noteOf(p.Types[0], hint)
		}
		if f.given(p) < outer {
			m.note = strings.TrimPrefix(m.note+", sometimes", ", ")
		}
		ms = append(ms, m)
	}
	return enumerate(ms)
}

// given counts the good calls, or all where none was good, that gave a parameter.
func (f *findings) given(p evidence.Parameter) int {
	if f.evidence.Good > 0 {
		return p.Good
	}
	return p.Given
}

// returns words the usual answer.
func (f *findings) returns() string {
	o := f.evidence.Output
	text := 0
	if o.Calls > 0 {
		text = o.Calls - o.Empty - o.Objects - o.Arrays
	}
	switch {
	case o.Calls == 0:
		return "Not enough data on what it returns: no call has gone well so far."
	case 2*o.Objects > o.Calls:
		if o.Objects < quorumCalls {
			return "It returns a JSON object."
		}
		return "It returns a JSON object" + withKeys(o.Keys) + "."
	case 2*o.Arrays > o.Calls:
		return "It returns a JSON list."
	case 2*o.Empty > o.Calls:
		return "It returned nothing in " + ofN(o.Empty, o.Calls) + " recent good calls."
	case o.Empty > 0:
		return "It returns text (median " + count(o.MedianLength, "character") + "); " + ofN(o.Empty, o.Calls) + " good outputs were empty."
	case text > 0:
		return "It returns text (median " + count(o.MedianLength, "character") + ")."
	}
	return "It returns JSON or text."
}

// shownKeys is how many members of an answer are named.
const shownKeys = 5

func withKeys(keys []string) string {
	var shown []string
	for _, k := range keys {
		if name, ok := origin.Show(origin.Recommendation, origin.Name, k, valueLimit); ok && len(shown) < shownKeys {
			shown = append(shown, name)
		}
	}
	if len(shown) == 0 {
		return ""
	}
	return " with " + list(shown, "and")
}
