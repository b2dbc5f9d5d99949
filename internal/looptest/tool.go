// Package looptest lets simple agents use made-up tools with hidden rules, gives them the
// advice of a memory, and counts the calls that fail. It serves as a test of the memory and
// for measurements. It also holds the rivals: a list of the most frequent messages, and a
// plain contrast of failed and good calls.
package looptest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// hidden is a rule of a made-up tool that nobody is told.
type hidden struct {
	family, p, q string
	helper       string // the tool that has to be called before, or that gives the values
	bound        int
	vals         []string
	template     string
	say          string // the message; a code or a status says nothing of the rule
	informs      bool
	need         []string // what a line must hold to tell it
	failed       int      // calls that broke it, since it changed
}

// wordings are how the families are told, in several languages.
var wordings = map[string][]string{
	"required":  {"%p: field may not be absent", "Ohne %p geht es nicht.", "%pが入力されていません。"},
	"together":  {"%p and %q come as a pair", "%p nur zusammen mit %q.", "%p须与%q同时提供。"},
	"exclusive": {"Choose between %p and %q.", "No se admiten %p y %q a la vez."},
	"enum":      {"%p: known are %v", "%p kennt nur %v."}, "max": {"%p: more than %b", "%p liegt über %b.", "%p不得超过%b。"},
	"min": {"%b is the least we take as %p.", "%p no llega a %b."}, "step": {"%p goes in steps of %b.", "%p必须是%b的倍数。"},
	"needs": {"%p over %b takes %q", "Ab %b bei %p braucht es %q."},
	"value": {"%p: %x is closed", "%x gibt es als %p nicht mehr."}, "relation": {"%q does not follow %p", "%q liegt vor %p."},
	"format": {"%p: write it as %v", "%p bitte als %v."}, "source": {"%p %x is unknown, see %o", "%p debe venir de %o."},
	"state": {"%p %x: not live any more", "%p%xはliveではありません。"}, "order": {"call %o before", "Zuerst %o."},
}

// families are the kinds of rules.
var families = strings.Fields("required together exclusive enum max min step needs value relation format source state order")

var names = strings.Fields("amount region mode depth batch tier owner start finish code unit channel span ratio lane grade slot margin ref zone shift weight")

func newHidden(r *rand.Rand, family, helper string, pool *[]string) *hidden {
	take := func() string { n := (*pool)[0]; *pool = (*pool)[1:]; return n }
	h := &hidden{family: family, p: take(), helper: helper, bound: []int{12, 25, 40, 60, 150}[r.IntN(5)]}
	h.need = []string{h.p}
	for _, i := range r.Perm(8)[:4] {
		h.vals = append(h.vals, strings.Fields("amber basalt cedar delta ember fjord garnet harbor")[i])
	}
	switch family {
	case "together", "exclusive", "needs", "relation":
		h.q = take()
		h.need = append(h.need, h.q)
	case "max", "min", "step":
		h.need = append(h.need, fmt.Sprint(h.bound))
	case "enum":
		h.need = append(h.need, h.vals[0])
	case "value":
		h.need = append(h.need, h.vals[3])
	case "format":
		h.vals = []string{"YYYY-MM-DD", "DD.MM.YYYY"}
		h.need = append(h.need, h.vals[0])
	case "source":
		h.need = append(h.need, helper)
	case "state":
		h.need = append(h.need, "done")
	case "order":
		h.need = []string{helper}
	}
	switch r.IntN(5) {
	case 0:
		h.say = fmt.Sprintf(`{"ok":false,"code":"E%d"}`, 1000+r.IntN(9000))
	case 1:
		h.say = "HTTP 422 Unprocessable Entity"
	case 2:
		if h.say = `{"rows":[],"count":0}`; family == "source" || family == "state" || family == "order" {
			h.say = "E17"
		}
	default:
		of := wordings[family]
		h.template, h.informs = of[r.IntN(len(of))], true
		h.word()
	}
	return h
}

// word writes the message of a rule that tells one.
func (h *hidden) word() {
	if h.informs {
		shown := h.vals[:min(len(h.vals), 3)]
		if h.family == "format" {
			shown = h.vals[:1]
		}
		h.say = strings.NewReplacer("%p", h.p, "%q", h.q, "%b", fmt.Sprint(h.bound), "%v", strings.Join(shown, ", "), "%o",
			h.helper, "%x", h.vals[len(h.vals)-1]).Replace(h.template)
	}
}

// handle is an identifier that the helper gave out in a run, in a state.
func (u *run) handle(state string) string {
	if id := u.last[state]; id != "" {
		return id
	}
	id := fmt.Sprintf("id-%06d", u.r.IntN(1e6))
	u.handles[id], u.last[state] = state, id
	u.fresh = append(u.fresh, id)
	return id
}

// written is a date in a format.
func written(format string, r *rand.Rand) string {
	d, m := 1+r.IntN(28), 1+r.IntN(12)
	if format == "YYYY-MM-DD" {
		return fmt.Sprintf("2027-%02d-%02d", m, d)
	}
	return fmt.Sprintf("%02d.%02d.2027", d, m)
}

