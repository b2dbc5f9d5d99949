package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"memoryd/llm/llmtest"
	"memoryd/test/crash/daemon"
)

// vectorServer is a model that makes vectors and nothing else, for which rain is
// precipitation. While it is sick its answers are reply.
type vectorServer struct {
	*llmtest.Server
	sick  atomic.Bool
	texts atomic.Int64 // guidelines that it was shown
}

func newVectorServer(t *testing.T, reply llmtest.Reply) *vectorServer {
	s := &vectorServer{}
	well := llmtest.Meaning([]string{"rain", "precipitation"}, []string{"post", "mail"}, []string{"thunder", "storm"})
	s.Server = llmtest.New(func(r llmtest.Request) llmtest.Reply {
		t.Errorf("a request to %s", r.Path)
		return llmtest.Status(http.StatusNotFound, nil)
	}).Embeddings(func(r llmtest.Request) llmtest.Reply {
		if s.sick.Load() {
			return reply
		}
		for _, text := range r.Input {
			if strings.Contains(text, "\n") {
				s.texts.Add(1)
			}
		}
		return well(r)
	})
	return s
}

// meant lets vectors bring one tool into a result, and lets nothing else ask a model.
func meant(t *testing.T) string {
	return configFile(t, `
llm: {default: {attempt_timeout: 1s, total_timeout: 2s, retries: 1}}
search: {embedding_model: vectors, nearest: 1, wait: 500ms}
evaluate: {judge: rules}
op: {summary_tool_memory_op: {llm: ""}}
`)
}

// names is what a search for the words finds.
func names(t *testing.T, s *daemon.Process, query string) []string {
	t.Helper()
	r := s.Get("/v1/workspaces/default/tools?query=" + url.QueryEscape(query))
	var list struct {
		Tools []struct {
			Name string `json:"tool_name"`
		}
	}
	if err := json.Unmarshal(r.Body, &list); err != nil || r.Status != http.StatusOK {
		t.Fatalf("status %d, %v: %s", r.Status, err, r.Body)
	}
	found := []string{}
	for _, tool := range list.Tools {
		found = append(found, tool.Name)
	}
	return found
}

// addTools records calls of the tools and has their guidelines written.
func addTools(s *daemon.Process, tools ...string) {
	for _, tool := range tools {
		var calls []map[string]any
		for i := range 12 {
			calls = append(calls, map[string]any{"input": map[string]any{"place": fmt.Sprint("n", i)}, "output": fmt.Sprintf("done %d", i)})
		}
		s.Post("/add_tool_call_result", map[string]any{"tool_name": tool, "tool_call_results": calls})
	}
	s.Post("/summary_tool_memory", map[string]any{"tool_names": tools})
}

// waitForVectors polls until the search finds the tool.
func waitForVectors(t *testing.T, s *daemon.Process, query, tool string) {
	t.Helper()
	for deadline := time.Now().Add(patience); !slices.Equal(names(t, s, query), []string{tool}); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%q finds %v, want %s\n%s", query, names(t, s, query), tool, s.Log())
		}
	}
}

// TestAToolIsFoundByItsMeaning searches with a word that no name and no guideline
// holds, also after a kill, and goes by words alone while the model is sick.
func TestAToolIsFoundByItsMeaning(t *testing.T) {
	for name, reply := range map[string]llmtest.Reply{
		"500": llmtest.Status(http.StatusInternalServerError, nil), "garbage": llmtest.Unclear(), "never an answer": llmtest.Hang(),
		"429": llmtest.TooMany(llmtest.Seconds, time.Minute), "no vectors": llmtest.Body(`{"object":"list","data":[]}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := newVectorServer(t, reply)
			env := []string{"OPENAI_BASE_URL=" + model.Start(t), "OPENAI_API_KEY=k"}
			dir := t.TempDir()
			s := start(t, dir, env, "--config", meant(t))
			addTools(s, "precipitation_lookup", "post_sender", "shell")
			waitForVectors(t, s, "rain", "precipitation_lookup")
			waitForVectors(t, s, "mail", "post_sender")
			shown := model.texts.Load()
			s.Kill()
			s = start(t, dir, env, "--config", meant(t))
			waitForVectors(t, s, "rain", "precipitation_lookup")
			if n := model.texts.Load() - shown; n != 0 {
				t.Errorf("%d vectors were made again after a kill", n)
			}
			model.sick.Store(true)
			if found := names(t, s, "mail rain"); len(found) != 0 {
				t.Errorf("a sick model found %v", found)
			}
			if found := names(t, s, "precipitation"); !slices.Equal(found, []string{"precipitation_lookup"}) {
				t.Errorf("words alone found %v", found)
			}
			addTools(s, "thunder_radar") // waits for no vector
			if code := s.Stop(); code != 0 {
				t.Errorf("exit code %d\n%s", code, s.Log())
			}
			model.sick.Store(false)
			s = start(t, dir, env, "--config", meant(t))
			waitForVectors(t, s, "storm", "thunder_radar") // made at the start, by nobody's request
		})
	}
}
