package preflight

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"memoryd/guidelines/constraints"
)

// warnings tells why the planned call may fail and what to change, the surest
// first.
func (m *Model) warnings(a *Assessment, v *view, near []neighbour, fix fix) []Warning {
	type rated struct {
		Warning
		rate float64
	}
	var found []rated
	for _, w := range m.broken(v) {
		found = append(found, rated{w, 1})
	}
	for r := range Rules {
		if !v.met.has(r) || !m.watched.has(r) {
			continue
		}
		rate, _ := m.rates.of(r, &m.options.Pool)
		if w, ok := m.warning(r, v, fix); ok {
			w.Severity, w.Rule = severityOf(rate), r.name()
			if len(w.Calls) < 2 || r == BreaksMessage && !m.quorate(v.broken.message) { // one call, or one voice
				w.Severity = Note
			}
			found = append(found, rated{w, rate})
		}
	}
	if len(found) == 0 && a.Risk != nil && *a.Risk >= m.cut {
		if w, ok := m.alike(near); ok {
			w.Severity, w.Rule = severityOf(min(*a.Risk, 0.5)), "most_alike_failed" // never more than ask
			found = append(found, rated{w, *a.Risk})
		}
	}
	slices.SortStableFunc(found, func(a, b rated) int { return cmp.Compare(b.rate, a.rate) })
	var out []Warning
	for _, w := range found[:min(len(found), mostWarnings)] {
		w.Calls = w.Calls[max(0, len(w.Calls)-shownCalls):]
		out = append(out, w.Warning)
	}
	return out
}

// warning writes what is to be said of a rule that the call meets.
func (m *Model) warning(r Rule, v *view, fix fix) (Warning, bool) {
	switch r {
	case RepeatsFailure:
		return m.repeats(v, fix)
	case OnlyFailed:
		if v.met.has(RepeatsFailure) && m.watched.has(RepeatsFailure) {
			return Warning{}, false
		}
		return m.onlyFailed(v, fix), true
	case BreaksMessage:
		return m.breaks(v), true
	case NeverWorked:
		return m.neverWorked(v), true
	case FailedThrice, FailedTwice, FailedOnce, FailedChanged:
		return m.streak(r, v, fix)
	}
	return Warning{}, false
}

// repeats says that this very call failed in this run.
func (m *Model) repeats(v *view, fix fix) (Warning, bool) {
	c := v.sameFailure()
	if c == nil {
		return Warning{}, false
	}
	reason, _, _ := c.refusal()
	w := Warning{
		Text: fmt.Sprintf("This call failed in this run%s%s. %s", before(v.ago(c)), labelled(reason.Class), m.change(reason, v.in.leaves, fix)),
	}
	for i := range v.run {
		if v.run[i].failed && v.run[i].identity == v.in.identity {
			w.Calls = append(w.Calls, v.run[i].Key)
		}
	}
	return w, true
}

// before says how long ago something was.
func before(ago time.Duration) string {
	switch {
	case ago <= 0:
		return ""
	case ago < 2*time.Minute:
		return fmt.Sprintf(" %d s ago", max(1, int(ago.Seconds())))
	case ago < 2*time.Hour:
		return fmt.Sprintf(" %d min ago", int(ago.Minutes()))
	}
	return fmt.Sprintf(" %d h ago", int(ago.Hours()))
}

// advice is what to do about what a message states: without its numbers, values and
// names below the quorum.
func (m *Model) advice(c constraints.Constraint, message string) string {
	if !m.quorate(message) {
		c = c.Bare()
	}
	return constraints.Imperative(c, m)
}

func labelled(class constraints.Class) string {
	if label := class.Label(); label != "" && !isGeneral(class) {
		return " (" + label + ")"
	}
	return ""
}