func (h *hidden) fill(in map[string]any, u *run) {
	r := u.r
	switch h.family {
	case "format":
		in[h.p] = written(h.vals[0], r)
	case "source", "state":
		in[h.p] = u.handle("live")
	case "order":
		u.prepared = true
	case "required", "enum", "value":
		in[h.p] = h.vals[r.IntN(3)]
	case "together":
		if r.IntN(10) < 7 {
			in[h.p], in[h.q] = h.vals[r.IntN(4)], 1+r.IntN(9)
		}
	case "exclusive":
		in[[]string{h.p, h.q}[r.IntN(2)]] = h.vals[r.IntN(4)]
	case "max":
		in[h.p] = h.bound/3 + r.IntN(h.bound-h.bound/3+1)
	case "min":
		in[h.p] = h.bound + r.IntN(2*h.bound)
	case "step":
		in[h.p] = h.bound * (1 + r.IntN(9))
	case "needs":
		if in[h.p] = 1 + r.IntN(2*h.bound); in[h.p].(int) > h.bound || r.IntN(5) == 0 {
			in[h.q] = h.vals[r.IntN(4)]
		}
	case "relation":
		day := 1 + r.IntN(14)
		in[h.p], in[h.q] = fmt.Sprintf("2027-03-%02d", day), fmt.Sprintf("2027-03-%02d", day+1+r.IntN(9))
	}
}

func (h *hidden) spoil(in map[string]any, u *run) {
	r := u.r
	switch h.family {
	case "format":
		in[h.p] = written(h.vals[1], r)
	case "source":
		in[h.p] = fmt.Sprintf("id-%06d", r.IntN(1e6))
	case "state":
		in[h.p] = u.handle("done")
	case "order":
		u.prepared = u.opened
	case "required":
		delete(in, h.p)
	case "together":
		in[h.p] = h.vals[0]
		delete(in, h.q)
	case "exclusive":
		in[h.p], in[h.q] = h.vals[0], h.vals[1]
	case "enum", "value":
		in[h.p] = h.vals[3]
	case "max":
		in[h.p] = h.bound + 1 + r.IntN(3*h.bound)
	case "min":
		in[h.p] = r.IntN(h.bound)
	case "step":
		in[h.p] = h.bound*(1+r.IntN(9)) + 1 + r.IntN(h.bound-1)
	case "needs":
		in[h.p] = h.bound + 1 + r.IntN(h.bound)
		delete(in, h.q)
	case "relation":
		in[h.p], in[h.q] = in[h.q], in[h.p]
	}
}

func (h *hidden) breaks(in map[string]any, u *run) bool {
	n, _ := in[h.p].(int)
	_, p := in[h.p]
	_, q := in[h.q]
	switch h.family {
	case "format":
		return len(fmt.Sprint(in[h.p])) != 10 || (fmt.Sprint(in[h.p])[4] == '-') != (h.vals[0] == "YYYY-MM-DD")
	case "source", "state":
		state := u.handles[fmt.Sprint(in[h.p])]
		return state == "" || h.family == "state" && state == "done"
	case "order":
		return !u.prepared
	case "required":
		return !p
	case "together":
		return p != q
	case "exclusive":
		return p && q
	case "enum":
		return !slices.Contains(h.vals[:3], fmt.Sprint(in[h.p]))
	case "value":
		return in[h.p] == h.vals[3]
	case "max":
		return n > h.bound
	case "min":
		return n < h.bound
	case "step":
		return n%h.bound != 0
	case "needs":
		return n > h.bound && !q
	}
	return fmt.Sprint(in[h.p]) >= fmt.Sprint(in[h.q])
}

// told reports whether a line of a text holds all that a rule needs, or its message.
func (h *hidden) told(text string) bool {
	for line := range strings.Lines(text) {
		if strings.Contains(line, "ypical good call") || strings.Contains(line, " took ") || strings.Contains(line, " values of good calls ") {
			continue
		}
		if h.informs && strings.Contains(line, h.say) || !slices.ContainsFunc(h.need, func(n string) bool { return !strings.Contains(line, n) }) {
			return true
		}
	}
	return false
}

// change is drift: the rule wants something else from now on. It reports whether its family
// has another form.
func (h *hidden) change(r *rand.Rand) bool {
	switch h.family {
	case "format":
		h.vals[0], h.vals[1] = h.vals[1], h.vals[0]
		h.need[1] = h.vals[0]
	case "max", "step", "needs":
		h.bound = max(5, h.bound/2)
	case "min":
		h.bound = 2*h.bound + 10
	case "enum", "value":
		rest := slices.DeleteFunc(strings.Fields("indigo juniper kelp lotus maple nickel opal pine"),
			func(s string) bool { return r.IntN(2) == 0 })
		if len(rest) < 3 {
			return false
		}
		h.vals = append([]string{h.vals[3]}, rest[:3]...)
		h.need[1] = h.vals[map[string]int{"enum": 0, "value": 3}[h.family]]
	default:
		return false
	}
	if h.family == "max" || h.family == "min" || h.family == "step" {
		h.need[1] = fmt.Sprint(h.bound)
	}
	h.word()
	h.failed = 0
	return true
}
