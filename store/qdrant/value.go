package qdrant

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	qd "github.com/qdrant/go-client/qdrant"
)

// payload is what a point holds. Numbers that are not whole are kept as text:
// the server stores payloads as JSON, which has no infinities.
type payload map[string]*qd.Value

func integer(n int64) *qd.Value { return &qd.Value{Kind: &qd.Value_IntegerValue{IntegerValue: n}} }

func flag(b bool) *qd.Value { return &qd.Value{Kind: &qd.Value_BoolValue{BoolValue: b}} }

func word(s string) *qd.Value { return &qd.Value{Kind: &qd.Value_StringValue{StringValue: s}} }

// text keeps any bytes: what is not UTF-8 becomes {"base64": ...}.
func text(s string) *qd.Value {
	if utf8.ValidString(s) {
		return word(s)
	}
	return object(payload{"base64": word(base64.StdEncoding.EncodeToString([]byte(s)))})
}

func object(p payload) *qd.Value {
	return &qd.Value{Kind: &qd.Value_StructValue{StructValue: &qd.Struct{Fields: p}}}
}

func words(list []string) *qd.Value {
	values := make([]*qd.Value, len(list))
	for i, w := range list {
		values[i] = word(w)
	}
	return &qd.Value{Kind: &qd.Value_ListValue{ListValue: &qd.ListValue{Values: values}}}
}

func decimal(f float64) *qd.Value { return word(strconv.FormatFloat(f, 'g', -1, 64)) }

// putText, putInt and putFloat leave out what has its zero value.
func (p payload) putText(key, s string) {
	if s != "" {
		p[key] = text(s)
	}
}

func (p payload) putInt(key string, n int64) {
	if n != 0 {
		p[key] = integer(n)
	}
}

func (p payload) putFloat(key string, f float64) {
	if f != 0 || 1/f < 0 { // also the negative zero
		p[key] = decimal(f)
	}
}

// putTime keeps microseconds.
func (p payload) putTime(key string, t time.Time) {
	if !t.IsZero() {
		p[key] = integer(t.UnixMicro())
	}
}

func (p payload) int(key string) int64 { return p[key].GetIntegerValue() }

func (p payload) has(key string) bool { return p[key] != nil }

func (p payload) bool(key string) bool { return p[key].GetBoolValue() }

func (p payload) word(key string) string { return p[key].GetStringValue() }

func (p payload) object(key string) payload { return p[key].GetStructValue().GetFields() }

func (p payload) time(key string) time.Time {
	if !p.has(key) {
		return time.Time{}
	}
	return time.UnixMicro(p.int(key)).UTC()
}

func (p payload) words(key string) []string {
	var out []string
	for _, v := range p[key].GetListValue().GetValues() {
		out = append(out, v.GetStringValue())
	}
	return out
}

// reader reads what may be damaged, and remembers the first damage.
type reader struct {
	payload
	err error
}

func (r *reader) text(key string) string {
	v := r.payload[key]
	if v == nil {
		return ""
	}
	if _, plain := v.GetKind().(*qd.Value_StringValue); plain {
		return v.GetStringValue()
	}
	raw, err := base64.StdEncoding.DecodeString(payload(v.GetStructValue().GetFields()).word("base64"))
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("the field %q is damaged: %w", key, err)
	}
	return string(raw)
}

func (r *reader) float(key string) float64 {
	if !r.has(key) {
		return 0
	}
	f, err := strconv.ParseFloat(r.word(key), 64)
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("the field %q is damaged: %w", key, err)
	}
	return f
}
