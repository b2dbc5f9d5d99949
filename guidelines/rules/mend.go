package rules

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"memoryd/internal/origin"
)

// Edit is a change of an input: a parameter is left out, or gets a value.
type Edit struct {
	Path   string
	Remove bool
	Value  any // a string, a float64, a bool, or JSON
	Text   string
	Of     origin.Origin // where the value came from
}

// Mend lists changes of a planned call after which it no longer meets the rule's condition;
// nil if none is known. seen lists, newest first, the values that the run's own answers gave
// for a parameter whose values come from them.
func (r *Rule) Mend(p *Planned, seen func(path, tool string) []Given) []Edit {
	h := &r.when
	v, w := p.row.in[h.p], p.row.in[h.q]
	if listOf(h.p) != "" { // which element is meant, and what it may be, calls do not tell
		return nil
	}
	if slices.ContainsFunc(r.untried, func(q string) bool { return p.row.in[q].kind != absent }) {
		return nil
	}
	switch {
	case r.doubts > 0, r.isNew(p):
		return nil
	case h.ofType():
		return h.retyped(p)
	case h.property(), h.what == notAfter && v == w:
		return nil
	}
	switch h.what {
	case below, above, without, is, notIn, notLike, offStep:
		return r.give(h.p, p)
	case with:
		return []Edit{{Path: h.p, Remove: true}}
	case apart:
		if v.kind == absent {
			return r.give(h.p, p)
		}
		return r.give(h.q, p)
	case both:
		return []Edit{{Path: h.q, Remove: true}}
	case notAfter, isAfter:
		return swapped(h, v, w)
	case aboveWithout, alone:
		return r.give(h.q, p)
	case unseen, nowhere, inState, begins:
		return r.fromAnswer(v.text, seen)
	case exceeds:
		return h.fromState(p)
	default:
		return nil
	}
}

// Untried reports whether a call breaks the rule by a value that no failed call gave: it may work, unless new values
// mostly failed.
func (r *Rule) Untried(p *Planned) bool { return !r.closed && r.isNew(p) }

// isNew reports whether a call breaks the rule by a value that no failed call gave.
func (r *Rule) isNew(p *Planned) bool {
	return r.when.what == notIn && r.refused != nil &&
		!p.row.has(r.when.p, func(v value) bool { return r.refused[v.text] })
}

// closed reports whether values of a parameter that no call had given mostly failed, once enough calls had gone well; where
// there are several sources, also without the one of which most failed.
func (s *search) closed(p string) bool {
	type count struct{ first, failed int }
	known, good, all, bySource := map[string]bool{}, 0, count{}, map[uint64]count{}
	for i := range s.rows {
		row := &s.rows[i]
		for v := range row.values(p) {
			if v.kind != text {
				continue
			}
			if good >= minGood && !known[v.text] {
				n := bySource[row.Source]
				n.first, all.first = n.first+1, all.first+1
				if row.Bad {
					n.failed, all.failed = n.failed+1, all.failed+1
				}
				bySource[row.Source] = n
			}
			known[v.text] = true
		}
		if !row.Bad {
			good++
		}
	}
	if s.several {
		most := count{}
		for _, n := range bySource {
			if n.failed > most.failed || n.failed == most.failed && n.first < most.first {
				most = n
			}
		}
		all.first, all.failed = all.first-most.first, all.failed-most.failed
	}
	return all.failed >= minCalls && 4*all.failed >= 3*all.first
}

// untried lists the parameters that good calls gave, and none of those behind a condition on another.
func (s *search) untried(top *candidate, behind []*row) (names []string) {
	if top.p == "" || top.paired() {
		return nil
	}
	for i := range s.columns {
		c := &s.columns[i]
		if c.good > 0 && !c.property() && listOf(c.name) == "" && c.name != top.p &&
			!slices.ContainsFunc(behind, func(r *row) bool { return r.in[c.name].kind != absent }) {
			names = append(names, c.name)
		}
	}
	return names
}

func swapped(h *hypothesis, v, w value) []Edit {
	return []Edit{edit(h.p, w, origin.Caller), edit(h.q, v, origin.Caller)}
}

// fromState is the number that an earlier answer gave beside the value of q.
func (h *hypothesis) fromState(p *Planned) []Edit {
	s, known := p.row.source(h.q)
	if n, is := numberIn(s.State, h.set[0]); known && is {
		return []Edit{edit(h.p, numbered(n), origin.Run)}
	}
	return nil
}

