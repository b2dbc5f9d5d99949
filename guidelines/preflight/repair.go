package preflight

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	tested "memoryd/guidelines/rules"
	"memoryd/internal/errortext"
	"memoryd/internal/origin"
	"memoryd/internal/textsafe"
)

// fix is a change of the planned input that is known to repair such calls.
type fix struct {
	input json.RawMessage // nil for none
	path  string          // of what was changed
	to    string          // what a value was changed to
}

// edit is one value of the input, replaced.
type edit struct {
	leaf int
	json string
	of   origin.Origin // of the new value
}

// refusal is a failed call and which of its values the message is about. No word of the
// message is understood: it is searched for the values of the call.
type refusal struct {
	leaves []leaf
	leaf   int    // -1 when the message does not tell
	byKind bool   // it names what kind of value it is, not the value
	text   string // the message, in lower case
	remedy string // that hosts document of it, "" for none
}

// maxMessage is how many bytes of a message are compared with values.
const maxMessage = 400

// refusalOf finds the value that a message is about: one that it repeats, or one whose
// kind it names ("certificate cannot be used").
func refusalOf(output string, leaves []leaf) *refusal {
	r := &refusal{leaves: leaves, leaf: -1, text: strings.ToLower(textsafe.Head(errortext.Unwrap(output), maxMessage))}
	spaced := strings.NewReplacer("_", " ", "-", " ").Replace(r.text)
	for i := range leaves {
		if l := &leaves[i]; isID(l) && hasToken(r.text, strings.ToLower(l.Text)) {
			r.leaf, r.byKind = i, false
			break
		} else if kind := ""; isID(l) && r.leaf < 0 {
			if kind = kindOf(l.Text); kind != "" && hasToken(spaced, kind) {
				r.leaf, r.byKind = i, true
			}
		}
	}
	return r
}

// blamed is the value that the message is about, nil when it does not tell.
func (r *refusal) blamed() *leaf {
	if r.leaf < 0 {
		return nil
	}
	return &r.leaves[r.leaf]
}

// gives is the place of the same value at the same path, -1 for none.
func (p *planned) gives(l *leaf) int {
	return slices.IndexFunc(p.leaves, func(o leaf) bool { return o.Path == l.Path && o.Text == l.Text })
}

// suggest finds a change of the planned input: what rules that calls bear out ask for, or
// another value for the one that a message of the run is about.
func (m *Model) suggest(v *view) fix {
	if len(v.in.leaves) == 0 || v.in.leaves[0].Kind != tested.Object {
		return fix{}
	}
	if f := m.mend(v); f.input != nil {
		return f
	}
	asks := 0
	for i := len(v.run) - 1; i >= 0 && asks < 4; i-- {
		if c := &v.run[i]; c.failed {
			asks++
			if f := m.repair(v, c); f.input != nil {
				return f
			}
		}
	}
	return fix{}
}

// repair changes what a failed call of the run was refused for, if the planned call
// would be refused for the same.
func (m *Model) repair(v *view, c *runCall) fix {
	r := c.refusal()
	if f := m.balance(v, r); f.input != nil {
		return f
	}
	blamed := r.blamed()
	if blamed == nil {
		return m.conform(v, c)
	}
	at := v.in.gives(blamed)
	if _, limited := m.valuesSeen(v).limit(blamed.Text); limited && c.identity != v.in.identity && m.values.good[kindHash(blamed.Path, kindOf(blamed.Text))] {
		at = -1 // such a value can work: whether there is enough of it depends on the rest of the input
	}
	if at < 0 && r.byKind && m.spentToo(v, r) {
		at = slices.IndexFunc(v.in.leaves, func(l leaf) bool { return l.Path == blamed.Path })
	}
	if at < 0 || !r.byKind && !m.mendable(r) {
		return fix{}
	}
	kind := kindOf(v.in.leaves[at].Text)
	to, ok := m.other(v, at, m.valuesSeen(v), func(c *seenValue) bool {
		if r.byKind {
			return kindOf(c.value) != kind
		}
		return tested.Form(c.value) == tested.Form(blamed.Text)
	})
	if !ok {
		return fix{}
	}
	return m.apply(v, v.in.leaves[at].Path, edit{at, quoted(to), origin.Run})
}

// mendable reports whether another value helped where one was refused in the same way: in
// most of the calls that gave one.
func (m *Model) mendable(r *refusal) bool {
	c := m.values.by[r.way()]
	return c.Calls-c.Failed >= 2 && 3*(c.Calls-c.Failed) >= 2*c.Calls
}

