package metrics

// Desk is what the judge's desk has done and holds; all counts are since start.
type Desk struct {
	// RuleVerdicts is by the rule's name.
	RuleVerdicts map[string]int64
	// CacheHits took an earlier verdict, Joined among them waited for an equal
	// call in hand. ModelVerdicts were decided by the model, GivenUp ended as
	// failed.
	CacheHits, Joined, ModelVerdicts, GivenUp int64
	// Repaired counts answers that had to be repaired, by how; Reasked requests
	// that were repeated because the answer was of no use; Failures failed tries
	// by reason; LedgerErrors the times when the store could not be used.
	Repaired, Failures    map[string]int64
	Reasked, LedgerErrors int64
	// Queued calls wait in memory; InHand are these and those being judged.
	Queued, InHand int
}

// The metrics of the desk.
var (
	verdicts      = Metric{Name: "memoryd_verdicts_total", Type: Counter, Labels: []string{"judge"}, Help: "Calls that got a verdict, by who gave it: rules, cache or model; failed are those that nobody could judge."}
	ruleVerdicts  = Metric{Name: "memoryd_rule_verdicts_total", Type: Counter, Labels: []string{"rule"}, Help: "Calls that a rule decided, by the rule."}
	cacheHits     = Metric{Name: "memoryd_verdict_cache_hits_total", Type: Counter, Help: "Calls that took the verdict of an equal earlier call."}
	verdictsJoin  = Metric{Name: "memoryd_verdict_joins_total", Type: Counter, Help: "Cache hits that waited for an equal call that was being judged."}
	judgeFailures = Metric{Name: "memoryd_judge_failures_total", Type: Counter, Labels: []string{"reason"}, Help: "Failed tries to judge a call, by reason; the call is tried again."}
	judgeRepairs  = Metric{Name: "memoryd_judge_repairs_total", Type: Counter, Labels: []string{"how"}, Help: "Answers of the model that had to be repaired before they could be read, by how."}
	judgeReasked  = Metric{Name: "memoryd_judge_reasked_total", Type: Counter, Help: "Requests to the model that were repeated because the answer was of no use."}
	judgeLedger   = Metric{Name: "memoryd_judge_store_errors_total", Type: Counter, Help: "Times when the judge could not use the store."}
	judgeQueue    = Metric{Name: "memoryd_judge_queue_depth", Type: Gauge, Help: "Calls that wait in memory for the judge."}
	judgeInHand   = Metric{Name: "memoryd_judge_in_hand", Type: Gauge, Help: "Calls that wait in memory or are being judged."}
)

func deskMetrics() []Metric {
	return []Metric{
		verdicts, ruleVerdicts, cacheHits, verdictsJoin, judgeFailures, judgeRepairs, judgeReasked,
		judgeLedger, judgeQueue, judgeInHand,
	}
}

// Desk asks for the counters of the judge's desk at each scrape. It is called
// once; several desks are added up by the caller.
func (r *Registry) Desk(stats func() Desk) {
	r.pull(deskMetrics(), func(e emit) {
		d := stats()
		var rules int64
		for _, n := range d.RuleVerdicts {
			rules += n
		}
		e(verdicts, float64(rules), "rules")
		e(verdicts, float64(d.CacheHits), "cache")
		e(verdicts, float64(d.ModelVerdicts), "model")
		e(verdicts, float64(d.GivenUp), "failed")
		byWord(e, ruleVerdicts, d.RuleVerdicts)
		byWord(e, judgeFailures, d.Failures)
		byWord(e, judgeRepairs, d.Repaired)
		e(cacheHits, float64(d.CacheHits))
		e(verdictsJoin, float64(d.Joined))
		e(judgeReasked, float64(d.Reasked))
		e(judgeLedger, float64(d.LedgerErrors))
		e(judgeQueue, float64(d.Queued))
		e(judgeInHand, float64(d.InHand))
	})
}
