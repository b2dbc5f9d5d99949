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
	notIn
	notLike
	offStep
	apart
	both
	notAfter
	aboveWithout
	notBefore
)

// hypothesis is a condition that calls may meet.
type hypothesis struct {
	what  what
	p, q  string
	bound float64
	set   []string
	tool  string
}

// holds reports whether a call meets the condition.
func (h *hypothesis) holds(in map[string]value, before []string) bool {
	v := in[h.p]
	switch h.what {
	case without:
		return v.kind == absent
	case with:
		return v.kind != absent
	case above:
		return v.kind == number && v.num > h.bound
	case below:
		return v.kind == number && v.num < h.bound
	case notIn:
		return v.kind == text && !slices.Contains(h.set, v.text)
	case notLike:
		return v.kind == text && !slices.Contains(h.set, form(v.text))
	case offStep:
		return v.kind == number && math.Mod(v.num, h.bound) != 0
	case apart:
		return (v.kind == absent) != (in[h.q].kind == absent)
	case both:
		return v.kind != absent && in[h.q].kind != absent
	case notAfter:
		w := in[h.q]
		return v.kind == number && w.kind == number && v.num >= w.num || v.kind == text && w.kind == text && ordered(v.text, w.text) && v.text >= w.text
	case aboveWithout:
		return v.kind == number && v.num > h.bound && in[h.q].kind == absent
	case notBefore:
		return !slices.Contains(before, h.tool)
	}
	return false
}

// line says what to do; narrow is what messages say of the bound or of the form.
func (h *hypothesis) line(narrow, example string) string {
	p, q := "`"+h.p+"`", "`"+h.q+"`"
	switch h.what {
	case without:
		return "Always give " + p
	case with:
		return "Leave out " + p
	case above:
		return "Keep " + p + " at most " + plain(h.bound) + narrow
	case below:
		return "Keep " + p + " at least " + plain(h.bound) + narrow
	case notIn:
		return "Give " + p + " as one of " + quoted(h.set)
	case notLike:
		return fmt.Sprintf("Write %s like %q%s", p, example, narrow)
	case offStep:
		return "Give " + p + " in steps of " + plain(h.bound)
	case apart:
		return "Give " + p + " and " + q + " together, or neither"
	case both:
		return "Give " + p + " or " + q + ", not both"
	case notAfter:
		return "Give a " + q + " that comes after " + p
	case aboveWithout:
		return "Give " + q + " where " + p + " is over " + plain(h.bound) + narrow
	case notBefore:
		return "Call `" + h.tool + "` before"
	}
	return ""
}

// ordered reports whether the order of two texts means something: they are written
// alike, in digits and marks, as dates are.
func ordered(a, b string) bool {
	f := form(a)
	return f == form(b) && strings.Contains(f, "0") && !strings.Contains(f, "A")
}

func plain(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func quoted(set []string) string {
	out := make([]string, len(set))
	for i, s := range set {
		out[i] = strconv.Quote(s)
	}
	return strings.Join(out, ", ")
}
