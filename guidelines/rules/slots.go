package rules

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"memoryd/internal/origin"
)

var (
	slotNumber = regexp.MustCompile(`\d+(?:\.\d+)?`)
	signed     = regexp.MustCompile(`-?\d+(?:\.\d+)?`)
)

// maxTokens is how many numbers or forms of a message are looked at.
const maxTokens = 24

// write words the rule, narrowed by what the messages behind it agree on, and notes what
// may stand in a suggestion.
func (r *Rule) write(s *search, behind []*row) {
	h := &r.when
	r.Parameter, _ = base(h.p)
	r.pool = map[string][]value{}
	worked := workedValues(s.rows, h.p, s.parties)
	r.pool[h.p] = standing(s.rows, h.p, worked)
	if h.q != "" {
		r.pool[h.q] = standing(s.rows, h.q, workedValues(s.rows, h.q, s.parties))
	}
	narrow, show, ok := r.narrowed(s, behind, worked)
	if h.what == without {
		narrow = suchAs(worked, len(given(s.rows, h.p)))
	}
	if !ok || (h.what == beginsNot || h.what == endsNot) && !s.vouched(h.p) { // one party alone may have put the words there
		return
	}
	if r.Line = h.line(narrow, show); r.Line == "" && s.hints && h.what == is && !IdentifierLike(h.set[0]) {
		r.Line = "Do not give `" + h.p + "` as " + quoted(h.set)
	}
	r.Line = h.guard.line(r.Line)
}

// narrowed is what the messages behind a rule say of its bound, its form or its values, and which
// values may be told; ok is false where nothing may be.
func (r *Rule) narrowed(s *search, behind []*row, worked []value) (narrow string, show []string, ok bool) {
	h := &r.when
	switch h.what {
	case above, aboveWithout, below:
		narrow, ok = r.bounded(s, behind)
		return narrow, nil, ok
	case notLike:
		if show = formsShown(h.set); len(show) == 0 {
			return "", nil, false
		}
		h.widen(behind)
	case notIn:
		if h.ofType() {
			return r.typesSaid(s, behind), typesShown(h.set), true
		}
		show, narrow = valuesShown(worked), r.valuesSaid(s, behind)
		if len(h.set) > maxSet && 2*len(show) < maxSet {
			return "", nil, false // a few of many are no advice
		}
	case is:
		if show = valuesShown(worked); h.set[0] != "" && !shown(h.set[0]) {
			return "", nil, false
		}
	case inState:
		field, state, _ := strings.Cut(h.set[0], "=")
		if !shown(field) || !shown(state) {
			return "", nil, false
		}
		narrow = r.stateSaid(s, field)
	case begins:
		narrow = r.headSaid(s)
	case exceeds:
		if !shown(h.set[0]) {
			return "", nil, false
		}
	case offStep:
		r.stepSaid(behind)
	case has:
		show = h.wordsShown(behind, s.parties)
		return "", show, len(show) > 0
	case lastIs, lastNotIn:
		return r.usesSaid(s, behind)
	default:
	}
	return narrow, show, true
}

// usesSaid is what there is to say of how the run used a value last.
func (r *Rule) usesSaid(s *search, behind []*row) (narrow string, show []string, ok bool) {
	h := &r.when
	if h.what == lastNotIn {
		narrow = r.valuesSaid(s, behind)
	}
	show = h.usesShown(s.rows)
	return narrow, show, len(show) > 0 && (len(h.valuesThere()) > 0) == slices.ContainsFunc(h.set, isThere)
}

// bounded is what there is to say of a bound; false for one that one party alone bears out.
func (r *Rule) bounded(s *search, behind []*row) (narrow string, ok bool) {
	h, edge := &r.when, s.edge(&r.when)
	if h.what != aboveWithout {
		r.pool[h.p] = append(r.pool[h.p], edge...)
	}
	if narrow = r.boundSaid(behind); s.dear { // none failed
		narrow = ""
	}
	return narrow, sized(h.bound) && (!s.parties || len(edge) > 0)
}

// vouched reports whether enough good calls gave a text for a parameter, of several parties where
// several are known.
func (s *search) vouched(p string) bool {
	var q quorum
	for i := range s.rows {
		if r := &s.rows[i]; !r.Bad && r.has(p, func(v value) bool { return v.kind == text }) {
			q.add(r)
		}
	}
	return q.met(s.parties)
}

