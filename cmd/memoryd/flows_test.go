package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"memoryd/config"

	"pgregory.net/rapid"
)

// The words that random configurations are made of: ops, entries of other names
// for some, endpoints, and what is neither.
var (
	opNames = []string{
		"validate_tool_call_result_op", "parse_tool_call_result_op", "load_tool_memory_op", "summary_tool_memory_op", "retrieve_tool_memory_op",
		"preflight_tool_call_op", "compact_conversation_op", "vector_store_op", "list_calls_op", "get_call_op", "list_tools_op", "no_such_op",
	}
	builtInFlows = map[string][]string{
		"add_tool_call_result": {"validate_tool_call_result_op", "parse_tool_call_result_op"},
		"summary_tool_memory":  {"load_tool_memory_op", "summary_tool_memory_op"},
		"retrieve_tool_memory": {"load_tool_memory_op", "retrieve_tool_memory_op"},
		"preflight_tool_call":  {"preflight_tool_call_op"},
		"compact_conversation": {"compact_conversation_op"},
		"vector_store":         {"vector_store_op"},
		"list_calls":           {"list_calls_op"},
		"get_call":             {"get_call_op"},
		"no_such_endpoint":     {"list_calls_op"},
	}
)

// times are what differs between two servers that do the same.
var times = regexp.MustCompile(`"(time_created|time_modified|at|wall_seconds|model_seconds)":[^,}]*`)

// randomFile draws the op and the flow section of a configuration: mostly what
// works, with some of it left out, added, exchanged or renamed.
func randomFile(t *rapid.T) string {
	var b strings.Builder
	names := append([]string{}, opNames...)
	sometimes := func(label string, oneIn int) bool { return rapid.IntRange(1, oneIn).Draw(t, label) == 1 }
	entries := map[string]string{}
	for i := range rapid.IntRange(0, 2).Draw(t, "entries") {
		name := fmt.Sprintf("entry_%d", i)
		if sometimes("over a built-in one", 4) {
			name = rapid.SampledFrom(opNames).Draw(t, "entry")
		}
		backend := rapid.SampledFrom(opNames).Draw(t, "backend")
		entries[name] = fmt.Sprintf("{backend: %s}", backend)
		if backend == "summary_tool_memory_op" {
			entries[name] = fmt.Sprintf("{backend: %s, params: {recent_call_count: %d}}", backend, rapid.IntRange(0, 5).Draw(t, "window"))
		}
		names = append(names, name)
	}
	flows := map[string][]string{}
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(keysOf(builtInFlows)), 0, 4, rapid.ID).Draw(t, "flows") {
		chain := append([]string{}, builtInFlows[name]...)
		for range rapid.IntRange(0, 2).Draw(t, "changes") {
			at := rapid.IntRange(0, len(chain)).Draw(t, "at")
			op := rapid.SampledFrom(names).Draw(t, "op")
			switch {
			case at < len(chain) && sometimes("leave out", 3):
				chain = slices.Delete(chain, at, at+1)
			case at < len(chain) && sometimes("exchange", 2):
				chain[at] = op
			default:
				chain = slices.Insert(chain, at, op)
			}
		}
		flows[name] = chain
	}
	b.WriteString("store: {backend: mem}\nhttp: {listen: '127.0.0.1:0'}\nop:\n  preflight_tool_call_op: {backend: preflight_tool_call_op}\n")
	for _, name := range keysOf(entries) {
		if name != "preflight_tool_call_op" {
			fmt.Fprintf(&b, "  %s: %s\n", name, entries[name])
		}
	}
	b.WriteString("flow:\n  preflight_tool_call: [preflight_tool_call_op]\n")
	for _, name := range keysOf(flows) {
		if name != "preflight_tool_call" {
			fmt.Fprintf(&b, "  %s: [%s]\n", name, strings.Join(flows[name], ", "))
		}
	}
	return b.String()
}

