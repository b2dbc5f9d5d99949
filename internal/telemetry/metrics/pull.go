package metrics

import (
	"maps"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
)

// emit hands over one value of a metric with its labels.
type emit func(m Metric, value float64, labels ...string)

// source is a collector that asks for its numbers at each scrape.
type source struct {
	descs   map[string]*prometheus.Desc
	collect func(emit)
}

// pull registers a source of the metrics. A metric may have one source only; a
// second one is a mistake of the wiring and panics, as any duplicate does.
func (r *Registry) pull(metrics []Metric, collect func(emit)) {
	s := &source{descs: map[string]*prometheus.Desc{}, collect: collect}
	for _, m := range metrics {
		s.descs[m.Name] = prometheus.NewDesc(m.Name, m.Help, m.Labels, nil)
	}
	r.prom.MustRegister(s)
}

// Describe implements prometheus.Collector.
func (s *source) Describe(out chan<- *prometheus.Desc) {
	for _, d := range s.descs {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (s *source) Collect(out chan<- prometheus.Metric) {
	s.collect(func(m Metric, value float64, labels ...string) {
		kind := prometheus.GaugeValue
		if m.Type == Counter {
			kind = prometheus.CounterValue
		}
		out <- prometheus.MustNewConstMetric(s.descs[m.Name], kind, value, labels...)
	})
}

// byWord emits the counts of a map whose keys are words of the program's own.
// Keys that are not, and those beyond the bound, are added up as "other".
func byWord(e emit, m Metric, counts map[string]int64) {
	sums := map[string]int64{}
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		label := word(key)
		if _, known := sums[label]; !known && len(sums) >= maxValues {
			label = other
		}
		sums[label] += counts[key]
	}
	for label, n := range sums {
		e(m, float64(n), label)
	}
}