// widen takes what has the shape of a form, too, if that, with longer or shorter words and numbers, never failed.
func (h *hypothesis) widen(behind []*row) {
	wide := hypothesis{what: notLike, p: h.p}
	for _, f := range h.set {
		if dateForms[f] == "" {
			wide.set = append(wide.set, shape(f))
		}
	}
	if !slices.ContainsFunc(behind, func(r *row) bool { return !wide.holds(r) }) {
		h.set = append(slices.Clone(h.set), wide.set...)
	}
}

// formsShown are the forms that can be told, with what their letters stand for.
func formsShown(forms []string) (show []string) {
	last, letter := -1, "" // of those with letters or digits
	for _, f := range forms {
		if name := dateForms[f]; name != "" {
			show = append(show, name)
		} else if plainForm.MatchString(f) && strings.Trim(f, "A .") != "" {
			last, show = len(show), append(show, "`"+f+"`")
			if strings.Contains(f, "A") {
				letter = "A a letter, "
			}
		}
	}
	if last >= 0 {
		show[last] += " (" + letter + "0 a digit)"
	}
	return show
}

// typesShown are the types of good calls as a line names them.
func typesShown(set []string) []string {
	number := slices.Contains(set, aNumber)
	shown := slices.DeleteFunc(slices.Clone(set), func(t string) bool { return t == leftOut || t == aDigits || number && t == aWhole })
	slices.Sort(shown)
	return slices.Compact(shown)
}

// typesSaid notes which types were refused, and says so of null.
func (r *Rule) typesSaid(s *search, behind []*row) string {
	switch r.valuesSaid(s, behind); {
	case !r.refused[aNull]:
		return ""
	case slices.Contains(r.when.set, leftOut):
		return " or leave it out, not null"
	}
	return ", not null"
}

// valuesShown are the texts among the values that worked that can be told.
func valuesShown(worked []value) (show []string) {
	for _, v := range worked {
		if v.kind == text && len(show) < maxSet && shown(v.text) {
			show = append(show, v.text)
		}
	}
	return show
}

// mostNamed is how many values a line names of a parameter that is to be given.
const mostNamed = 3

// suchAs names the values that worked where there are no more than a few; all counts those that good calls gave.
func suchAs(worked []value, all int) string {
	if len(worked) == 0 || len(worked) < all || all > mostNamed {
		return ""
	}
	names := make([]string, len(worked))
	for i, v := range worked {
		if names[i] = v.text; v.kind == text {
			names[i] = strconv.Quote(v.text)
		}
	}
	return ", such as " + anyOf(names)
}

// valuesSaid notes which values were refused, and tells at most three that no good call gave and that
// failed calls of enough runs gave.
func (r *Rule) valuesSaid(s *search, behind []*row) string {
	r.refused = map[string]bool{}
	by, not, worked := tally{}, []string(nil), given(s.rows, r.when.p)
	for _, b := range behind {
		for v := range b.values(r.when.p) {
			if !slices.Contains(r.when.set, v.text) {
				r.refused[v.text] = true
				by.add(v.text, b)
			}
		}
	}
	for _, v := range slices.Sorted(maps.Keys(by)) {
		if by[v].met(false) && !worked[v] && shown(v) && len(not) < 3 {
			not = append(not, v)
		}
	}
	if len(not) == 0 {
		return ""
	}
	return ", not " + quoted(not)
}

// given are the values that good calls gave for a parameter.
func given(rows []row, p string) map[string]bool {
	out := map[string]bool{}
	for i := range rows {
		if !rows[i].Bad {
			for v := range rows[i].values(p) {
				out[v.text] = true
			}
		}
	}
	return out
}

// mostOf is what of the texts of good calls most had, of those that may be told; "" for none.
func mostOf(rows []row, may func(string) bool, texts func(r *row) []string) (best string) {
	by := tally{}
	for i := range rows {
		if !rows[i].Bad {
			for _, s := range texts(&rows[i]) {
				by.add(s, &rows[i])
			}
		}
	}
	for _, s := range slices.Sorted(maps.Keys(by)) {
		if by[s].met(false) && may(s) && (best == "" || by[s].calls > by[best].calls) {
			best = s
		}
	}
	return best
}

