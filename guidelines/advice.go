package guidelines

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"memoryd/guidelines/evidence"
	"memoryd/guidelines/rules"
	"memoryd/internal/origin"
	"memoryd/internal/stats"
	"memoryd/internal/textsafe"
)

// mostPractices is how many recommendations are given.
const mostPractices = 8

// The values of statements are shares of the calls: how much of what goes wrong
// heeding a statement could spare. What a tool takes and how it does on the whole
// comes before that, since nothing can be understood without it.
const (
	coreValue    = 3.0
	overallValue = 2.0
	returnsValue = 0.1
)

// share is n calls among all.
func (f *findings) share(n int) float64 {
	return float64(n) / float64(max(1, f.evidence.Calls))
}

// Limits on what is said of calls that sent a failed input again, and of a tool that never
// worked.
const (
	repeatTries  = 3
	repeatChance = 0.05
	neverWorked  = 5
)

// practices words what to do: the rules that calls bear out, those that a model chose
// first.
func (f *findings) practices(d *draft) {
	e := &f.evidence
	order := slices.Clone(e.Rules)
	slices.SortStableFunc(order, func(a, b rules.Rule) int { return f.place(&a) - f.place(&b) })
	rank := 0
	for i := range order {
		r := &order[i]
		if rank == mostPractices || r.Calls == 0 {
			break
		}
		worth := f.share(r.Calls)
		if r.Effect != rules.Wrong {
			worth /= 4 // a dear call is no failed one
		}
		d.add(bestPractices, rank, r.Line+": "+r.Found()+".", "rule", worth, r.GroundID())
		(*d)[len(*d)-1].Author = f.author(r)
		rank++
	}
	if again := e.Unchanged; f.repeatsFail() && rank < mostPractices {
		d.add(bestPractices, rank, "Never send a refused call again unchanged: "+ofN(again.Succeeded, again.Tries)+" worked"+
			inRuns(e.UnchangedRuns)+".", "repeat", f.share(again.Tries), retriesGround)
	}
	switch {
	case e.Good+e.Partial == 0 && e.Failed >= neverWorked && e.Runs >= 2 && rank == 0: // nothing tells what to mend
		d.add(bestPractices, rank+1, "Try another tool, or tell the user: "+ofN(0, e.Failed)+" calls worked"+inRuns(e.Runs)+".",
			"stop", f.share(e.Failed), statisticsGround)
	case len(d.of(bestPractices)) == 0:
		f.callLike(d)
	}
}

// repeatsFail reports whether calls that sent a failed input again failed, of enough runs where
// there are several parties, and more often than calls that fail by chance would.
func (f *findings) repeatsFail() bool {
	e := &f.evidence
	n, worked := e.Unchanged.Tries, e.Unchanged.Succeeded
	if n < repeatTries || 10*worked > n || e.UnchangedRuns < 2 && e.Parties > 1 {
		return false
	}
	good, chance := float64(e.Good)/float64(e.Judged), 0.0
	for k := range worked + 1 {
		chance += math.Exp(stats.LogChoose(n, k)) * math.Pow(good, float64(k)) * math.Pow(1-good, float64(n-k))
	}
	return good == 0 || chance <= repeatChance
}

// place is where a model put a rule; the others come after those.
func (f *findings) place(r *rules.Rule) int {
	if at := f.chosen[r.GroundID()]; at > 0 {
		return at
	}
	return math.MaxInt32
}

// author is the model that proposed a rule, else the rules.
func (f *findings) author(r *rules.Rule) string {
	if slices.ContainsFunc(f.proposed, func(p rules.Proposal) bool { return r.Is(&p) }) {
		return f.model
	}
	return AuthorRules
}

// callLike is the recommendation of a tool of which nothing else is known: a good call.
func (f *findings) callLike(d *draft) {
	x := f.evidence.Exemplar
	if x == nil {
		return
	}
	if shown := f.exemplar(x); shown != "" {
		d.add(bestPractices, 0, "Call it like `"+shown+"`: "+like(x, shown)+".", "like",
			coreValue/2, exemplarGround)
	}
}

