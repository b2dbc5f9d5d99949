package llmtest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"memoryd/test/llmtest"
)

// both runs a test against the server over HTTP and in memory.
func both(t *testing.T, s func() *llmtest.Server, test func(t *testing.T, s *llmtest.Server, c *http.Client, url string)) {
	t.Run("over HTTP", func(t *testing.T) {
		server := s()
		transport := &http.Transport{}
		defer transport.CloseIdleConnections()
		test(t, server, &http.Client{Transport: transport}, server.Start(t))
	})
	t.Run("in memory", func(t *testing.T) {
		server := s()
		test(t, server, &http.Client{Transport: server.Transport()}, "http://model.invalid/v1")
	})
}

const chat = `{"model":"m","messages":[{"role":"system","content":"be brief"},{"role":"user","content":"hello"}],
"response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":{"type":"object"}}},"temperature":1e-45,"max_tokens":7}`

// post sends a chat request and reads the whole reply.
func post(t *testing.T, ctx context.Context, c *http.Client, url, body string) (*http.Response, string, error) { //nolint:revive // t comes first everywhere
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, 4<<20))
	return resp, string(b), err
}

func TestAnswerIsAChatCompletion(t *testing.T) {
	both(t, func() *llmtest.Server { return llmtest.New(llmtest.Always(llmtest.Answer("hi there"))) },
		func(t *testing.T, s *llmtest.Server, c *http.Client, url string) {
			resp, body, err := post(t, t.Context(), c, url, chat)
			if err != nil {
				t.Fatal(err)
			}
			var v struct {
				Object  string
				Model   string
				Choices []struct {
					FinishReason string `json:"finish_reason"`
					Message      struct{ Role, Content string }
				}
				Usage map[string]int
			}
			if err := json.Unmarshal([]byte(body), &v); err != nil || resp.StatusCode != 200 {
				t.Fatalf("status %d, %v: %s", resp.StatusCode, err, body)
			}
			if v.Object != "chat.completion" || v.Model != "m" || len(v.Choices) != 1 ||
				v.Choices[0].Message.Content != "hi there" || v.Choices[0].FinishReason != "stop" {
				t.Errorf("got %s", body)
			}
			if v.Usage["prompt_tokens"] != 4 || v.Usage["completion_tokens"] != 2 || v.Usage["total_tokens"] != 6 {
				t.Errorf("usage %v", v.Usage)
			}
			checkRecord(t, s)
		})
}

func checkRecord(t *testing.T, s *llmtest.Server) {
	t.Helper()
	if n := len(s.Requests()); n != 1 {
		t.Fatalf("%d requests recorded", n)
	}
	r := s.Requests()[0]
	if r.N != 1 || r.Model != "m" || r.System != "be brief" || r.User != "hello" || r.Format != "json_schema" ||
		!r.Strict || string(r.Schema) != `{"type":"object"}` || r.MaxTokens != 7 || r.PromptTokens != 4 {
		t.Errorf("recorded %+v", r)
	}
	if r.Temperature == nil || *r.Temperature <= 0 {
		t.Errorf("temperature %v", r.Temperature)
	}
	if got := s.Counts(); got.Requests != 1 || got.PromptTokens != 4 || got.AnswerTokens != 2 || got.MaxInFlight != 1 {
		t.Errorf("counts %+v", got)
	}
}

func TestStreamIsServerSentEvents(t *testing.T) {
	const text = "a text that is longer than one event, with ünïcode"
	both(t, func() *llmtest.Server { return llmtest.New(llmtest.Always(llmtest.Answer(text))) },
		func(t *testing.T, _ *llmtest.Server, c *http.Client, url string) {
			resp, body, err := post(t, t.Context(), c, url, `{"model":"m","messages":[{"role":"user","content":"x"}],"stream":true}`)
			if err != nil || resp.Header.Get("Content-Type") != "text/event-stream" {
				t.Fatalf("%v, %v", err, resp)
			}
			var got strings.Builder
			events, done := 0, false
			for lines := bufio.NewScanner(strings.NewReader(body)); lines.Scan(); {
				data, ok := strings.CutPrefix(lines.Text(), "data: ")
				if !ok || data == "[DONE]" {
					done = done || data == "[DONE]"
					continue
				}
				events++
				var v struct {
					Choices []struct{ Delta struct{ Content string } }
				}
				if err := json.Unmarshal([]byte(data), &v); err != nil {
					t.Fatal(err)
				}
				for _, choice := range v.Choices {
					got.WriteString(choice.Delta.Content)
				}
			}
			if got.String() != text || events < 4 || !done {
				t.Errorf("got %q in %d events, done %v", got.String(), events, done)
			}
		})
}

func TestFaultsLookAlikeInMemoryAndOverHTTP(t *testing.T) {
	tests := map[string]struct {
		reply  llmtest.Reply
		status int // 0: an error before the header
		whole  bool
	}{
		"status":    {llmtest.Status(503, nil), 503, true},
		"too many":  {llmtest.TooMany(llmtest.Seconds, 3*time.Second), 429, true},
		"quota":     {llmtest.QuotaExceeded(), 429, true},
		"html":      {llmtest.BadGateway(), 502, true},
		"garbage":   {llmtest.Unclear(), 200, true},
		"reset":     {llmtest.Reset(), 0, false},
		"cut body":  {llmtest.CutBody("a text"), 200, false},
		"hang":      {llmtest.Hang(), 0, false},
		"endless":   {llmtest.Endless(), 200, true},
		"drip":      {llmtest.Drip("x", time.Millisecond/10), 200, true},
		"gzip bomb": {llmtest.GzipBomb(3 << 20), 200, true},
		"late":      {llmtest.Answer("x").After(time.Millisecond), 200, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			both(t, func() *llmtest.Server { return llmtest.New(llmtest.Always(tc.reply)) },
				func(t *testing.T, s *llmtest.Server, c *http.Client, url string) {
					ctx := t.Context()
					if name == "hang" {
						var cancel context.CancelFunc
						ctx, cancel = context.WithTimeout(ctx, 50*time.Millisecond)
						defer cancel()
					}
					resp, _, err := post(t, ctx, c, url, chat)
					status := 0
					if resp != nil {
						status = resp.StatusCode
					}
					if status != tc.status || (err == nil) != tc.whole {
						t.Errorf("status %d and error %v", status, err)
					}
				})
		})
	}
}

