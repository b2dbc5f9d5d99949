package main

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"memoryd/api/wire"
	"memoryd/config"
	"memoryd/test/llmtest"
)

// lines collects the log as JSON.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// about gives the lines that hold an id, as one grep does.
func (l *lines) about(t *testing.T, id string) (found []map[string]any) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.text.String()) {
		if !strings.Contains(line, id) {
			continue
		}
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatal(err)
		}
		found = append(found, fields)
	}
	return found
}

// loggingApp is a started server on a model that answers so, with a log that is
// looked into.
func loggingApp(t *testing.T, judge string, answer llmtest.Reply, level slog.Level, environ ...string) (*app, *lines) {
	t.Helper()
	model := llmtest.New(llmtest.Always(answer))
	cfg, err := config.Parse(nil, "test", append(environ, "MEMORYD_STORE_BACKEND=mem", "MEMORYD_HTTP_LISTEN=127.0.0.1:0",
		"OPENAI_BASE_URL="+model.Start(t)+"/v1", "MEMORYD_EVALUATE_JUDGE="+judge, "MEMORYD_LLM_DEFAULT_RETRIES=0"))
	if err != nil {
		t.Fatal(err)
	}
	log := new(lines)
	a, err := newApp(t.Context(), cfg, func(string) string { return "" }, slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: level})))
	if err != nil {
		t.Fatal(err)
	}
	a.Start(t.Context())
	t.Cleanup(func() {
		if err := a.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		http.DefaultClient.CloseIdleConnections()
	})
	return a, log
}

// addOne records a call and gives its id.
func addOne(t *testing.T, a *app) string {
	t.Helper()
	const call = `{"input":{"q":"a"},"output":"It ended, and the log tells more."}`
	if status, _, body := asked(t, a, "POST", "/add_tool_call_result", `{"tool_name":"t","tool_call_results":[`+call+`]}`); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	_, _, body := asked(t, a, "GET", "/v1/workspaces/default/tools/t/calls", "")
	var list wire.CallList
	if err := json.Unmarshal([]byte(body), &list); err != nil || len(list.Calls) != 1 {
		t.Fatalf("%v: %s", err, body)
	}
	return list.Calls[0].ID
}

func TestOneGrepByTheCallsIDSaysWhyItHasItsScore(t *testing.T) {
	for name, c := range map[string]struct {
		judge   string
		answer  llmtest.Reply
		environ string
		message string
		want    map[string]any // "*": anything that is not empty
	}{
		"the rules": {
			"rules", llmtest.BadGateway(), "", "call judged",
			map[string]any{"state": "judged", "score": 1.0, "by": "rules", "rule": "*", "reason": "*", "requests": 0.0, "prompt_tokens": 0.0, "version": "*"},
		},
		"a model": {
			"llm", llmtest.Answer(`{"score": 0.5, "summary": "partly", "evaluation": "Some was left."}`), "", "call judged",
			map[string]any{"state": "judged", "score": 0.5, "by": "llm:gpt-4o-mini", "reason": "*", "requests": 1.0, "prompt_tokens": "*", "completion_tokens": "*", "version": "*"},
		},
		"a model that fails": {
			"llm", llmtest.BadGateway(), "", "call is waiting for its judge",
			map[string]any{"state": "pending", "attempts": 1.0, "next": "*", "error": "*"},
		},
		"a model that refuses": {
			"llm", llmtest.ContentFilter(""), "MEMORYD_EVALUATE_ON_UNJUDGEABLE=failed", "call judged",
			map[string]any{"state": "failed", "error": "*", "requests": "*"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, log := loggingApp(t, c.judge, c.answer, slog.LevelDebug, strings.Fields(c.environ)...)
			id := addOne(t, a)
			found := log.about(t, id)
			if len(found) != 1 || found[0]["msg"] != c.message || found[0]["tool"] != "t" || found[0]["workspace"] != "default" || found[0]["call"] != id {
				t.Fatalf("got %v", found)
			}
			for key, want := range c.want {
				got := found[0][key]
				if want == "*" && got != nil && got != "" && got != 0.0 || got == want {
					continue
				}
				t.Errorf("%s is %v, want %v", key, got, want)
			}
		})
	}
}

func TestACorrectionIsInTheLogByTheCallsID(t *testing.T) {
	a, log := loggingApp(t, "rules", llmtest.BadGateway(), slog.LevelInfo)
	id := addOne(t, a)
	if found := log.about(t, id); len(found) != 0 {
		t.Errorf("at level info: %v", found)
	}
	path := "/v1/workspaces/default/tools/t/calls/" + id + "/evaluation"
	if status, _, body := asked(t, a, "PUT", path, `{"score":0,"evaluation":"It did nothing.","by":"ann"}`); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	found := log.about(t, id)
	if len(found) != 1 {
		t.Fatalf("got %v", found)
	}
	for key, want := range map[string]any{
		"msg": "verdict corrected", "level": "INFO", "from": 1.0, "was_by": "rules", "to": 0.0, "by": "person:ann", "reason": "It did nothing.",
	} {
		if found[0][key] != want {
			t.Errorf("%s is %v, want %v", key, found[0][key], want)
		}
	}
}
