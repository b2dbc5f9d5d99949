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
	mu   sync.Mutex
	by   map[uint64]*known // by source: what one shows does not push out what others know
	read bool
}

// known are hashes of values.
type known struct{ now, before map[uint64]struct{} }

// maxWorld is how many of the newest values are known at least, of all sources together: when now has the share of a
// source, which is leastWorld at least, it takes the place of before.
const (
	maxWorld   = 16 << 10
	leastWorld = 1 << 10
)

// NewWorld returns a World of no calls.
func NewWorld() *World {
	w := UnreadWorld()
	w.Read()
	return w
}

// UnreadWorld returns a World of which calls are still to be read: until then, no call is compared with it.
func UnreadWorld() *World { return &World{by: map[uint64]*known{}} }

// Read says that all calls were read.
func (w *World) Read() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.read = true
}

func (w *World) isRead() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.read
}

// IsFull reports whether more values would push others out.
func (w *World) IsFull() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, k := range w.by {
		n += len(k.now) + len(k.before)
	}
	return n >= maxWorld
}

func (w *World) add(source, h uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := w.by[source]
	if k == nil {
		k = &known{now: map[uint64]struct{}{}}
		w.by[source] = k
	}
	if len(k.now) >= max(leastWorld, maxWorld/len(w.by)) {
		k.before, k.now = k.now, map[uint64]struct{}{}
	}
	k.now[h] = struct{}{}
}

func (w *World) knows(h uint64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, k := range w.by {
		_, now := k.now[h]
		_, before := k.before[h]
		if now || before {
			return true
		}
	}
	return false
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
func (o *Observer) teach(ob *Observation) {
	for i := range ob.leaves {
		if l := &ob.leaves[i]; names(l) {
			o.world.add(ob.Writer, maphash.Comparable(seed, gave{ob.Tool, l.Path, l.Text}))
			o.world.add(ob.Writer, maphash.String(seed, l.Text))
		}
	}
}

// names reports whether a value may name something that there is: a short text without blanks, and no date.
func names(l *rules.Leaf) bool {
	short := l.Kind == rules.Text && l.Text != "" && len(l.Text) <= maxGiven
	return short && !strings.ContainsFunc(l.Text, rules.Delimits) && rules.DateForm(l.Text) == ""
}
