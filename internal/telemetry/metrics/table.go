package metrics

import (
	"regexp"
	"slices"
)

// The types of a metric, as Prometheus names them.
const (
	Counter   = "counter"
	Gauge     = "gauge"
	Histogram = "histogram"
)

// Metric is one line of the table.
type Metric struct {
	Name, Type, Help string
	Labels           []string
	// Buckets are the upper bounds of a histogram, in its unit.
	Buckets []float64
}

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

// The metrics that are pushed as things happen.
var (
	requestSeconds = Metric{
		Name: "memoryd_http_request_duration_seconds", Type: Histogram, Labels: []string{"route", "method", "status"}, Buckets: requestBuckets,
		Help: "Time from the first byte of a request to the last of its answer. Status is a class such as 2xx; 429 and 503 stand for themselves. The _count is the number of requests.",
	}
	modelRequests = Metric{
		Name: "memoryd_model_requests_total", Type: Counter, Labels: []string{"model", "op", "outcome"},
		Help: "HTTP requests to a model, retries included, by outcome: ok, adapted, cancelled, or the reason of the failure.",
	}
	modelTokens = Metric{
		Name: "memoryd_model_tokens_total", Type: Counter, Labels: []string{"model", "op", "kind"},
		Help: "Tokens that the model's server counted; kind is prompt or completion.",
	}
	modelCost = Metric{
		Name: "memoryd_model_cost_total", Type: Counter, Labels: []string{"model", "op"},
		Help: "Cost of the tokens at the configured prices; absent without prices.",
	}
	modelSeconds = Metric{
		Name: "memoryd_model_request_duration_seconds", Type: Histogram, Labels: []string{"model", "op"}, Buckets: modelBuckets,
		Help: "Time of one request to a model, from sending to the last byte.",
	}
	modelWait = Metric{
		Name: "memoryd_model_wait_seconds", Type: Histogram, Labels: []string{"model", "op"}, Buckets: modelBuckets,
		Help: "Time a request waited before it was sent.",
	}
	compactions = Metric{
		Name: "memoryd_compactions_total", Type: Counter, Labels: []string{"trigger", "outcome"},
		Help: "Requests to compact a conversation, by trigger and outcome.",
	}
	compactionSeconds = Metric{
		Name: "memoryd_compaction_duration_seconds", Type: Histogram, Buckets: compactBuckets,
		Help: "Time of one compaction, its model requests included.",
	}
	compactionSaved = Metric{
		Name: "memoryd_compaction_saved_tokens_total", Type: Counter,
		Help: "Tokens by which compactions made conversations smaller.",
	}
	storeSeconds = Metric{
		Name: "memoryd_store_duration_seconds", Type: Histogram, Labels: []string{"method"}, Buckets: storeBuckets,
		Help: "Time of one call to the store; an append includes the wait for its durable commit.",
	}
	storeCalls = Metric{
		Name: "memoryd_store_calls_total", Type: Counter, Labels: []string{"method", "outcome"},
		Help: "Calls to the store by outcome: ok, or the kind of the error.",
	}
	buildInfo = Metric{
		Name: "memoryd_build_info", Type: Gauge, Labels: []string{"version", "commit", "go"},
		Help: "Always 1; the labels name the version.",
	}
)

// Table lists the program's own metrics, by name. The Go runtime and the process add those
// that the Prometheus client documents (go_*, process_*).
func Table() []Metric {
	all := []Metric{
		requestSeconds, modelRequests, modelTokens, modelCost, modelSeconds, modelWait,
		compactions, compactionSeconds, compactionSaved, storeSeconds, storeCalls, buildInfo,
	}
	for _, list := range [][]Metric{
		metricsOf[Judge](), metricsOf[Model](), metricsOf[Guidelines](), metricsOf[Intake](), metricsOf[inFlight](), metricsOf[pendingCalls](),
		metricsOf[panics](), metricsOf[quotas](), metricsOf[storeWAL](), metricsOf[storeSize](), metricsOf[storeQueue](), metricsOf[storeSettings](),
	} {
		all = append(all, list...)
	}
	slices.SortFunc(all, func(a, b Metric) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return all
}

// schedulerLatency picks the one runtime metric that shows a machine at its
// limit: how long goroutines that could run had to wait for a processor.
var schedulerLatency = regexp.MustCompile(`^/sched/latencies:seconds$`)
