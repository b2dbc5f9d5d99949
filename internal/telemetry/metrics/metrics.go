// Package metrics counts what the server does and offers the counts to Prometheus. Only this
// package imports the Prometheus client; others are observed through plain functions and
// numbers.
//
// docs/metrics.md lists the metrics; a test compares it with a scrape. No label contains text
// from outside: routes are the templates that the server matched, and all other values are
// fixed words of the program or names from the configuration.
package metrics

import (
	"net/http"
	"regexp"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Build describes the running program.
type Build struct{ Version, Commit string }

// Registry holds the metrics of one server. Its methods are safe for concurrent use.
type Registry struct {
	prom *prometheus.Registry

	requests    *prometheus.HistogramVec
	modelReqs   *prometheus.CounterVec
	modelTokens *prometheus.CounterVec
	modelCost   *prometheus.CounterVec
	modelTime   *prometheus.HistogramVec
	modelWaits  *prometheus.HistogramVec
	judged      *prometheus.CounterVec
	compactions *prometheus.CounterVec
	compactTime *prometheus.HistogramVec
	compactSave *prometheus.CounterVec
	storeTime   *prometheus.HistogramVec
	storeCalls  *prometheus.CounterVec
}

// namespace begins the name of each metric.
const namespace = "memoryd"

// The buckets. Requests range from a memory lookup to a wait for a model, store
// methods from a map entry to a full disk.
var (
	requestBuckets = []float64{
		.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30,
	}
	storeBuckets   = []float64{.00001, .000025, .0001, .00025, .0005, .001, .0025, .005, .01, .025, .1, .5, 2.5}
	modelBuckets   = []float64{.05, .1, .25, .5, 1, 2, 3, 5, 8, 13, 20, 30, 60, 120}
	compactBuckets = []float64{.001, .005, .01, .025, .05, .1, .25, .5, 1, 5, 30, 120}
)

// New makes a registry with the collectors of the Go runtime and of the process.
// It starts nothing.
func New(b Build) *Registry {
	prom := prometheus.NewRegistry()
	auto := promauto.With(prom)
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return auto.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
	}
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return auto.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets}, labels)
	}
	auto.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Name: "build_info", Help: "Always 1; the labels name the version."},
		[]string{"version", "commit", "go"}).WithLabelValues(b.Version, b.Commit, runtime.Version()).Set(1)
	prom.MustRegister(
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		// The scheduler's latency shows a machine at its limit: how long goroutines that
		// could run had to wait for a processor.
		collectors.NewGoCollector(collectors.WithGoCollectorRuntimeMetrics(
			collectors.GoRuntimeMetricsRule{Matcher: regexp.MustCompile(`^/sched/latencies:seconds$`)},
		)),
	)
	return &Registry{
		prom: prom,
		requests: histogram("http_request_duration_seconds", "Time from the first byte of a request to the last of its answer. "+
			"Status is a class such as 2xx; 429 and 503 stand for themselves. The _count is the number of requests.",
			requestBuckets, "route", "method", "status"),
		modelReqs: counter("model_requests_total",
			"HTTP requests to a model, retries included, by outcome: ok, adapted, cancelled, or the reason of the failure.",
			"model", "op", "outcome"),
		modelTokens: counter("model_tokens_total", "Tokens that the model's server counted; kind is prompt or completion.",
			"model", "op", "kind"),
		modelCost: counter("model_cost_total", "Cost of the tokens at the configured prices; absent without prices.", "model", "op"),
		modelTime: histogram("model_request_duration_seconds", "Time of one request to a model, from sending to the last byte.",
			modelBuckets, "model", "op"),
		modelWaits: histogram("model_wait_seconds", "Time a request waited before it was sent.", modelBuckets, "model", "op"),
		judged: counter("judged_calls_total",
			"Verdicts by outcome (failed, partial, succeeded) and advice: told, untold (on purpose) or unknown.", "advice", "outcome"),
		compactions: counter("compactions_total", "Requests to compact a conversation, by trigger and outcome.", "trigger", "outcome"),
		compactTime: histogram("compaction_duration_seconds", "Time of one compaction, its model requests included.", compactBuckets),
		compactSave: counter("compaction_saved_tokens_total", "Tokens by which compactions made conversations smaller."),
		storeTime: histogram("store_duration_seconds", "Time of one call to the store; an append includes the wait for its durable commit.",
			storeBuckets, "method"),
		storeCalls: counter("store_calls_total", "Calls to the store by outcome: ok, or the kind of the error.", "method", "outcome"),
	}
}

// Handler serves the metrics in the format that the scraper asks for.
func (r *Registry) Handler() http.Handler {
	return promhttp.HandlerFor(r.prom, promhttp.HandlerOpts{MaxRequestsInFlight: maxScrapes})
}

// maxScrapes bounds the scrapes under way: each walks all metrics.
const maxScrapes = 4

// other is the label of what is not of the program's own making.
const other = "other"

// methodLabel keeps the methods that HTTP defines for APIs.
func methodLabel(method string) string {
	switch method {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS":
		return method
	}
	return other
}

// statusLabel is the class of a status. The two that tell a client to come back
// later stand for themselves: they are what overload looks like.
func statusLabel(status int) string {
	switch {
	case status == 429:
		return "429"
	case status == 503:
		return "503"
	case status < 100 || status > 599:
		return other
	}
	return [...]string{"1xx", "2xx", "3xx", "4xx", "5xx"}[status/100-1]
}
