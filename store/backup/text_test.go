package backup

import (
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
		{numberOf(math.Copysign(0, -1)), `0`}, // SQLite has no negative zero
		{numberOf(math.Inf(-1)), `"-Inf"`},
		{numberOf(0.1), `0.1`},
		{text("<é\u2028>"), "\"<é\u2028>\""},
		{text("\xff"), `{"base64":"/w=="}`},
		{instantOf(at), `"2026-03-04T04:06:07.890123Z"`},
		{instantOf(at.Truncate(time.Second)), `"2026-03-04T04:06:07Z"`},
		{instantOf(time.UnixMicro(-1 << 56)), `-72057594037927936`}, // the year -314
		{key(memoryd.CallKey{0xab}), `"ab000000000000000000000000000000"`},
		{raw(nil), `null`}, {raw([]byte{}), `null`},
	} {
		got, err := json.Marshal(tc.value)
		if err != nil || string(got) != tc.want {
			t.Errorf("%v: got %s, %v, want %s", tc.value, got, err, tc.want)
		}
	}
}

func TestOtherFormsAreRefused(t *testing.T) {
	for _, tc := range []struct {
		into any
		in   []string
	}{
		{new(number), []string{`"1"`, `"NaN"`, `"x"`, `true`, `{}`}},
		{new(text), []string{`1`, `{"base64":"?"}`, `{"base64":"","x":1}`, "\"\xff\"", `"\ud800"`, `[]`}},
		{new(instant), []string{`1.5`, `"2026-03-04"`, `"x"`, `true`, `1e30`}},
		{new(key), []string{`"ab"`, `"zz000000000000000000000000000000"`, `1`, `""`}},
	} {
		for _, in := range tc.in {
			if err := json.Unmarshal([]byte(in), tc.into, strict); err == nil {
				t.Errorf("%T took %s", tc.into, in)
			}
		}
	}
}
