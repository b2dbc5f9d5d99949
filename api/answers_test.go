package api

import (
	"fmt"
	"strings"
	"testing"

	"memoryd/store/mem"
)

func TestARememberedAnswerIsTheAnswer(t *testing.T) {
	h := newHandler(t, mem.New())
	add := func(n int) {
		ask(h, "POST", "/add_tool_call_result", fmt.Sprintf(`{"tool_name":"t","tool_call_results":[{"output":"%d","time_cost":%d}]}`, n, n))
	}
	get := func() string {
		return ask(h, "POST", "/retrieve_tool_memory", `{"tool_names":"t","include_history":false}`).Body.String()
	}
	add(1)
	first := get()
	if again := get(); again != first || !strings.Contains(first, `"total_calls":1`) {
		t.Errorf("got %s\nthen %s", first, again)
	}
	add(2)
	if got := get(); !strings.Contains(got, `"total_calls":2`) || !strings.Contains(got, `"avg_time_cost":1.5`) {
		t.Errorf("an old answer: %s", got)
	}
	ask(h, "POST", "/summary_tool_memory", `{"tool_names":"t"}`)
	if got := get(); !strings.Contains(got, "2 calls") {
		t.Errorf("the guideline is missing: %s", got)
	}
}

func TestAnswersAreBounded(t *testing.T) {
	s := newServer(testConfig(), Deps{})
	known := remembered{encoded: encoded{body: []byte("{}")}}
	for i := range 3 * maxAnswers {
		s.keep(fmt.Append(nil, i), known)
	}
	if s.answers.Len() > maxAnswers {
		t.Errorf("%d answers are kept", s.answers.Len())
	}
	s.keep([]byte("x"), known)
	if _, ok := s.answers.Get("x"); !ok {
		t.Error("the newest is not kept")
	}
	known.encoded.body = make([]byte, maxAnswerBytes+1)
	s.keep([]byte("y"), known)
	if _, ok := s.answers.Get("y"); ok {
		t.Error("an answer that is too large is kept")
	}
}