// fromAnswer sets the parameter to a value of the run's own answers: to the one that the given value is cut from or
// written otherwise, else to the newest that is like what worked.
func (r *Rule) fromAnswer(given string, seen func(path, tool string) []Given) []Edit {
	h := &r.when
	values := seen(h.p, h.tool)
	if h.what == unseen || h.what == nowhere {
		same := slices.DeleteFunc(slices.Clone(values), func(g Given) bool { return !isCut(given, g.Value) })
		if len(same) == 1 {
			values = same
		} else if h.what == nowhere {
			return nil
		}
	}
	at := slices.IndexFunc(values, func(g Given) bool {
		switch {
		case h.what == unseen, h.what == nowhere:
			return true
		case r.worked == "":
			return false
		case h.what == begins:
			return strings.HasPrefix(g.Value, r.worked)
		}
		return hasField(g.State, r.worked)
	})
	if at < 0 && h.what == inState {
		at = slices.IndexFunc(values, func(g Given) bool { return !hasField(g.State, h.set[0]) })
	}
	if at < 0 {
		return nil
	}
	return []Edit{{Path: h.p, Value: values[at].Value, Text: values[at].Value, Of: origin.Run}}
}

// isCut reports whether one text begins with the other, whatever their marks and capital letters.
func isCut(cut, whole string) bool {
	bare := func(s string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return unicode.ToLower(r)
			}
			return -1
		}, s)
	}
	cut = bare(cut)
	return len(cut) >= leastSame && strings.HasPrefix(bare(whole), cut)
}

// leastSame is how many letters and digits tell what a text names.
const leastSame = 6

// retyped is the caller's own value as what worked: a text that holds JSON as that, a number as a text, one value as a
// list of it, or the other way round.
func (h *hypothesis) retyped(p *Planned) []Edit {
	path, _ := base(h.p)
	raw, ok := memberOf(p.row.Input, path)
	if !ok {
		return nil
	}
	if string(raw) == aNull {
		if slices.Contains(h.set, leftOut) {
			return []Edit{{Path: path, Remove: true}}
		}
		return nil
	}
	var text string
	var list []json.RawMessage
	forms := []string{strconv.Quote(string(raw)), "[" + string(raw) + "]"}
	switch {
	case json.Unmarshal(raw, &text) == nil:
		if forms[0] = text; strings.Contains(text, ",") {
			forms = forms[:1] // perhaps several values
		}
	case json.Unmarshal(raw, &list) == nil && len(list) == 1:
		forms = []string{string(list[0])}
	}
	for _, f := range forms {
		if leaves := LeavesOf([]byte(`{"x":` + f + `}`)); json.Valid([]byte(f)) && slices.Contains(h.set, typeOf(leaves[1:])) {
			return []Edit{{Path: path, Value: json.RawMessage(f), Text: f, Of: origin.Caller}}
		}
	}
	return nil
}

// memberOf is the value at a path of an input.
func memberOf(input json.RawMessage, path string) (json.RawMessage, bool) {
	for name := range strings.SplitSeq(path, ".") {
		var members map[string]json.RawMessage
		if json.Unmarshal(input, &members) != nil || members[name] == nil {
			return nil, false
		}
		input = members[name]
	}
	return input, true
}

func edit(path string, v value, of origin.Origin) Edit {
	switch v.kind {
	case number:
		return Edit{Path: path, Value: v.num, Text: v.text, Of: of}
	case truth:
		return Edit{Path: path, Value: v.text == "true", Text: v.text, Of: of}
	case absent, text, other:
	}
	return Edit{Path: path, Value: v.text, Text: v.text, Of: of}
}

// give sets a parameter to a value that worked and meets no condition: of numbers beyond a
// bound the nearest, else the one that worked most often.
func (r *Rule) give(path string, p *Planned) []Edit {
	pool := slices.Clone(r.pool[path])
	if len(pool) > maxSet && pool[0].kind == text {
		return nil // which of so many is meant, the calls do not tell
	}
	if r.when.what == above || r.when.what == below {
		far := func(v value) float64 { return math.Abs(v.num - p.row.in[path].num) }
		slices.SortStableFunc(pool, func(a, b value) int { return cmp.Compare(far(a), far(b)) })
	}
	for _, v := range pool {
		if !r.stillHolds(p, path, v) {
			return []Edit{edit(path, v, origin.Shared)}
		}
	}
	return nil
}

func (r *Rule) stillHolds(p *Planned, path string, v value) bool {
	row := p.row
	row.in = maps.Clone(p.row.in)
	row.in[path] = v
	return r.when.holds(&row)
}
