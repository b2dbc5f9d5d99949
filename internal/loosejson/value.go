package loosejson

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Decode reads foreign JSON into the few members that a reader knows.
func Decode(doc []byte, into any) error { return json.Unmarshal(doc, into, laxly) }

// NumberOf is the number that a value is, also as text.
func NumberOf(v jsontext.Value) (float64, bool) { return numberIn(TextOf(v)) }

func numberIn(s string) (float64, bool) {
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return f, err == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
}

// timeLayouts are the forms of times beside epochs; those without a zone are UTC.
var timeLayouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999",
	"2006-01-02 15:04:05.999999999Z07:00",
}

// Time reads a time in any of the forms that transcripts have: RFC 3339, ISO 8601
// without a zone, and seconds, milliseconds, microseconds or nanoseconds since 1970.
func Time(v jsontext.Value) time.Time { return TimeOf(TextOf(v)) }

// TimeOf reads a time in any of these forms.
func TimeOf(s string) time.Time {
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t
		}
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && len(s) == 19 {
		return time.Unix(0, n).UTC() // exactly, as a float could not
	}
	f, ok := numberIn(s)
	for ok && f >= 1e11 {
		f /= 1e3
	}
	if !ok || f < 1e8 {
		return time.Time{}
	}
	whole, part := math.Modf(f)
	return time.Unix(int64(whole), int64(part*1e9)).UTC()
}

// Seconds is a number of seconds as a duration; out of all bounds it is 0.
func Seconds(f float64) time.Duration {
	if !(f > 0 && f < 1e7) {
		return 0
	}
	return time.Duration(f * float64(time.Second))
}

// Join is an array of JSON values, byte for byte.
func Join[V ~[]byte](values []V) jsontext.Value {
	b := jsontext.Value{'['}
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, v...)
	}
	return append(b, ']')
}

// Quote is a text as JSON.
func Quote(s string) jsontext.Value {
	b, err := jsontext.AppendQuote(nil, strings.ToValidUTF8(s, "\uFFFD"))
	if err != nil {
		return jsontext.Value(`""`)
	}
	return b
}
