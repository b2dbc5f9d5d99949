package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// spoken is a server that tests speak to.
type spoken struct {
	t   *testing.T
	url string
}

func speak(t *testing.T) spoken {
	t.Helper()
	url, stop := serveOnTheSide(t)
	t.Cleanup(stop)
	return spoken{t, "http://" + url}
}

func (s spoken) ask(method, path string, body any) (status int, answer string) {
	s.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(string(raw)))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// made records a call of a tool.
func (s spoken) made(tool, input, output string, sources ...string) string {
	s.t.Helper()
	metadata := map[string]any{"trajectory_id": "run-of-" + tool}
	if len(sources) > 0 {
		metadata["sources"] = sources
	}
	_, answer := s.ask(http.MethodPost, "/add_tool_call_result", map[string]any{"tool_call_results": []any{map[string]any{
		"tool_name": tool, "input": json.RawMessage(input), "output": output, "success": !strings.Contains(output, "rror"), "metadata": metadata,
		"create_time": time.Now().Format(time.RFC3339Nano),
	}}})
	return answer
}

// tools are the stored tools, and their calls.
func (s spoken) tools() map[string]int {
	s.t.Helper()
	var list struct {
		Tools []struct {
			Name       string `json:"tool_name"`
			Statistics struct {
				Calls int `json:"lifetime_calls"`
			} `json:"statistics"`
		} `json:"tools"`
	}
	_, answer := s.ask(http.MethodGet, "/v1/workspaces/default/tools", nil)
	if err := json.Unmarshal([]byte(answer), &list); err != nil {
		s.t.Fatal(err, answer)
	}
	all := map[string]int{}
	for _, tool := range list.Tools {
		all[tool.Name] = tool.Statistics.Calls
	}
	return all
}

// W11: in whatever order hosts name a tool, its calls are of one memory, and each of its
// names finds it in each operation.
func TestAToolHasOneMemoryByAllOfItsNames(t *testing.T) {
	oneByOne(t)
	t.Parallel()
	names := []string{"mcp__time__now", "mcp_time_now", "time_now", "now"}
	for _, first := range []int{0, 1, 3} {
		s := speak(t)
		order := append(slices.Clone(names[first:]), names[:first]...)
		if first == 3 {
			order = []string{"now", "mcp__time__now", "mcp_time_now", "time_now"}
		}
		for i, name := range order {
			s.made(name, `{"timezone":"Europe/Berlin"}`, fmt.Sprintf("12:0%d", i))
		}
		if got := s.tools(); len(got) != 1 || got[order[0]] != 4 {
			t.Errorf("%v: %v", order, got)
		}
		s.ask(http.MethodPost, "/summary_tool_memory", map[string]any{"tool_names": names[1]})
		for _, name := range names {
			for path, body := range map[string]map[string]any{
				"/retrieve_tool_memory":  {"tool_names": name},
				"/summary_tool_memory":   {"tool_names": name},
				"/preflight_tool_call":   {"tool_name": name, "input": map[string]string{"timezone": "x"}},
				"/mcp#guidelines":        {"name": "memoryd_guidelines", "arguments": map[string]any{"tool_names": []string{name}}},
				"/mcp#memoryd_preflight": {"name": "memoryd_preflight", "arguments": map[string]any{"tool_name": name, "input": map[string]string{"timezone": "x"}}},
			} {
				path, over, _ := strings.Cut(path, "#")
				var asked any = body
				if over != "" {
					asked = map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": body}
				}
				if _, answer := s.ask(http.MethodPost, path, asked); !strings.Contains(answer, "4 judged calls") && !strings.Contains(answer, `"lifetime_calls":4`) && !strings.Contains(answer, "of 4 ") {
					t.Errorf("%v: %s %s of %s: %s", order, path, over, name, answer)
				}
			}
			for _, path := range []string{"", "/calls", "/guidelines", "/kinds"} {
				if status, answer := s.ask(http.MethodGet, "/v1/workspaces/default/tools/"+name+path, nil); status != http.StatusOK {
					t.Errorf("%v: %s of %s: %d %s", order, path, name, status, answer)
				}
			}
		}
	}
}