// stateSaid notes and tells in which state the values of good calls stood most.
func (r *Rule) stateSaid(s *search, field string) string {
	good := mostOf(s.rows, shown, func(row *row) (states []string) {
		source, _ := row.source(r.when.p)
		for f := range strings.FieldsSeq(source.State) {
			if state, is := strings.CutPrefix(f, field+"="); is {
				states = append(states, state)
			}
		}
		return states
	})
	if good == "" {
		return ""
	}
	r.worked = field + "=" + good
	return " (`" + good + "` worked)"
}

// headSaid notes and tells how the values of good calls begin most.
func (r *Rule) headSaid(s *search) string {
	may := func(head string) bool { return head != r.when.set[0] && shown(strings.TrimRight(head, "_-")) }
	r.worked = mostOf(s.rows, may, func(row *row) (heads []string) {
		for v := range row.values(r.when.p) {
			heads = append(heads, Head(v.text))
		}
		return heads
	})
	if r.worked == "" {
		return ""
	}
	return "; " + quoted([]string{r.worked}) + " worked"
}

// workedValues lists the values of a parameter that worked in enough calls, the most
// frequent first.
func workedValues(rows []row, p string, several bool) []value {
	by, kinds := tally{}, map[string]value{}
	for i := range rows {
		if rows[i].Bad {
			continue
		}
		seen := map[string]bool{}
		for v := range rows[i].values(p) {
			if v.kind != other && !seen[v.text] {
				seen[v.text] = true
				by.add(v.text, &rows[i])
				kinds[v.text] = v
			}
		}
	}
	var out []value
	for _, s := range slices.Sorted(maps.Keys(by)) {
		if kinds[s].kind == text && len(by) > maxSmall {
			return nil // of no small set
		}
		if by[s].met(several) && (kinds[s].kind != text || shown(s)) {
			out = append(out, kinds[s])
		}
	}
	slices.SortStableFunc(out, func(a, b value) int { return by[b.text].calls - by[a.text].calls })
	return out[:min(len(out), maxSmall)]
}

// standing keeps of some values of a parameter those whose newest call went well.
func standing(rows []row, p string, of []value) []value {
	refused := map[string]bool{}
	for i := range rows {
		refused[rows[i].in[p].text] = rows[i].Bad
	}
	return slices.DeleteFunc(slices.Clone(of), func(v value) bool { return refused[v.text] })
}

// maxSmall is how many values a parameter has at most whose values others may be shown.
const maxSmall = 20

// boundSaid moves the bound to the number in the gap between good and failed calls
// that the messages agree on, and gives the gap.
func (r *Rule) boundSaid(behind []*row) string {
	h := &r.when
	v, _ := h.given(behind[0])
	first := v.num
	for _, b := range behind {
		if v, _ := h.given(b); h.what == below {
			first = max(first, v.num)
		} else {
			first = min(first, v.num)
		}
	}
	tokens := func(message string) []string { return boundsIn(message, r.Parameter) }
	said := agreed(behind, tokens, func(s string) bool {
		n, err := strconv.ParseFloat(s, 64)
		if h.what == below {
			return err == nil && n > first && n <= h.bound
		}
		return err == nil && n >= h.bound && n < first
	})
	worked := h.bound
	if n, err := strconv.ParseFloat(said, 64); err == nil {
		h.bound = n
		return ""
	}
	r.edge = &first
	switch {
	case !sized(first):
		return ""
	case h.what == below:
		return fmt.Sprintf(" (%s worked, %s and less failed)", plain(worked), plain(first))
	}
	return fmt.Sprintf(" (%s worked, %s and more failed)", plain(worked), plain(first))
}

// stepSaid sets the step to the number that the messages agree on, if good calls keep to it
// and failed ones do not. Steps between are unknown, whatever the messages tell: the edge is the
// greatest divisor of the step that a failed number kept to.
func (r *Rule) stepSaid(behind []*row) {
	h, edge := &r.when, 0.0
	said := agreed(behind, func(message string) []string { return boundsIn(message, h.p) }, func(s string) bool {
		n, err := strconv.ParseFloat(s, 64)
		return err == nil && n > 0 && math.Mod(h.bound, n) == 0 &&
			!slices.ContainsFunc(behind, func(b *row) bool { v, _ := h.given(b); return math.Mod(v.num, n) == 0 })
	})
	if n, err := strconv.ParseFloat(said, 64); err == nil {
		h.bound = n
	}
	for _, b := range behind {
		v, _ := h.given(b)
		edge = max(edge, divisor(v.num, h.bound))
	}
	r.edge = &edge
}

