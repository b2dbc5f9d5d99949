package preflight

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"memoryd"
	tested "memoryd/guidelines/rules"
	"memoryd/internal/errortext"
	"memoryd/internal/origin"
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
	other := m.oneOther(v, near)
	for r := range Rules {
		if !v.met.has(r) || !m.watched.has(r) || other && (r == OnlyFailed || r == NeverWorked) {
			continue
		}
		rate, _ := m.rates.of(r)
		if w, ok := m.warning(r, v, fix); ok {
			w.Severity, w.Rule = severityOf(rate), r.name()
			if len(w.Calls) < 2 {
				w.Severity = Note
			}
			found = append(found, rated{w, rate})
		}
	}
	slices.SortStableFunc(found, func(a, b rated) int { return cmp.Compare(b.rate, a.rate) })
	var out []Warning
	for _, w := range found[:min(len(found), mostWarnings)] {
		w.Calls = w.Calls[max(0, len(w.Calls)-shownCalls):]
		out = append(out, w.Warning)
	}
	if len(out) == 0 && a.Risk != nil && *a.Risk >= highRisk {
		out = append(out, m.reason(v))
	}
	return out
}

// warning writes what is to be said of a rule that the call meets.
func (m *Model) warning(r Rule, v *view, fix fix) (Warning, bool) {
	switch r {
	case RepeatsFailure:
		return m.repeats(v, fix), true
	case OnlyFailed:
		if v.met.has(RepeatsFailure) && m.watched.has(RepeatsFailure) {
			return Warning{}, false
		}
		return m.onlyFailed(v, fix), true
	case NeverWorked:
		return m.neverWorked(v), true
	case FailedThrice, FailedTwice, FailedOnce:
		return m.streak(r, v, fix)
	}
	return Warning{}, false
}

// repeats says that this very call failed in this run.
func (m *Model) repeats(v *view, fix fix) (w Warning) {
	for i := range v.run {
		if c := &v.run[i]; c.failed && c.same {
			w.Calls = append(w.Calls, c.Key)
			w.Text = fmt.Sprintf("This call failed in this run%s. %s", v.ago(c), m.change(c, fix))
		}
	}
	return w
}

// ago says how long before now a call was made; "" when that cannot be told.
func (v *view) ago(c *runCall) string {
	switch ago := v.Now.Sub(c.Time); {
	case v.Now.IsZero(), c.Time.IsZero(), ago <= 0:
		return ""
	case ago < 2*time.Minute:
		return fmt.Sprintf(" %d s ago", max(1, int(ago.Seconds())))
	case ago < 2*time.Hour:
		return fmt.Sprintf(" %d min ago", int(ago.Minutes()))
	default:
		return fmt.Sprintf(" %d h ago", int(ago.Hours()))
	}
}

// change says what to do about a refused call, nil for none of this run: what is suggested, or what
// hosts document of the refusal, else that repeating leads nowhere.
func (m *Model) change(refused *runCall, fix fix) string {
	if fix.input != nil {
		if name, ok := m.name(fix.path); ok {
			return "Change " + name + " as suggested."
		}
		return "Change the input as suggested."
	}
	if refused != nil {
		if remedy := tested.Remedy(refused.Tool, errortext.Unwrap(refused.Output), refused.Input); remedy != "" {
			return remedy + "."
		}
	}
	c := m.rates[RepeatsFailure]
	if c.Calls == 0 {
		return "Change the input before it is sent again."
	}
	return fmt.Sprintf("Change the input: sent again unchanged, %d of %d such calls failed again.", c.Failed, c.Calls)
}

// onlyFailed says that the input failed wherever it was tried.
func (m *Model) onlyFailed(v *view, fix fix) Warning {
	return Warning{Calls: v.tries, Text: fmt.Sprintf("This input failed %s. %s", times(v.own), m.change(nil, fix))}
}

func times(c Count) string {
	if c.Calls == 1 {
		return "the one time that it was tried"
	}
	return fmt.Sprintf("in %d of the %d calls that tried it", c.Failed, c.Calls)
}

// neverWorked says that the tool is of no use.
func (m *Model) neverWorked(v *view) Warning {
	w := Warning{Calls: m.failures()}
	n := len(w.Calls)
	for i := range v.run {
		if _, known := m.keys[v.run[i].Key]; !known {
			n++
			w.Calls = append(w.Calls, v.run[i].Key)
		}
	}
	w.Text = fmt.Sprintf("This tool never worked: all %d calls failed. ", n)
	if rule := m.firstRule(); rule != nil {
		w.Text += rule.Line + "."
	} else {
		w.Text += "Use another tool, or say that it cannot be done."
	}
	return w
}

// failures are the keys of the failed calls, oldest first.
func (m *Model) failures() (keys []memoryd.CallKey) {
	for i := range m.calls {
		if c := &m.calls[i]; c.failed() {
			keys = append(keys, c.key)
		}
	}
	return keys
}

// ownStreaks is how many calls of the tool itself must have come after such failures: over
// tools these tell little.
const ownStreaks = 5

// firstRule is the rule on what goes wrong that most calls broke; nil for none.
func (m *Model) firstRule() *Tested {
	for i := range m.options.Tested {
		if t := &m.options.Tested[i]; t.Effect == tested.Wrong {
			return t
		}
	}
	return nil
}

// reason says why the risk is high where no rule that is watched does: a risk above
// highRisk never stands alone.
func (m *Model) reason(v *view) Warning {
	w := Warning{Rule: "failures", Severity: Note, Calls: m.failures()}
	switch {
	case v.own.Failed > 0:
		w.Text = "This input failed " + times(v.own) + "."
	case v.streak > 0:
		w.Text = fmt.Sprintf("The last calls of this tool in this run failed (%d).", v.streak)
	case m.judged.Failed > 0:
		w.Text = fmt.Sprintf("%d of the %d judged calls of this tool failed.", m.judged.Failed, m.judged.Calls)
	default:
		w.Text = "Tools like this one mostly fail; none of its own calls is judged yet."
	}
	if rule := m.firstRule(); rule != nil {
		w.Text += " " + rule.Line + "."
	}
	w.Calls = w.Calls[max(0, len(w.Calls)-shownCalls):]
	return w
}

// highRisk is the risk from which on a forecast says why: that of the severity stop.
const highRisk = 0.9

// streak says that the last calls of the tool in this run failed.
func (m *Model) streak(r Rule, v *view, fix fix) (Warning, bool) {
	if m.rates[r].Calls < ownStreaks || v.met.has(RepeatsFailure) && m.watched.has(RepeatsFailure) {
		return Warning{}, false
	}
	w := Warning{}
	n := v.streak
	for _, c := range v.run[len(v.run)-n:] {
		w.Calls = append(w.Calls, c.Key)
	}
	did := "The last call of this tool in this run failed"
	if n > 1 {
		did = fmt.Sprintf("The last %d calls of this tool in this run failed", n)
	}
	rate, _ := m.rates.of(r)
	w.Text = fmt.Sprintf("%s; of the calls that come after that, %.0f %% fail too.", did, 100*rate)
	if fix.input != nil {
		w.Text += " " + m.change(nil, fix)
	}
	return w, true
}

// name is a parameter as a warning names it; false for one that no call gave which worked.
func (m *Model) name(path string) (string, bool) {
	name, ok := origin.Show(origin.Warning, origin.Name, path, maxValue)
	return name, ok && m.paths[path]
}
