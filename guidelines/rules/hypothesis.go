package rules

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// what says which property a hypothesis is about.
type what uint8

const (
	without what = iota // the simplest first
	with
	above
	below
	is // the narrower one first
	begins
	notIn
	notLike
	beginsNot
	endsNot
	marked
	unmarked
	wrongType
	offStep
	inState
	unseen
	apart
	both
	neither
	equal
	differ
	taken
	takenInRun
	notAfter
	aboveWithout
	notBefore
	notSince
	lastIs
	lastNotIn
	says    // it was answered as hosts document it
	exceeds // the number that an earlier answer gave beside the value of q
)

func (w what) String() string { return conditions[w].name }

// condition is a way in which calls go wrong.
type condition struct {
	name string // as it is stored; none is ever changed
	// finer reports that it is about how a value is written, or about values together.
	finer bool
	// holds says when a call meets it; v is what it gave for the parameter.
	holds func(h *hypothesis, r *row, v value) bool
	// line says what to do; p is the parameter, narrow what messages say of the bound or of the
	// form, shown the values that may be.
	line func(h *hypothesis, p, narrow string, shown []string) string
}

// conditions are all there are. Of a call that is planned no message was heard yet.
var conditions = []condition{
	without: {name: "without", holds: func(h *hypothesis, r *row, v value) bool {
		list, _ := inList(h.p)
		return v.kind == absent && (list == "" || r.in[list+"[]"].kind != absent)
	}, line: func(_ *hypothesis, p, _ string, _ []string) string { return "Always give " + p }},
	with: {
		name: "with", holds: func(_ *hypothesis, _ *row, v value) bool { return v.kind != absent },
		line: func(_ *hypothesis, p, _ string, _ []string) string { return "Leave out " + p },
	},
	above: {
		name: "above", holds: func(h *hypothesis, r *row, _ value) bool { n, is := h.amount(r); return is && n > h.bound },
		line: func(h *hypothesis, p, narrow string, _ []string) string {
			return "Keep " + p + " at most " + plain(h.bound) + narrow
		},
	},
	below: {
		name: "below", holds: func(h *hypothesis, r *row, _ value) bool { n, is := h.amount(r); return is && n < h.bound },
		line: func(h *hypothesis, p, narrow string, _ []string) string {
			return "Keep " + p + " at least " + plain(h.bound) + narrow
		},
	},
	is: {name: "is", holds: func(h *hypothesis, _ *row, v value) bool {
		return v.kind != absent && v.kind != other && h.any(v, func(s string) bool { return s == h.set[0] })
	}, line: (*hypothesis).choice},
	begins: {name: "begins", holds: func(h *hypothesis, _ *row, v value) bool {
		return v.kind == text && strings.HasPrefix(v.text, h.set[0])
	}, line: func(h *hypothesis, p, narrow string, _ []string) string {
		if strings.Trim(h.set[0], "`") == "" {
			return "Give no " + p + " that begins with backticks"
		}
		return "Give no " + p + " that begins with " + quoted(h.set) + narrow
	}},
	notIn: {name: "not_in", holds: func(h *hypothesis, _ *row, v value) bool {
		return v.kind == text && h.any(v, func(s string) bool { return !slices.Contains(h.set, s) })
	}, line: (*hypothesis).choice},
	notLike: {name: "not_like", holds: func(h *hypothesis, _ *row, v value) bool {
		return v.kind == text && h.any(v, func(s string) bool { return !slices.Contains(h.set, Form(s)) })
	}, line: func(_ *hypothesis, p, narrow string, shown []string) string {
		return "Write " + p + " like " + strings.Join(shown, " or ") + narrow
	}},
	beginsNot: {name: "begins_not", finer: true, holds: func(h *hypothesis, _ *row, v value) bool {
		return v.kind == text && !strings.HasPrefix(v.text, h.set[0])
	}, line: func(h *hypothesis, p, _ string, _ []string) string { return "Begin " + p + " with " + quoted(h.set) }},
	endsNot: {name: "ends_not", finer: true, holds: func(h *hypothesis, _ *row, v value) bool {
		return v.kind == text && !strings.HasSuffix(v.text, h.set[0])
	}, line: func(h *hypothesis, p, _ string, _ []string) string { return "End " + p + " with " + quoted(h.set) }},
	marked: {
		name: "marked", finer: true,
		holds: func(h *hypothesis, _ *row, v value) bool { return v.kind == text && hasMark(v.text, h.set[0]) },
		line: func(h *hypothesis, p, _ string, _ []string) string {
			return "Write " + p + " without " + marksOf(h.set[0])[1]
		},
	},
	unmarked: {
		name: "unmarked", finer: true,
		holds: func(h *hypothesis, _ *row, v value) bool { return v.kind == text && !hasMark(v.text, h.set[0]) },
		line: func(h *hypothesis, p, _ string, _ []string) string {
			return "Write " + p + " with " + marksOf(h.set[0])[0]
		},
	},
	wrongType: {name: "wrong_type", finer: true, holds: func(h *hypothesis, _ *row, v value) bool {
		return kindNames[v.kind] != "" && kindNames[v.kind] != h.set[0]
	}, line: func(h *hypothesis, p, _ string, _ []string) string { return "Give " + p + " as " + h.set[0] }},
	offStep: {name: "off_step", holds: func(h *hypothesis, _ *row, v value) bool {
		return v.kind == number && math.Mod(v.num, h.bound) != 0
	}, line: func(h *hypothesis, p, _ string, _ []string) string {
		return "Give " + p + " in steps of " + plain(h.bound)
	}},
	inState: {name: "in_state", holds: func(h *hypothesis, r *row, _ value) bool {
		return r.stood(h.p, func(s Source) bool { return hasField(s.State, h.set[0]) })
	}, line: func(h *hypothesis, p, narrow string, _ []string) string {
		field, state, _ := strings.Cut(h.set[0], "=")
		return "Give no " + p + " whose `" + field + "` was `" + state + "` in an earlier answer" + narrow
	}},
	unseen: {name: "unseen", holds: func(h *hypothesis, r *row, _ value) bool {
		return r.stood(h.p, func(s Source) bool { return s.Tool == "" })
	}, line: func(h *hypothesis, p, _ string, _ []string) string {
		switch {
		case h.tool != "":
			return "Copy " + p + " exactly from an answer of `" + h.tool + "`"
		case len(h.set) > 0:
			return "Copy " + p + " exactly from an earlier answer, mostly of `" + h.set[0] + "`"
		}
		return "Copy " + p + " exactly from an earlier answer"
	}},
	apart: {name: "apart", holds: func(h *hypothesis, r *row, v value) bool {
		return (v.kind == absent) != (r.in[h.q].kind == absent)
	}, line: func(h *hypothesis, p, _ string, _ []string) string {
		return "Give " + p + " and " + spoken(h.q) + " together, or neither"
	}},
	both: {name: "both", holds: func(h *hypothesis, r *row, v value) bool {
		return v.kind != absent && r.in[h.q].kind != absent
	}, line: func(h *hypothesis, p, _ string, _ []string) string {
		return "Give " + p + " or " + spoken(h.q) + ", not both"
	}},
	neither: {name: "neither", holds: func(h *hypothesis, r *row, v value) bool {
		return v.kind == absent && r.in[h.q].kind == absent
	}, line: func(h *hypothesis, p, _ string, _ []string) string { return "Give " + p + " or " + spoken(h.q) }},
	equal: {name: "equal", holds: func(h *hypothesis, r *row, v value) bool {
		return v.kind != absent && v.kind != other && v == r.in[h.q]
	}, line: func(h *hypothesis, p, _ string, _ []string) string {
		return "Give " + p + " and " + spoken(h.q) + " different values"
	}},
	differ: {name: "differ", finer: true, holds: func(h *hypothesis, r *row, v value) bool {
		w := r.in[h.q]
		return v.kind != absent && v.kind != other && w.kind != absent && w.kind != other && v != w
	}, line: (*hypothesis).sameLine},
	taken: {
		name: "taken", finer: true, holds: func(h *hypothesis, r *row, _ value) bool { return r.taken[h.p] >= byAnyRun },
		line: func(_ *hypothesis, p, _ string, _ []string) string {
			return "Give a new " + p + " each time, none that an earlier call gave"
		},
	},
	takenInRun: {
		name: "taken_in_run", finer: true, holds: func(h *hypothesis, r *row, _ value) bool { return r.taken[h.p] >= byItsRun },
		line: func(_ *hypothesis, p, _ string, _ []string) string {
			return "Give a new " + p + " in each call of a run"
		},
	},
	notAfter: {
		name: "not_after", holds: func(h *hypothesis, r *row, v value) bool { return !v.before(r.in[h.q]) },
		line: func(h *hypothesis, p, _ string, _ []string) string {
			return "Give a " + spoken(h.q) + " that comes after " + p
		},
	},
	aboveWithout: {name: "above_without", holds: func(h *hypothesis, r *row, v value) bool {
		return v.kind == number && v.num > h.bound && r.in[h.q].kind == absent
	}, line: func(h *hypothesis, p, narrow string, _ []string) string {
		return "Give " + spoken(h.q) + " where " + p + " is over " + plain(h.bound) + narrow
	}},
	notBefore: {
		name: "not_before", holds: func(h *hypothesis, r *row, _ value) bool { return !slices.Contains(r.Before, h.tool) },
		line: func(h *hypothesis, _, _ string, _ []string) string { return "Call `" + h.tool + "` first" },
	},
	notSince: {
		name: "not_since",
		holds: func(h *hypothesis, r *row, _ value) bool {
			at := slices.Index(r.Before, h.tool)
			return r.Since != 0 && (at < 0 || r.Since&(1<<at) == 0)
		},
		line: func(h *hypothesis, _, _ string, _ []string) string { return "Call `" + h.tool + "` first, each time" },
	},
	lastIs: {
		name: "last_is", finer: true, holds: func(h *hypothesis, r *row, _ value) bool { return r.lastUse(h.p) == h.set[0] },
		line: func(_ *hypothesis, p, _ string, shown []string) string {
			return "Give no " + p + " that the run last used in " + anyOf(shown)
		},
	},
	lastNotIn: {name: "last_not_in", finer: true, holds: func(h *hypothesis, r *row, v value) bool {
		use := r.lastUse(h.p)
		return use != "" && !slices.Contains(h.set, use) && (use != unused || !slices.Contains(h.set, there+v.text))
	}, line: func(h *hypothesis, p, _ string, shown []string) string {
		if slices.Contains(h.set, unused) {
			return "Give no " + p + " that the run last used in " + anyOf(shown)
		}
		line := "Give a " + p + " that the run last used in " + anyOf(shown)
		if values := h.valuesThere(); len(values) > 0 {
			line += ", or " + anyOf(values)
		}
		return line
	}},
	says: {name: "says"},
	exceeds: {name: "exceeds", holds: func(h *hypothesis, r *row, v value) bool {
		more := func(s Source) bool { n, is := numberIn(s.State, h.set[0]); return is && v.num > n }
		return v.kind == number && r.stood(h.q, more)
	}, line: func(h *hypothesis, p, _ string, _ []string) string {
		return "Keep " + p + " at most the `" + h.set[0] + "` that an earlier answer gave for " + spoken(h.q)
	}},
}

