package preflight

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"memoryd/guidelines/constraints"
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
}

// suggest finds a change of the planned input: where the run has shown what is
// wrong with it, or where it breaks what messages of other runs asked for.
func (m *Model) suggest(v *view) fix {
	if len(v.in.leaves) == 0 || v.in.leaves[0].kind != object {
		return fix{}
	}
	if f := m.mend(v); f.input != nil {
		return f
	}
	asks := 0
	for i := len(v.run) - 1; i >= 0 && asks < 4; i-- {
		c := &v.run[i]
		if !c.failed {
			continue
		}
		asks++
		if f := m.repair(v, c); f.input != nil {
			return f
		}
	}
	if v.broken != nil && m.watched.has(BreaksMessage) {
		return m.comply(v, v.broken)
	}
	return fix{}
}

// repair changes what a failed call of the run was refused for, if the planned call
// would be refused for the same.
func (m *Model) repair(v *view, c *runCall) fix {
	r, leaves, ok := c.refusal()
	if !ok {
		return fix{}
	}
	isSame := c.identity == v.in.identity
	if f := m.balance(v, &r, leaves); f.input != nil {
		return f
	}
	if r.Checkable() && constraints.Broken(r.Constraint, constraints.InputOf(v.in.raw)) {
		return m.conform(v, r.Constraint)
	}
	if r.leaf < 0 || !isID(&leaves[r.leaf]) || r.Class == constraints.SoldOut || r.Class == constraints.State {
		return fix{}
	}
	blamed := &leaves[r.leaf]
	at := slices.IndexFunc(v.in.leaves, func(l leaf) bool { return l.path == blamed.path && l.text == blamed.text })
	switch r.Class {
	case constraints.Forbidden, constraints.NotFound:
	default: // such as a balance: it depends on the rest of the input
		if !isSame && (at >= 0 || !m.spentToo(v, &r, leaves)) {
			return fix{}
		}
		if at < 0 {
			at = slices.IndexFunc(v.in.leaves, func(l leaf) bool { return l.path == blamed.path })
		}
	}
	if at < 0 {
		return fix{}
	}
	return m.replace(v, at, &r)
}

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
func (m *Model) balance(v *view, r *refusal, leaves []leaf) fix {
	if r.Class != constraints.Sum || !m.quorate(r.text) {
		return fix{}
	}
	numbers := numbersIn(r.text)
	if len(numbers) != 2 {
		return fix{}
	}
	for i := range leaves {
		path := leaves[i].path
		if leaves[i].kind != number || slices.ContainsFunc(leaves[:i], func(l leaf) bool { return l.path == path }) {
			continue
		}
		for k, paid := range numbers {
			if !near(sumOf(leaves, path), paid) || near(paid, numbers[1-k]) {
				continue
			}
			total := numbers[1-k]
			if near(sumOf(v.in.leaves, path), total) || !m.sameBut(v.in.leaves, leaves, path) {
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
		if leaves[i].kind == number && leaves[i].path == path {
			sum += leaves[i].number
		}
	}
	return sum
}

// sameBut reports whether two inputs give the same but for the list, or the object,
// that a path leads into.
func (m *Model) sameBut(a, b []leaf, path string) bool {
	top, _, _ := strings.Cut(strings.TrimPrefix(path, "."), "[]")
	top, _, _ = strings.Cut(top, ".")
	rest := func(leaves []leaf) uint64 {
		var other []leaf
		for i := range leaves {
			p := strings.TrimPrefix(leaves[i].path, ".")
			if leaves[i].kind != object && p != top && !strings.HasPrefix(p, top+"[]") && !strings.HasPrefix(p, top+".") {
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
		if l.path != path || l.kind != number || l.number+by < 0 {
			continue
		}
		if last < 0 {
			last = i
		}
		source := v.sibling(i)
		limit, limited := 0.0, false
		if source >= 0 {
			limit, limited = limits.limit(v.in.leaves[source].text)
		}
		if !limited || limit >= l.number+by {
			return m.apply(v, l.path, edit{i, plain(l.number + by)})
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
	return m.apply(v, path, edit{last, plain(v.in.leaves[last].number + by)}, edit{source, quoted(to)})
}

// sibling is the identifier that stands in the same object as a value, -1 for none.
func (v *view) sibling(at int) int {
	for i := range v.in.leaves {
		l := &v.in.leaves[i]
		if i != at && l.within == v.in.leaves[at].within && l.within >= 0 && isID(l) {
			return i
		}
	}
	return -1
}

// spentToo reports whether the planned call differs from a refused one only in the
// source that had not enough, and gives one that has no more.
func (m *Model) spentToo(v *view, r *refusal, leaves []leaf) bool {
	if r.Class != constraints.Balance {
		return false
	}
	blamed := &leaves[r.leaf]
	if !m.sameBut(v.in.leaves, leaves, blamed.path) {
		return false
	}
	at := slices.IndexFunc(v.in.leaves, func(l leaf) bool { return l.path == blamed.path })
	if at < 0 {
		return false
	}
	seen := m.valuesSeen(v)
	had, known := seen.limit(blamed.text)
	has, knownToo := seen.limit(v.in.leaves[at].text)
	return known && knownToo && has <= had
}

// replace gives another value from what the run has seen.
func (m *Model) replace(v *view, at int, r *refusal) fix {
	seen := m.valuesSeen(v)
	kind := kindOf(v.in.leaves[at].text)
	to, ok := m.other(v, at, seen, func(c *seenValue) bool {
		switch r.Class {
		case constraints.Forbidden:
			return kindOf(c.value) != kind
		case constraints.NotFound:
			return true
		}
		return !c.limited
	})
	if !ok {
		return fix{}
	}
	return m.apply(v, v.in.leaves[at].path, edit{at, quoted(to)})
}

// other chooses, among the values that the run saw for a parameter, the one that
// goes best: never one that was refused in this run; of the kind that worked most
// often here; of those the one most like what was planned.
func (m *Model) other(v *view, at int, seen *seenValues, want func(*seenValue) bool) (string, bool) {
	l := &v.in.leaves[at]
	var best *seenValue
	bestRank := 0.0
	for _, c := range seen.of(l) {
		if c.value == l.text || !want(c) || v.refusedInRun(l.path, c.value) {
			continue
		}
		rank := 1.0
		if kind := kindOf(c.value); kind != "" {
			if _, worked := m.refused.good[kindHash(l.path, kind)]; worked {
				rank += 2
			}
		}
		if _, worked := m.refused.good[valueHash(l.path, c.value)]; worked {
			rank++
		}
		if digits(c.value) == digits(l.text) && digits(l.text) != "" {
			rank += 4
		}
		if !c.limited {
			rank += 0.5
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

func digits(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, s)
}

// refusedInRun reports whether a value failed at a path in this run.
func (v *view) refusedInRun(path, value string) bool {
	for i := range v.run {
		if !v.run[i].failed || !bytes.Contains(v.run[i].Input, []byte(value)) {
			continue
		}
		r, leaves, ok := v.run[i].refusal()
		if ok && r.leaf >= 0 && leaves[r.leaf].path == path && leaves[r.leaf].text == value {
			return true
		}
	}
	return false
}

// comply changes what the input breaks of what messages of other runs asked for.
func (m *Model) comply(v *view, a *asked) fix {
	if a.path == "" {
		return m.conform(v, a.constraint)
	}
	at := m.refused.refuses(a, v.in.leaves)
	if at < 0 {
		return fix{}
	}
	return m.replace(v, at, &refusal{Constraint: a.constraint, leaf: at})
}

// conform changes the value that breaks a constraint to one that keeps it and that
// worked in enough calls: the nearest number, a word that holds the planned one or is
// held by it, or the planned value as the type that works.
func (m *Model) conform(v *view, c constraints.Constraint) fix {
	at := slices.IndexFunc(v.in.leaves, func(l leaf) bool { return strings.TrimPrefix(l.path, ".") == c.Parameter })
	if at < 0 {
		return fix{}
	}
	l := &v.in.leaves[at]
	likeness := func(worked *leaf) (float64, bool) {
		switch {
		case worked.kind == number && l.kind == number:
			return -math.Abs(worked.number - l.number), true
		case worked.kind == text && l.kind == text:
			a, b := strings.ToLower(worked.text), strings.ToLower(l.text)
			return -math.Abs(float64(len(a) - len(b))), a != "" && b != "" && (strings.Contains(a, b) || strings.Contains(b, a))
		}
		return 0, false
	}
	var best fix
	bestRank := math.Inf(-1)
	try := func(to string, rank float64) {
		if rank < bestRank {
			return
		}
		if f := m.apply(v, l.path, edit{at, to}); f.input != nil && !constraints.Broken(c, constraints.InputOf(f.input)) && (rank > bestRank || to < best.to) {
			f.to = to
			best, bestRank = f, rank
		}
	}
	for _, worked := range m.refused.values {
		if worked.path != l.path || !m.meets(&worked.by) {
			continue
		}
		if rank, alike := likeness(&worked.leaf); alike {
			try(worked.json(), rank)
		}
		if own := (leaf{kind: worked.kind, text: l.text}); c.Class == constraints.Type && worked.kind != l.kind && json.Valid([]byte(own.json())) {
			try(own.json(), 0)
		}
	}
	return best
}

// json is a scalar as it stands in an input.
func (l *leaf) json() string {
	if l.kind == text {
		return quoted(l.text)
	}
	return l.text
}

// apply makes edits, unless what comes out failed already.
func (m *Model) apply(v *view, path string, edits ...edit) fix {
	raw := bytes.TrimSpace(v.in.raw)
	slices.SortFunc(edits, func(a, b edit) int { return v.in.leaves[b.leaf].from - v.in.leaves[a.leaf].from })
	out := slices.Clone(raw)
	for _, e := range edits {
		l := &v.in.leaves[e.leaf]
		if l.to <= l.from {
			return fix{}
		}
		out = slices.Replace(out, l.from, l.to, []byte(e.json)...)
	}
	if !json.Valid(out) {
		return fix{}
	}
	identity := identityOf(leavesOf(out))
	for i := range v.run {
		if v.run[i].failed && v.run[i].identity == identity {
			return fix{}
		}
	}
	failed := 0
	for _, place := range m.byInput[identity] {
		if m.calls[place].failed() {
			failed++
		}
	}
	if failed > 0 && failed == len(m.byInput[identity]) {
		return fix{}
	}
	return fix{input: out, path: path}
}

func plain(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(b)
}
