package metrics

import (
	"maps"
	"time"
)

// Judge is what the judge has done and holds; counts are since start.
type Judge struct {
	Verdicts     map[string]int64 `metric:"verdicts_total" label:"judge" help:"Calls that got a verdict, by who gave it: rules, kind, cache or model; failed are those that nobody could judge."`
	RuleVerdicts map[string]int64 `metric:"rule_verdicts_total" label:"rule" help:"Calls that a rule decided, by the rule."`
	CacheHits    int64            `metric:"verdict_cache_hits_total" help:"Calls that took the verdict of an equal earlier call."`
	Joined       int64            `metric:"verdict_joins_total" help:"Cache hits that waited for an equal call that was being judged."`
	Failures     map[string]int64 `metric:"judge_failures_total" label:"reason" help:"Failed tries to judge a call, by reason; the call is tried again."`
	Repaired     map[string]int64 `metric:"judge_repairs_total" label:"how" help:"Answers of the model that had to be repaired before they could be read, by how."`
	Reasked      int64            `metric:"judge_reasked_total" help:"Requests to the model that were repeated because the answer was of no use."`
	LedgerErrors int64            `metric:"judge_store_errors_total" help:"Times when the judge could not use the store."`
	Queued       int              `metric:"judge_queue_depth" help:"Calls that wait in memory for the judge."`
	InHand       int              `metric:"judge_in_hand" help:"Calls that wait in memory or are being judged."`
}

// Judge asks for the judge's numbers at each scrape.
func (r *Registry) Judge(state func() Judge) { pull(r, one(state)) }

// Model is the state of one configured model, by its name in the configuration.
type Model struct {
	Name        string `label:"model"`
	Available   bool   `metric:"model_available" help:"1 while the model can be asked, 0 while its circuit breaker is open or its server refuses for long."`
	Reason      string `metric:"model_halted" label:"reason" help:"1 for the reason why the model is not asked now: breaker_open, credentials, quota, unknown_model, endpoint or rate_limited."`
	Queued      int    `metric:"model_queue_depth" help:"Requests that wait for their turn at the model."`
	InFlight    int    `metric:"model_in_flight" help:"Requests to the model under way."`
	Concurrency int    `metric:"model_concurrency_limit" help:"How many requests may be under way now; it adapts to what the server bears."`
	Retries     int64  `metric:"model_retries_total" help:"Requests that repeated an earlier one after a failure, a refusal or an adaptation."`
}

// Models asks for the state of all models at each scrape.
func (r *Registry) Models(state func() []Model) { pull(r, state) }

// Intake is what came by one way, since start.
type Intake struct {
	Source string           `label:"source"`
	Calls  map[string]int64 `metric:"intake_calls_total" label:"outcome" help:"Tool calls by the way they came (api, import, mcp, mcp-wrap, telemetry, hooks) and what became of them: new ones are recorded, known ones had come before; others were left out for the reason that the label says."`
}

// Intake asks for what came in at each scrape.
func (r *Registry) Intake(state func() []Intake) { pull(r, state) }

// Guidelines says how old the guidelines are.
type Guidelines struct {
	Written int           `metric:"guidelines" help:"Tools that have a guideline."`
	Stale   int           `metric:"guidelines_stale" help:"Tools whose history changed since their guideline was written."`
	Oldest  time.Duration `metric:"guideline_oldest_age_seconds" help:"Age of the oldest guideline whose tool's history changed since; 0 when there is none."`
}

// Guidelines asks for the state of the guidelines at each scrape. It should be
// cheap: a number that a background job keeps, not a walk over all tools.
func (r *Registry) Guidelines(state func() Guidelines) { pull(r, one(state)) }

// The parts of one number.
type (
	inFlight struct {
		N int64 `metric:"http_requests_in_flight" help:"Requests being worked on."`
	}
	pendingCalls struct {
		N int64 `metric:"pending_calls" help:"Stored calls that have no verdict yet."`
	}
	panics struct {
		ByPart map[string]int64 `metric:"panics_total" label:"part" help:"Panics that were caught, by the part of the program: each is a defect, and its stack is in the log. The series other is always there."`
	}
	quotas struct {
		Refused map[string]int64 `metric:"quota_refusals_total" label:"quota" help:"Writes that a quota refused, by the quota: workspaces, tools, originals or bytes."`
	}
	spansDropped struct {
		Why map[string]int64 `metric:"trace_spans_dropped_total" label:"reason" help:"Spans that were lost: queue_full (trace.queue waited already) or collector (it did not take them); only while traces are sent."`
	}
	storeWAL struct {
		Bytes int64 `metric:"store_wal_bytes" help:"Size of the store's write-ahead log; only of stores that have one."`
	}
	storeSize struct {
		Bytes int64 `metric:"store_file_bytes" help:"Size of the store on its disk; only of stores that know it."`
	}
	storeSettings struct {
		Differing int `metric:"qdrant_settings_differing" help:"Settings of store.qdrant that the collections do not have: they were made with others, which hold; only with Qdrant."`
	}
	storeQueue struct {
		Writes int64 `metric:"store_queue_depth" help:"Writes that wait for a commit; only of stores that queue."`
	}
)

// InFlight asks for the number of requests being worked on at each scrape.
func (r *Registry) InFlight(n func() int64) {
	pull(r, one(func() inFlight { return inFlight{n()} }))
}

// Pending asks for the number of stored calls without a verdict at each scrape.
func (r *Registry) Pending(n func() int64) {
	pull(r, one(func() pendingCalls { return pendingCalls{n()} }))
}

// Settings asks at each scrape for the number of settings that a remote store does not
// have.
func (r *Registry) Settings(differing func() int) {
	pull(r, one(func() storeSettings { return storeSettings{differing()} }))
}

// Panics asks at each scrape for the number of caught panics by part.
func (r *Registry) Panics(counts func() map[string]int64) {
	pull(r, one(func() panics {
		byPart := map[string]int64{other: 0}
		maps.Copy(byPart, counts())
		return panics{byPart}
	}))
}

// Quotas asks at each scrape for the number of refusals by quota.
func (r *Registry) Quotas(refused func() map[string]int64) {
	pull(r, one(func() quotas { return quotas{refused()} }))
}

// Spans asks at each scrape for the numbers of spans that met a full queue, and
// that the collector did not take.
func (r *Registry) Spans(lost func() (queueFull, collector int64)) {
	pull(r, one(func() spansDropped {
		queueFull, collector := lost()
		return spansDropped{map[string]int64{"queue_full": queueFull, "collector": collector}}
	}))
}

// The state of a store, as far as a backend reports it. Each is optional; a
// backend has the methods that make sense for it, with the current value.
type (
	// WALReporter has a write-ahead log and says how many bytes it holds.
	WALReporter interface{ WALBytes() int64 }
	// SizeReporter says how many bytes the store takes on its disk.
	SizeReporter interface{ FileBytes() int64 }
	// QueueReporter says how many writes wait for a commit.
	QueueReporter interface{ QueuedWrites() int64 }
)

// StoreState asks for what s reports of itself at each scrape. Store does so for
// the store that it decorates; one that stands behind another is asked by this.
func (r *Registry) StoreState(s any) {
	if v, ok := s.(WALReporter); ok {
		pull(r, one(func() storeWAL { return storeWAL{v.WALBytes()} }))
	}
	if v, ok := s.(SizeReporter); ok {
		pull(r, one(func() storeSize { return storeSize{v.FileBytes()} }))
	}
	if v, ok := s.(QueueReporter); ok {
		pull(r, one(func() storeQueue { return storeQueue{v.QueuedWrites()} }))
	}
}
