package metrics

import (
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
	index int
	kind  prometheus.ValueType
	desc  *prometheus.Desc
}

// fieldsOf reads the tags of a struct. common is the index of the field that
// labels all others, -1 when there is none.
func fieldsOf(t reflect.Type) (fields []field, common int) {
	common = -1
	var shared []string
	for i := range t.NumField() {
		tag := t.Field(i).Tag
		name, labels := tag.Get("metric"), shared
		if label := tag.Get("label"); label != "" {
			labels = append(slices.Clone(shared), label)
		}
		if name == "" {
			common, shared = i, labels
			continue
		}
		kind := prometheus.GaugeValue
		if strings.HasSuffix(name, "_total") {
			kind = prometheus.CounterValue
		}
		fields = append(fields, field{i, kind, prometheus.NewDesc(namespace+"_"+name, tag.Get("help"), labels, nil)})
	}
	return fields, common
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
	for _, part := range s.state() {
		v := reflect.ValueOf(part)
		var labels []string
		if s.common >= 0 {
			labels = []string{v.Field(s.common).String()}
		}
		for _, f := range s.fields {
			f.collect(v.Field(f.index), labels, out)
		}
	}
}

func (f *field) collect(v reflect.Value, labels []string, out chan<- prometheus.Metric) {
	emit := func(value float64, more ...string) {
		out <- prometheus.MustNewConstMetric(f.desc, f.kind, value, slices.Concat(labels, more)...)
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
			emit(1, x)
		}
	case map[string]int64:
		for label, n := range x {
			emit(float64(n), label)
		}
	default:
		emit(float64(v.Int()))
	}
}