// like says how many good calls were like an exemplar, and what its marks stand for.
func like(x *evidence.Exemplar, shown string) string {
	parts := []string{ofN(x.Calls, x.Good) + " good calls gave these parameters"}
	forms := framesOf(x)
	for _, p := range slices.Sorted(maps.Keys(forms)) {
		if form := x.Frames[p]; form.Calls < form.Of {
			parts = append(parts, ofN(form.Calls, form.Of)+" "+code(p)+" in this form")
		}
		if strings.Contains(string(forms[p]), "N") {
			parts = append(parts, "N is a number")
		}
	}
	if strings.Contains(shown, "‹") {
		parts = append(parts, "‹ › stand for < >")
	}
	return strings.Join(parts, "; ")
}

// successes words what works.
func (f *findings) successes(d *draft) {
	e := &f.evidence
	if e.Judged == 0 {
		d.add(successPatterns, 0, "Not enough data: no call has been judged yet.", "none", 0, statisticsGround)
		return
	}
	d.add(successPatterns, 0, f.overall(), "overall", overallValue, statisticsGround)
	d.add(successPatterns, 2, f.order(), "order", returnsValue, statisticsGround)
	if x := e.Exemplar; x != nil && slices.ContainsFunc(d.of(bestPractices), func(it Item) bool { return it.Evidence[0] != exemplarGround }) {
		shown := f.exemplar(x)
		if one := len(e.Parameters) == 1 && strings.HasSuffix(shown, `"…"}`); shown != "" && shown != "{}" && !one {
			d.add(successPatterns, 1, "Typical good call: `"+shown+"` ("+like(x, shown)+").", "exemplar",
				coreValue/2, exemplarGround)
		}
	}
}

// Limits on what is said of the order of calls: of so many runs most called the tool first. That they
// called another one before says something where all did.
const (
	orderedRuns  = 5
	orderedShare = 2.0 / 3
)

// order says when runs call the tool, where they do so in the same way.
func (f *findings) order() string {
	o := &f.evidence.Order
	most := func(n int, share float64) bool {
		return n >= orderedRuns && !o.Sole && float64(n) >= share*float64(o.Runs)
	}
	switch {
	case most(o.First, orderedShare) && 4*o.Then >= o.Runs: // others go on to other tools, as far as later calls show
		return ofN(o.First, o.Runs) + " runs called it before any other tool."
	case most(o.Before, 1):
		if tool, ok := origin.Show(origin.Recommendation, origin.Name, o.After, valueLimit); ok {
			return ofN(o.Before, o.Runs) + " runs called " + tool + " before it."
		}
	}
	return ""
}

func (f *findings) overall() string {
	e := &f.evidence
	text := ofN(e.Good, e.Judged) + " judged calls went well"
	var costs []string
	if !math.IsNaN(f.goodTime) {
		costs = append(costs, seconds(f.goodTime))
	}
	if !math.IsNaN(f.goodTokens) {
		costs = append(costs, plural(math.Round(f.goodTokens), "token"))
	}
	if len(costs) > 0 {
		text += ", taking " + list(costs, "and") + " (median)"
	}
	return text + "."
}

// went says what became of calls that were not good.
func (f *findings) went() string {
	switch e := &f.evidence; {
	case e.Failed > 0:
		return "went wrong"
	case e.Empty == e.Partial:
		return "found nothing"
	}
	return "only half succeeded"
}

