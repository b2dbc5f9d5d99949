package metrics

import (
	"context"
	"time"

	"memoryd"
	"memoryd/store"

	"github.com/prometheus/client_golang/prometheus"
)

var _ store.Store = (*observedStore)(nil)

// observedStore passes every call on and observes how long it took and how it
// ended.
type observedStore struct {
	store.Store
	methods map[string]method
}

// method is what is kept of one method, looked up once.
type method struct {
	took   prometheus.Observer
	ok     prometheus.Counter
	failed map[memoryd.Kind]prometheus.Counter
}

// methodNames lists the observed methods: all that do work.
var methodNames = []string{
	"append", "history", "samples", "tool", "list_tools", "list_workspaces", "search_tools", "put_guideline",
	"restore_tool", "delete_tool", "delete_workspace", "settle", "override", "claim", "cached_verdict", "cache_verdict",
	"put_record", "put_records", "record", "list_records", "delete_record", "expire_records", "ping",
}

// Store decorates s: each method's time and outcome are observed in r. What s
// itself reports of its state (see WALReporter and its neighbours) is asked for
// at each scrape. A nil r gives s back. Only one store can be decorated for a
// registry.
func Store(s store.Store, r *Registry) store.Store {
	if r == nil {
		return s
	}
	o := &observedStore{Store: s, methods: make(map[string]method, len(methodNames))}
	for _, name := range methodNames {
		m := method{
			took: r.storeTime.WithLabelValues(name), ok: r.storeCalls.WithLabelValues(name, "ok"),
			failed: map[memoryd.Kind]prometheus.Counter{},
		}
		for _, kind := range memoryd.Kinds() {
			m.failed[kind] = r.storeCalls.WithLabelValues(name, string(kind))
		}
		o.methods[name] = m
	}
	r.StoreState(s)
	return o
}

// done observes a call that began at start.
func (o *observedStore) done(name string, start time.Time, err error) {
	m := o.methods[name]
	m.took.Observe(time.Since(start).Seconds())
	if err == nil {
		m.ok.Inc()
		return
	}
	kind, _ := memoryd.KindOf(err)
	if c, known := m.failed[kind]; known {
		c.Inc()
		return
	}
	m.failed[memoryd.Internal].Inc()
}

// Ping implements store.Store.
func (o *observedStore) Ping(ctx context.Context) error {
	start := time.Now()
	err := o.Store.Ping(ctx)
	o.done("ping", start, err)
	return err
}
