package metrics

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// The metrics of a part are the fields of a struct of its own, whose tags say the rest:
//
//	metric  the name, without "memoryd_"; one that ends in _total is a counter
//	help    the sentence of the documents
//	label   of a map: what its keys are; of a string: what it is, the value being
//	        1, or nothing when it is empty
//
// A time.Duration is given in seconds, a bool as 0 or 1.
type field struct {
	index int
	kind  prometheus.ValueType
	desc  *prometheus.Desc
}

// fieldsOf reads the tags of a struct. shared are labels of all fields.
func fieldsOf(t reflect.Type, shared ...string) (fields []field) {
	for i := range t.NumField() {
		tag := t.Field(i).Tag
		name, labels := tag.Get("metric"), shared
		if label := tag.Get("label"); label != "" {
			labels = append(slices.Clone(shared), label)
		}
		if name == "" {
			continue
		}
		kind := prometheus.GaugeValue
		if strings.HasSuffix(name, "_total") {
			kind = prometheus.CounterValue
		}
		fields = append(fields, field{i, kind, prometheus.NewDesc(namespace+"_"+name, tag.Get("help"), labels, nil)})
	}
	return fields
}

// source is a collector that asks for its numbers at each scrape.
type source[T any] struct {
	fields []field
	each   func(take func(part T, labels ...string))
}

// Pull registers the source of the metrics of a part. A metric may have one source
// only; a second one is a mistake of the wiring and panics, as any duplicate does.
func Pull[T any](r *Registry, state func() T) {
	r.prom.MustRegister(&source[T]{fieldsOf(reflect.TypeFor[T]()), func(take func(T, ...string)) { take(state()) }})
}

// PullEach is Pull for a part that there is several times, by name; label is what they are.
func PullEach[T any](r *Registry, label string, state func() map[string]T) {
	r.prom.MustRegister(&source[T]{fieldsOf(reflect.TypeFor[T](), label), func(take func(T, ...string)) {
		for name, part := range state() {
			take(part, name)
		}
	}})
}

// Describe implements prometheus.Collector.
func (s *source[T]) Describe(out chan<- *prometheus.Desc) {
	for _, f := range s.fields {
		out <- f.desc
	}
}

// Collect implements prometheus.Collector.
func (s *source[T]) Collect(out chan<- prometheus.Metric) {
	s.each(func(part T, labels ...string) {
		for _, f := range s.fields {
			f.collect(reflect.ValueOf(part).Field(f.index), labels, out)
		}
	})
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
