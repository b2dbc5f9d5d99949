package rules

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
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
	notAfter
	aboveWithout
	notBefore
	says    // it was answered as hosts document it
	exceeds // the number that an earlier answer gave beside the value of q
)

// whatNames are how conditions are stored; none is ever changed.
var whatNames = [...]string{
	without:      "without",
	with:         "with",
	above:        "above",
	below:        "below",
	is:           "is",
	begins:       "begins",
	notIn:        "not_in",
	notLike:      "not_like",
	beginsNot:    "begins_not",
	endsNot:      "ends_not",
	marked:       "marked",
	unmarked:     "unmarked",
	wrongType:    "wrong_type",
	offStep:      "off_step",
	inState:      "in_state",
	unseen:       "unseen",
	apart:        "apart",
	both:         "both",
	neither:      "neither",
	equal:        "equal",
	notAfter:     "not_after",
	aboveWithout: "above_without",
	notBefore:    "not_before",
	says:         "says",
	exceeds:      "exceeds",
}

func (w what) String() string { return whatNames[w] }

// hypothesis is a condition that calls may meet.
type hypothesis struct {
	what  what
	p, q  string
	bound float64
	set   []string // values or forms that good calls had, the value that bad ones had, or a state
	tool  string
	guard
}

// refined reports whether the condition is about a property of a value, or how it is written.
func (h *hypothesis) refined() bool {
	return h.property() || h.what >= beginsNot && h.what <= wrongType
}

// paired reports whether the condition is about two parameters.
func (h *hypothesis) paired() bool { return h.q != "" }

// holds reports whether a call meets the condition.
func (h *hypothesis) holds(r *row) bool {
	if int(h.what) >= len(conditions) || conditions[h.what] == nil { // make ablate leaves each out
		return false
	}
	return h.guard.holds(r) && conditions[h.what](h, r, r.in[h.p])
}

