package llm_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"memoryd/internal/configtest"

	"memoryd"
	"memoryd/llm"
	"memoryd/test/llmtest"
)

// formats gives the response formats that the server was asked for.
func formats(s *llmtest.Server) string {
	var out []string
	for _, r := range s.Requests() {
		f := r.Format
		if f == "" {
			f = "none"
		}
		out = append(out, f)
	}
	return strings.Join(out, " ")
}

func TestStructuredOutputLadder(t *testing.T) {
	tests := map[string]struct {
		knows []string // formats that the server takes
		error llmtest.Reply
		want  string // of two requests
	}{
		"all":      {[]string{"json_schema", "json_object", ""}, llmtest.Reply{}, "json_schema json_schema"},
		"object":   {[]string{"json_object", ""}, llmtest.NoFormat("json_schema"), "json_schema json_object json_object"},
		"text":     {[]string{""}, llmtest.NoFormat("json_object"), "json_schema json_object none none"},
		"by a 422": {[]string{""}, llmtest.Error(422, "", "", "json_schema: extra fields not permitted, see response_format"), "json_schema json_object none none"},
		"by a 500": {[]string{"json_object", ""}, llmtest.Error(500, "server_error", "", "grammar could not be compiled"), "json_schema json_object json_object"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := llmtest.New(func(r llmtest.Request) llmtest.Reply {
				if !slices.Contains(tc.knows, r.Format) {
					return tc.error
				}
				return llmtest.Answer(`{"score":1}`)
			})
			c := newClient(t, s, llm.Options{}, nil)
			m := c.ForOp("op", 0)
			for range 2 {
				if _, _, err := ask(context.Background(), m, "w"); err != nil {
					t.Fatal(err)
				}
			}
			if got := formats(s); got != tc.want {
				t.Errorf("asked for %s, want %s", got, tc.want)
			}
			for _, r := range s.Requests() {
				if inPrompt := strings.Contains(r.System, schema); inPrompt != (r.Format != "json_schema") {
					t.Errorf("format %q: schema in the prompt is %v", r.Format, inPrompt)
				}
				if r.Format == "json_schema" && (!r.Strict || string(r.Schema) != schema) {
					t.Errorf("schema %s, strict %v", r.Schema, r.Strict)
				}
			}
			// Free text is not asked for in any format, whatever was learnt.
			if _, err := m.Complete(context.Background(), memoryd.Prompt{User: "x"}); err != nil {
				t.Fatal(err)
			}
			if last := s.Requests()[len(s.Requests())-1]; last.Format != "" || last.System != "" {
				t.Errorf("free text was asked for as %q with %q", last.Format, last.System)
			}
		})
	}
}

func TestAServerThatRejectsEverythingIsNotAskedForEver(t *testing.T) {
	s := llmtest.New(llmtest.Always(llmtest.Error(400, "", "", "response_format, temperature and max_completion_tokens are all wrong")))
	_, _, err := ask(context.Background(), newClient(t, s, llm.Options{}, nil).ForOp("op", 0), "w")
	wantModelError(t, err, "rejected", false)
	if n := s.Counts().Requests; n != 5 { // two for parameters, two down the ladder, and the last
		t.Errorf("%d requests", n)
	}
}

func TestTemperatureAndTokenCapFitTheModel(t *testing.T) {
	tests := map[string]struct {
		model       string
		temperature float64
		sent        float64 // -1: none
		reasoning   bool
	}{
		"zero is really sent":    {"gpt-4o", 0, 0, false},
		"another is sent":        {"gpt-4o", 0.5, 0.5, false},
		"o1 takes none":          {"o1-mini", 0, -1, true},
		"o3 takes none":          {"o3", 0.5, -1, true},
		"o4 takes none":          {"o4-mini", 0, -1, true},
		"gpt-5 takes none":       {"gpt-5-nano", 0, -1, true},
		"a local name like them": {"llama-o1", 0, 0, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := llmtest.New(llmtest.Always(llmtest.Answer("x")))
			c := newClient(t, s, llm.Options{}, func(c *llm.Config) {
				c.ModelName, c.Temperature, c.MaxTokens = tc.model, tc.temperature, 77
			})
			if _, _, err := ask(context.Background(), c.ForOp("op", 0), "w"); err != nil {
				t.Fatal(err)
			}
			r := s.Requests()[0]
			switch {
			case tc.sent < 0 && r.Temperature != nil:
				t.Errorf("sent temperature %v", *r.Temperature)
			case tc.sent >= 0 && (r.Temperature == nil || *r.Temperature > tc.sent+1e-40 || *r.Temperature < tc.sent):
				t.Errorf("sent temperature %v", r.Temperature)
			}
			if old := r.MaxTokens == 77 && r.MaxCompletionTokens == 0; old == tc.reasoning {
				t.Errorf("caps %d and %d", r.MaxTokens, r.MaxCompletionTokens)
			}
		})
	}
}

