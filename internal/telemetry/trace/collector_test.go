package trace_test

import (
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"memoryd/internal/configtest"

	"memoryd/internal/telemetry/trace"
	"memoryd/test/tracetest"
)

// hanging is a collector that takes a request and never answers it. done is
// closed when the exporter has hung up.
func hanging(t *testing.T) (c *tracetest.Collector, asked chan struct{}) {
	t.Helper()
	asked = make(chan struct{}, 100)
	return tracetest.Start(t, func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
	}), asked
}

func spanMany(t *testing.T, tr *trace.Tracer, n int) {
	t.Helper()
	r := request("GET", nil)
	for range n {
		_, end := tr.Request(r, "/r")
		end(200)
	}
}

// While the collector hangs, for an hour if it is let, the queue fills and what
// comes is dropped; nobody waits, and Stop gives up when its time is over. Were it
// otherwise, the test would not end.
func TestACollectorThatHangsHoldsUpNobody(t *testing.T) {
	c, asked := hanging(t)
	tr := running(t, c.URL(), func(cfg *trace.Config) {
		cfg.Queue, cfg.StopTimeout, cfg.Timeout = 16, 50*time.Millisecond, time.Hour
	}, nil)
	spanMany(t, tr, 16)
	<-asked // the sender is stuck from here on
	spanMany(t, tr, 2000)
	tr.Stop() // without its bound, and the queue's, this would take an hour
	if n := c.Requests(); n > 2 {
		t.Errorf("%d requests", n)
	}
}

func TestACollectorThatIsNotThereHoldsUpNobody(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	tr := running(t, url, func(cfg *trace.Config) { cfg.Queue, cfg.StopTimeout = 16, 50*time.Millisecond }, nil)
	spanMany(t, tr, 2000)
	tr.Stop()
	tr.Stop()
}

func TestStopSendsWhatWaits(t *testing.T) {
	c := tracetest.Start(t, nil)
	tr := running(t, c.URL(), nil, nil)
	spanMany(t, tr, 1500) // three batches, the last of them not full
	tr.Stop()
	if n := len(c.Spans()); n != 1500 {
		t.Errorf("%d spans arrived", n)
	}
	spanMany(t, tr, 10)
	if n := len(c.Spans()); n != 1500 {
		t.Errorf("%d spans arrived after Stop", n-1500)
	}
}

func TestATracerStoppedFirstNeverStarts(t *testing.T) {
	c := tracetest.Start(t, nil)
	cfg := configtest.Section[trace.Config]("trace")
	cfg.Endpoint = c.URL()
	tr, err := trace.New(cfg, trace.Build{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	tr.Stop()
	tr.Start()
	spanMany(t, tr, 10)
	tr.Stop()
	if n := c.Requests(); n != 0 {
		t.Errorf("%d requests", n)
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-api-key=SECRET")
	other := tracetest.Start(t, nil)
	c := tracetest.Start(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL()+"/v1/traces", http.StatusTemporaryRedirect)
	})
	tr := running(t, c.URL(), nil, nil)
	spanMany(t, tr, 1)
	tr.Stop()
	if c.Header("X-Api-Key") != "SECRET" {
		t.Error("the environment's headers were not sent")
	}
	if n := other.Requests(); n != 0 {
		t.Errorf("%d requests followed the redirect", n)
	}
}

func TestAnEndpointMayNameThePathItself(t *testing.T) {
	for suffix, want := range map[string]string{
		"": "/v1/traces", "/": "/v1/traces", "/v1/traces": "/v1/traces", "/collect/": "/collect/v1/traces",
	} {
		c := tracetest.Start(t, nil)
		tr := running(t, c.URL()+suffix, nil, nil)
		spanMany(t, tr, 1)
		tr.Stop()
		if got := c.Header(":path"); got != want {
			t.Errorf("%q: sent to %q, want %q", suffix, got, want)
		}
	}
}
