package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// One command shows a guideline, a warning and a compaction, without a key, a
// network or a server.
func TestTheDemonstrationShowsAGuidelineAWarningAndACompaction(t *testing.T) {
	oneByOne(t)
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"demo", "--data", t.TempDir()}, streams{out: &out, err: &errs}); code != exitDone {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	for _, want := range []string{
		"Give no `payment_id` that begins with \"certificate_\"; \"credit_card_\" worked: otherwise 4 of 4 went wrong (4 runs).", "Typical good call: `{\"cabin\":",
		"--- POST /preflight_tool_call", "Risk ", "\n- ", "--- POST /compact_conversation", "tokens become",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
	for page, before := range map[string]string{
		"README.md":          "the demo learns without a model:\n\n```\n",
		"docs/guidelines.md": "It uses no model:\n\n```\n",
	} {
		text, err := os.ReadFile("../../" + page)
		if err != nil {
			t.Fatal(err)
		}
		_, shown, _ := strings.Cut(string(text), before)
		shown, _, _ = strings.Cut(shown, "\n```")
		if !strings.Contains(out.String(), shown) || len(shown) < 150 {
			t.Errorf("%s shows another guideline than the demonstration:\n%s", page, shown)
		}
	}
	if errs.Len() > 0 {
		t.Errorf("it complains: %s", errs.String())
	}
}
