package monitor

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"memoryd"
)

// levels counts scores: failure, partial, success.
type levels [3]int64

func levelOf(score float64) int {
	switch {
	case score <= memoryd.ScoreFailure:
		return 0
	case score < memoryd.ScoreSuccess:
		return 1
	}
	return 2
}

// levelNames are the levels as reports name them.
func levelNames() [3]string { return [3]string{"0.0", "0.5", "1.0"} }

func (l levels) named() map[string]int64 {
	m := map[string]int64{}
	for i, name := range levelNames() {
		m[name] = l[i]
	}
	return m
}

func (l levels) sum() int64 { return l[0] + l[1] + l[2] }

// judge is what is known of one judge.
type judge struct {
	heard  time.Time
	scores levels
	recent ring[int] // the newest levels
	tools  map[memoryd.ToolRef]*levels

	alike      alike
	withRules  agreement
	withPeople agreement
	warnings   map[string]string // by topic; "" is none
}

func newJudge(cfg Config) *judge {
	return &judge{
		recent: newRing[int](cfg.Window), tools: map[memoryd.ToolRef]*levels{}, warnings: map[string]string{},
		alike:      alike{after: cfg.AlikeAfter},
		withRules:  newAgreement(cfg.Window),
		withPeople: newAgreement(cfg.Window / 4),
	}
}

// maxTools bounds the tools that are counted for one judge. When it is reached,
// the quarter with the fewest evaluations makes room.
const maxTools = 256

func (j *judge) note(ref memoryd.ToolRef, level int) {
	j.scores[level]++
	j.recent.push(level)
	t, ok := j.tools[ref]
	if !ok {
		if len(j.tools) >= maxTools {
			j.dropRarest()
		}
		t = &levels{}
		j.tools[ref] = t
	}
	t[level]++
}

// dropRarest makes room for many at once: in turn, it would cost every evaluation a
// look at all tools where more are in use than are counted.
func (j *judge) dropRarest() {
	rarest := slices.SortedFunc(maps.Keys(j.tools), func(a, b memoryd.ToolRef) int {
		return cmp.Compare(j.tools[a].sum(), j.tools[b].sum())
	})
	for _, ref := range rarest[:maxTools/4] {
		delete(j.tools, ref)
	}
}

// ring keeps the newest values, up to a number.
type ring[T any] struct {
	values []T
	next   int
	size   int
}

func newRing[T any](size int) ring[T] { return ring[T]{size: size} }

// push takes a value in and gives the one that had to leave, if any.
func (r *ring[T]) push(v T) (out T, full bool) {
	if len(r.values) < r.size {
		r.values = append(r.values, v)
		return out, false
	}
	out = r.values[r.next]
	r.values[r.next] = v
	r.next = (r.next + 1) % r.size
	return out, true
}
