package preflight

import (
	"cmp"
	"fmt"
	"slices"

	"memoryd"
	tested "memoryd/guidelines/rules"
	"memoryd/internal/errortext"
	"memoryd/internal/origin"
)

// warnings tells why the planned call may fail and what to change, the surest
// first.
func (m *Model) warnings(a *Assessment, v *view, near []neighbour, fix fix) []Warning {
	circles := v.circles(a.Risk)
	out := slices.Concat(circles, m.broken(v))
	other := m.oneOther(v, near)
	watched := slices.DeleteFunc(v.met.list(), func(r Rule) bool {
		if r == RepeatsFailure && len(circles) > 0 {
			return true // which says less
		}
		return !m.warns(r, v, other)
	})
	rate := func(r Rule) float64 { rate, _ := m.rates.of(r, m.judged.rate()); return rate }
	slices.SortStableFunc(watched, func(a, b Rule) int { return cmp.Compare(rate(b), rate(a)) })
	for _, r := range watched {
		text, calls := m.warning(r, v, fix)
		w := Warning{Text: text, Severity: severityOf(rate(r)), Rule: r.name(), Calls: calls}
		if len(calls) < 2 {
			w.Severity = Note
		}
		out = append(out, w)
	}
	if len(out) == 0 && a.Risk != nil && *a.Risk >= highRisk {
		out = append(out, m.reason(v))
	}
	for i := range out {
		out[i].Calls = out[i].Calls[max(0, len(out[i].Calls)-shownCalls):]
	}
	return out[:min(len(out), mostWarnings)]
}

// warns reports whether a rule that the call meets is warned of; other says that the failures are
// those of one other source.
func (m *Model) warns(r Rule, v *view, other bool) bool {
	switch r {
	case OnlyFailed: // that it failed in this run says more
		return m.watched.has(r) && !other && (!v.met.has(RepeatsFailure) || !m.watched.has(RepeatsFailure))
	case NeverWorked:
		return m.watched.has(r) && !other
	case FailedThrice, FailedTwice, FailedOnce:
		return m.watched.has(r) && m.rates[r].Calls >= ownStreaks
	}
	return m.watched.has(r)
}

// warning is what is to be said of a rule that the call meets, and the calls behind it.
func (m *Model) warning(r Rule, v *view, fix fix) (text string, calls []memoryd.CallKey) {
	switch r {
	case RepeatsFailure:
		for i := range v.run {
			if c := &v.run[i]; c.failed && c.same {
				text, calls = "This call failed in this run. "+m.change(c, fix), append(calls, c.Key)
			}
		}
		return text, calls
	case OnlyFailed:
		return fmt.Sprintf("This input failed %s. %s", times(v.own), m.change(nil, fix)), v.tries
	case NeverWorked:
		calls = append(m.failures(), v.failures...)
		text = fmt.Sprintf("This tool never worked: all %d calls failed. ", len(calls))
		if rule := m.firstRule(); rule != nil {
			return text + rule.Line + ".", calls
		}
		return text + "Use another tool, or say that it cannot be done.", calls
	}
	did := "The last call of this tool in this run failed"
	if v.streak > 1 {
		did = fmt.Sprintf("The last %d calls of this tool in this run failed", v.streak)
	}
	rate, _ := m.rates.of(r, m.judged.rate())
	text = fmt.Sprintf("%s; of the calls that come after that, %.0f %% fail too.", did, 100*rate)
	if fix.input != nil {
		text += " " + m.change(nil, fix)
	}
	for _, c := range v.run[len(v.run)-v.streak:] {
		calls = append(calls, c.Key)
	}
	return text, calls
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

func times(c Count) string {
	if c.Calls == 1 {
		return "the one time that it was tried"
	}
	return fmt.Sprintf("in %d of the %d calls that tried it", c.Failed, c.Calls)
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
	case v.streak > 1:
		w.Text = fmt.Sprintf("The last %d calls of this tool in this run failed.", v.streak)
	case m.judged.Failed > 0:
		w.Text = fmt.Sprintf("%d of the %d judged calls of this tool failed.", m.judged.Failed, m.judged.Calls)
	default:
		w.Text = "Tools like this one mostly fail; none of its own calls is judged yet."
	}
	if rule := m.firstRule(); rule != nil {
		w.Text += " " + rule.Line + "."
	}
	return w
}

// highRisk is the risk from which on a forecast says why: that of the severity stop.
const highRisk = 0.9

// name is a parameter as a warning names it; false for one that no call gave which worked.
func (m *Model) name(path string) (string, bool) {
	name, ok := origin.Show(origin.Warning, origin.Name, path, maxValue)
	return name, ok && m.paths[path]
}
