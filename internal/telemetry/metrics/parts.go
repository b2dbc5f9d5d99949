package metrics

import (
	"maps"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

type panics struct {
	ByPart map[string]int64 `metric:"panics_total" label:"part" help:"Recovered panics, by part of the program. Each is a bug; its stack is in the log."`
}

// Panics sets the source of the number of caught panics by part, which is called at each
// scrape.
func (r *Registry) Panics(counts func() map[string]int64) {
	Pull(r, func() panics {
		byPart := map[string]int64{other: 0}
		maps.Copy(byPart, counts())
		return panics{byPart}
	})
}

type quotas struct {
	Refused map[string]int64 `metric:"quota_refusals_total" label:"quota" help:"Writes refused by a quota: workspaces, tools, originals or bytes."`
}

// Quotas sets the source of the number of refusals by quota, which is called at each scrape.
func (r *Registry) Quotas(refused func() map[string]int64) {
	Pull(r, func() quotas { return quotas{refused()} })
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