// conditions say when a call meets each; v is what it gave for the parameter. Of a call that is
// planned no message was heard yet.
var conditions = []func(h *hypothesis, r *row, v value) bool{
	without: func(h *hypothesis, r *row, v value) bool {
		list, _ := inList(h.p)
		return v.kind == absent && (list == "" || r.in[list+"[]"].kind != absent)
	},
	with:  func(_ *hypothesis, _ *row, v value) bool { return v.kind != absent },
	above: func(h *hypothesis, _ *row, v value) bool { return v.kind == number && v.num > h.bound },
	below: func(h *hypothesis, _ *row, v value) bool { return v.kind == number && v.num < h.bound },
	is: func(h *hypothesis, _ *row, v value) bool {
		return v.kind != absent && v.kind != other && v.text == h.set[0]
	},
	begins: func(h *hypothesis, _ *row, v value) bool {
		return v.kind == text && strings.HasPrefix(v.text, h.set[0])
	},
	notIn: func(h *hypothesis, _ *row, v value) bool { return v.kind == text && !slices.Contains(h.set, v.text) },
	notLike: func(h *hypothesis, _ *row, v value) bool {
		return v.kind == text && !slices.Contains(h.set, Form(v.text))
	},
	beginsNot: func(h *hypothesis, _ *row, v value) bool {
		return v.kind == text && !strings.HasPrefix(v.text, h.set[0])
	},
	endsNot: func(h *hypothesis, _ *row, v value) bool {
		return v.kind == text && !strings.HasSuffix(v.text, h.set[0])
	},
	marked:   func(h *hypothesis, _ *row, v value) bool { return v.kind == text && hasMark(v.text, h.set[0]) },
	unmarked: func(h *hypothesis, _ *row, v value) bool { return v.kind == text && !hasMark(v.text, h.set[0]) },
	wrongType: func(h *hypothesis, _ *row, v value) bool {
		return kindNames[v.kind] != "" && kindNames[v.kind] != h.set[0]
	},
	offStep: func(h *hypothesis, _ *row, v value) bool { return v.kind == number && math.Mod(v.num, h.bound) != 0 },
	inState: func(h *hypothesis, r *row, _ value) bool {
		return r.stood(h.p, func(s Source) bool { return hasField(s.State, h.set[0]) })
	},
	unseen: func(h *hypothesis, r *row, _ value) bool {
		return r.stood(h.p, func(s Source) bool { return s.Tool == "" })
	},
	apart:   func(h *hypothesis, r *row, v value) bool { return (v.kind == absent) != (r.in[h.q].kind == absent) },
	both:    func(h *hypothesis, r *row, v value) bool { return v.kind != absent && r.in[h.q].kind != absent },
	neither: func(h *hypothesis, r *row, v value) bool { return v.kind == absent && r.in[h.q].kind == absent },
	equal: func(h *hypothesis, r *row, v value) bool {
		return v.kind != absent && v.kind != other && v == r.in[h.q]
	},
	notAfter: func(h *hypothesis, r *row, v value) bool { return !v.before(r.in[h.q]) },
	aboveWithout: func(h *hypothesis, r *row, v value) bool {
		return v.kind == number && v.num > h.bound && r.in[h.q].kind == absent
	},
	notBefore: func(h *hypothesis, r *row, _ value) bool { return !slices.Contains(r.Before, h.tool) },
	says:      nil,
	exceeds: func(h *hypothesis, r *row, v value) bool {
		more := func(s Source) bool { n, is := numberIn(s.State, h.set[0]); return is && v.num > n }
		return v.kind == number && r.stood(h.q, more)
	},
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

// member is what a call gave of a set of values or forms; "" for nothing, or no set.
func (h *hypothesis) member(r *row) string {
	switch v := r.in[h.p]; {
	case v.kind != text:
	case h.what == notIn:
		return v.text
	case h.what == notLike:
		return Form(v.text)
	}
	return ""
}

func hasField(state, field string) bool {
	return slices.Contains(strings.Fields(state), field)
}

// choice says which values to give, or not to give; "" where nothing can be said of what worked.
func (h *hypothesis) choice(p, narrow string, shown []string) string {
	switch {
	case len(shown) == 0:
		return ""
	case h.what == is:
		return "Do not give " + p + " as " + quoted(h.set) + "; " + quoted(shown) + " worked"
	case len(shown) < len(h.set):
		return "Give " + p + " as a value that worked, such as " + quoted(shown) + narrow
	}
	return "Give " + p + " as one of " + quoted(shown) + narrow
}

// line says what to do; narrow is what messages say of the bound or of the form, shown
// the values that may be.
func (h *hypothesis) line(narrow string, shown []string) string {
	switch {
	case h.property():
		return h.propertyLine(narrow)
	case h.refined():
		return h.writtenLine()
	case h.paired():
		return h.pairLine(narrow)
	}
	p := spoken(h.p)
	switch h.what {
	case without:
		return "Always give " + p
	case with:
		return "Leave out " + p
	case above:
		return "Keep " + p + " at most " + plain(h.bound) + narrow
	case below:
		return "Keep " + p + " at least " + plain(h.bound) + narrow
	case notIn, is:
		return h.choice(p, narrow, shown)
	case notLike:
		return "Write " + p + " like " + strings.Join(shown, " or ") + narrow
	case begins:
		return "Give no " + p + " that begins with " + quoted(h.set) + narrow
	case offStep:
		return "Give " + p + " in steps of " + plain(h.bound)
	case inState:
		field, state, _ := strings.Cut(h.set[0], "=")
		return "Give no " + p + " whose `" + field + "` was `" + state + "` in an earlier answer" + narrow
	case unseen:
		if h.tool == "" && len(h.set) == 0 {
			return "Copy " + p + " exactly from an earlier answer"
		}
		if h.tool == "" {
			return "Copy " + p + " exactly from an earlier answer, mostly of `" + h.set[0] + "`"
		}
		return "Copy " + p + " exactly from an answer of `" + h.tool + "`"
	case notBefore:
		return fmt.Sprintf("Call `%s` first", h.tool)
	}
	return ""
}

// pairLine says what to do about two parameters.
func (h *hypothesis) pairLine(narrow string) string {
	p, q := spoken(h.p), spoken(h.q)
	switch h.what {
	case exceeds:
		return "Keep " + p + " at most the `" + h.set[0] + "` that an earlier answer gave for " + q
	case apart:
		return "Give " + p + " and " + q + " together, or neither"
	case both:
		return "Give " + p + " or " + q + ", not both"
	case neither:
		return "Give " + p + " or " + q
	case equal:
		return "Give " + p + " and " + q + " different values"
	case notAfter:
		return "Give a " + q + " that comes after " + p
	default:
		return "Give " + q + " where " + p + " is over " + plain(h.bound) + narrow
	}
}

// spoken are parameters as lines name them: members of one list together.
func spoken(params ...string) (line string) {
	for i, p := range params {
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
	f := Form(a)
	return f == Form(b) && strings.Contains(f, "0") && !strings.Contains(f, "A")
}

func quoted(set []string) string {
	out := make([]string, len(set))
	for i, s := range set {
		out[i] = strconv.Quote(s)
	}
	return strings.Join(out, ", ")
}