// hypothesis is a condition that calls may meet.
type hypothesis struct {
	what  what
	p, q  string
	op    operator // of p and q, for a bound on both together
	bound float64
	set   []string // values or forms that good calls had, the value that bad ones had, or a state
	tool  string
	of    int // how many there were to choose the set from, of uses
	guard
}

// refined reports whether the condition is about a property of a value, how it is written, or what
// values make together.
func (h *hypothesis) refined() bool { return h.property() || h.op != "" || conditions[h.what].finer }

// paired reports whether the condition is about two parameters.
func (h *hypothesis) paired() bool { return h.q != "" }

// holds reports whether a call meets the condition.
func (h *hypothesis) holds(r *row) bool {
	holds := conditions[h.what].holds
	return holds != nil && h.guard.holds(r) && holds(h, r, r.in[h.p]) // make ablate leaves each out
}

// kindNames are the types of values that can be told.
var kindNames = [...]string{number: "a number", text: "text", truth: "true or false", other: ""}

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

// elements are the texts of a value: one, or those of a list.
func elements(p, s string) []string {
	if strings.HasSuffix(p, ofEach) {
		return strings.Split(s, "\n")
	}
	return []string{s}
}

// any reports whether a text is so, or one of a list's elements.
func (h *hypothesis) any(v value, is func(string) bool) bool {
	if !strings.HasSuffix(h.p, ofEach) {
		return is(v.text)
	}
	return slices.ContainsFunc(elements(h.p, v.text), is)
}

