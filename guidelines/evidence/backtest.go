package evidence

import (
	"memoryd/internal/stats"
)

// Backtest says how an item did on the part of the history that it was not
// learned from. The history is cut in two, older and newer, so that no
// trajectory is in both. The item was found, with the same correction for
// everything that was tried, in one part alone, and then tested once on the
// other.
type Backtest struct {
	// Learned counts the part that the item was found in, Held the other; P is
	// Fisher's exact test of Held.
	Learned stats.Table `json:"learned"`
	Held    stats.Table `json:"held"`
	P       float64     `json:"p"`
}

// holdLevel is the level of the test on the part that an item was not learned
// from.
const holdLevel = 0.05

// verdict says what became of an item in the backtest.
type verdict uint8

const (
	provisional verdict = iota // too little history to tell
	confirmed
	rejected // a part of the history speaks against it
)

// trial is all tests on the history, or on a part of it.
type trial struct {
	part      set
	questions []question
	tests     int
	found     map[string]bool // discoveries by finding; nil until asked for
}

// backtest holds the trials on the parts. They are made when first asked for: a
// history that shows nothing needs none.
type backtest struct {
	miner  *miner
	facts  []feature
	fisher stats.Fisher
	parts  []trial
	// dropped counts the items that it rejected.
	dropped int
}

// try makes all tests within part.
func (b *backtest) try(part set) trial {
	t := trial{part: part}
	for _, q := range b.miner.questions(part) {
		if n := len(t.questions); n > 0 && sameSet(q.universe, t.questions[n-1].universe) {
			q.groups = plain(t.questions[n-1].groups)
		} else {
			q.groups = split(b.facts, q.universe)
		}
		q.test(b.fisher)
		t.questions = append(t.questions, q)
	}
	t.tests = correct(t.questions)
	return t
}

// plain is the groups of one question without its numbers.
func plain(groups []group) []group {
	out := make([]group, len(groups))
	for i, g := range groups {
		out[i] = group{set: g.set, facts: g.facts, contrast: g.contrast}
	}
	return out
}

// olderAndNewer makes the trials on both parts.
func (b *backtest) olderAndNewer() []trial {
	if b.parts == nil {
		older, newer := b.miner.inTwo()
		b.parts = []trial{b.try(older), b.try(newer)}
		for i := range b.parts {
			b.parts[i].discover()
		}
	}
	return b.parts
}

// discover notes what stands out in the part.
func (t *trial) discover() {
	t.found = map[string]bool{}
	for i := range t.questions {
		q := &t.questions[i]
		for j := range q.groups {
			if g := &q.groups[j]; g.q <= falseDiscovery {
				ratio, _ := g.table.RiskRatio()
				t.found[finding(q.name(), g.set, q.universe, ratio > 1)] = true
			}
		}
	}
}

// finding names a split of universe and its direction, the same from both sides.
func finding(question string, s, universe set, raises bool) string {
	s = s.and(universe)
	if first := universe.first(); first >= 0 && s.has(first) {
		s, raises = universe.without(s), !raises
	}
	key := append([]byte(question), 0, 0)
	if raises {
		key[len(key)-1] = 1
	}
	return string(s.appendKey(key))
}

// condition holds a condition against both parts.
func (b *backtest) condition(q *question, g group, raises bool) (verdict, *Backtest) {
	parts := b.olderAndNewer()
	var tables [2]stats.Table
	for i := range parts {
		u := q.universe.and(parts[i].part)
		bad, s := q.bad.and(u), g.set.and(u)
		with, withBad := s.count(), s.countAnd(bad)
		t := stats.Table{With: with, WithBad: withBad, Without: u.count() - with, WithoutBad: bad.count() - withBad}
		tables[i] = t
	}
	for i := range tables {
		if b.against(tables[i], tables[1-i], raises) {
			return rejected, nil
		}
	}
	for i := range parts {
		other := tables[1-i]
		if !parts[i].found[finding(q.name(), g.set, q.universe.and(parts[i].part), raises)] || !towards(other, raises) {
			continue
		}
		if p := b.fisher.P(other); p <= holdLevel {
			return confirmed, &Backtest{Learned: tables[i], Held: other, P: p}
		}
	}
	return provisional, nil
}

// against reports whether enough calls of one part show the opposite of the
// condition or no effect, be it that the outcome is about as frequent as ever or
// that it has become rare where the condition says that it is frequent.
func (b *backtest) against(t, other stats.Table, raises bool) bool {
	if t.With < 2*minSupport || t.Without < 2*minSupport || towards(t, raises) {
		return false
	}
	change := stats.Table{With: t.With, WithBad: t.WithBad, Without: other.With, WithoutBad: other.WithBad}
	if !raises {
		change = stats.Table{With: t.Without, WithBad: t.WithoutBad, Without: other.Without, WithoutBad: other.WithoutBad}
	}
	return t.WithBad+t.WithoutBad >= minSupport || b.fisher.P(change) <= holdLevel
}

func towards(t stats.Table, raises bool) bool {
	a, b := t.WithBad*t.Without, t.WithoutBad*t.With
	return a != b && a > b == raises
}

// inTwo cuts the history where half of the calls is over; a trajectory belongs
// where it began.
func (m *miner) inTwo() (older, newer set) {
	older, newer = newSet(len(m.calls)), newSet(len(m.calls))
	begun := map[int]bool{} // trajectory: whether in the older part
	for i := range m.calls {
		early := 2*i < len(m.calls)
		if t := m.trajectory[i]; t > 0 {
			if first, known := begun[t]; known {
				early = first
			}
			begun[t] = early
		}
		if early {
			older.add(i)
		} else {
			newer.add(i)
		}
	}
	return older, newer
}
