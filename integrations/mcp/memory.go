// Package mcp connects memoryd with the Model Context Protocol. It has a wrapper that sits
// between a client and any MCP server over stdio and learns from its calls, and it makes
// memoryd itself an MCP server. Both use memoryd's HTTP API, over the network or, with
// [InProcess], in the same process.
package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"time"

	"memoryd/api/wire"
	"memoryd/internal/client"
)

// Memory is the memoryd that stores calls and returns guidelines.
type Memory struct {
	URL       string       // such as http://127.0.0.1:8002
	Key       string       // API key; "" for none
	Workspace string       // "" means default
	HTTP      *http.Client // nil uses a client that waits as long as Patience
	Name      string       // the identity of the memory, wherever it is reached; "" means the one at the URL
}

// InProcess returns a client that calls handler directly instead of over the network.
func InProcess(handler http.Handler) *http.Client {
	return &http.Client{Transport: roundTripper{handler}}
}

type roundTripper struct{ handler http.Handler }

func (t roundTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.RequestURI, r.RemoteAddr = r.URL.RequestURI(), "127.0.0.1:0"
	w := httptest.NewRecorder()
	t.handler.ServeHTTP(w, r)
	return w.Result(), nil
}

// Patience limits every request: an agent must never wait for its memory.
const Patience = 10 * time.Second

var defaultHTTP = &http.Client{Timeout: Patience}

// Record records items in the API's call format. It returns the rejected items with their
// reasons.
func (m Memory) Record(ctx context.Context, calls []json.RawMessage) ([]wire.Rejection, error) {
	var answer struct{ Metadata wire.AddMetadata }
	err := m.ask(ctx, http.MethodPost, "/add_tool_call_result", map[string]any{
		"workspace_id": m.workspace(), "tool_call_results": calls, "async": true, "include_history": false,
	}, &answer)
	return answer.Metadata.Rejected, err
}

// guidelines returns the memories of tools, in the requested order. Unknown tools are left
// out.
func (m Memory) guidelines(ctx context.Context, tools []string, maxTokens int) ([]wire.Memory, error) {
	var answer struct{ Metadata wire.NamesMetadata }
	body := map[string]any{"workspace_id": m.workspace(), "tool_names": tools, "include_history": false}
	if maxTokens > 0 {
		body["max_tokens"] = maxTokens
	}
	err := m.ask(ctx, http.MethodPost, "/retrieve_tool_memory", body, &answer)
	if refusal, ok := errors.AsType[*client.Error](err); ok && !refusal.Away() && strings.HasPrefix(refusal.Reason, "No matching") {
		return nil, nil
	}
	return answer.Metadata.MemoryList, err
}

// preflight requests the forecast for a planned call; run may be "".
func (m Memory) preflight(ctx context.Context, tool, run string, input json.RawMessage) (wire.PreflightResponse, error) {
	body := map[string]any{"workspace_id": m.workspace(), "tool_name": tool, "input": input}
	if run != "" {
		body["trajectory_id"] = run
	}
	var f wire.PreflightResponse
	return f, m.ask(ctx, http.MethodPost, "/preflight_tool_call", body, &f)
}

// originals asks for messages that compactions removed from conversations, or, below their address, for one. What is
// asked and the answer are those of the API.
func (m Memory) originals(ctx context.Context, below string, asked url.Values, answer any) error {
	return m.ask(ctx, http.MethodGet, "/v1/workspaces/"+url.PathEscape(m.workspace())+"/originals"+below+"?"+asked.Encode(), nil, answer)
}

// Search finds tools by words in their names and guidelines, the best match first.
func (m Memory) Search(ctx context.Context, query string, limit int) ([]string, error) {
	var answer wire.ToolList
	path := fmt.Sprintf("/v1/workspaces/%s/tools?query=%s&limit=%d", url.PathEscape(m.workspace()), url.QueryEscape(query), limit)
	if err := m.ask(ctx, http.MethodGet, path, nil, &answer); err != nil {
		if e, ok := errors.AsType[*client.Error](err); ok && e.Status == http.StatusNotFound {
			err = nil // nothing is recorded in the workspace
		}
		return nil, err
	}
	names := make([]string, 0, len(answer.Tools))
	for _, t := range answer.Tools {
		names = append(names, t.ToolName)
	}
	return names, nil
}

func (m Memory) workspace() string { return cmp.Or(m.Workspace, "default") }

// ask sends one request and reads its answer.
func (m Memory) ask(ctx context.Context, method, path string, body, answer any) error {
	clients, _ := ctx.Value(clientKey{}).(string)
	server := client.Server{URL: m.URL, Key: cmp.Or(clients, m.Key), HTTP: cmp.Or(m.HTTP, defaultHTTP)}
	return server.Do(ctx, client.Request{Method: method, Path: path, Body: body}, answer)
}
