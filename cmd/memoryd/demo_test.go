package main

import (
	"bytes"
	"strings"
	"testing"
)

// One command shows a guideline, a warning and a compaction, without a key, a
// network or a server.
func TestTheDemonstrationShowsAGuidelineAWarningAndACompaction(t *testing.T) {
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"demo", "--data", t.TempDir()}, streams{out: &out, err: &errs}); code != exitDone {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	for _, want := range []string{
		"Never pass a `payment_id` that starts with \"certificate_\": 4 failed (4 runs)", "Typical good call: `{\"cabin\":",
		"--- POST /preflight_tool_call", "Risk ", "\n- ", "--- POST /compact_conversation", "tokens become",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
	if errs.Len() > 0 {
		t.Errorf("it complains: %s", errs.String())
	}
}
