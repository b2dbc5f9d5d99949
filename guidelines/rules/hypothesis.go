package rules

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// what says which property a hypothesis is about.
type what uint8

const (
	without what = iota // of two that explain as much, the first is told: the simplest,
	with
	above
	below
	is // then the narrower one,
	begins
	notIn
	notBefore // what has to be done first,
	inState
	lastIs
	again
	notAgain
	lastNotIn
	notLike // and how a value is written late: often it only happens to be so
	beginsNot
	endsNot
	marked
	offStep
	unseen
	nowhere
	taken
	outdated
	apart
	both
	neither
	alone
	equal
	notAfter
	isAfter
	aboveWithout
	has
	says    // it was answered as hosts document it
	exceeds // the number that an earlier answer gave beside the value of q
	unknown // a text has a name that neither the run nor other runs know
)

func (w what) String() string { return conditions[w].name }

// condition is a way in which calls go wrong.
type condition struct {
	name string // as it is stored; none is ever changed
	// finer reports that it is about how a value is written, or about what the run did with it.
	finer bool
	// line says what to do, with names in braces for what stands there: see hypothesis.line. Where
	// it is "", hypothesis.varied says it.
	line string
	look look // at texts, that the set is of
	// holds says when a call meets it; v is what it gave for the parameter.
	holds func(h *hypothesis, r *row, v value) bool
}

// conditions are all there are. Of a call that is planned no message was heard yet.
var conditions = []condition{
	without: {name: "without", line: "Always give {p}{narrow}", holds: func(_ *hypothesis, _ *row, v value) bool { return v.kind == absent }},
	with:    {name: "with", line: "Leave out {p}", holds: func(_ *hypothesis, _ *row, v value) bool { return v.kind != absent }},
	above: {name: "above", line: "Keep {p} at most {bound}{narrow}", holds: func(h *hypothesis, _ *row, v value) bool {
		return v.kind == number && v.num > h.bound
	}},
	below: {name: "below", line: "Keep {p} at least {bound}{narrow}", holds: func(h *hypothesis, _ *row, v value) bool {
		return v.kind == number && v.num < h.bound
	}},
	is: {name: "is", holds: func(h *hypothesis, _ *row, v value) bool {
		return v.plain() && v.text == h.set[0]
	}},
	begins: {name: "begins", look: heads, holds: func(h *hypothesis, _ *row, v value) bool {
		return v.kind == text && strings.HasPrefix(v.text, h.set[0])
	}},
	notIn: {name: "not_in", holds: func(h *hypothesis, _ *row, v value) bool {
		return v.kind == text && !slices.Contains(h.set, v.text)
	}},
	notLike: {name: "not_like", line: "Write {p} like {or}{narrow}", holds: func(h *hypothesis, _ *row, v value) bool {
		return v.kind == text && !h.alike(Form(v.text))
	}},
	beginsNot: {name: "begins_not", finer: true, line: "Begin {p} with {set}", holds: func(h *hypothesis, _ *row, v value) bool {
		return v.kind == text && !strings.HasPrefix(v.text, h.set[0])
	}},
	endsNot: {name: "ends_not", finer: true, line: "End {p} with {set}", holds: func(h *hypothesis, _ *row, v value) bool {
		return v.kind == text && !strings.HasSuffix(v.text, h.set[0])
	}},
	marked: {name: "marked", finer: true, look: marks, line: "Write {p} without {marks}", holds: func(h *hypothesis, _ *row, v value) bool {
		return v.kind == text && hasMark(v.text, h.set[0])
	}},
	offStep: {name: "off_step", line: "Give {p} in steps of {bound}", holds: func(h *hypothesis, _ *row, v value) bool {
		return v.kind == number && math.Mod(v.num, h.bound) != 0
	}},
	inState: {
		name: "in_state", line: "Give no {p} whose `{field}` was `{state}` in an earlier answer{narrow}",
		holds: func(h *hypothesis, r *row, _ value) bool {
			return r.stood(h.p, func(s Source) bool { return hasField(s.State, h.set[0]) })
		},
	},
	unseen: {name: "unseen", holds: func(h *hypothesis, r *row, _ value) bool {
		return r.stood(h.p, func(s Source) bool { return s.Tool == "" })
	}},
	nowhere: {
		name: "nowhere", finer: true,
		holds: func(h *hypothesis, r *row, _ value) bool { return slices.Contains(r.Strange, h.p) },
	},
	taken: {
		name: "taken", finer: true, line: "Give {p} a value that no good call gave before",
		holds: func(h *hypothesis, r *row, _ value) bool { return slices.Contains(r.Taken, h.p) },
	},
	outdated: {name: "outdated", holds: func(h *hypothesis, r *row, _ value) bool {
		return r.stood(h.p, func(s Source) bool { return s.Old })
	}},
	apart: {name: "apart", line: "Give {p} and {q} together, or neither", holds: func(h *hypothesis, r *row, v value) bool {
		return (v.kind == absent) != (r.get(h.q).kind == absent)
	}},
	both: {name: "both", line: "Give {p} or {q}, not both", holds: func(h *hypothesis, r *row, v value) bool {
		return v.kind != absent && r.get(h.q).kind != absent
	}},
	neither: {name: "neither", line: "Give {p} or {q}", holds: func(h *hypothesis, r *row, v value) bool {
		return v.kind == absent && r.get(h.q).kind == absent
	}},
	alone: {name: "alone", line: "Where {p} is given, always give {q}", holds: func(h *hypothesis, r *row, v value) bool {
		return v.kind != absent && r.get(h.q).kind == absent
	}},
	equal: {name: "equal", line: "Give {p} and {q} different values", holds: func(h *hypothesis, r *row, v value) bool {
		return v.plain() && v == r.get(h.q)
	}},
	notAfter: {
		name: "not_after", line: "Keep {p} before {q}",
		holds: func(h *hypothesis, r *row, v value) bool { return !v.before(r.get(h.q)) },
	},
	isAfter: {
		name: "is_after", finer: true, line: "Give no {q} that comes before {p}",
		holds: func(h *hypothesis, r *row, v value) bool { w := r.get(h.q); return v != w && !v.before(w) },
	},
	aboveWithout: {
		name: "above_without", line: "Give {q} where {p} is over {bound}{narrow}",
		holds: func(h *hypothesis, r *row, v value) bool {
			return v.kind == number && v.num > h.bound && r.get(h.q).kind == absent
		},
	},
	notBefore: {
		name: "not_before", line: "Call `{tool}` first",
		holds: func(h *hypothesis, r *row, _ value) bool { return !slices.Contains(r.Before, h.tool) },
	},
	notAgain: {name: "not_again", line: "Call `{tool}` first, after each `{value}`", holds: func(h *hypothesis, r *row, _ value) bool {
		return r.rank(h.set[0]) <= r.rank(h.tool)
	}},
	lastIs: {
		name: "last_is", finer: true, line: "Give no {p} that the run last used in {any}",
		holds: func(h *hypothesis, r *row, _ value) bool { return r.lastUse(h.p) == h.set[0] },
	},
	lastNotIn: {name: "last_not_in", finer: true, holds: func(h *hypothesis, r *row, v value) bool {
		use := r.lastUse(h.p)
		return use != "" && !slices.Contains(h.set, use) && (use != unused || !slices.Contains(h.set, there+v.text))
	}},
	again: {
		name: "again", line: "Do not repeat a call that already worked in the run",
		holds: func(_ *hypothesis, r *row, _ value) bool { return r.Again },
	},
	has: {name: "has", line: "Write {p} without {any}", holds: func(h *hypothesis, _ *row, v value) bool {
		return v.kind == text && slices.ContainsFunc(h.set, func(w string) bool { return Named(v.text, w) })
	}},
	says: {name: "says"},
	exceeds: {
		name: "exceeds", line: "Keep {p} at most the `{field}` that an earlier answer gave for {q}",
		holds: func(h *hypothesis, r *row, v value) bool {
			more := func(s Source) bool { n, is := numberIn(s.State, h.set[0]); return is && v.num > n }
			return v.kind == number && r.stood(h.q, more)
		},
	},
	unknown: {
		name: "unknown", line: "Look up names before you use them in {p}",
		holds: func(h *hypothesis, r *row, _ value) bool {
			for w := range r.strange(h.p, h.usual) {
				if slices.Contains(h.set, w.before) {
					return true
				}
			}
			return false
		},
	},
}

