package evaluate

import (
	"testing"

	"memoryd/llm/llmtest"
)

// The corpus says of each broken reply what a careful reader may make of it.
func TestCorpusOfBrokenReplies(t *testing.T) {
	read, must := 0, 0
	for _, r := range llmtest.BrokenReplies() {
		t.Run(r.Name, func(t *testing.T) {
			v, _, err := readReply(r.Text, "")
			if err == nil {
				checkAnswer(t, v)
				read++
			}
			if r.Parsable && !r.Optional {
				must++
			}
			if !r.Allows(v.score, err == nil) {
				t.Errorf("%q: got score %v, error %v; parsable %v, score %v", r.Text, v.score, err, r.Parsable, r.Score)
			}
		})
	}
	if read < must {
		t.Errorf("%d replies were read, %d have one clear meaning", read, must)
	}
	t.Logf("%d of %d replies read", read, len(llmtest.BrokenReplies()))
}