// Servers behind other names object to the parameters of the wrong generation;
// the client learns from what they say.
func TestParametersAreLearntFromRejections(t *testing.T) {
	s := llmtest.New(func(r llmtest.Request) llmtest.Reply {
		switch {
		case r.MaxTokens > 0:
			return llmtest.Error(400, "invalid_request_error", "unsupported_parameter", "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
		case r.Temperature != nil:
			return llmtest.Error(400, "invalid_request_error", "unsupported_value", "'temperature' does not support 0 with this model.")
		}
		return llmtest.Answer("x")
	})
	c := newClient(t, s, llm.Options{}, func(c *llm.Config) { c.ModelName = "my-deployment" })
	m := c.ForOp("op", 0)
	for range 3 {
		if _, _, err := ask(context.Background(), m, "w"); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.Counts().Requests; n != 5 {
		t.Errorf("%d requests for three prompts, want two more", n)
	}
}

func TestACutAnswerIsAskedForOnceWithALargerCap(t *testing.T) {
	s := llmtest.New(func(r llmtest.Request) llmtest.Reply {
		if r.MaxTokens < 200 {
			return llmtest.FinishLength(`{"score":`)
		}
		return llmtest.Answer(`{"score":1}`)
	})
	p := prompt("w")
	p.MaxTokens = 100
	done, err := newClient(t, s, llm.Options{}, nil).ForOp("op", 0).Complete(context.Background(), p)
	if err != nil || done.Text != `{"score":1}` || s.Requests()[1].MaxTokens != 200 {
		t.Errorf("got %+v, %v; second cap %d", done, err, s.Requests()[1].MaxTokens)
	}
}

func TestTheTracerHearsOfEachAttempt(t *testing.T) {
	var heard []memoryd.Attempt
	s := llmtest.New(llmtest.Script(llmtest.NoChoices(), llmtest.JSON(map[string]int{"score": 1})))
	c := newClient(t, s, llm.Options{Tracer: func(ctx context.Context, _ memoryd.Attempt) (context.Context, func(memoryd.Attempt)) {
		return ctx, func(a memoryd.Attempt) { heard = append(heard, a) }
	}}, nil)
	p := prompt("w")
	p.Tool = "search"
	if _, err := c.ForOp("judge", 0).Complete(context.Background(), p); err != nil {
		t.Fatal(err)
	}
	for _, a := range heard {
		if a.Workspace != "w" || a.Tool != "search" {
			t.Errorf("on behalf of %q, %q", a.Workspace, a.Tool)
		}
	}
	if len(heard) != 2 || heard[0].Outcome != "bad_reply" || heard[1].Outcome != "ok" ||
		heard[1].Op != "judge" || heard[1].Model != "gpt-4o-mini" || heard[1].Usage.CompletionTokens == 0 {
		t.Errorf("heard %+v", heard)
	}
}

func TestTheKeyIsSentAndNoKeyIsNot(t *testing.T) {
	for _, key := range []string{testKey, ""} {
		s := llmtest.New(llmtest.Always(llmtest.Answer("x")))
		c, err := llm.New(configtest.Section[llm.Config]("llm.default"), key, llm.Options{HTTP: s.Transport()})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := ask(context.Background(), c.ForOp("op", 0), "w"); err != nil {
			t.Fatal(err)
		}
		want := ""
		if key != "" {
			want = "Bearer " + key
		}
		if got := s.Requests()[0].Header.Get("Authorization"); got != want {
			t.Errorf("sent %q, want %q", got, want)
		}
	}
}

// Whatever bytes a server answers with, there is an answer or a model error.
func FuzzReply(f *testing.F) {
	for _, seed := range []string{`{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}`, `{"error":"x"}`, `[]`, `{"choices":[{}]}`, "\xff", `{"error":{"code":{}}}`} {
		f.Add(200, []byte(seed))
		f.Add(400, []byte(seed))
	}
	for _, text := range []string{
		`{"score": 1, "summary": "s", "evaluation": "e"}`, "```json\n{\"score\": 0}\n```", `{"score": 0.5, "summary": "cut`, "{'score': 1,}",
		"<think>0?</think> {\"score\": 1}", `{"score": "1/1"}`, "partial", "", "\x00", strings.Repeat("[", 1000),
	} {
		b, err := json.Marshal(map[string]any{"choices": []any{map[string]any{"message": map[string]any{"content": text}}}})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(200, b)
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		status = 200 + (status%400+400)%400
		s := llmtest.New(llmtest.Always(llmtest.Reply{Status: status, Body: append([]byte{}, body...)}))
		c := newClient(t, s, llm.Options{}, func(c *llm.Config) { c.Retries, c.TotalTimeout = 0, 1e6 })
		done, _, err := ask(context.Background(), c.ForOp("op", 0), "w")
		if err == nil {
			if strings.TrimSpace(done.Text) == "" || status >= 300 {
				t.Errorf("status %d gave %+v", status, done)
			}
			return
		}
		if len(err.Error()) > 2000 {
			t.Errorf("an error of %d bytes", len(err.Error()))
		}
	})
}
