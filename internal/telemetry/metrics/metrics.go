// Package metrics counts what the server does and offers it to Prometheus. It is
// the only package that knows the Prometheus client; the others are observed
// through plain functions and numbers.
//
// Every metric stands in one table (see Table), from which docs/metrics.md is
// checked. No label ever carries text from outside: routes are the templates
// that the server registered, and all other values are words of the program's
// own making. Whatever else arrives is counted as "other".
package metrics

import (
	"net/http"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Build says what runs.
type Build struct{ Version, Commit string }

// Registry holds the metrics of one server. Methods are safe for concurrent
// use. A nil *Registry observes nothing, so that parts can be run without one.
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

// New makes a registry with the collectors of the Go runtime and of the process.
// It starts nothing.
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

// Handler serves the metrics in the format that the scraper asks for.
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