// conform changes the value of a parameter that the message of a failed call names to one
// that worked in enough calls: the nearest number, or a word that the message names or
// that holds the planned one or is held by it.
func (m *Model) conform(v *view, c *runCall) fix {
	r := c.refusal()
	var best fix
	bestRank := math.Inf(-1)
	for at := range v.in.leaves {
		l := &v.in.leaves[at]
		if !hasToken(r.text, strings.ToLower(l.Name())) && !hasToken(r.text, strings.ToLower(l.Text)) || !slices.ContainsFunc(r.leaves, func(o leaf) bool { return o.Path == l.Path && o.Text == l.Text }) {
			continue
		}
		worked := m.values.worked[l.Path]
		if len(worked) > maxWorked {
			continue // of no small set
		}
		if known := worked[jsonOf(l)]; known != nil && m.meets(known) {
			continue // it is not this value
		}
		for json, by := range worked {
			rank, alike := by.likeness(l, r.text)
			if !alike || !m.meets(by) || rank < bestRank || rank == bestRank && best.to <= json {
				continue
			}
			if f := m.apply(v, l.Path, edit{at, json, origin.Shared}); f.input != nil {
				f.to = json
				best, bestRank = f, rank
			}
		}
	}
	return best
}

// likeness is how near a value that worked is to a refused one; false where nothing ties
// them.
func (w *workedValue) likeness(l *leaf, said string) (float64, bool) {
	if w.Kind == tested.Number && l.Kind == tested.Number {
		return -math.Abs(w.Number - l.Number), true
	}
	if w.Kind != tested.Text || l.Kind != tested.Text || w.Text == "" || l.Text == "" {
		return 0, false
	}
	a, b := strings.ToLower(w.Text), strings.ToLower(l.Text)
	near := -math.Abs(float64(len(a) - len(b)))
	if strings.Contains(a, b) || strings.Contains(b, a) {
		return near, true
	}
	return near - maxValue, hasToken(said, a)
}

// way is the same for refusals with the same message about the same parameter.
func (r *refusal) way() uint64 {
	return uint64(seed.add(r.blamed().Path).int(int(messageHash(r.text))))
} //nolint:gosec // a hash

var wholeNumber = regexp.MustCompile(`-?\d+(?:[.,]\d+)*`)

// numbersIn lists the numbers of a message.
func numbersIn(s string) []float64 {
	var out []float64
	for _, n := range wholeNumber.FindAllString(s, 8) {
		f, err := strconv.ParseFloat(strings.ReplaceAll(n, ",", ""), 64)
		if err == nil {
			out = append(out, f)
		}
	}
	return out
}

// balance repairs numbers whose sum was refused: where a message names two numbers
// of which one is the sum of what the call gave, the other is what the sum has to
// be, as long as the rest of the input stays.
func (m *Model) balance(v *view, r *refusal) fix {
	numbers := numbersIn(r.text)
	if len(numbers) != 2 {
		return fix{}
	}
	for i := range r.leaves {
		path := r.leaves[i].Path
		if r.leaves[i].Kind != tested.Number || !strings.Contains(path, "[]") || slices.ContainsFunc(r.leaves[:i], func(l leaf) bool { return l.Path == path }) {
			continue
		}
		for k, paid := range numbers {
			if !near(sumOf(r.leaves, path), paid) || near(paid, numbers[1-k]) {
				continue
			}
			total := numbers[1-k]
			if near(sumOf(v.in.leaves, path), total) || !m.sameBut(v.in.leaves, r.leaves, path) {
				return fix{}
			}
			return m.adjust(v, path, total-sumOf(v.in.leaves, path))
		}
	}
	return fix{}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-6*max(1, math.Abs(a)) }

func sumOf(leaves []leaf, path string) (sum float64) {
	for i := range leaves {
		if leaves[i].Kind == tested.Number && leaves[i].Path == path {
			sum += leaves[i].Number
		}
	}
	return sum
}

// sameBut reports whether two inputs give the same but for the list, or the object,
// that a path leads into.
func (m *Model) sameBut(a, b []leaf, path string) bool {
	top, _, _ := strings.Cut(path, "[]")
	top, _, _ = strings.Cut(top, ".")
	rest := func(leaves []leaf) uint64 {
		var other []leaf
		for i := range leaves {
			p := leaves[i].Path
			if leaves[i].Kind != tested.Object && p != top && !strings.HasPrefix(p, top+"[]") && !strings.HasPrefix(p, top+".") {
				other = append(other, leaves[i])
			}
		}
		return identityOf(other)
	}
	return rest(a) == rest(b)
}

