package llm_test

import (
	"context"
	"net/http"
	"slices"
	"testing"

	"memoryd/internal/configtest"

	"memoryd"
	"memoryd/llm"
	"memoryd/test/llmtest"
)

type tracerKey struct{}

// spy reports the values of the contexts that requests are sent within.
type spy struct {
	next http.RoundTripper
	seen *[]any
}

func (s spy) RoundTrip(r *http.Request) (*http.Response, error) {
	*s.seen = append(*s.seen, r.Context().Value(tracerKey{}))
	return s.next.RoundTrip(r)
}

func TestATracerIsAroundEachAttempt(t *testing.T) {
	s := llmtest.New(llmtest.Script(llmtest.NoFormat("json_schema"), llmtest.Answer(`{"score":1}`)))
	var seen []any
	var begun, ended []string
	c := newClient(t, s, llm.Options{
		HTTP: spy{s.Transport(), &seen},
		Tracer: func(ctx context.Context, a memoryd.Attempt) (context.Context, func(memoryd.Attempt)) {
			begun = append(begun, a.Op+" "+a.Model+" "+a.Workspace+" "+a.Outcome)
			return context.WithValue(ctx, tracerKey{}, len(begun)), func(a memoryd.Attempt) { ended = append(ended, a.Outcome) }
		},
	}, nil)
	if _, _, err := ask(t.Context(), c.ForOp("judge", 0), "w"); err != nil {
		t.Fatal(err)
	}
	one := "judge " + configtest.Section[llm.Config]("llm.default").ModelName + " w "
	if want := []string{one, one}; !slices.Equal(begun, want) {
		t.Errorf("begun %q, want %q", begun, want)
	}
	if want := []string{"adapted", "ok"}; !slices.Equal(ended, want) {
		t.Errorf("ended %q, want %q", ended, want)
	}
	if !slices.Equal(seen, []any{1, 2}) {
		t.Errorf("sent within %v", seen)
	}
}
