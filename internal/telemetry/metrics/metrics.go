// Package metrics counts what the server does and offers the counts to Prometheus. Only this
// package imports the Prometheus client; others are observed through plain functions and
// numbers.
//
// Every metric is in one table (see Table), which docs/metrics.md is checked against. No
// label contains text from outside: routes are the templates that the server registered, and
// all other values are fixed words of the program. Anything else is counted as "other".
package metrics

import (
	"net/http"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Build describes the running program.
type Build struct{ Version, Commit string }

// Registry holds the metrics of one server. Its methods are safe for concurrent use. A nil
// *Registry observes nothing, so parts can run without one.
type Registry struct {
	prom   *prometheus.Registry
	routes routeSet
	words  wordSet

	requests    *prometheus.HistogramVec
	modelReqs   *prometheus.CounterVec
	modelTokens *prometheus.CounterVec
	modelCost   *prometheus.CounterVec
	modelTime   *prometheus.HistogramVec
	modelWaits  *prometheus.HistogramVec
	compactions *prometheus.CounterVec
	compactTime prometheus.Histogram
	compactSave prometheus.Counter
	storeTime   *prometheus.HistogramVec
	storeCalls  *prometheus.CounterVec
}

// New returns a registry with the collectors of the Go runtime and of the process. It starts
// nothing.
func New(b Build) *Registry {
	r := &Registry{
		prom:        prometheus.NewRegistry(),
		requests:    histogramVec(requestSeconds),
		modelReqs:   counterVec(modelRequests),
		modelTokens: counterVec(modelTokens),
		modelCost:   counterVec(modelCost),
		modelTime:   histogramVec(modelSeconds),
		modelWaits:  histogramVec(modelWait),
		compactions: counterVec(compactions),
		compactTime: histogram(compactionSeconds),
		compactSave: prometheus.NewCounter(prometheus.CounterOpts{Name: compactionSaved.Name, Help: compactionSaved.Help}),
		storeTime:   histogramVec(storeSeconds),
		storeCalls:  counterVec(storeCalls),
	}
	info := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: buildInfo.Name, Help: buildInfo.Help}, buildInfo.Labels)
	info.WithLabelValues(b.Version, b.Commit, runtime.Version()).Set(1)
	r.prom.MustRegister(
		r.requests, r.modelReqs, r.modelTokens, r.modelCost, r.modelTime, r.modelWaits,
		r.compactions, r.compactTime, r.compactSave, r.storeTime, r.storeCalls, info,
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		collectors.NewGoCollector(collectors.WithGoCollectorRuntimeMetrics(
			collectors.GoRuntimeMetricsRule{Matcher: schedulerLatency},
		)),
	)
	return r
}

// Handler serves the metrics in the format that the scraper requests.
func (r *Registry) Handler() http.Handler {
	return promhttp.HandlerFor(r.prom, promhttp.HandlerOpts{MaxRequestsInFlight: maxScrapes})
}

// maxScrapes bounds the scrapes under way: each walks all metrics.
const maxScrapes = 4

func counterVec(m Metric) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: m.Name, Help: m.Help}, m.Labels)
}

func histogramVec(m Metric) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: m.Name, Help: m.Help, Buckets: m.Buckets}, m.Labels)
}

func histogram(m Metric) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{Name: m.Name, Help: m.Help, Buckets: m.Buckets})
}
