package memoryd_test

import (
	"encoding/json"
	"strings"
	"testing"

	"memoryd"
)

func TestTheRunOfACallIsReadFromItsMetadata(t *testing.T) {
	long := strings.Repeat("x", memoryd.MaxNameBytes+1)
	for metadata, want := range map[string]string{
		``: "", `null`: "", `[]`: "", `{}`: "", `{"tool_call_id":"c1"}`: "",
		`{"trajectory_id":"t1"}`:                               "t1",
		`{"session_id":"s1"}`:                                  "s1",
		`{"session_id":"s1","trajectory_id":"t1"}`:             "t1",
		`{"trajectory_id":"t1","session_id":"s1"}`:             "t1",
		`{"trajectory_id":"","session_id":"s1"}`:               "s1",
		`{"trajectory_id":null,"session_id":17}`:               "17",
		`{"a":{"trajectory_id":"inner"},"session_id":"s1"}`:    "s1",
		`{"trajectory_id":"` + long + `","session_id":"s1"}`:   "s1",
		`{"trajectory_id":"t1","trajectory_id":"t2"}`:          "t1",
		`{"trajectory_id":"\u00e9"}`:                           "é",
		`{"note":"trajectory_id"}`:                             "",
		`{"session_id":"s1","cut":`:                            "s1",
		`{"trajectory_id":["t1"],"session_id":{"id":"inner"}}`: "",
	} {
		if got := memoryd.RunOf(json.RawMessage(metadata)); got != want {
			t.Errorf("%s: got %q, want %q", metadata, got, want)
		}
	}
}
