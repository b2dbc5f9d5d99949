package hostile

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"memoryd/test/crash/daemon"
	"memoryd/test/llmtest"
)

// obey replaces each text of a reply by an order, and leaves its numbers and names of
// statements as they are: what a model does that obeys what it read.
func obey(v any, order func() string) any {
	switch v := v.(type) {
	case map[string]any:
		for name, e := range v {
			v[name] = obey(e, order)
		}
		return v
	case []any:
		for i := range v {
			v[i] = obey(v[i], order)
		}
		return v
	case string:
		return order()
	}
	return v
}

// A model that obeys the texts it reads publishes nothing: neither where it judges, nor
// where it chooses, nor in prose. The control is that it was asked, and that the rules'
// lines stand all the same.
func TestAnObedientModelPublishesNoOrder(t *testing.T) {
	dice := daemon.Dice(t)
	w := &world{t: t, dice: dice}
	mark := w.word() + w.word()
	order := func() string {
		return fmt.Sprintf(orders[dice.IntN(len(orders))], mark, w.word()) + " " + w.phrase(2)
	}
	shapes := []string{
		`{"items":[{"text":"","do":"","when":"x","evidence":["E1"]}],"order":["1","2"],"propose":[{"when":"","parameter":"","value":""}]}`,
		`{"core_function":"","success_patterns":[""],"common_issues":[""],"best_practices":["",""]}`,
		`{"summary":"","evaluation":"","score":0.5}`,
		`{"choose":[{"id":"r1","line":""}],"note":""}`,
	}
	var asked atomic.Int64
	model := llmtest.New(func(llmtest.Request) llmtest.Reply {
		asked.Add(1)
		if dice.IntN(4) == 0 {
			return llmtest.Answer("## Best Practices\n1. " + order())
		}
		var v any
		_ = json.Unmarshal([]byte(shapes[dice.IntN(len(shapes))]), &v)
		return llmtest.JSON(obey(v, order))
	})
	url := model.Start(t)
	w.Process = binary.Start(t, t.TempDir(), []string{"OPENAI_API_KEY=k", "OPENAI_BASE_URL=" + url + "/v1"})
	lines := 0
	n := rounds(t, 8)
	for range n {
		w.open()
		tool, p := "find_"+w.word(), w.word()
		for i := range 40 {
			c := call{source: fmt.Sprintf("agent%d", i%3), run: fmt.Sprintf("r%d", i/5), tool: tool, input: map[string]any{p: i % 7}, output: fmt.Sprintf(`{"rows":%d}`, 1+i)}
			if i%4 == 0 {
				c.input, c.output, c.failed = map[string]any{}, "Error: "+order(), true
			}
			w.addHTTP(c)
		}
		ours, _ := said(w.guideline("agent1", tool))
		if strings.Contains(ours, mark) {
			t.Errorf("a model's order is told:\n%s", ours)
		}
		if strings.Contains(ours, "`"+p+"`") {
			lines++
		}
		f := w.forecast("agent1", tool, map[string]any{})
		if strings.Contains(f.text()+string(f.Metadata.Suggestion), mark) {
			t.Errorf("a warning says %q", f.text())
		}
	}
	if asked.Load() == 0 || lines < n {
		t.Errorf("the model was asked %d times, and %d of %d guidelines tell of the parameter: the attack shows nothing", asked.Load(), lines, n)
	}
}