// What stands around a number in a message.
var (
	partBefore = regexp.MustCompile(`(?:[A-Za-z_#-]|\d[.,:/]|\.[a-z]+:)$`)       // of a code, a date or an id, or the line of a file
	unitAfter  = regexp.MustCompile(`^(?:[A-Za-z_%°/-]|[.,:]\d|\s\pL(?:\PL|$))`) // of its own, or of a time
	wordAfter  = regexp.MustCompile(`^\s*\pL`)
)

// boundsIn lists the numbers of a message that may be a bound of a parameter: those that are
// no part of something else and have no unit. Whether a word after one is a unit is not
// known, so such a number counts only where the message speaks of the parameter.
func boundsIn(message, p string) (out []string) {
	last := strings.ToLower(p[strings.LastIndexAny(p, "_-.")+1:])
	speaks := Speaks(message, p) || len(last) > 2 && Named(strings.ToLower(message), last)
	for _, at := range slotNumber.FindAllStringIndex(message, maxTokens) {
		rest := message[at[1]:]
		if !partBefore.MatchString(message[:at[0]]) && !unitAfter.MatchString(rest) && (speaks || !wordAfter.MatchString(rest)) {
			out = append(out, message[at[0]:at[1]])
		}
	}
	return out
}

// agreed is the one token that stands in the messages of two calls of two runs, and
// in most of them; "" where there is none, or more than one.
func agreed(behind []*row, tokens func(message string) []string, fits func(string) bool) string {
	by := tally{}
	for _, b := range behind {
		var seen []string
		for _, s := range tokens(b.Message) {
			if fits(s) && !slices.Contains(seen, s) {
				seen = append(seen, s)
				by.add(s, b)
			}
		}
	}
	only := ""
	for s, q := range by {
		if !q.of(leastBad) || 2*q.calls < len(behind) {
			continue
		}
		if only != "" {
			return ""
		}
		only = s
	}
	return only
}

// plainForm is a value of letters, digits and marks, such as a date, a color or a number of a telephone.
var plainForm = regexp.MustCompile(`^[0-9A+#@$][0-9A .:/@-]{0,23}$`)

// dateForms are forms that have a name.
var dateForms = map[string]string{
	"0000-00-00": "YYYY-MM-DD", "00.00.0000": "DD.MM.YYYY", "00:00": "HH:MM",
	"0000-00-00 00:00:00": "YYYY-MM-DD HH:MM:SS", "0000-00-00A00:00:00": "YYYY-MM-DDTHH:MM:SS", "0000-00-00A00:00:00A": "YYYY-MM-DDTHH:MM:SSZ",
	"0000-00-00A00:00:00.000A": "YYYY-MM-DDTHH:MM:SS.sssZ", "0000-00-00A00:00:00+00:00": "YYYY-MM-DDTHH:MM:SS+HH:MM",
}

// sized reports whether a number may stand in a line as a bound.
func sized(n float64) bool {
	_, ok := origin.Show(origin.Recommendation, origin.Slot, plain(n), valueLimit)
	return ok
}

// shown reports whether a value of callers' inputs may stand in a line.
func shown(s string) bool {
	_, ok := origin.Show(origin.Recommendation, origin.Shared, s, valueLimit)
	return ok
}

// edge is the number at the edge of what worked: enough calls gave it, or went beyond.
func (s *search) edge(h *hypothesis) []value {
	further := func(a, b value) bool { return b.kind != number || a.num > b.num != (h.what == below) }
	var good []*row
	most := map[*row]value{}
	for i := range s.rows {
		r := &s.rows[i]
		for v := range r.values(h.p) {
			if v.kind == number && !r.Bad && further(v, most[r]) {
				most[r] = v
			}
		}
		if most[r].kind == number {
			good = append(good, r)
		}
	}
	slices.SortFunc(good, func(a, b *row) int {
		if h.what == below {
			a, b = b, a
		}
		return cmp.Compare(most[b].num, most[a].num)
	})
	var q quorum
	for _, r := range good {
		if q.add(r); q.met(s.parties) {
			return []value{most[r]}
		}
	}
	return nil
}