// hypothesis is a condition that calls may meet.
type hypothesis struct {
	what  what
	p, q  string
	bound float64
	set   []string // values or forms that good calls had, the value that bad ones had, or a state
	tool  string
	of    int   // how many there were to choose the set from; 0 for one that was not chosen
	usual usual // the words that many runs know, of unknown
	guard
}

// alike reports whether a form is one of the set, or has the shape of one.
func (h *hypothesis) alike(form string) bool {
	return slices.Contains(h.set, form) || slices.Contains(h.set, shape(form))
}

// refined reports whether the condition is about a property of a value, how it is written, or the values of elements of
// lists, of which a call has several.
func (h *hypothesis) refined() bool {
	ofValue := h.what >= above && h.what <= notIn || h.what == notLike
	return h.property() || conditions[h.what].finer || ofValue && listOf(h.p) != ""
}

// paired reports whether the condition is about two parameters.
func (h *hypothesis) paired() bool { return h.q != "" }

// holds reports whether a call meets the condition.
func (h *hypothesis) holds(r *row) bool {
	_, meets := h.given(r)
	return meets
}

// given is the value of a call, or of an element of a list in it, that meets the condition.
func (h *hypothesis) given(r *row) (v value, meets bool) {
	holds := conditions[h.what].holds
	if holds == nil { // make ablate leaves each out
		return v, false
	}
	meets = r.some(cmp.Or(listOf(h.p), listOf(h.where)), func(one *row) bool {
		v = one.get(h.p)
		return h.guard.holds(one) && holds(h, one, v)
	})
	return v, meets
}

// plain reports whether a value can be compared as a whole.
func (v value) plain() bool { return v.kind != absent && v.kind != other }

// before reports whether a value comes before another, or no order is known between them.
func (v value) before(w value) bool {
	switch {
	case v.kind == number && w.kind == number:
		return v.num < w.num
	case v.kind == text && w.kind == text && ordered(v.text, w.text):
		return v.text < w.text
	}
	return true
}

func hasField(state, field string) bool {
	return slices.Contains(strings.Fields(state), field)
}

// ordered reports whether the order of two texts means something: they are written
// alike, in digits and marks, as dates are, or are times.
func ordered(a, b string) bool {
	digits := false
	for i := 0; len(a) == len(b) && i < len(a); i++ {
		switch x, y := a[i], b[i]; {
		case isDigit(x) && isDigit(y):
			digits = true
		case x != y, unicode.IsLetter(rune(x)) && x < utf8.RuneSelf && DateForm(a) == "":
			return false
		}
	}
	return digits
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }
