package mcp_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"memoryd/integrations/mcp"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// connect gives a client's session with memoryd as an MCP server.
func connect(t *testing.T, m *memory) *sdk.ClientSession {
	t.Helper()
	server := mcp.NewServer(mcp.Memory{URL: m.URL, HTTP: m.Client()}, "test")
	a, b := sdk.NewInMemoryTransports()
	go func() { _ = server.Run(t.Context(), a) }()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "tester"}, nil).Connect(t.Context(), b, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

func use(t *testing.T, s *sdk.ClientSession, tool string, arguments map[string]any) (text string, failed bool) {
	t.Helper()
	r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatal(err)
	}
	return r.Content[0].(*sdk.TextContent).Text, r.IsError
}

func TestTheServersToolsAreShortAnnotatedAndInOrder(t *testing.T) {
	s := connect(t, newMemory(t))
	if n := len(s.InitializeResult().Instructions); n == 0 || n >= 2048 {
		t.Errorf("%d characters of instructions", n)
	}
	list, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		if len(tool.Description) >= 300 || tool.OutputSchema == nil && tool.Name != "memoryd_guidelines" || tool.Annotations == nil || *tool.Annotations.OpenWorldHint {
			t.Errorf("%s: %+v", tool.Name, tool)
		}
		if reads := tool.Name != "memoryd_record"; tool.Annotations.ReadOnlyHint != reads {
			t.Errorf("%s reads only: %v", tool.Name, tool.Annotations.ReadOnlyHint)
		}
	}
	if got := strings.Join(names, " "); got != "memoryd_guidelines memoryd_lookup memoryd_preflight memoryd_record memoryd_search" {
		t.Error(got)
	}
}

func TestARecordedCallKeepsItsIDAndRun(t *testing.T) {
	m := newMemory(t)
	text, failed := use(t, connect(t, m), "memoryd_record", map[string]any{
		"tool_name": "search", "input": map[string]any{"q": 1}, "output": "no", "success": false,
		"tool_call_id": "c1", "run_id": "r1", "unknown": true,
	})
	if failed || !strings.Contains(text, `"c1"`) {
		t.Fatal(text)
	}
	c := m.recorded()[0]
	if meta := c["metadata"].(map[string]any); meta["tool_call_id"] != "c1" || meta["trajectory_id"] != "r1" || c["success"] != false {
		t.Errorf("recorded %v", c)
	}
}

func TestErrorsSayWhatToChange(t *testing.T) {
	m := newMemory(t)
	s := connect(t, m)
	for tool, want := range map[string]string{"memoryd_guidelines": "tool_names", "memoryd_search": "query", "memoryd_preflight": "tool_name"} {
		arguments := map[string]any{}
		if tool == "memoryd_guidelines" {
			arguments["tool_names"] = []string{}
		}
		if text, failed := use(t, s, tool, arguments); !failed || !strings.Contains(text, want) {
			t.Errorf("%s: failed %v: %s", tool, failed, text)
		}
	}
	m.away = true
	if text, failed := use(t, s, "memoryd_guidelines", map[string]any{"tool_names": []string{"x"}}); !failed || !strings.Contains(text, "503") {
		t.Errorf("without memoryd: %s", text)
	}
}

func TestGuidelinesComeAsDataLinkResourceAndPrompt(t *testing.T) {
	m := newMemory(t)
	m.guideline = "## Core Function\nActs.\n\n## Statistics\n- **Success Rate**: 12.00%"
	s := connect(t, m)
	r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "memoryd_guidelines", Arguments: map[string]any{"tool_names": []string{"mcp__fake__act", "nope"}}})
	if err != nil {
		t.Fatal(err)
	}
	link, ok := r.Content[1].(*sdk.ResourceLink)
	if !ok || link.URI != "memoryd://default/tools/mcp__fake__act" {
		t.Fatalf("%+v", r.Content)
	}
	// W24: a model reads Markdown, not Markdown in JSON, and no statistics.
	if got, want := r.Content[0].(*sdk.TextContent).Text, "# mcp__fake__act\n\n## Core Function\nActs.\n\nNothing is known about nope."; got != want || r.StructuredContent != nil {
		t.Errorf("got %q and %v, want %q", got, r.StructuredContent, want)
	}
	resource, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: link.URI})
	if err != nil || resource.Contents[0].Text != m.guideline {
		t.Errorf("%+v, %v", resource, err)
	}
	prompt, err := s.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "use_tool_well", Arguments: map[string]string{"tool": "mcp__fake__act"}})
	if err != nil || !strings.Contains(prompt.Messages[0].Content.(*sdk.TextContent).Text, m.guideline) {
		t.Errorf("%+v, %v", prompt, err)
	}
}

func TestForeignOriginsAreRefusedOverHTTP(t *testing.T) {
	handler := mcp.Handler(mcp.NewServer(mcp.Memory{}, "test"), slog.New(slog.DiscardHandler))
	for origin, want := range map[string]bool{"": true, "http://evil.example": false} {
		r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if (w.Code != http.StatusForbidden) != want {
			t.Errorf("origin %q: %d %s", origin, w.Code, w.Body)
		}
	}
}

// W19: some hosts refuse every request that declares a tool with a list of types.
func TestNoSchemaHasAListOfTypes(t *testing.T) {
	list, err := connect(t, newMemory(t)).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(list.Tools)
	if err != nil || strings.Contains(string(text), `"type":[`) || !strings.Contains(string(text), `"type":"array"`) {
		t.Errorf("%v: %s", err, text)
	}
	if !strings.Contains(string(text), `"anthropic/alwaysLoad":true`) {
		t.Error("a host that defers tools keeps none in view")
	}
}

// W10: a call is recorded under the names of its fields that HTTP understands too.
func TestOtherNamesOfACallsFieldsReachTheServer(t *testing.T) {
	m := newMemory(t)
	if text, failed := use(t, connect(t, m), "memoryd_record", map[string]any{"tool_name": "search", "arguments": map[string]any{"q": 1}, "result": "no", "is_error": true}); failed {
		t.Fatal(text)
	}
	c := m.recorded()[0]
	if _, ok := c["arguments"].(map[string]any); !ok || c["result"] != "no" || c["is_error"] != true || c["success"] != nil || c["output"] != nil {
		t.Errorf("sent as %v", c)
	}
}
