package llm_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"memoryd/internal/configtest"

	"memoryd/llm"
	"memoryd/test/llmtest"
)

// faultCase is a reply that is sent for ever, and what becomes of one request.
type faultCase struct {
	reply     llmtest.Reply
	reason    string
	temporary bool
	requests  int    // how many the server sees
	health    string // the reason that Health shows after; "" for ok
}

func faultCases() map[string]faultCase {
	status := func(code int) llmtest.Reply { return llmtest.Status(code, nil) }
	return map[string]faultCase{
		"400":                   {status(400), "rejected", false, 1, ""},
		"401":                   {status(401), "credentials", false, 1, "credentials"},
		"402":                   {status(402), "quota", false, 1, "quota"},
		"403":                   {status(403), "credentials", false, 1, "credentials"},
		"404":                   {status(404), "unknown_model", false, 1, "unknown_model"},
		"408":                   {status(408), "timeout", true, 4, ""},
		"409":                   {status(409), "server", true, 4, ""},
		"413":                   {status(413), "too_long", false, 1, ""},
		"422":                   {status(422), "rejected", false, 1, ""},
		"425":                   {status(425), "server", true, 4, ""},
		"500":                   {status(500), "server", true, 4, ""},
		"502 with a page":       {llmtest.BadGateway(), "server", true, 4, ""},
		"503":                   {status(503), "server", true, 4, ""},
		"504":                   {status(504), "server", true, 4, ""},
		"529":                   {status(529), "server", true, 4, ""},
		"429 for quota":         {llmtest.QuotaExceeded(), "quota", false, 1, "quota"},
		"context length":        {llmtest.ContextLength(), "too_long", false, 1, ""},
		"content policy":        {llmtest.Error(400, "invalid_request_error", "content_policy_violation", "no"), "filtered", false, 1, ""},
		"model by code":         {llmtest.Error(400, "", "model_not_found", "x"), "unknown_model", false, 1, "unknown_model"},
		"model by message":      {llmtest.Error(400, "", "", "The model `x` does not exist"), "unknown_model", false, 1, "unknown_model"},
		"key by message":        {llmtest.Error(400, "INVALID_ARGUMENT", "", "API key not valid. Please pass one."), "credentials", false, 1, "credentials"},
		"redirect":              {llmtest.Redirect("http://elsewhere.invalid/"), "endpoint", false, 1, "endpoint"},
		"html":                  {llmtest.HTML(), "bad_reply", true, 3, ""},
		"garbage":               {llmtest.Unclear(), "bad_reply", true, 3, ""},
		"cut JSON":              {llmtest.Body(`{"choices":[{"message":{"content":"{`), "bad_reply", true, 3, ""},
		"empty body":            {llmtest.Body(""), "bad_reply", true, 3, ""},
		"two values":            {llmtest.Body(`{"choices":[]} {"choices":[]}`), "bad_reply", true, 3, ""},
		"lone surrogate":        {llmtest.Body(`{"choices":[{"message":{"content":"\ud800"}}]}`), "bad_reply", true, 3, ""},
		"other JSON":            {llmtest.Body(`{"choices":"none"}`), "bad_reply", true, 2, ""},
		"no choices":            {llmtest.NoChoices(), "bad_reply", true, 2, ""},
		"choices null":          {llmtest.Body(`{"choices":null}`), "bad_reply", true, 2, ""},
		"empty content":         {llmtest.Answer(" \n"), "bad_reply", true, 2, ""},
		"tool call":             {llmtest.ToolCall(), "bad_reply", false, 2, ""},
		"refusal":               {llmtest.Refusal("I cannot"), "refused", false, 1, ""},
		"content filter":        {llmtest.ContentFilter("{"), "filtered", false, 1, ""},
		"length":                {llmtest.FinishLength(`{"score":`), "bad_reply", false, 2, ""},
		"error in 200":          {llmtest.ErrorIn200("server_error", "", "overloaded"), "server", true, 4, ""},
		"key error in 200":      {llmtest.ErrorIn200("invalid_request_error", "invalid_api_key", "no"), "credentials", false, 1, "credentials"},
		"number code in 200":    {llmtest.Body(`{"error":{"message":"no","code":401}}`), "credentials", false, 1, "credentials"},
		"vLLM error in 200":     {llmtest.Body(`{"object":"error","message":"boom","type":"InternalServerError","code":500}`), "server", true, 4, ""},
		"reset":                 {llmtest.Reset(), "network", true, 4, ""},
		"cut body":              {llmtest.CutBody("an answer"), "network", true, 4, ""},
		"never answers":         {llmtest.Hang(), "timeout", true, 2, ""},
		"drips":                 {llmtest.Drip("an answer", 10*time.Second), "timeout", true, 2, ""},
		"endless":               {llmtest.Endless(), "bad_reply", false, 1, ""},
		"gzip bomb":             {llmtest.GzipBomb(4 << 20), "bad_reply", false, 1, ""},
		"hostile words in echo": {llmtest.Error(400, "invalid_request_error", "", "messages[1]: 'ignore all; insufficient_quota invalid_api_key model not found' is too odd"), "rejected", false, 1, ""},
	}
}

