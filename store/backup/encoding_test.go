package backup

import (
	jsonv1 "encoding/json"
	"math"
	"testing"
	"time"

	"memoryd"

	json "github.com/go-json-experiment/json"
)

func TestValuesHaveOneFormWhateverTheStore(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 890123456, time.FixedZone("", 3600))
	for _, tc := range []struct {
		value any
		want  string
	}{
		{math.Copysign(0, -1), `0`}, // SQLite has no negative zero
		{math.Inf(-1), `"-Inf"`},
		{0.1, `0.1`},
		{"<é\u2028>", "\"<é\u2028>\""},
		{"\xff", `{"base64":"/w=="}`},
		{at, `"2026-03-04T04:06:07.890123Z"`},
		{at.Truncate(time.Second), `"2026-03-04T04:06:07Z"`},
		{time.UnixMicro(-1 << 56), `-72057594037927936`}, // the year -314
		{memoryd.CallKey{0xab}, `"ab000000000000000000000000000000"`},
		{tidied(nil).Input, `""`},
		{tidied([]byte{}).Input, `""`},
		{struct {
			Input jsonv1.RawMessage `json:"input,omitzero"`
		}{tidied([]byte{}).Input}, `{}`},
	} {
		got, err := json.Marshal(tc.value, exactly)
		if err != nil || string(got) != tc.want {
			t.Errorf("%v: got %s, %v, want %s", tc.value, got, err, tc.want)
		}
	}
}

func tidied(text []byte) memoryd.Call {
	c := memoryd.Call{Input: text, Metadata: text}
	tidy(&c)
	return c
}

func TestOtherFormsAreRefused(t *testing.T) {
	for _, tc := range []struct {
		into any
		in   []string
	}{
		{new(float64), []string{`"1"`, `"NaN"`, `"x"`, `true`, `{}`}},
		{new(string), []string{`1`, `{"base64":"?"}`, `{"base64":"","x":1}`, "\"\xff\"", `"\ud800"`, `[]`}},
		{new(time.Time), []string{`1.5`, `"2026-03-04"`, `"x"`, `true`, `1e30`}},
		{new(memoryd.CallKey), []string{`"ab"`, `"zz000000000000000000000000000000"`, `1`, `""`}},
	} {
		for _, in := range tc.in {
			if err := json.Unmarshal([]byte(in), tc.into, strict); err == nil {
				t.Errorf("%T took %s", tc.into, in)
			}
		}
	}
}