// change says what to do about a refusal: the parameter that it is about, else
// what its class asks for, else that repeating leads nowhere.
func (m *Model) change(r refusal, leaves []leaf, fix fix) string {
	hint := "."
	if fix.input != nil {
		hint = " as suggested."
	}
	if fix.path != "" {
		if name, known := m.Parameter(fix.path); known {
			return "Change `" + name + "`" + hint
		}
	}
	if !isGeneral(r.Class) && r.Class.Stops() {
		return m.advice(r.Constraint, r.text)
	}
	if r.leaf >= 0 && r.leaf < len(leaves) {
		if name, known := m.Parameter(leaves[r.leaf].path); known {
			return "Change `" + name + "`" + hint
		}
	}
	if !isGeneral(r.Class) {
		return m.advice(r.Constraint, r.text)
	}
	c := m.rates.Met[RepeatsFailure]
	if c.Calls == 0 {
		return "Change the input before it is sent again."
	}
	return fmt.Sprintf("Change the input: sent again unchanged, %d of %d such calls failed again.", c.Failed, c.Calls)
}

// onlyFailed says that the input failed wherever it was tried.
func (m *Model) onlyFailed(v *view, fix fix) Warning {
	var newest *learned
	for _, place := range m.byInput[v.in.identity] {
		newest = &m.calls[place]
	}
	w := Warning{Calls: v.tries}
	reason := refusal{leaf: -1}
	said := ""
	if newest != nil {
		reason, _ = refusalOf(newest.message, v.in.leaves)
		said = labelled(newest.class)
	}
	w.Text = fmt.Sprintf("This input failed %s%s. %s", times(v.own), said, m.change(reason, v.in.leaves, fix))
	return w
}

func times(c Count) string {
	if c.Calls == 1 {
		return "the one time that it was tried"
	}
	return fmt.Sprintf("in %d of the %d calls that tried it", c.Failed, c.Calls)
}

// breaks says what a message asked for that the call does not do.
func (m *Model) breaks(v *view) Warning {
	a := v.broken
	do, which := m.advice(a.constraint, a.message), "that did not do so"
	if name, known := m.Parameter(a.path); known {
		do, which = "Give another `"+name+"`.", "with this one"
		if a.kind != "" {
			do, which = "Give a `"+name+"` of another kind.", "with one of this kind"
		}
	}
	return Warning{Text: fmt.Sprintf("%s %s %s failed%s.", do, calls(len(a.calls)), which, labelled(a.constraint.Class)), Calls: a.calls}
}

func calls(n int) string {
	if n == 1 {
		return "1 call"
	}
	return fmt.Sprintf("%d calls", n)
}

// neverWorked says that the tool is of no use.
func (m *Model) neverWorked(v *view) Warning {
	w := Warning{}
	said := ""
	for i := range m.calls {
		if c := &m.calls[i]; c.failed() {
			w.Calls = append(w.Calls, c.key)
			said = labelled(c.class)
		}
	}
	n := len(w.Calls)
	for i := range v.run {
		if _, known := m.keys[v.run[i].Key]; !known {
			n++
			w.Calls = append(w.Calls, v.run[i].Key)
		}
	}
	w.Text = fmt.Sprintf("This tool never worked: all %d calls failed%s. Use another tool, or say that it cannot be done.", n, said)
	return w
}

// streak says that the last calls of the tool in this run failed.
func (m *Model) streak(r Rule, v *view, fix fix) (Warning, bool) {
	c := v.lastFailure()
	if c == nil || v.met.has(RepeatsFailure) && m.watched.has(RepeatsFailure) || m.explained(v) {
		return Warning{}, false
	}
	w := Warning{}
	n := 0
	for i := len(v.run) - 1; i >= 0 && v.run[i].failed; i-- {
		w.Calls = append(w.Calls, v.run[i].Key)
		n++
	}
	slices.Reverse(w.Calls)
	reason, leaves, _ := c.refusal()
	did := "The last call of this tool in this run failed"
	if n > 1 {
		did = fmt.Sprintf("The last %d calls of this tool in this run failed, the newest", n)
	}
	rate, _ := m.rates.of(r, &m.options.Pool)
	w.Text = fmt.Sprintf("%s%s; of the calls that come after that, %.0f %% fail too. %s", did, labelled(reason.Class), 100*rate, m.next(reason, leaves, v, fix))
	return w, true
}

// explained reports whether rules that calls bear out explain most failures of the tool:
// then a call that breaks none is as good after a failure as before.
func (m *Model) explained(v *view) bool {
	behind := 0
	for i := range m.options.Tested {
		behind += m.options.Tested[i].Calls
	}
	return len(v.breaks) == 0 && 2*behind >= m.failed && behind > 0
}

