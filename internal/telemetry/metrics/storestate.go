package metrics

// The state of a store, as far as a backend reports it. Each is optional; a
// backend has the methods that make sense for it, with the current value.
type (
	// WALReporter has a write-ahead log and says how many bytes it holds.
	WALReporter interface{ WALBytes() int64 }
	// SizeReporter says how many bytes the store takes on its disk.
	SizeReporter interface{ FileBytes() int64 }
	// QueueReporter says how many writes wait for a commit.
	QueueReporter interface{ QueuedWrites() int64 }
	// TrimReporter says how many calls that left their histories still wait to
	// be removed.
	TrimReporter interface{ TrimLag() int64 }
	// FoldReporter says how many entries of its journal wait to be folded in.
	FoldReporter interface{ FoldLag() int64 }
)

// The metrics of a store's state.
var (
	storeWAL    = Metric{Name: "memoryd_store_wal_bytes", Type: Gauge, Help: "Size of the store's write-ahead log; only of stores that have one."}
	storeSize   = Metric{Name: "memoryd_store_file_bytes", Type: Gauge, Help: "Size of the store on its disk; only of stores that know it."}
	storeQueue  = Metric{Name: "memoryd_store_queue_depth", Type: Gauge, Help: "Writes that wait for a commit; only of stores that queue."}
	storeTrim   = Metric{Name: "memoryd_store_trim_lag_calls", Type: Gauge, Help: "Calls that left their histories and still wait to be removed; only of stores that remove later."}
	storeUnfold = Metric{Name: "memoryd_store_fold_lag_entries", Type: Gauge, Help: "Journal entries that wait to be folded in; only of stores that keep a journal."}
)

func storeStateMetrics() []Metric {
	return []Metric{storeWAL, storeSize, storeQueue, storeTrim, storeUnfold}
}

// StoreState asks for what s reports of itself at each scrape. Store does so for
// the store that it decorates; one that stands behind another is asked by this.
func (r *Registry) StoreState(s any) {
	gauge := func(m Metric, value func() int64) {
		r.pull([]Metric{m}, func(e emit) { e(m, float64(value())) })
	}
	if v, ok := s.(WALReporter); ok {
		gauge(storeWAL, v.WALBytes)
	}
	if v, ok := s.(SizeReporter); ok {
		gauge(storeSize, v.FileBytes)
	}
	if v, ok := s.(QueueReporter); ok {
		gauge(storeQueue, v.QueuedWrites)
	}
	if v, ok := s.(TrimReporter); ok {
		gauge(storeTrim, v.TrimLag)
	}
	if v, ok := s.(FoldReporter); ok {
		gauge(storeUnfold, v.FoldLag)
	}
}
