package memoryd_test

import (
	"encoding/json"
	"testing"

	"memoryd"
)

// TestACallTellsWhoWroteIt and takes no client's word for it.
func TestACallTellsWhoWroteIt(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ metadata, source, want string }{
		"none, from here":         {"", "", "local"},
		"none, by a key":          {"", "k1", "k1"},
		"empty":                   {"{ }", "k1", "k1"},
		"others":                  {`{"a":1,"trajectory_id":"r"}`, "k1", "k1"},
		"forged, from here":       {`{"memoryd_source":"k2","a":1}`, "", "local"},
		"forged, by a key":        {`{"memoryd_source":"k2","a":1}`, "k1", "k1"},
		"forged with an escape":   {`{"memory\u0064_source":"k2"}`, "", "local"},
		"the escape, by a key":    {`{"memory\u0064_source":"k2"}`, "k1", "k1"},
		"no object":               {`[1]`, "k1", "k1"},
		"a name in a value is no": {`{"a":"memoryd_source"}`, "", "local"},
	} {
		c := memoryd.Call{Metadata: memoryd.WithSource(json.RawMessage(tc.metadata), tc.source)}
		if got := c.Source(); got != tc.want || len(c.Metadata) > 0 && !json.Valid(c.Metadata) {
			t.Errorf("%s: %q of %s, want %q", name, got, c.Metadata, tc.want)
		}
	}
	c := memoryd.Call{Metadata: memoryd.WithSource(json.RawMessage(`{"trajectory_id":"r","tool_call_id":"x"}`), "k1")}
	if c.Run() != "r" || memoryd.ToolCallID(c.Metadata) != "x" {
		t.Errorf("%s", c.Metadata)
	}
}
