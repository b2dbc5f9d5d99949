package constraints_test

import (
	"encoding/json"
	"testing"

	"memoryd/guidelines/constraints"
)

func TestAnInputIsHeldAgainstWhatAMessageSaid(t *testing.T) {
	for _, tc := range []struct {
		message, input string
		broken         bool
	}{
		{"Error: invalid date format, `date` must be in format YYYY-MM-DD", `{"date": "5 May 2026"}`, true},
		{"Error: invalid date format, `date` must be in format YYYY-MM-DD", `{"date": "2026-05-05"}`, false},
		{"Error: invalid date format, `date` must be in format YYYY-MM-DD", `{"day": "5 May"}`, false},
		{"start_time must be in the format YYYY-MM-DDTHH:mm", `{"start_time": "2026-05-05 10:00"}`, true},
		{"start_time must be in the format YYYY-MM-DDTHH:mm", `{"start_time": "2026-05-05T10:00"}`, false},
		{"limit must be at most 100", `{"limit": 101}`, true},
		{"limit must be at most 100", `{"limit": 100}`, false},
		{"mode must be one of fast, slow", `{"mode": "quick"}`, true},
		{"mode must be one of fast, slow", `{"mode": "FAST"}`, false},
		{"'query' is a required property", `{"limit": 1}`, true},
		{"'query' is a required property", `{"query": ""}`, false},
	} {
		broken := false
		for _, c := range constraints.Read(tc.message) {
			broken = broken || constraints.Broken(c, constraints.InputOf(json.RawMessage(tc.input)))
		}
		if broken != tc.broken {
			t.Errorf("%s breaks %q: %v; read %+v", tc.input, tc.message, broken, constraints.Read(tc.message))
		}
	}
}