// adjust adds to one of the numbers at a path: to the one whose source is not known
// to be limited, or to have enough. If there is none it takes another source for
// the last of them.
func (m *Model) adjust(v *view, path string, by float64) fix {
	limits := m.valuesSeen(v)
	last := -1
	for i := len(v.in.leaves) - 1; i >= 0; i-- {
		l := &v.in.leaves[i]
		if l.Path != path || l.Kind != tested.Number || l.Number+by < 0 {
			continue
		}
		if last < 0 {
			last = i
		}
		source := v.sibling(i)
		limit, limited := 0.0, false
		if source >= 0 {
			limit, limited = limits.limit(v.in.leaves[source].Text)
		}
		if !limited || limit >= l.Number+by {
			return m.apply(v, l.Path, edit{i, plain(l.Number + by), origin.Run})
		}
	}
	if last < 0 {
		return fix{}
	}
	source := v.sibling(last)
	if source < 0 {
		return fix{}
	}
	to, ok := m.other(v, source, limits, func(c *seenValue) bool { return !c.limited })
	if !ok {
		return fix{}
	}
	return m.apply(v, path, edit{last, plain(v.in.leaves[last].Number + by), origin.Run}, edit{source, quoted(to), origin.Run})
}

// sibling is the identifier that stands in the same object as a value, -1 for none.
func (v *view) sibling(at int) int {
	for i := range v.in.leaves {
		l := &v.in.leaves[i]
		if i != at && l.Within == v.in.leaves[at].Within && l.Within >= 0 && isID(l) {
			return i
		}
	}
	return -1
}

// spentToo reports whether the planned call differs from a refused one only in the
// source that had not enough, and gives one that has no more.
func (m *Model) spentToo(v *view, r *refusal) bool {
	blamed := r.blamed()
	if !m.sameBut(v.in.leaves, r.leaves, blamed.Path) {
		return false
	}
	at := slices.IndexFunc(v.in.leaves, func(l leaf) bool { return l.Path == blamed.Path })
	if at < 0 {
		return false
	}
	seen := m.valuesSeen(v)
	had, known := seen.limit(blamed.Text)
	has, knownToo := seen.limit(v.in.leaves[at].Text)
	return known && knownToo && has <= had
}

// other chooses, among the values that the run saw for a parameter, the one that
// goes best: never one that was refused in this run; of the kind that worked most
// often here.
func (m *Model) other(v *view, at int, seen *seenValues, want func(*seenValue) bool) (string, bool) {
	l := &v.in.leaves[at]
	var best *seenValue
	bestRank := 0.0
	for _, c := range seen.of(l) {
		if c.value == l.Text || !want(c) || v.refusedInRun(l.Path, c.value) {
			continue
		}
		rank := 1.0
		if kind := kindOf(c.value); kind != "" && m.values.good[kindHash(l.Path, kind)] {
			rank += 2
		}
		if m.values.good[valueHash(l.Path, c.value)] {
			rank++
		}
		if !c.limited {
			rank += 2.5
		}
		if rank > bestRank {
			best, bestRank = c, rank
		}
	}
	if best == nil {
		return "", false
	}
	return best.value, true
}

// refusedInRun reports whether a value failed at a path in this run.
func (v *view) refusedInRun(path, value string) bool {
	for i := range v.run {
		if !v.run[i].failed || !bytes.Contains(v.run[i].Input, []byte(value)) {
			continue
		}
		if l := v.run[i].refusal().blamed(); l != nil && l.Path == path && l.Text == value {
			return true
		}
	}
	return false
}

// apply makes edits, unless what comes out failed already.
func (m *Model) apply(v *view, path string, edits ...edit) fix {
	raw := bytes.TrimSpace(v.in.raw)
	slices.SortFunc(edits, func(a, b edit) int { return v.in.leaves[b.leaf].From - v.in.leaves[a.leaf].From })
	out := slices.Clone(raw)
	for _, e := range edits {
		l := &v.in.leaves[e.leaf]
		if _, may := origin.Show(origin.Suggestion, e.of, e.json, maxValue); !may || l.To <= l.From {
			return fix{}
		}
		out = slices.Replace(out, l.From, l.To, []byte(e.json)...)
	}
	if !json.Valid(out) || m.hasFailed(v, out) {
		return fix{}
	}
	return fix{input: out, path: path}
}

// hasFailed reports whether an input failed in this run, or wherever it was tried.
func (m *Model) hasFailed(v *view, input []byte) bool {
	identity := identityOf(leavesOf(input))
	for i := range v.run {
		if v.run[i].failed && v.run[i].identity == identity {
			return true
		}
	}
	failed := 0
	for _, place := range m.byInput[identity] {
		if m.calls[place].failed() {
			failed++
		}
	}
	return failed > 0 && failed == len(m.byInput[identity])
}

func plain(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(b)
}
