package ops

import (
	"encoding/json"
	"testing"
)

// Where it is not known which secret a placeholder stands for, there is no suggestion.
func TestASuggestionHoldsTheRightSecretOrThereIsNone(t *testing.T) {
	for _, tc := range []struct{ suggestion, redacted, input, want string }{
		{`{"a":"[s:1]","b":2}`, `{"a":"[s:1]","b":1}`, `{"a":"one","b":1}`, `{"a":"one","b":2}`},
		{`{"a":"[s:2]","b":"[s:1]"}`, `{"a":"[s:1]","b":"[s:2]"}`, `{"a":"one","b":"two"}`, `{"a":"two","b":"one"}`},
		{`{"a":"[s]","c":2}`, `{"a":"[s]","b":"[s]"}`, `{"a":"one","b":"two"}`, ``},
		{`{"a":"[s]","c":2}`, `{"a":"[s]","b":"[s]"}`, `{"a":"one","b":"one"}`, `{"a":"one","c":2}`},
		{`{"a":"[s]"}`, `{"a":"[s]"}`, `{"a":77,"b":1}`, ``},
		{`{"a":"[s]","b":"x"}`, `{"a":"[s]"}`, `{"a":77}`, `{"a":77,"b":"x"}`},
		{`{"a":"é<"}`, `{"a":"\u00e9"}`, `{"a":"\u00e9"}`, `{"a":"é<"}`},
	} {
		if got := unredacted(json.RawMessage(tc.suggestion), json.RawMessage(tc.redacted), json.RawMessage(tc.input)); string(got) != tc.want {
			t.Errorf("%s of %s: %s, not %q", tc.suggestion, tc.input, got, tc.want)
		}
	}
}