// next says what to do after a failure: change what it was about, if that has not
// been done.
func (m *Model) next(r refusal, leaves []leaf, v *view, fix fix) string {
	if r.leaf >= 0 {
		blamed := &leaves[r.leaf]
		for i := range v.in.leaves {
			if l := &v.in.leaves[i]; l.path == blamed.path && l.text == blamed.text {
				return m.change(r, leaves, fix)
			}
		}
	}
	if !isGeneral(r.Class) {
		return m.advice(r.Constraint, r.text)
	}
	return "Find out what is wrong before you go on: read the message, look at what is there, or take another way."
}

// alike says that most of the inputs most like this one failed, where most of them
// failed for the same reason, in more than one run. Each input counts once, as its
// newest call came out.
func (m *Model) alike(near []neighbour) (Warning, bool) {
	judged := 0
	w := Warning{}
	classes := map[constraints.Class]int{}
	seen, runs := map[uint64]bool{}, map[string]bool{}
	var common *learned
	for _, n := range near {
		c := &m.calls[n.call]
		if n.similarity < leastAlike || judged == 10 {
			break
		}
		if !c.judged || seen[c.identity] {
			continue
		}
		seen[c.identity] = true
		judged++
		if !c.failed() {
			continue
		}
		runs[c.run] = true
		w.Calls = append(w.Calls, c.key)
		classes[c.class]++
		if !isGeneral(c.class) && (common == nil || classes[c.class] > classes[common.class]) {
			common = c
		}
	}
	if judged < 3 || 2*len(w.Calls) <= judged || common == nil || 2*classes[common.class] < len(w.Calls) || len(runs) < 2 && !runs[""] {
		return Warning{}, false
	}
	w.Text = fmt.Sprintf("%d of the %d inputs most like this one failed, %d%s. %s", len(w.Calls), judged, classes[common.class],
		labelled(common.class), constraints.Imperative(constraints.Constraint{Class: common.class}, m))
	return w, true
}

// cutFor is the estimate from which on the learner warns: so that, with the rules,
// at most the share of false alarms of the history's good calls are warned of, and
// only where the odds are clearly raised. 2 is never.
func (m *Model) cutFor(h *history, estimates []float64, met []rules, base float64) float64 {
	if m.learner == nil {
		return 2
	}
	var good []float64
	alarms := 0
	for i, call := range h.judged {
		if h.calls[call].failed() {
			continue
		}
		if met[i]&m.watched != 0 {
			alarms++
		} else {
			good = append(good, estimates[i])
		}
	}
	allowed := int(m.options.FalseAlarms*float64(m.rates.Good)) - alarms
	least := logistic(logit(clip(base)) + clearLift)
	if allowed <= 0 || len(good) == 0 {
		return 2
	}
	slices.SortFunc(good, func(a, b float64) int { return cmp.Compare(b, a) })
	if allowed < len(good) {
		least = max(least, good[allowed])
	}
	return least
}

// Parameter implements constraints.Vocabulary: a parameter is known when a call
// that worked gave it, by its path or as the only one of its name.
func (m *Model) Parameter(path string) (string, bool) {
	path = strings.TrimPrefix(path, ".")
	if path == "" || m.paths["."+path] {
		return path, path != ""
	}
	only := ""
	for p := range m.paths {
		if strings.HasSuffix(p, "."+path) {
			if only != "" {
				return "", false
			}
			only = p
		}
	}
	return strings.TrimPrefix(only, "."), only != ""
}

// Sent implements constraints.Vocabulary.
func (m *Model) Sent(path string) bool {
	_, known := m.Parameter(path)
	return known
}

// Word implements constraints.Vocabulary: no word of a message is vouched for.
func (m *Model) Word(string) bool { return false }

// Tool implements constraints.Vocabulary: nor is the name of a tool.
func (m *Model) Tool(string) bool { return false }

// comparedWords is how many words of messages are compared.
const comparedWords = 12

// messageHash is the same for messages that differ in numbers only, or after so many
// words.
func messageHash(message string) uint64 {
	words := strings.FieldsFunc(strings.ToLower(message), func(r rune) bool { return !unicode.IsLetter(r) })
	h := seed
	for _, w := range words[:min(len(words), comparedWords)] {
		h = h.add(w)
	}
	return uint64(h)
}
