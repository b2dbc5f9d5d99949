package mcp_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"memoryd/integrations/mcp"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

type greetIn struct {
	Name string `json:"name"`
}

// upstream is a server over streamable HTTP that greets, fails, reports progress
// and waits, which it tells.
func upstream(t *testing.T, stateless bool) (*httptest.Server, <-chan struct{}) {
	waits := make(chan struct{}, 10)
	s := sdk.NewServer(&sdk.Implementation{Name: "greeter", Version: "1"}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "greet", Description: "Greets."}, func(_ context.Context, _ *sdk.CallToolRequest, in greetIn) (*sdk.CallToolResult, any, error) {
		if in.Name == "" {
			return nil, nil, errors.New("name must not be empty")
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "hello " + in.Name}}}, nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "wait", Description: "Waits."}, func(ctx context.Context, _ *sdk.CallToolRequest, _ any) (*sdk.CallToolResult, any, error) {
		waits <- struct{}{}
		select { // a stateless server is not told of a cancelled call
		case <-ctx.Done():
		case <-time.After(2 * time.Second):
		}
		return nil, nil, errors.New("waited")
	})
	sdk.AddTool(s, &sdk.Tool{Name: "count", Description: "Counts."}, func(ctx context.Context, r *sdk.CallToolRequest, _ any) (*sdk.CallToolResult, any, error) {
		for i := range 3 {
			_ = r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i)})
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "counted"}}}, nil, nil
	})
	server := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s },
		&sdk.StreamableHTTPOptions{Stateless: stateless}))
	t.Cleanup(server.Close)
	return server, waits
}

func newWrapper(t *testing.T, m *memory) (*mcp.Wrapper, *mcp.Outbox) {
	memory := mcp.Memory{URL: m.URL, HTTP: m.Client()}
	log := slog.New(slog.DiscardHandler)
	outbox := mcp.NewOutbox(memory, "", log)
	outbox.Start(t.Context())
	return mcp.NewWrapper(mcp.Options{Memory: memory, Outbox: outbox, Log: log, Run: "run-1"}), outbox
}

// exercise calls the greeter's tools, gives up the one that waits, and gives what the client saw.
// The session stays open until gaveUp: the client says in the background that it gave up.
func exercise(t *testing.T, transport sdk.Transport, waits <-chan struct{}, gaveUp func() bool) []string {
	t.Helper()
	var progress sync.Map
	client := sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			progress.Store(r.Params.Progress, true)
		},
	})
	session, err := client.Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	var seen []string
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		seen = append(seen, tool.Name+": "+tool.Description)
	}
	say := func(ctx context.Context, name string, arguments any) {
		r, err := session.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: arguments, Meta: sdk.Meta{"progressToken": "p"}})
		if err != nil {
			seen = append(seen, name+" error")
			return
		}
		seen = append(seen, r.Content[0].(*sdk.TextContent).Text)
	}
	say(t.Context(), "greet", map[string]any{"name": "Ann"})
	say(t.Context(), "greet", map[string]any{"name": ""})
	say(t.Context(), "count", map[string]any{})
	waitFor(func() bool { _, ok := progress.Load(2.0); return ok })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		<-waits
		cancel()
	}()
	say(ctx, "wait", map[string]any{})
	say(t.Context(), "nobody", map[string]any{})
	waitFor(gaveUp)
	return seen
}

func TestARemoteServerIsTheSameThroughTheBridge(t *testing.T) {
	for name, stateless := range map[string]bool{"with sessions": false, "stateless": true} {
		t.Run(name, func(t *testing.T) {
			server, waits := upstream(t, stateless)
			want := exercise(t, &sdk.StreamableClientTransport{Endpoint: server.URL}, waits, func() bool { return true })

			m := newMemory(t)
			w, outbox := newWrapper(t, m)
			in, toBridge := io.Pipe()
			fromBridge, out := io.Pipe()
			done := make(chan error, 1)
			go func() { done <- w.Bridge(t.Context(), mcp.Remote{URL: server.URL}, in, out) }()
			if got := exercise(t, &sdk.IOTransport{Reader: fromBridge, Writer: toBridge}, waits, m.sawCancelled); !slices.Equal(got, want) {
				t.Errorf("through the bridge %q, want %q", got, want)
			}
			toBridge.Close()
			go func() { _, _ = io.Copy(io.Discard, fromBridge) }() // the client reads no more
			if err := <-done; err != nil {
				t.Error(err)
			}
			out.Close()
			outbox.Stop()
			checkRecorded(t, m)
			http.DefaultClient.CloseIdleConnections()
		})
	}
}

// sawCancelled reports whether a call that was given up is recorded.
func (m *memory) sawCancelled() bool {
	return slices.ContainsFunc(m.recorded(), func(c map[string]any) bool {
		return c["metadata"].(map[string]any)["cancelled"] == true
	})
}

// checkRecorded holds what exercise did against what was recorded.
func checkRecorded(t *testing.T, m *memory) {
	t.Helper()
	got := map[string]int{}
	for _, c := range m.recorded() {
		meta := c["metadata"].(map[string]any)
		key := c["tool_name"].(string)
		switch {
		case meta["cancelled"] == true:
			key += " cancelled"
		case c["success"] == false:
			key += " failed"
		}
		got[key]++
	}
	for key, n := range map[string]int{
		"mcp__greeter__greet": 1, "mcp__greeter__greet failed": 1, "mcp__greeter__count": 1, "mcp__greeter__nobody failed": 1,
		"mcp__greeter__wait cancelled": 1,
	} {
		if got[key] != n {
			t.Errorf("%s is recorded %d times, want %d: %v", key, got[key], n, got)
		}
	}
	if len(m.recorded()) != 5 {
		t.Errorf("%d calls are recorded: %v", len(m.recorded()), got)
	}
}

// W18: a client that lists tools at once gets them all from a server that has some of them
// only in an open session, and takes its time to open it.
func TestToolsListedAtOnceAreThoseOfTheOpenSession(t *testing.T) {
	t.Parallel()
	var opened atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		session := r.Header.Get("Mcp-Session-Id")
		answer := func(text string) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, text)
		}
		switch {
		case r.Method != http.MethodPost:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case strings.Contains(string(body), `"initialize"`):
			time.Sleep(20 * time.Millisecond)
			w.Header().Set("Mcp-Session-Id", "s")
			answer(`{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}`)
		case strings.Contains(string(body), "initialized"):
			time.Sleep(20 * time.Millisecond)
			if session == "s" {
				opened.Add(1)
			}
			w.WriteHeader(http.StatusAccepted)
		case opened.Load() == 0:
			answer(`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}}`)
		default:
			answer(`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}},{"name":"b","inputSchema":{"type":"object"}}]}}`)
		}
	}))
	defer server.Close()
	for range 6 {
		opened.Store(0)
		w, outbox := newWrapper(t, newMemory(t))
		var out strings.Builder
		in := strings.NewReader(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":1,"method":"tools/list"}
`)
		if err := w.Bridge(t.Context(), mcp.Remote{URL: server.URL}, in, &out); err != nil {
			t.Fatal(err)
		}
		outbox.Stop()
		if !strings.Contains(out.String(), `"name":"b"`) {
			t.Fatalf("the list is that of before: %s", out.String())
		}
	}
}
