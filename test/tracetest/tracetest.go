// Package tracetest is a collector of spans for tests. It receives OTLP over HTTP and keeps
// what it receives.
package tracetest

import (
	"compress/gzip"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Span is a received span.
type Span struct {
	Name, Kind string
	// TraceID, ID and Parent are in hex; Parent is "" for a root.
	TraceID, ID, Parent string
	TraceState          string
	// Failed reports that the status is an error; Message is its text.
	Failed  bool
	Message string
	// Attributes holds numbers as decimal text.
	Attributes map[string]string
	// Events counts the span's events.
	Events int
	// Told holds the attributes of events by the events' names.
	Told map[string]map[string]string
	// Took is in nanoseconds.
	Took int64
}

// Collector receives spans.
type Collector struct {
	server *httptest.Server
	reply  http.HandlerFunc // after the spans were taken; nil: 200

	mu       sync.Mutex
	spans    []Span
	resource map[string]string
	raw      []byte
	requests int
	headers  http.Header
}

// Start runs a collector until the test ends. If reply is not nil, it answers the requests.
func Start(t testing.TB, reply http.HandlerFunc) *Collector {
	t.Helper()
	c := &Collector{reply: reply, resource: map[string]string{}}
	c.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := c.take(r); err != nil {
			t.Errorf("what came is not OTLP: %v", err)
		}
		if c.reply != nil {
			c.reply(w, r)
		}
	}))
	t.Cleanup(c.server.Close)
	return c
}

// URL is the base address for the exporter.
func (c *Collector) URL() string { return c.server.URL }

func (c *Collector) take(r *http.Request) error {
	var in io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		zr, err := gzip.NewReader(r.Body)
		if err != nil {
			return err
		}
		in = zr
	}
	body, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	var request collector.ExportTraceServiceRequest
	if err := proto.Unmarshal(body, &request); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests++
	c.raw = append(c.raw, body...)
	c.headers = r.Header.Clone()
	c.headers[":path"] = []string{r.URL.Path}
	for _, rs := range request.GetResourceSpans() {
		c.resource = attributes(rs.GetResource().GetAttributes())
		for _, ss := range rs.GetScopeSpans() {
			for _, s := range ss.GetSpans() {
				c.spans = append(c.spans, spanOf(s))
			}
		}
	}
	return nil
}

func spanOf(s *otlp.Span) Span {
	told := map[string]map[string]string{}
	for _, e := range s.GetEvents() {
		told[e.GetName()] = attributes(e.GetAttributes())
	}
	return Span{
		Told: told,
		Name: s.GetName(), Kind: s.GetKind().String(), TraceID: hex.EncodeToString(s.GetTraceId()),
		ID: hex.EncodeToString(s.GetSpanId()), Parent: hex.EncodeToString(s.GetParentSpanId()), TraceState: s.GetTraceState(),
		Failed: s.GetStatus().GetCode() == otlp.Status_STATUS_CODE_ERROR, Message: s.GetStatus().GetMessage(),
		Attributes: attributes(s.GetAttributes()), Events: len(s.GetEvents()) + len(s.GetLinks()),
		Took: int64(s.GetEndTimeUnixNano() - s.GetStartTimeUnixNano()), //nolint:gosec // a span's length
	}
}

func attributes(list []*common.KeyValue) map[string]string {
	m := map[string]string{}
	for _, kv := range list {
		switch v := kv.GetValue().GetValue().(type) {
		case *common.AnyValue_StringValue:
			m[kv.GetKey()] = v.StringValue
		case *common.AnyValue_IntValue:
			m[kv.GetKey()] = strconv.FormatInt(v.IntValue, 10)
		case *common.AnyValue_DoubleValue:
			m[kv.GetKey()] = strconv.FormatFloat(v.DoubleValue, 'g', -1, 64)
		default:
			m[kv.GetKey()] = kv.GetValue().String()
		}
	}
	return m
}

// Spans returns all received spans, in order of arrival.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Span(nil), c.spans...)
}

// Named returns the spans with a name.
func (c *Collector) Named(name string) (found []Span) {
	for _, s := range c.Spans() {
		if s.Name == name {
			found = append(found, s)
		}
	}
	return found
}

// One returns the only span with a name. The test fails if there is not exactly one.
func (c *Collector) One(t testing.TB, name string) Span {
	t.Helper()
	found := c.Named(name)
	if len(found) != 1 {
		t.Fatalf("%d spans are called %q, want 1; all: %+v", len(found), name, c.Spans())
	}
	return found[0]
}

// Raw returns the bytes of all request bodies, decompressed.
func (c *Collector) Raw() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(c.raw)
}

// Requests returns the number of requests.
func (c *Collector) Requests() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.requests
}

// Header returns a header of the last request; ":path" is its path.
func (c *Collector) Header(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if name == ":path" {
		return c.headers[name][0]
	}
	return c.headers.Get(name)
}

// Resource returns an attribute of the program that sent the last spans.
func (c *Collector) Resource(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.resource[name]
}
