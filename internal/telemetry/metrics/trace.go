package metrics

// spansDropped counts the spans that were lost; only while traces are sent.
var spansDropped = Metric{
	Name: "memoryd_trace_spans_dropped_total", Type: Counter, Labels: []string{"reason"},
	Help: "Spans that were lost: queue_full (trace.queue waited already) or collector (it did not take them); only while traces are sent.",
}

func traceMetrics() []Metric { return []Metric{spansDropped} }

// Spans asks at each scrape for the numbers of spans that met a full queue, and
// that the collector did not take.
func (r *Registry) Spans(lost func() (queueFull, collector int64)) {
	r.pull(traceMetrics(), func(e emit) {
		queueFull, collector := lost()
		e(spansDropped, float64(queueFull), "queue_full")
		e(spansDropped, float64(collector), "collector")
	})
}
