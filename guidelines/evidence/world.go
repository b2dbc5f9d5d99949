package evidence

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync"

	"memoryd/guidelines/rules"
)

// World is what good calls of a workspace used and their answers showed, in any run. It is safe for concurrent use.
type World struct {
	mu          sync.Mutex
	now, before map[uint64]struct{} // hashes of values
}

// maxWorld is how many of the newest values are known at least; when now has so many, it takes the place of before.
const maxWorld = 16 << 10

// NewWorld returns a World of no calls.
func NewWorld() *World { return &World{now: map[uint64]struct{}{}} }

func (w *World) add(h uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.now) >= maxWorld {
		w.before, w.now = w.now, make(map[uint64]struct{}, maxWorld)
	}
	w.now[h] = struct{}{}
}

func (w *World) knows(h uint64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, now := w.now[h]
	_, before := w.before[h]
	return now || before
}

// In makes the observer say which values of calls the workspace does not know.
func (o *Observer) In(w *World) *Observer {
	o.world = w
	return o
}

// Teach is In, and what the observer reads of good calls is known from then on.
func (o *Observer) Teach(w *World) *Observer {
	o.teaches = true
	return o.In(w)
}

// gave is a value that a call of a tool gave for a parameter.
type gave struct{ tool, path, text string }

// strange lists the parameters whose values neither the workspace nor the run knows, and those whose values a good call
// of the tool gave already.
func (o *Observer) strange(tool string, r *run, leaves []rules.Leaf) (strange, taken []string) {
	for i := range leaves {
		l := &leaves[i]
		if !names(l) || len(strange)+len(taken) == maxSources || slices.Contains(strange, l.Path) {
			continue
		}
		h := maphash.String(seed, l.Text)
		if _, shown := r.values[h]; !shown && r.given[h] == "" && !o.world.knows(h) {
			strange = append(strange, l.Path)
		} else if o.world.knows(maphash.Comparable(seed, gave{tool, l.Path, l.Text})) {
			taken = append(taken, l.Path)
		}
	}
	return strange, taken
}

// teach makes the values of a good call known.
func (o *Observer) teach(tool string, leaves []rules.Leaf) {
	for i := range leaves {
		if l := &leaves[i]; names(l) {
			o.world.add(maphash.Comparable(seed, gave{tool, l.Path, l.Text}))
			o.world.add(maphash.String(seed, leaves[i].Text))
		}
	}
}

// names reports whether a value may name something that there is: a short text without blanks, and no date.
func names(l *rules.Leaf) bool {
	short := l.Kind == rules.Text && l.Text != "" && len(l.Text) <= maxGiven
	return short && !strings.ContainsFunc(l.Text, rules.Delimits) && rules.DateForm(l.Text) == ""
}