func TestRetryAfterForms(t *testing.T) {
	now := time.Now()
	tests := map[llmtest.RetryAfter]func(h http.Header) bool{
		llmtest.None:       func(h http.Header) bool { return h.Get("Retry-After") == "" && h.Get("retry-after-ms") == "" },
		llmtest.Seconds:    func(h http.Header) bool { return h.Get("Retry-After") == "3" },
		llmtest.Decimal:    func(h http.Header) bool { return h.Get("Retry-After") == "2.500" || h.Get("Retry-After") == "2.501" },
		llmtest.Millis:     func(h http.Header) bool { return h.Get("retry-after-ms") == "2500" },
		llmtest.Garbage:    func(h http.Header) bool { return h.Get("Retry-After") == "soon" },
		llmtest.Negative:   func(h http.Header) bool { return h.Get("Retry-After") == "-5" },
		llmtest.NotANumber: func(h http.Header) bool { return h.Get("Retry-After") == "NaN" },
		llmtest.Huge:       func(h http.Header) bool { return h.Get("Retry-After") == "1000000000" },
		llmtest.HTTPDate: func(h http.Header) bool {
			at, err := http.ParseTime(h.Get("Retry-After"))
			return err == nil && at.After(now.Add(2*time.Second))
		},
		llmtest.Past: func(h http.Header) bool {
			at, err := http.ParseTime(h.Get("Retry-After"))
			return err == nil && at.Before(now)
		},
	}
	for form, ok := range tests {
		if r := llmtest.TooMany(form, 2500*time.Millisecond); !ok(r.Header) {
			t.Errorf("form %d: %v", form, r.Header)
		}
	}
}

func TestScriptPlaysInOrder(t *testing.T) {
	h := llmtest.Script(llmtest.Answer("1"), llmtest.Answer("2"))
	for _, want := range []string{"1", "2", "2", "2"} {
		if got := h(llmtest.Request{}).Text; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestLimitsRefuseAndComeBack(t *testing.T) {
	const minute = 6
	for name, refill := range map[string]llmtest.Refill{"bucket": llmtest.Bucket, "window": llmtest.Window, "sliding": llmtest.Sliding} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := llmtest.New(llmtest.Always(llmtest.Answer("x"))).
					Limit(llmtest.Limits{RequestsPerMinute: minute, Refill: refill, Headers: true, RetryAfter: llmtest.Millis})
				c := &http.Client{Transport: s.Transport()}
				served := func(n int) (ok int) {
					for range n {
						resp, _, err := post(t, t.Context(), c, "http://x/v1", chat)
						if err != nil {
							t.Fatal(err)
						}
						if resp.StatusCode == 200 {
							ok++
						} else if resp.Header.Get("retry-after-ms") == "" || resp.Header.Get("x-ratelimit-remaining-requests") != "0" {
							t.Errorf("refused with %v", resp.Header)
						}
					}
					return ok
				}
				if got := served(10); got != minute {
					t.Errorf("%d of 10 served at once, want %d", got, minute)
				}
				time.Sleep(time.Minute + time.Second)
				if got := served(10); got != minute {
					t.Errorf("%d of 10 served a minute later, want %d", got, minute)
				}
				if got := s.Counts(); got.Refused != 8 || got.Requests != 20 {
					t.Errorf("counts %+v", got)
				}
			})
		})
	}
}

func TestWrongRequestsAreRefusedAsOpenAIDoes(t *testing.T) {
	s := llmtest.New(llmtest.Always(llmtest.Answer("x")))
	c := &http.Client{Transport: s.Transport()}
	if resp, _, err := post(t, t.Context(), c, "http://x/v1", `{"model":`); err != nil || resp.StatusCode != 400 {
		t.Errorf("malformed body: %v %v", resp, err)
	}
	if resp, _, err := post(t, t.Context(), c, "http://x/v1/models", chat); err != nil || resp.StatusCode != 200 {
		t.Errorf("a longer base path: %v %v", resp, err)
	}
	resp, err := c.Get("http://x/v1/models")
	if err != nil || resp.StatusCode != 404 {
		t.Errorf("another path: %v %v", resp, err)
	}
}

func TestListenClosesTwiceAndOnABusyAddressFails(t *testing.T) {
	s := llmtest.New(llmtest.Always(llmtest.Hang()))
	l, err := llmtest.Listen("127.0.0.1:0", s)
	if err != nil {
		t.Fatal(err)
	}
	addr := strings.TrimSuffix(strings.TrimPrefix(l.URL, "http://"), "/v1")
	if _, err := llmtest.Listen(addr, s); err == nil {
		t.Error("two servers listen on one address")
	}
	failed := make(chan error)
	transport := &http.Transport{}
	go func() {
		_, _, err := post(t, context.Background(), &http.Client{Transport: transport}, l.URL, chat)
		failed <- err
	}()
	for len(s.Requests()) == 0 {
		time.Sleep(time.Millisecond)
	}
	for range 2 {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := <-failed; err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("the hanging request ended with %v", err)
	}
}
