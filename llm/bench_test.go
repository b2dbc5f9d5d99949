package llm_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"memoryd/internal/configtest"

	"memoryd/llm"
	"memoryd/test/llmtest"
)

// BenchmarkComplete is the whole way of one request with its JSON, without a
// network; BenchmarkRoundTrip is the part of it that the test server takes.
func BenchmarkComplete(b *testing.B) {
	s := llmtest.New(llmtest.Always(llmtest.Answer(`{"score":1}`)))
	c, err := llm.New(configtest.Section[llm.Config]("llm.default"), "", llm.Options{HTTP: s.Transport()})
	if err != nil {
		b.Fatal(err)
	}
	m := c.ForOp("op", 0)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := ask(context.Background(), m, "w"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRoundTrip(b *testing.B) {
	s := llmtest.New(llmtest.Always(llmtest.Answer(`{"score":1}`)))
	b.ReportAllocs()
	for b.Loop() {
		req, err := http.NewRequest(http.MethodPost, "http://x/v1/chat/completions", newBody())
		if err != nil {
			b.Fatal(err)
		}
		resp, err := s.Transport().RoundTrip(req)
		if err != nil {
			b.Fatal(err)
		}
		readAll(b, resp)
	}
}

func newBody() io.Reader {
	return strings.NewReader(`{"model":"gpt-4o-mini","messages":[{"role":"system","content":"judge"},{"role":"user","content":"data"}]}`)
}

func readAll(b *testing.B, resp *http.Response) {
	b.Helper()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		b.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		b.Fatal(err)
	}
}
