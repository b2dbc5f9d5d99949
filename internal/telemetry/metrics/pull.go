package metrics

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// The metrics of a part are the fields of a struct, whose tags say the rest:
//
//	metric  the name, without "memoryd_"; one that ends in _total is a counter
//	help    the sentence of the documents
//	label   of a map: what its keys are; of a string: what it is, the value being
//	        1, or nothing when it is empty; without metric: a label of all fields
//
// A time.Duration is given in seconds, a bool as 0 or 1.
type field struct {
	Metric
	index int
	desc  *prometheus.Desc
}

// fieldsOf reads the tags of a struct. common is the index of the field that
// labels all others, -1 when there is none.
func fieldsOf(t reflect.Type) (fields []field, common int) {
	common = -1
	var shared []string
	for i := range t.NumField() {
		f := t.Field(i)
		name, label := f.Tag.Get("metric"), f.Tag.Get("label")
		if name == "" {
			if label != "" {
				common, shared = i, []string{label}
			}
			continue
		}
		m := Metric{Name: "memoryd_" + name, Type: Gauge, Help: f.Tag.Get("help"), Labels: slices.Clone(shared)}
		if strings.HasSuffix(name, "_total") {
			m.Type = Counter
		}
		if label != "" {
			m.Labels = append(m.Labels, label)
		}
		fields = append(fields, field{m, i, prometheus.NewDesc(m.Name, m.Help, m.Labels, nil)})
	}
	return fields, common
}

// metricsOf lists the metrics of a struct.
func metricsOf[T any]() (list []Metric) {
	fields, _ := fieldsOf(reflect.TypeFor[T]())
	for _, f := range fields {
		list = append(list, f.Metric)
	}
	return list
}

// source is a collector that asks for its numbers at each scrape.
type source[T any] struct {
	fields []field
	common int
	state  func() []T
}

// pull registers the source of a struct's metrics. A metric may have one source
// only; a second one is a mistake of the wiring and panics, as any duplicate does.
func pull[T any](r *Registry, state func() []T) {
	fields, common := fieldsOf(reflect.TypeFor[T]())
	r.prom.MustRegister(&source[T]{fields, common, state})
}

// one is a source of a part that there is once.
func one[T any](state func() T) func() []T { return func() []T { return []T{state()} } }

// Describe implements prometheus.Collector.
func (s *source[T]) Describe(out chan<- *prometheus.Desc) {
	for _, f := range s.fields {
		out <- f.desc
	}
}

// Collect implements prometheus.Collector.
func (s *source[T]) Collect(out chan<- prometheus.Metric) {
	seen := map[string]bool{}
	for _, part := range s.state() {
		v := reflect.ValueOf(part)
		var labels []string
		if s.common >= 0 {
			labels = []string{word(v.Field(s.common).String())}
			if seen[labels[0]] { // two names that cannot be shown
				continue
			}
			seen[labels[0]] = true
		}
		for _, f := range s.fields {
			f.collect(v.Field(f.index), labels, out)
		}
	}
}

func (f *field) collect(v reflect.Value, labels []string, out chan<- prometheus.Metric) {
	kind := prometheus.GaugeValue
	if f.Type == Counter {
		kind = prometheus.CounterValue
	}
	emit := func(value float64, more ...string) {
		out <- prometheus.MustNewConstMetric(f.desc, kind, value, slices.Concat(labels, more)...)
	}
	switch x := v.Interface().(type) {
	case time.Duration:
		emit(x.Seconds())
	case bool:
		if x {
			emit(1)
		} else {
			emit(0)
		}
	case string:
		if x != "" {
			emit(1, word(x))
		}
	case map[string]int64:
		for label, n := range byWord(x) {
			emit(float64(n), label)
		}
	default:
		emit(float64(v.Int()))
	}
}

// byWord gives counts whose keys are words of the program's own. Keys that are
// not, and those beyond the bound, are added up as "other".
func byWord(counts map[string]int64) map[string]int64 {
	sums := map[string]int64{}
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		label := word(key)
		if _, known := sums[label]; !known && len(sums) >= maxValues {
			label = other
		}
		sums[label] += counts[key]
	}
	return sums
}
