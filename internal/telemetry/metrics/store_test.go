package metrics_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"

	"memoryd"
	"memoryd/internal/telemetry/metrics"
	"memoryd/store"
	"memoryd/store/mem"
	"memoryd/store/storetest"
)

func TestTheDecoratedStoreKeepsTheContract(t *testing.T) {
	storetest.Run(t, storetest.Backend{
		Open: func(*testing.T) store.Store { return metrics.Store(mem.New(), metrics.New(metrics.Build{})) },
	})
}

// snake turns a method's name into its label.
func snake(name string) string {
	var b strings.Builder
	for i, c := range name {
		if unicode.IsUpper(c) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

func TestEveryMethodIsObserved(t *testing.T) {
	r := metrics.New(metrics.Build{})
	s := metrics.Store(mem.New(), r)
	iface := reflect.TypeFor[store.Store]()
	for m := range iface.Methods() {
		if m.Name == "Close" { // nobody scrapes afterwards
			continue
		}
		args := []reflect.Value{reflect.ValueOf(t.Context())}
		for j := 1; j < m.Type.NumIn(); j++ {
			args = append(args, reflect.Zero(m.Type.In(j)))
		}
		reflect.ValueOf(s).MethodByName(m.Name).Call(args)
	}
	text := scrape(t, r)
	for method := range iface.Methods() {
		name := method.Name
		want := `memoryd_store_duration_seconds_count{method="` + snake(name) + `"} 1`
		if name != "Close" && !strings.Contains(text, want) {
			t.Errorf("missing: %s", want)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Ping(t.Context()); !memoryd.IsKind(err, memoryd.Closed) {
		t.Errorf("got %v, want closed", err)
	}
}

func TestOutcomesAreTheKindsOfErrors(t *testing.T) {
	fail := error(nil)
	r := metrics.New(metrics.Build{})
	s := metrics.Store(storetest.NewFaults(mem.New(), func(string, storetest.Stage) error { return fail }), r)
	for _, kind := range memoryd.Kinds() {
		fail = memoryd.Errorf(kind, "a file name that must not be shown: /etc/passwd")
		if _, err := s.Claim(t.Context(), time.Now(), time.Second, 1); !memoryd.IsKind(err, kind) {
			t.Fatalf("got %v, want the store's own error", err)
		}
	}
	for _, fail = range []error{errors.New("no kind"), memoryd.Errorf("made up", "x")} {
		if _, err := s.Claim(t.Context(), time.Now(), time.Second, 1); !errors.Is(err, fail) {
			t.Fatalf("got %v", err)
		}
	}
	text := scrape(t, r)
	for _, kind := range memoryd.Kinds() {
		n := "1"
		if kind == memoryd.Internal {
			n = "3"
		}
		if want := `memoryd_store_calls_total{method="claim",outcome="` + string(kind) + `"} ` + n; !strings.Contains(text, want) {
			t.Errorf("missing: %s", want)
		}
	}
	if strings.Contains(text, "made up") || strings.Contains(text, "passwd") {
		t.Error("an error's text is shown")
	}
}
