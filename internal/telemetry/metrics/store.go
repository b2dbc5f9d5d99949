package metrics

import (
	"context"
	"reflect"
	"strings"
	"time"
	"unicode"

	"memoryd"
	"memoryd/store"

	"github.com/prometheus/client_golang/prometheus"
)

// method is what is kept of one method, looked up once.
type method struct {
	took   prometheus.Observer
	ok     prometheus.Counter
	failed map[memoryd.Kind]prometheus.Counter
}

// Store decorates s: r observes the duration and outcome of each method.
func Store(s store.Store, r *Registry) store.Store {
	methods := map[string]method{}
	contract := reflect.TypeFor[store.Store]()
	for method0 := range contract.Methods() {
		name := method0.Name
		if name == "Close" { // nobody scrapes afterwards
			continue
		}
		label := labelOf(name)
		m := method{
			took: r.storeTime.WithLabelValues(label), ok: r.storeCalls.WithLabelValues(label, "ok"),
			failed: map[memoryd.Kind]prometheus.Counter{},
		}
		for _, kind := range memoryd.Kinds() {
			m.failed[kind] = r.storeCalls.WithLabelValues(label, string(kind))
		}
		methods[name] = m
	}
	return store.Intercept(s, store.Bracket{
		Begin: func(context.Context, string) error { return nil },
		End: func(name string, took time.Duration, err error) error {
			if m, observed := methods[name]; observed {
				m.done(took, err)
			}
			return err
		},
	})
}

// labelOf turns the name of a method into its label: "list_tools".
func labelOf(name string) string {
	var b strings.Builder
	for i, c := range name {
		if unicode.IsUpper(c) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

// done observes a call.
func (m *method) done(took time.Duration, err error) {
	m.took.Observe(took.Seconds())
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
