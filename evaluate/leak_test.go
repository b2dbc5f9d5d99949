package evaluate

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"memoryd"

	"pgregory.net/rapid"
)

// Whatever a model repeats of a call's own output, the evaluation keeps its form.
func TestAnOutputCannotSetTheFormOfItsVerdict(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		output := hostile().Draw(rt, "output")
		raw := rapid.Bool().Draw(rt, "raw")
		answer := output
		if !raw {
			b, err := json.Marshal(map[string]any{
				"summary": output + strings.Repeat("x", 500), "evaluation": strings.Repeat(output, 50),
				"score": rapid.SampledFrom([]any{1, 0.5, 0, 5, -1, "1.0", output, nil}).Draw(rt, "score"), "failed_checks": []string{output, "input_format"},
			})
			if err != nil {
				rt.Fatal(err)
			}
			answer = string(b)
		}
		v, _, err := readReply(answer, "NONCE")
		if err != nil {
			return
		}
		d := &Evaluator{model: always("", nil), version: "v", now: time.Now}
		e := d.evaluation(v, output)
		if e.Score != 0 && e.Score != 0.5 && e.Score != 1 || e.State != memoryd.Judged {
			rt.Fatalf("got %+v", e)
		}
		if utf8.RuneCountInString(e.Summary) > maxSummary || utf8.RuneCountInString(e.Evaluation) > maxEvaluation || strings.Contains(e.Summary, "\n") {
			rt.Fatalf("too long: %+v", e)
		}
		for name := range strings.FieldsSeq(e.FailedChecks) {
			if !strings.Contains(" "+strings.Join(checkNames(), " ")+" ", " "+name+" ") {
				rt.Fatalf("an unknown check: %q", e.FailedChecks)
			}
		}
	})
}
