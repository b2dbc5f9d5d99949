package ingest

import (
	"encoding/base64"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// otlpDoc is a request of an exporter, as the collector writes it into files.
type otlpDoc struct {
	ResourceSpans listOf[otlpResource] `json:"resourceSpans"`
	ResourceLogs  listOf[otlpResource] `json:"resourceLogs"`
}

type otlpResource struct {
	ScopeSpans listOf[otlpScope] `json:"scopeSpans"`
	ScopeLogs  listOf[otlpScope] `json:"scopeLogs"`
}

type otlpScope struct {
	Spans      listOf[otlpSpan] `json:"spans"`
	LogRecords listOf[otlpSpan] `json:"logRecords"`
}

type otlpSpan struct {
	TraceID    str                   `json:"traceId"`
	SpanID     str                   `json:"spanId"`
	Parent     str                   `json:"parentSpanId"`
	Name       str                   `json:"name"`
	EventName  str                   `json:"eventName"`
	Kind       str                   `json:"kind"`
	Start      jsontext.Value        `json:"startTimeUnixNano"`
	End        jsontext.Value        `json:"endTimeUnixNano"`
	Time       jsontext.Value        `json:"timeUnixNano"`
	Attributes listOf[otlpAttribute] `json:"attributes"`
	Events     listOf[struct {
		Name       str                   `json:"name"`
		Attributes listOf[otlpAttribute] `json:"attributes"`
	}] `json:"events"`
	Status object[struct {
		Code    str `json:"code"`
		Message str `json:"message"`
	}] `json:"status"`
}

type otlpAttribute struct {
	Key   string         `json:"key"`
	Value jsontext.Value `json:"value"`
}

// otlp reads exports of OpenTelemetry as JSON.
func (f *file) otlp(d *otlpDoc, _ []byte) {
	for _, r := range append(d.ResourceSpans, d.ResourceLogs...) {
		for _, scope := range append(r.ScopeSpans, r.ScopeLogs...) {
			for _, o := range append(scope.Spans, scope.LogRecords...) {
				s := o.span()
				if c, skipped := SpanCall(&s); skipped == "" {
					f.add(c)
				}
			}
		}
	}
}

// span gives what SpanCall reads of a span or a log record.
func (o *otlpSpan) span() Span {
	s := Span{
		Name: string(o.Name), Trace: string(o.TraceID), ID: string(o.SpanID), Parent: string(o.Parent), Begun: when(o.Start), Done: when(o.End),
		Failed: o.Status.is.Code == "2" || o.Status.is.Code == "STATUS_CODE_ERROR", Message: string(o.Status.is.Message),
		Attributes: values(o.Attributes),
	}
	s.Served = (o.Kind == "2" || o.Kind == "SPAN_KIND_SERVER") && o.Parent != ""
	if t := when(o.Time); !t.IsZero() { // a log record: its span is that of the agent
		s.Done, s.ID = t, ""
	}
	if name := s.Attributes["event.name"]; len(name) == 0 && o.EventName != "" {
		s.Attributes["event.name"] = jsontext.Value(quote(string(o.EventName)))
	}
	for _, e := range o.Events {
		if e.Name == "exception" && s.Message == "" {
			a := attributes(values(e.Attributes))
			s.Message = strings.Trim(a.text("exception.type")+": "+a.text("exception.message"), ": ")
		}
	}
	return s
}

// values reads attributes of OTLP: {"stringValue": ...} and its kin.
func values(list []otlpAttribute) map[string]jsontext.Value {
	out := make(map[string]jsontext.Value, len(list))
	for _, a := range list {
		if v := anyValue(a.Value, 0); len(v) > 0 {
			out[a.Key] = v
		}
	}
	return out
}

func anyValue(v jsontext.Value, depth int) jsontext.Value {
	var a struct {
		String jsontext.Value `json:"stringValue"`
		Bool   jsontext.Value `json:"boolValue"`
		Int    jsontext.Value `json:"intValue"`
		Double jsontext.Value `json:"doubleValue"`
		Bytes  str            `json:"bytesValue"`
		Array  object[struct {
			Values listOf[jsontext.Value] `json:"values"`
		}] `json:"arrayValue"`
		KV object[struct {
			Values listOf[otlpAttribute] `json:"values"`
		}] `json:"kvlistValue"`
	}
	if v.Kind() != '{' || depth > 16 || decode(v, &a) != nil {
		return nil
	}
	for _, simple := range []jsontext.Value{a.String, a.Bool, a.Int, a.Double} {
		if there(simple) {
			return simple
		}
	}
	switch {
	case a.Bytes != "":
		b, _ := base64.StdEncoding.DecodeString(string(a.Bytes))
		return jsontext.Value(quote(string(b)))
	case a.Array.given:
		var all []jsontext.Value
		for _, one := range a.Array.is.Values {
			if inner := anyValue(one, depth+1); len(inner) > 0 {
				all = append(all, inner)
			}
		}
		return join(all)
	case a.KV.given:
		var all []any
		for _, one := range a.KV.is.Values {
			if inner := anyValue(one.Value, depth+1); len(inner) > 0 {
				all = append(all, one.Key, inner)
			}
		}
		return objectOf(all...)
	}
	return nil
}