// Two servers may have tools of one name, and hosts tools of their own: nothing is joined
// that may be two.
func TestToolsOfTwoServersAreNeverJoined(t *testing.T) {
	oneByOne(t)
	t.Parallel()
	for title, c := range map[string]struct {
		calls [][3]string // name, input, source
		want  map[string]int
	}{
		"two servers":                    {[][3]string{{"mcp__a__x", `{"q":1}`}, {"mcp__b__x", `{"q":1}`}, {"x", `{"q":1}`}}, map[string]int{"mcp__a__x": 1, "mcp__b__x": 1, "x": 1}},
		"names that run together":        {[][3]string{{"mcp__a__b_c", `{"q":1}`}, {"mcp__a_b__c", `{"q":1}`}, {"mcp_a_b_c", `{"q":1}`}}, map[string]int{"mcp__a__b_c": 1, "mcp__a_b__c": 1, "mcp_a_b_c": 1}},
		"a second server, a name taken":  {[][3]string{{"x", `{"q":1}`}, {"mcp__a__x", `{"q":1}`}, {"mcp__b__x", `{"q":1}`}}, map[string]int{"x": 2, "mcp__b__x": 1}},
		"of other parameters":            {[][3]string{{"mcp__files__read", `{"path":1}`}, {"read", `{"file_id":1}`}}, map[string]int{"mcp__files__read": 1, "read": 1}},
		"a tool of the host":             {[][3]string{{"mcp__files__Read", `{"path":1}`}, {"Read", `{"path":1}`, "hook:claude-code"}}, map[string]int{"mcp__files__Read": 1, "Read": 1}},
		"of the host, and then a server": {[][3]string{{"Read", `{"path":1}`, "claude-code"}, {"mcp__files__Read", `{"path":1}`, "claude-code"}}, map[string]int{"mcp__files__Read": 1, "Read": 1}},
		"a longer name":                  {[][3]string{{"web_search", `{"q":1}`}, {"search", `{"q":1}`}}, map[string]int{"web_search": 1, "search": 1}},
		"the only one is so no more":     {[][3]string{{"mcp__a__x", `{"q":1}`}, {"x", `{"q":1}`}, {"mcp__b__x", `{"q":1}`}, {"x", `{"q":1}`}}, map[string]int{"mcp__a__x": 2, "mcp__b__x": 1, "x": 1}},
		"of a shape that is one's own":   {[][3]string{{"mcp__github__search", `{"query":1}`}, {"github_search", `{"repository":1}`}}, map[string]int{"mcp__github__search": 1, "github_search": 1}},
	} {
		s := speak(t)
		for i, call := range c.calls {
			var sources []string
			if call[2] != "" {
				sources = []string{call[2]}
			}
			s.made(call[0], call[1], fmt.Sprint("fine ", i), sources...)
		}
		if got := s.tools(); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v, want %v", title, got, c.want)
		}
	}
}

// W21: a name that no host offered becomes no tool. The answer names the nearest known.
func TestANameThatNoHostOfferedIsNoTool(t *testing.T) {
	t.Parallel()
	s := speak(t)
	s.made("mcp__time__now", `{"timezone":"UTC"}`, "12:00")
	answer := s.made("mcp__time__nowt", `{}`, "Error: No such tool available: mcp__time__nowt")
	if got := s.tools(); len(got) != 1 || !strings.Contains(answer, "mcp__time__now") {
		t.Errorf("%v: %s", got, answer)
	}
	_, sources := s.ask(http.MethodGet, "/v1/sources", nil)
	if !strings.Contains(sources, `"reasons":{"no_such_tool":1}`) {
		t.Errorf("it is seen nowhere: %s", sources)
	}
	_, answer = s.ask(http.MethodPost, "/preflight_tool_call", map[string]any{"tool_name": "mcp__time__nowt", "input": map[string]any{}})
	if !strings.Contains(answer, "Known tools of similar names: mcp__time__now.") {
		t.Error(answer)
	}
	s.made("mcp__time__now", `{}`, "Error: No such tool available: mcp__time__now")
	if got := s.tools(); got["mcp__time__now"] != 2 {
		t.Errorf("a known tool that was away: %v", got)
	}
}
