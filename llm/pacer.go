package llm

import "time"

// Learning a rate from refusals.
const (
	pacerLeast  = 10              // admitted requests that make a measurement
	pacerClean  = 5 * time.Second // clean time before the pace grows
	pacerStep   = 0.01            // first growth; each further one is half as much again
	pacerMost   = 0.5
	pacerShrink = 0.85            // one refusal takes the pace down to this part at most
	pacerBlind  = 0.95            // and to this when it came too soon to measure
	pacerMoment = 2 * time.Second // longer pauses are left out of a measurement
	pacerSlack  = 50 * time.Millisecond
)

// pacer guesses the server's request rate from its refusals alone. A refusal
// means that the server's credit is used up; so what it let through between
// refusals, with work waiting all the time, is its rate, be the limit on
// requests, on tokens or on concurrency. Before enough was measured there is no
// pace. Pauses of more than a moment are left out: where credit comes back once
// a minute, the measured rate is then far above the average, which is right,
// because there the pauses keep the limit. Not safe for concurrent use.
type pacer struct {
	rate     float64 // requests per second; 0 means none yet
	next     time.Time
	from     time.Time // the running stretch of measured time began; zero: none runs
	refusal  time.Time // the newest; zero: none since work last ran out
	took     time.Duration
	admitted int // requests in the measured time, without the refused ones
	grown    time.Time
	step     float64
}

func (p *pacer) wait(now time.Time) time.Duration {
	if p.rate == 0 {
		return 0
	}
	return max(0, p.next.Sub(now))
}

// start notes a request that goes out.
func (p *pacer) start(now time.Time) {
	if p.from.IsZero() && !p.refusal.IsZero() {
		p.from = now
		if now.Sub(p.refusal) <= pacerMoment {
			p.from = p.refusal
		}
	}
	p.admitted++
	if p.rate == 0 {
		return
	}
	if now.Sub(p.grown) >= pacerClean {
		p.rate *= 1 + p.step
		p.step = min(pacerMost, 1.5*p.step)
		p.grown = now
	}
	if from := now.Add(-pacerSlack); p.next.Before(from) {
		p.next = from
	}
	p.next = p.next.Add(time.Duration(float64(time.Second) / p.rate))
}

// refused notes a refusal; first says that it is the first of those that were
// out together.
func (p *pacer) refused(now time.Time, first bool) {
	p.admitted--
	p.grown, p.step = now, pacerStep
	if !first {
		return
	}
	if p.from.IsZero() { // the first refusal since work came in
		p.took, p.admitted = 0, 0
	} else {
		p.took += now.Sub(p.from)
	}
	p.from, p.refusal = time.Time{}, now
	if p.admitted < pacerLeast || p.took < time.Second {
		p.rate *= pacerBlind
		return
	}
	measured := float64(p.admitted) / p.took.Seconds()
	if p.rate > 0 {
		measured = min(max(measured, pacerShrink*p.rate), p.rate)
	}
	p.rate, p.next = measured, now
	p.took, p.admitted = 0, 0
}

// idle notes that nothing waits: what is admitted now says nothing of the
// server's rate.
func (p *pacer) idle() { p.from, p.refusal = time.Time{}, time.Time{} }
