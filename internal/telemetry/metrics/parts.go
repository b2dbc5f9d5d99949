package metrics

import (
	"maps"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Judge is what the judge has done and holds; counts start at the server's start.
type Judge struct {
	Verdicts     map[string]int64 `metric:"verdicts_total" label:"judge" help:"Calls with a verdict, by judge: rules, kind, cache or model; failed: no verdict was possible."`
	RuleVerdicts map[string]int64 `metric:"rule_verdicts_total" label:"rule" help:"Calls that a rule decided, by rule."`
	CacheHits    int64            `metric:"verdict_cache_hits_total" help:"Calls that reused the verdict on an equal call."`
	Joined       int64            `metric:"verdict_joins_total" help:"Cache hits that waited for an equal call that was being judged."`
	Failures     map[string]int64 `metric:"judge_failures_total" label:"reason" help:"Failed attempts to judge a call, by reason; each is retried."`
	Repaired     map[string]int64 `metric:"judge_repairs_total" label:"how" help:"Malformed answers of the model that were repaired, by kind of repair."`
	Reasked      int64            `metric:"judge_reasked_total" help:"Requests to the model that were repeated because the answer was unusable."`
	Agreed       map[string]int64 `metric:"judge_agreed_total" label:"with" help:"Verdicts of the judge that were compared with rules or people, and had the same score."`
	Differed     map[string]int64 `metric:"judge_differed_total" label:"with" help:"Verdicts of the judge that were compared with rules or people, and had another score."`
	LedgerErrors int64            `metric:"judge_store_errors_total" help:"Store errors of the judge."`
	Queued       int              `metric:"judge_queue_depth" help:"Calls that wait in memory for the judge."`
	InHand       int              `metric:"judge_in_hand" help:"Calls that wait in memory or are being judged."`
}

// Judge sets the source of the judge's numbers, which is called at each scrape.
func (r *Registry) Judge(state func() Judge) { pull(r, one(state)) }

// Model is the state of one configured model, by its name in the configuration.
type Model struct {
	Name        string `label:"model"`
	Available   bool   `metric:"model_available" help:"1 if the model is available, 0 while its circuit breaker is open or its server refuses."`
	Reason      string `metric:"model_halted" label:"reason" help:"1 for the reason why the model is unavailable: breaker_open, credentials, quota, unknown_model, endpoint or rate_limited."`
	Queued      int    `metric:"model_queue_depth" help:"Requests waiting for the model."`
	InFlight    int    `metric:"model_in_flight" help:"Running requests to the model."`
	Concurrency int    `metric:"model_concurrency_limit" help:"Current limit of concurrent requests; it adapts to the model's server."`
	Retries     int64  `metric:"model_retries_total" help:"Retries of requests to the model."`
}

// Models sets the source of the state of all models, which is called at each scrape.
func (r *Registry) Models(state func() []Model) { pull(r, state) }

// Intake counts what came from one source since the server's start.
type Intake struct {
	Source string           `label:"source"`
	Calls  map[string]int64 `metric:"intake_calls_total" label:"outcome" help:"Tool calls by source (api, import, mcp, mcp-wrap, telemetry, hooks) and outcome: recorded, known (received before), or the reason why the call was skipped."`
}

// Intake sets the source of the intake counts, which is called at each scrape.
func (r *Registry) Intake(state func() []Intake) { pull(r, state) }

// Guidelines describes the age of the guidelines.
type Guidelines struct {
	Written int           `metric:"guidelines" help:"Tools that have a guideline."`
	Stale   int           `metric:"guidelines_stale" help:"Tools whose history changed since their guideline was written."`
	Oldest  time.Duration `metric:"guideline_oldest_age_seconds" help:"Age of the oldest guideline whose tool's history changed since; 0 when there is none."`
}

// Guidelines sets the source of the guidelines' state, which is called at each scrape. It
// should be cheap: a number that a background job maintains, not a scan of all tools.
func (r *Registry) Guidelines(state func() Guidelines) { pull(r, one(state)) }

type panics struct {
	ByPart map[string]int64 `metric:"panics_total" label:"part" help:"Recovered panics, by part of the program. Each is a bug; its stack is in the log."`
}

// Panics sets the source of the number of caught panics by part, which is called at each
// scrape.
func (r *Registry) Panics(counts func() map[string]int64) {
	pull(r, one(func() panics {
		byPart := map[string]int64{other: 0}
		maps.Copy(byPart, counts())
		return panics{byPart}
	}))
}

type quotas struct {
	Refused map[string]int64 `metric:"quota_refusals_total" label:"quota" help:"Writes refused by a quota: workspaces, tools, originals or bytes."`
}

// Quotas sets the source of the number of refusals by quota, which is called at each scrape.
func (r *Registry) Quotas(refused func() map[string]int64) {
	pull(r, one(func() quotas { return quotas{refused()} }))
}

// gauge registers a number that is read at each scrape.
func gauge[N int | int64](r *Registry, name, help string, n func() N) {
	promauto.With(r.prom).NewGaugeFunc(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help},
		func() float64 { return float64(n()) })
}

// InFlight sets the source of the number of running requests.
func (r *Registry) InFlight(n func() int64) {
	gauge(r, "http_requests_in_flight", "Running requests.", n)
}

// Pending sets the source of the number of calls without a verdict.
func (r *Registry) Pending(n func() int64) {
	gauge(r, "pending_calls", "Stored calls that have no verdict yet.", n)
}

// Settings sets the source of the number of settings that differ from a remote store's.
func (r *Registry) Settings(differing func() int) {
	gauge(r, "qdrant_settings_differing", "Settings of store.qdrant that differ from those of the collections; Qdrant only.", differing)
}

// The state of a store, as far as a backend reports it. Each interface is optional: a backend
// has the methods that make sense for it, and each returns the current value.
type (
	// walReporter is a store that reports the size of its write-ahead log in bytes.
	walReporter interface{ WALBytes() int64 }
	// sizeReporter is a store that reports its size on disk in bytes.
	sizeReporter interface{ FileBytes() int64 }
	// queueReporter is a store that reports the number of writes waiting for a commit.
	queueReporter interface{ QueuedWrites() int64 }
)

// storeState reads what s reports about itself at each scrape.
func (r *Registry) storeState(s any) {
	if v, ok := s.(walReporter); ok {
		gauge(r, "store_wal_bytes", "Size of the store's write-ahead log; SQLite only.", v.WALBytes)
	}
	if v, ok := s.(sizeReporter); ok {
		gauge(r, "store_file_bytes", "Size of the store on disk; SQLite only.", v.FileBytes)
	}
	if v, ok := s.(queueReporter); ok {
		gauge(r, "store_queue_depth", "Writes waiting for a commit; SQLite only.", v.QueuedWrites)
	}
}
