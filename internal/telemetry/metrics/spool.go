package metrics

import "time"

// Spool is the state of the journal before a remote store. Counts are since
// start, of calls, verdicts and deletions.
type Spool struct {
	// Backlog waits to be forwarded, the oldest of it for Age.
	Backlog int
	Age     time.Duration
	// Away says that the remote store does not answer, or cannot be used.
	Away bool
	// Forwarded are at the remote store, Parked were refused by it for ever.
	Forwarded, Parked int64
	// Repairs is how many comparisons ended, and what they gave back.
	Repairs                     int64
	Calls, Verdicts, Guidelines int64
}

// The metrics of the journal; only of stores that have one.
var (
	spoolBacklog   = Metric{Name: "memoryd_spool_backlog_entries", Type: Gauge, Help: "Calls, verdicts and deletions that wait in the journal for the remote store; only with store.spool."}
	spoolAge       = Metric{Name: "memoryd_spool_oldest_age_seconds", Type: Gauge, Help: "For how long the oldest of them has waited; 0 when nothing waits."}
	spoolRemote    = Metric{Name: "memoryd_spool_remote_available", Type: Gauge, Help: "1 while the remote store answers, 0 while it is away or cannot be used and reads are answered from the journal's copy."}
	spoolForwarded = Metric{Name: "memoryd_spool_forwarded_total", Type: Counter, Help: "Calls, verdicts and deletions that were forwarded to the remote store."}
	spoolParked    = Metric{Name: "memoryd_spool_parked_total", Type: Counter, Help: "Of them those that the remote store refused for ever: they are put aside in the journal for a person to look at."}
	spoolRepairs   = Metric{Name: "memoryd_spool_repairs_total", Type: Counter, Help: "Comparisons of the journal's copy with the remote store that came to their end."}
	spoolRepaired  = Metric{Name: "memoryd_spool_repaired_total", Type: Counter, Labels: []string{"what"}, Help: "What the remote store had lost and was given back: calls, verdicts, guidelines."}
)

func spoolMetrics() []Metric {
	return []Metric{spoolBacklog, spoolAge, spoolRemote, spoolForwarded, spoolParked, spoolRepairs, spoolRepaired}
}

// Spool asks for the state of the journal at each scrape.
func (r *Registry) Spool(state func() Spool) {
	r.pull(spoolMetrics(), func(e emit) {
		s := state()
		available := 1.0
		if s.Away {
			available = 0
		}
		e(spoolBacklog, float64(s.Backlog))
		e(spoolAge, s.Age.Seconds())
		e(spoolRemote, available)
		e(spoolForwarded, float64(s.Forwarded))
		e(spoolParked, float64(s.Parked))
		e(spoolRepairs, float64(s.Repairs))
		e(spoolRepaired, float64(s.Calls), "calls")
		e(spoolRepaired, float64(s.Verdicts), "verdicts")
		e(spoolRepaired, float64(s.Guidelines), "guidelines")
	})
}
