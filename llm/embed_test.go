package llm_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"memoryd"
	"memoryd/llm"
	"memoryd/llm/llmtest"
)

// embedServer answers embeddings by h and text never.
func embedServer(h llmtest.Handler) *llmtest.Server {
	return llmtest.New(llmtest.Always(llmtest.Status(http.StatusNotFound, nil))).Embeddings(h)
}

func embedderOf(t *testing.T, s *llmtest.Server, opts llm.Options, dimensions int) *llm.Embedder {
	t.Helper()
	return newClient(t, s, opts, func(c *llm.Config) { c.ModelName = "vectors" }).EmbedderForOp("embed", dimensions)
}

func TestTextsBecomeVectorsInTheirOrder(t *testing.T) {
	s := embedServer(func(r llmtest.Request) llmtest.Reply {
		return llmtest.VectorItems(r,
			llmtest.VectorItem{Index: 1, Embedding: []float32{0, 2}}, llmtest.VectorItem{Index: 0, Embedding: []float32{1, 0}})
	})
	var seen []llm.Attempt
	e := embedderOf(t, s, llm.Options{Observer: func(a llm.Attempt) { seen = append(seen, a) }}, 2)
	got, err := e.Embed(t.Context(), "w", []string{"first text", "second\x00text"})
	if err != nil || len(got) != 2 || got[0][0] != 1 || got[1][1] != 2 {
		t.Fatalf("got %v, %v", got, err)
	}
	r := s.Requests()[0]
	if r.Path != "/v1/embeddings" || r.Model != "vectors" || r.Dimensions != 2 || len(r.Input) != 2 || r.Input[1] != "second\x00text" {
		t.Errorf("asked %s of %q for %d: %q", r.Path, r.Model, r.Dimensions, r.Input)
	}
	if len(seen) != 1 || seen[0].Op != "embed" || seen[0].Model != "vectors" || seen[0].Workspace != "w" ||
		seen[0].Outcome != "ok" || seen[0].Usage.PromptTokens != r.PromptTokens {
		t.Errorf("observed %+v", seen)
	}
	if strings.Contains(string(s.Requests()[0].Body), "encoding_format") {
		t.Errorf("body %s", r.Body)
	}
}

func TestDimensionsAreNotSentUnlessAskedFor(t *testing.T) {
	s := embedServer(llmtest.Meaning())
	got, err := embedderOf(t, s, llm.Options{}, 0).Embed(t.Context(), "w", []string{"a b"})
	if err != nil || len(got) != 1 || len(got[0]) != 64 {
		t.Fatalf("got %v, %v", got, err)
	}
	if body := string(s.Requests()[0].Body); strings.Contains(body, "dimensions") {
		t.Errorf("body %s", body)
	}
}

func TestNothingIsAskedForNoTextsOrTooMany(t *testing.T) {
	s := embedServer(llmtest.Meaning())
	e := embedderOf(t, s, llm.Options{}, 0)
	if got, err := e.Embed(t.Context(), "w", nil); got != nil || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := e.Embed(t.Context(), "w", make([]string, 2049)); !memoryd.IsKind(err, memoryd.Invalid) {
		t.Errorf("got %v", err)
	}
	if n := s.Counts().Requests; n != 0 {
		t.Errorf("%d requests", n)
	}
}

// unusable are replies to two texts, and a part of what is said of each.
func unusable() map[string]struct {
	reply llmtest.Handler
	want  string
} {
	item := func(i int, v any) llmtest.VectorItem { return llmtest.VectorItem{Index: i, Embedding: v} }
	one := []float32{1, 0}
	items := func(of ...llmtest.VectorItem) llmtest.Handler {
		return func(r llmtest.Request) llmtest.Reply { return llmtest.VectorItems(r, of...) }
	}
	return map[string]struct {
		reply llmtest.Handler
		want  string
	}{
		"too few":         {items(item(0, one)), "1 vectors for 2 texts"},
		"too many":        {items(item(0, one), item(1, one), item(2, one)), "3 vectors for 2 texts"},
		"none":            {llmtest.Always(llmtest.Body(`{"object":"list","data":[]}`)), "0 vectors"},
		"index twice":     {items(item(0, one), item(0, one)), "two vectors for text 0"},
		"index beyond":    {items(item(0, one), item(2, one)), "text 2 of 2"},
		"index below":     {items(item(-1, one), item(0, one)), "text -1"},
		"unequal lengths": {items(item(0, one), item(1, []float32{1})), "1 dimensions, want 2"},
		"empty":           {items(item(0, []float32{}), item(1, []float32{})), "0 dimensions"},
		"null":            {items(item(0, nil), item(1, nil)), "0 dimensions"},
		"no direction":    {items(item(0, one), item(1, []float32{0, 0})), "no direction"},
		"too large":       {items(item(0, one), item(1, []any{1e300, 1})), "1e+300"},
		"words":           {items(item(0, one), item(1, "AACAPw==")), "json"},
		"a chat reply":    {llmtest.Always(llmtest.Answer("hello")), "0 vectors"},
		"not JSON":        {llmtest.Always(llmtest.Unclear()), "not JSON"},
		"a page":          {llmtest.Always(llmtest.HTML()), "content type"},
	}
}

