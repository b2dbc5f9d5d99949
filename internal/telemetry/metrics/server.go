package metrics

import "time"

// The metrics of the server as a whole.
var (
	inFlight        = Metric{Name: "memoryd_http_requests_in_flight", Type: Gauge, Help: "Requests being worked on."}
	pendingCalls    = Metric{Name: "memoryd_pending_calls", Type: Gauge, Help: "Stored calls that have no verdict yet."}
	guidelinesKept  = Metric{Name: "memoryd_guidelines", Type: Gauge, Help: "Tools that have a guideline."}
	guidelinesStale = Metric{Name: "memoryd_guidelines_stale", Type: Gauge, Help: "Tools whose history changed since their guideline was written."}
	guidelineAge    = Metric{Name: "memoryd_guideline_oldest_age_seconds", Type: Gauge, Help: "Age of the oldest guideline whose tool's history changed since; 0 when there is none."}
)

func serverMetrics() []Metric {
	return []Metric{inFlight, pendingCalls, guidelinesKept, guidelinesStale, guidelineAge}
}

// InFlight asks for the number of requests being worked on at each scrape.
func (r *Registry) InFlight(n func() int64) {
	r.pull([]Metric{inFlight}, func(e emit) { e(inFlight, float64(n())) })
}

// Pending asks for the number of stored calls without a verdict at each scrape.
func (r *Registry) Pending(n func() int64) {
	r.pull([]Metric{pendingCalls}, func(e emit) { e(pendingCalls, float64(n())) })
}

// Guidelines says how old the guidelines are.
type Guidelines struct {
	Written, Stale int
	// Oldest is the age of the oldest stale one.
	Oldest time.Duration
}

// Guidelines asks for the state of the guidelines at each scrape. It should be
// cheap: a number that a background job keeps, not a walk over all tools.
func (r *Registry) Guidelines(state func() Guidelines) {
	r.pull([]Metric{guidelinesKept, guidelinesStale, guidelineAge}, func(e emit) {
		g := state()
		e(guidelinesKept, float64(g.Written))
		e(guidelinesStale, float64(g.Stale))
		e(guidelineAge, g.Oldest.Seconds())
	})
}
