// Package constraints reads what a tool's error message asks of its callers: the
// parameter that is missing, the bound that was crossed, the values that are
// allowed, the state that has to be there first. It knows the wording of the usual
// validators, services, business rules, shells, databases and languages as a table
// of grammars, each tied to a class with its remedy.
//
// A message is foreign text. What is read out of it lands in typed slots only, and
// Imperative writes its sentences from these slots and from wording of this
// package: nothing else of a message can reach an instruction.
package constraints

import (
	"cmp"
	"slices"
	"strings"

	"memoryd/internal/phrases"
)

// Class says what kind of rule a message speaks of.
type Class string

// Constraint is one rule that a message states.
type Constraint struct {
	Class Class `json:"class"`
	// Grammar names the entry of the catalogue that read it.
	Grammar string `json:"grammar"`
	// Parameter is the path of the parameter it is about, without indices
	// ("files[].path"); "" when the message names none.
	Parameter string `json:"parameter,omitempty"`
	// Other is a second name: the parameter to use or compare with, an option.
	Other string `json:"other,omitempty"`
	// Type is the JSON type that is asked for.
	Type string `json:"type,omitempty"`
	// Op and Bound are a limit ("<=", "<", ">=", ">"), Unit what it counts: "" the
	// value itself, "characters" or "items".
	Op    string  `json:"op,omitempty"`
	Bound float64 `json:"bound,omitempty"`
	Unit  string  `json:"unit,omitempty"`
	// Values are the allowed values, at most maxValues.
	Values []string `json:"values,omitempty"`
	Format string   `json:"format,omitempty"`
	// Slot is what else the rule is about: a command, a noun, a status.
	Slot string `json:"slot,omitempty"`
	// Got is the caller's value as the message repeats it: it tells which parameter
	// is meant where the message names none, and is never shown.
	Got string `json:"-"`
}

// Limits on what is read of one message.
const (
	maxValues  = 6
	maxMatches = 8  // of one grammar
	maxFound   = 16 // constraints of one message
	readHead   = 16 << 10
	readTail   = 4 << 10
)

// Cause names the rule and its parameter: two failures of one cause need one
// remedy.
func (c Constraint) Cause() string { return string(c.Class) + ":" + c.Parameter }

// Key tells constraints apart.
func (c Constraint) Key() string {
	return strings.Join([]string{string(c.Class), c.Parameter, c.Other, c.Type, c.Op, number(c.Bound), c.Unit, strings.Join(c.Values, ","), c.Format, c.Slot}, "\x00")
}

// Checkable reports whether Broken can tell from an input alone that it breaks the
// constraint.
func (c Constraint) Checkable() bool {
	switch c.Class {
	case Missing, Unknown:
		return c.Parameter != ""
	case Type:
		return c.Parameter != "" && c.Type != ""
	case Enum:
		return c.Parameter != "" && len(c.Values) > 1
	case Range, Length:
		return c.Parameter != "" && c.Op != ""
	case Format:
		return c.Parameter != "" && dateForm(c.Format) && !strings.Contains(c.Format, "%")
	}
	return false
}

// Read lists what the output of a failed call states, the most specific first,
// each once. The whole text is read (of one beyond 20 KiB its head and tail).
func Read(output string) []Constraint {
	r := reader{}
	for _, is := range issuesIn(ends(trim(output))) {
		r.issue(is)
	}
	if len(r.found) == 0 { // what stands beside a validator's list is schema and data
		r.text(ends(Unwrap(output)), "", false)
	}
	return r.settle()
}

// ends are the head and the tail of a long text.
func ends(text string) string {
	if len(text) > readHead+readTail {
		text = text[:readHead] + "\n" + text[len(text)-readTail:]
	}
	return text
}

// reader collects the constraints of one message.
type reader struct {
	found   []placed
	seen    map[string]bool
	matched int
}

// placed is a constraint with the place in the text where it stands.
type placed struct {
	Constraint
	at int
}

func (r *reader) add(c Constraint, at int) {
	c.Parameter, c.Other = Path(c.Parameter), strings.TrimSpace(c.Other)
	r.matched++
	if c.Class == "" || len(r.found) >= maxFound {
		return
	}
	if r.seen == nil {
		r.seen = map[string]bool{}
	}
	if key := c.Key(); !r.seen[key] {
		r.seen[key] = true
		r.found = append(r.found, placed{c, at})
	}
}

// text applies the grammars to a text; one of an issue speaks of the parameter path.
func (r *reader) text(text, path string, inIssue bool) {
	lower := strings.ToLower(text)
	if len(lower) != len(text) { // a letter whose lower case has another length
		lower = text
	}
	var grams phrases.Grams
	grams.Note(lower)
	ascii := phrases.IsASCII(text)
	for i := range catalogue {
		g := &catalogue[i]
		if g.field && !inIssue || inIssue && g.class == Failed || !g.maybe(lower, &grams, ascii) {
			continue
		}
		for _, part := range g.parts(lower) {
			for _, m := range g.re.FindAllStringSubmatchIndex(text[part.from:part.to], maxMatches) {
				for _, c := range g.read(text[part.from:part.to], m) {
					if inIssue {
						c.Parameter = joined(path, c)
					}
					r.add(c, part.from+m[0])
				}
			}
		}
	}
}

// joined places the parameter that a message names under the path of its issue:
// "must have required property 'b'" at "a" is about "a.b".
func joined(path string, c Constraint) string {
	path = Path(path)
	if path == "" {
		return c.Parameter
	}
	if c.Parameter == "" || c.Class != Missing && c.Class != Unknown {
		return path
	}
	if path == c.Parameter || strings.HasSuffix(path, "."+c.Parameter) {
		return path
	}
	return path + "." + c.Parameter
}

// issue takes in an entry of a validator's list.
func (r *reader) issue(is issue) {
	before := r.matched
	if is.known.Class != "" {
		is.known.Parameter = cmp.Or(is.known.Parameter, is.path)
		r.add(is.known, is.at)
	} else {
		r.text(is.text, is.path, true)
	}
	if r.matched == before && Path(is.path) != "" {
		r.add(Constraint{Class: Invalid, Grammar: "issue", Parameter: is.path}, is.at)
	}
}

// settle orders what was found and lets specific classes silence generic ones.
func (r *reader) settle() []Constraint {
	silenced := map[Class]bool{}
	for _, c := range r.found {
		for _, o := range classOf(c.Class).silences {
			silenced[o] = true
		}
	}
	r.found = slices.DeleteFunc(r.found, func(c placed) bool { return silenced[c.Class] })
	named := map[Class]bool{} // classes that some constraint ties to a parameter
	best := leastSpecific
	for _, c := range r.found {
		best = min(best, classOf(c.Class).tier)
		named[c.Class] = named[c.Class] || c.Parameter != ""
	}
	kept := slices.DeleteFunc(r.found, func(c placed) bool {
		info := classOf(c.Class)
		switch {
		case info.tier >= tierGeneric && best < info.tier && (c.Parameter == "" || c.Class == Failed) || info.tier == tierService && best < tierRule || info.tier == tierLocal && best < tierService:
			return true
		case c.Parameter == "" && named[c.Class]:
			return true // said of a parameter as well
		}
		return false
	})
	slices.SortStableFunc(kept, func(a, b placed) int {
		return cmp.Or(cmp.Compare(classOf(a.Class).tier, classOf(b.Class).tier), cmp.Compare(a.at, b.at))
	})
	list := make([]Constraint, len(kept))
	for i, c := range kept {
		list[i] = c.Constraint
	}
	return list
}