func TestAReplyWithoutAUsableVectorForEachTextIsRefused(t *testing.T) {
	for name, tc := range unusable() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := embedServer(tc.reply)
				got, err := embedderOf(t, s, llm.Options{}, 0).Embed(t.Context(), "w", []string{"a", "b"})
				wantModelError(t, err, "bad_reply", true)
				if got != nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("got %v, %v, want %q", got, err, tc.want)
				}
				if n := s.Counts().Requests; n < 2 || n > 3 {
					t.Errorf("asked %d times", n)
				}
			})
		})
	}
}

func TestVectorsOfAnotherLengthThanAskedForAreRefused(t *testing.T) {
	s := embedServer(func(r llmtest.Request) llmtest.Reply { return llmtest.Vectors(r, []float32{1, 2, 3}) })
	synctest.Test(t, func(t *testing.T) {
		_, err := embedderOf(t, s, llm.Options{}, 2).Embed(t.Context(), "w", []string{"a"})
		wantModelError(t, err, "bad_reply", true)
	})
}

// The machinery is that of requests for text: refusals wait, failures are tried
// again, a model that is not there stops the client.
func TestEmbeddingsKeepToThePacingOfTheClient(t *testing.T) {
	tests := map[string]struct {
		first  llmtest.Reply
		asked  int
		waited time.Duration
		reason string
	}{
		"429":           {llmtest.TooMany(llmtest.Seconds, 3*time.Second), 2, 3 * time.Second, ""},
		"500":           {llmtest.Status(http.StatusInternalServerError, nil), 2, 250 * time.Millisecond, ""},
		"reset":         {llmtest.Reset(), 2, 250 * time.Millisecond, ""},
		"unknown model": {llmtest.Status(http.StatusNotFound, nil), 1, 0, "unknown_model"},
		"wrong key":     {llmtest.Status(http.StatusUnauthorized, nil), 1, 0, "credentials"},
		"too long":      {llmtest.Error(http.StatusBadRequest, "invalid_request_error", "context_length_exceeded", "too long"), 1, 0, "too_long"},
		"rejected, however it is worded": {
			llmtest.Error(http.StatusBadRequest, "invalid_request_error", "", "temperature, response_format and max_completion_tokens"), 1, 0, "rejected",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				good := llmtest.Meaning()
				s := embedServer(nil)
				s.Embeddings(func(r llmtest.Request) llmtest.Reply {
					if r.N == 1 {
						return tc.first
					}
					return good(r)
				})
				start := time.Now()
				got, err := embedderOf(t, s, llm.Options{}, 0).Embed(t.Context(), "w", []string{"a"})
				if tc.reason != "" {
					wantModelError(t, err, tc.reason, false)
				} else if err != nil || len(got) != 1 {
					t.Fatalf("got %v, %v", got, err)
				}
				if took := time.Since(start); took < tc.waited || s.Counts().Requests != tc.asked {
					t.Errorf("asked %d times, want %d; took %v, want at least %v", s.Counts().Requests, tc.asked, took, tc.waited)
				}
			})
		})
	}
}

func TestEmbedReturnsWhenItsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := embedServer(llmtest.Always(llmtest.Hang()))
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		start := time.Now()
		_, err := embedderOf(t, s, llm.Options{}, 0).Embed(ctx, "w", []string{"a"})
		wantModelError(t, err, "timeout", true)
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

// A batch of vectors of the largest common models is more than a reply with text
// may be.
func TestALargeReplyWithVectorsIsRead(t *testing.T) {
	s := embedServer(llmtest.Meaning())
	texts := strings.Fields(strings.Repeat("word ", 64))
	got, err := embedderOf(t, s, llm.Options{}, 3072).Embed(t.Context(), "w", texts)
	if err != nil || len(got) != 64 || len(got[63]) != 3072 {
		t.Fatalf("got %d vectors, %v", len(got), err)
	}
}