// members are what a call gave of a set of values or forms; none for nothing, or no set.
func (h *hypothesis) members(r *row) (list []string) {
	v := r.in[h.p]
	if v.kind != text {
		return nil
	}
	for _, s := range elements(h.p, v.text) {
		switch h.what {
		case notIn:
			list = append(list, s)
		case notLike:
			list = append(list, Form(s))
		default:
		}
	}
	return list
}

func hasField(state, field string) bool {
	return slices.Contains(strings.Fields(state), field)
}

// choice says which values to give, or not to give; "" where nothing can be said of what worked.
func (h *hypothesis) choice(p, narrow string, shown []string) string {
	switch {
	case len(shown) == 0:
		return ""
	case h.what == is && h.property():
		return "Give no element of " + spoken(h.p) + " as " + quoted(h.set) + "; " + quoted(shown) + " worked"
	case h.what == is:
		return "Do not give " + p + " as " + quoted(h.set) + "; " + quoted(shown) + " worked"
	case len(shown) < len(h.set):
		return "Give " + p + " as a value that worked, such as " + quoted(shown) + narrow
	}
	return "Give " + p + " as one of " + quoted(shown) + narrow
}

// line says what to do: see condition.
func (h *hypothesis) line(narrow string, shown []string) string {
	p, line := spoken(h.p), conditions[h.what].line
	switch each := strings.HasSuffix(h.p, ofEach); {
	case line == nil:
		return ""
	case h.op != "":
		return h.togetherLine(narrow)
	case each:
		p = "each of " + p
	case h.property() && h.what != differ:
		return h.propertyLine(narrow)
	}
	return line(h, p, narrow, shown)
}

// spoken are parameters as lines name them: members of one list together.
func spoken(params ...string) (line string) {
	for i, p := range params {
		p, _ = base(p)
		list, member := inList(p)
		if list == "" {
			member = p
		} else {
			list = " in each of `" + strings.ReplaceAll(list, "[]", "") + "`"
		}
		if i > 0 {
			line = strings.TrimSuffix(line, list) + " and "
		}
		line += "`" + member + "`" + list
	}
	return line
}

// ordered reports whether the order of two texts means something: they are written
// alike, in digits and marks, as dates are.
func ordered(a, b string) bool {
	digits := false
	for i := 0; len(a) == len(b) && i < len(a); i++ {
		switch x, y := a[i], b[i]; {
		case isDigit(x) && isDigit(y):
			digits = true
		case x != y, unicode.IsLetter(rune(x)) && x < utf8.RuneSelf:
			return false
		}
	}
	return digits
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

func quoted(set []string) string {
	out := make([]string, len(set))
	for i, s := range set {
		out[i] = strconv.Quote(s)
	}
	return strings.Join(out, ", ")
}
