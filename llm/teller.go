package llm

import (
	"math"
	"time"
)

// Telling the kinds of refill apart.
const (
	tellApart = 1.25 // by how much "used" must have changed to compare two reports
	tellUsed  = 4    // least use that two reports are compared at: they are rounded
	sameRate  = 0.15
	tellings  = 2               // comparisons in a row that must agree
	baseline  = 5 * time.Second // least time of a measurement
	sameFlow  = 0.3
)

// teller finds out from reports how a server's credit comes back, in two ways.
//
// By their resets: a bucket's reset is the time to full, so used/reset is its
// rate whatever was used; a window's is the time to its end, so used/reset
// grows with what was used.
//
// By measuring: what remains, plus what was taken since an earlier report, less
// what remained then, is what came back. This holds whatever limit and reset
// mean to the server, and takes longer.
type teller struct {
	used, perUsed float64 // the report to compare with: units used, and used/reset
	agree         int     // comparisons in a row that agree; negative: on a window

	at        time.Time // the measurement's beginning
	remaining float64
	taken     float64
	flow      float64 // units per second in the measurement before
}

// tell uses one more report on a request at whose start taken units had been
// taken. It gives a kind and a bucket's rate when it knows them anew.
func (t *teller) tell(now time.Time, r report, taken float64, kind refill) (refill, float64) {
	byReset, rate := t.byReset(r)
	byFlow, flow := t.byFlow(now, r, taken)
	switch {
	case kind == unknownRefill && byReset != unknownRefill:
		return byReset, rate
	case kind == unknownRefill:
		return byFlow, flow
	}
	return unknownRefill, 0
}

func (t *teller) byReset(r report) (refill, float64) {
	used := r.limit - r.remaining
	if used < tellUsed || r.reset <= 0 {
		return unknownRefill, 0
	}
	per := used / r.reset.Seconds()
	if t.used == 0 {
		t.used, t.perUsed = used, per
		return unknownRefill, 0
	}
	grown := used / t.used
	if grown < tellApart && grown > 1/tellApart {
		return unknownRefill, 0
	}
	ratio := per / t.perUsed
	t.used, t.perUsed = used, per
	switch {
	case math.Abs(ratio-1) < sameRate:
		t.agree = max(1, t.agree+1)
	case math.Abs(ratio/grown-1) < 2*sameRate:
		t.agree = min(-1, t.agree-1)
	default:
		t.agree = 0
	}
	switch {
	case t.agree >= tellings:
		return bucketRefill, per
	case t.agree <= -tellings:
		return windowRefill, 0
	}
	return unknownRefill, 0
}

func (t *teller) byFlow(now time.Time, r report, taken float64) (refill, float64) {
	dt := now.Sub(t.at)
	if !t.at.IsZero() && dt < baseline {
		return unknownRefill, 0
	}
	before := *t
	t.at, t.remaining, t.taken = now, r.remaining, taken
	if before.at.IsZero() || dt > 10*baseline {
		t.flow = 0
		return unknownRefill, 0
	}
	used := taken - before.taken
	back := r.remaining - before.remaining + used
	t.flow = max(0, back/dt.Seconds())
	switch {
	case used >= tellUsed && back <= 0.1*used:
		return windowRefill, 0
	case t.flow > 0 && before.flow > 0 && math.Abs(t.flow/before.flow-1) < sameFlow:
		return bucketRefill, t.flow
	}
	return unknownRefill, 0
}