func keysOf[V any](m map[string]V) []string {
	var keys []string
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// TestNoAcceptedFlowsLoseACall runs what every endpoint is for, on two servers of
// each random configuration that is accepted: a call that was acknowledged is
// there, nothing panics at start, in a request or at stop, and both servers answer
// the same. What check-config says is what serve does.
func TestNoAcceptedFlowsLoseACall(t *testing.T) {
	accepted, refused := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		file := randomFile(rt)
		cfg, err := config.Parse([]byte(file), "f.yaml", nil)
		checked := checkFile(t, file)
		if (err == nil) != (checked == 0) {
			rt.Fatalf("serve says %v, check-config exits with %d\n%s", err, checked, file)
		}
		if err != nil {
			refused++
			if !strings.Contains(err.Error(), "line ") {
				rt.Fatalf("without a line: %v\n%s", err, file)
			}
			return
		}
		accepted++
		a, b := serveOnce(rt, cfg), serveOnce(rt, cfg)
		for i := range a {
			if a[i] != b[i] {
				rt.Fatalf("two starts differ:\n%s\n%s\n%s", a[i], b[i], file)
			}
		}
	})
	// About a fifth of the files are accepted; a short run may see none.
	if tried := accepted + refused; !t.Failed() && tried >= 100 && (accepted < tried/30 || refused < tried/30) {
		t.Errorf("%d files were accepted and %d refused: one side was hardly tried", accepted, refused)
	}
}

// checkFile gives the exit code of check-config.
func checkFile(t *testing.T, file string) int {
	name := filepath.Join(t.TempDir(), "f.yaml")
	if err := os.WriteFile(name, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	discard := &strings.Builder{}
	return run(context.Background(), []string{"check-config", name}, streams{out: discard, err: discard})
}

// serveOnce starts a server, uses it, stops it twice and says what it answered.
func serveOnce(t *rapid.T, cfg *config.Config) (said []string) {
	a, err := newApp(context.Background(), cfg, func(string) string { return "" }, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatalf("an accepted configuration does not start: %v", err)
	}
	a.Start(context.Background())
	ask := func(method, path, body string) string {
		w := httptest.NewRecorder()
		a.server.Handler.ServeHTTP(w, httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(body)))
		if w.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
		said = append(said, path+" "+times.ReplaceAllString(w.Body.String(), "TIME"))
		return w.Body.String()
	}
	const call = `{"input":"i","output":"%d","create_time":"2025-01-01 00:00:%02d"}`
	for n := range 6 {
		got := ask("POST", "/add_tool_call_result", `{"tool_name":"t","include_history":false,"tool_call_results":[`+fmt.Sprintf(call, n, n)+`]}`)
		if !strings.Contains(got, `"success":true`) || !strings.Contains(got, "Added: 1") {
			t.Fatalf("the call was not recorded: %s", got)
		}
		var kept struct{ Calls []struct{ Number int } }
		if err := json.Unmarshal([]byte(ask("GET", "/v1/workspaces/default/tools/t/calls", "")), &kept); err != nil || len(kept.Calls) != n+1 {
			t.Fatalf("%d calls were acknowledged, %d are kept, %v", n+1, len(kept.Calls), err)
		}
	}
	ask("POST", "/summary_tool_memory", `{"tool_names":"t"}`)
	ask("POST", "/retrieve_tool_memory", `{"tool_names":"t"}`)
	ask("POST", "/preflight_tool_call", `{"tool_name":"t","input":"i"}`)
	ask("POST", "/compact_conversation", `{"messages":[{"role":"user","content":"hi"}]}`)
	ask("POST", "/vector_store", `{"action":"list"}`)
	for range 2 {
		if err := a.Stop(context.Background()); err != nil {
			t.Fatalf("stop: %v", err)
		}
	}
	if n := a.panics.Counts(); len(n) > 0 {
		t.Fatalf("panics: %v", n)
	}
	return said
}