func TestEachFaultHasItsErrorAndItsNumberOfRequests(t *testing.T) {
	for name, tc := range faultCases() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := llmtest.New(llmtest.Always(tc.reply))
				c := newClient(t, s, llm.Options{}, nil)
				_, took, err := ask(context.Background(), c.ForOp("op", 0), "w")
				wantModelError(t, err, tc.reason, tc.temporary)
				if n := s.Counts().Requests; n != tc.requests {
					t.Errorf("%d requests, want %d", n, tc.requests)
				}
				if took > configtest.Section[llm.Config]("llm.default").TotalTimeout {
					t.Errorf("took %v", took)
				}
				if h := c.Health(); h != tc.health {
					t.Errorf("health %+v, want reason %q", h, tc.health)
				}
				if strings.Contains(err.Error(), testKey) {
					t.Error("the key is in the error")
				}
				if st := c.Stats(); st.InFlight != 0 || st.Queued != 0 {
					t.Errorf("stats %+v", st)
				}
			})
		})
	}
}

func TestAFaultThatPassesIsNotSeen(t *testing.T) {
	for name, tc := range faultCases() {
		if !tc.temporary && name != "length" && name != "tool call" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := llmtest.New(llmtest.Script(tc.reply, llmtest.Answer(`{"score":1}`)))
				c := newClient(t, s, llm.Options{}, nil)
				done, _, err := ask(context.Background(), c.ForOp("op", 0), "w")
				if err != nil || done.Text != `{"score":1}` {
					t.Fatalf("got %+v, %v", done, err)
				}
				if done.Model != "gpt-4o-mini" || done.Usage.PromptTokens == 0 || done.Usage.CompletionTokens == 0 {
					t.Errorf("got %+v", done)
				}
				if st := c.Stats(); st.Retries != 1 {
					t.Errorf("stats %+v", st)
				}
			})
		})
	}
}

func TestAnEchoedKeyIsRemoved(t *testing.T) {
	for _, r := range []llmtest.Reply{
		llmtest.Error(401, "x", "invalid_api_key", "Incorrect API key provided: "+testKey),
		{Status: 401, Body: []byte("<html>" + testKey + "</html>")},
		llmtest.ErrorIn200(testKey, testKey, testKey),
	} {
		s := llmtest.New(llmtest.Always(r))
		c := newClient(t, s, llm.Options{}, func(c *llm.Config) { c.Retries = 0 })
		_, _, err := ask(context.Background(), c.ForOp("op", 0), "w")
		if err == nil || strings.Contains(err.Error(), testKey) {
			t.Errorf("got %v", err)
		}
	}
}

// Over real connections the same faults end the same way.
func TestFaultsOverHTTP(t *testing.T) {
	for _, name := range []string{"reset", "cut body", "endless", "gzip bomb", "redirect", "html", "503"} {
		t.Run(name, func(t *testing.T) {
			tc := faultCases()[name]
			s := llmtest.New(llmtest.Always(tc.reply))
			cfg := configtest.Section[llm.Config]("llm.default")
			cfg.BaseURL, cfg.Retries = s.Start(t), 0
			c, err := llm.New(cfg, testKey, llm.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			_, _, err = ask(context.Background(), c.ForOp("op", 0), "w")
			wantModelError(t, err, tc.reason, tc.temporary)
		})
	}
}

func TestNobodyListens(t *testing.T) {
	cfg := configtest.Section[llm.Config]("llm.default")
	cfg.BaseURL, cfg.Retries = "http://127.0.0.1:1/v1", 0
	c, err := llm.New(cfg, "", llm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _, err = ask(context.Background(), c.ForOp("op", 0), "w")
	wantModelError(t, err, "network", true)
}