// issues words what goes wrong beyond what the recommendations tell.
func (f *findings) issues(d *draft) {
	e := &f.evidence
	if e.Overstated >= 3 && 2*e.Overstated >= e.Failed && e.Overstated < e.Failed { // none is reported where nothing reports
		d.add(commonIssues, mostPractices+1, ofN(e.Overstated, e.Failed)+" failed calls were reported as successful.", "flag",
			f.share(e.Overstated)/2, statisticsGround)
	}
	wrong, unexplained, silent := 0, 0, 0
	for i := range e.Messages {
		m := &e.Messages[i]
		wrong, unexplained = wrong+m.Calls, unexplained+m.Unexplained
		if m.Text == "" {
			silent += m.Calls
		}
	}
	if silent > 0 {
		d.add(commonIssues, 2, "Nothing came back: "+count(silent, "call")+".", "empty", f.share(silent), statisticsGround)
	}
	if e.UsuallyEmpty() {
		d.add(commonIssues, 2, ofN(e.Empty, e.Judged)+" judged calls found nothing.", "nothing", 0, statisticsGround)
	}
	if unexplained > silent {
		text := ofN(unexplained, wrong) + " calls that " + f.went() + " have no known cause"
		if f.answers() != "" {
			text += ": see `" + toolAnswered + "`"
		}
		d.add(commonIssues, 1, text+".", "unexplained", f.share(unexplained), statisticsGround)
	}
	if len(d.of(commonIssues)) > 0 {
		return
	}
	text := "Only those that the practices below avoid."
	switch {
	case e.Judged == 0:
		text = "Not enough data: no call has been judged yet."
	case e.Failed+e.Partial == 0:
		text = "None seen in " + count(e.Judged, "judged call") + "."
	}
	d.add(commonIssues, 0, text, "none", 0, statisticsGround)
}

// Limits on an exemplar.
const (
	exemplarText   = 24  // characters of a text
	exemplarLength = 160 // characters of the whole: 40 tokens
)

// exemplar is a good call as it may be shown: texts and lists cut, secrets and
// addresses masked; "" when it is too long even so.
func (f *findings) exemplar(x *evidence.Exemplar) string {
	var v any
	if x.Sole || json.Unmarshal(x.Input, &v) != nil {
		return ""
	}
	if s, ok := v.(string); ok {
		if inner := strings.TrimSpace(s); strings.HasPrefix(inner, "{") {
			_ = json.Unmarshal([]byte(inner), &v)
		}
	}
	if fields, is := v.(map[string]any); is {
		for p, form := range framesOf(x) {
			if _, has := fields[p].(string); has {
				fields[p] = form
			}
		}
	}
	for keep := exemplarText; keep >= 6; keep /= 2 {
		text := shownInput(v, "", keep, x.Own)
		if len([]rune(text)) <= exemplarLength {
			return text
		}
	}
	return ""
}

// frame is the form of a text as it is shown, in place of one.
type frame string

// framesOf are the forms of an exemplar's texts, by parameter: of words that calls share, but no
// sentence. One of which no word may be shown says nothing.
func framesOf(x *evidence.Exemplar) map[string]frame {
	forms := map[string]frame{}
	for p, form := range x.Frames {
		parts := strings.Split(form.Text, "…")
		for i, part := range parts {
			if part = strings.TrimSpace(part); part != "" {
				parts[i], _ = origin.Show(origin.Typical, origin.Shared, part, exemplarText)
			}
		}
		shown := strings.TrimSpace(strings.Join(slices.Compact(parts), " … "))
		if strings.ContainsFunc(strings.ReplaceAll(shown, "N", ""), unicode.IsLetter) {
			forms[p] = frame(shown)
		}
	}
	return forms
}

// shownInput writes a value as JSON, with what may not be shown masked.
func shownInput(v any, name string, keep int, own []string) string {
	show := func(s string) string {
		if rules.Commands(name, s) {
			return "…"
		}
		of := origin.Shared
		if textsafe.SecretName(name) || slices.Contains(own, s) {
			of = origin.Private
		}
		shown, ok := origin.Show(origin.Typical, of, s, keep)
		if !ok && s != "" {
			return "…"
		}
		return shown
	}
	switch v := v.(type) {
	case map[string]any:
		parts := make([]string, 0, len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			key, ok := origin.Show(origin.Typical, origin.Name, k, keep)
			if !ok {
				key = "…"
			}
			parts = append(parts, `"`+key+`":`+shownInput(v[k], k, keep, own))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case []any:
		switch len(v) {
		case 0:
			return "[]"
		case 1:
			return "[" + shownInput(v[0], name, keep, own) + "]"
		}
		return "[" + shownInput(v[0], name, keep, own) + ",…]"
	case frame:
		return strconv.Quote(string(v))
	case string:
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `'`).Replace(show(v)) + `"`
	}
	b, err := json.Marshal(v)
	if err != nil {
		return "…"
	}
	if slices.Contains(own, string(b)) || len(b) > 7 { // a number of an account, not of things
		return show(string(b))
	}
	return string(b)
}
