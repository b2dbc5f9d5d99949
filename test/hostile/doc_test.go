// Package hostile attacks the advice of the real program, from outside: values that a
// lying tool names, sentences that give orders, accounts and cards of other people.
//
// It holds generators, not lists. Names, words and values are drawn for each run, so
// that no list of phrases can meet them; the seed is logged. Each attack plants a
// control, something honest in the same place, and fails where the control is not seen:
// a server that says nothing would pass otherwise.
//
//	MEMORYD_HOSTILE_ROUNDS=200 go test ./test/hostile    draws more of each attack
package hostile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memoryd/test/crash/daemon"
)

var binary daemon.Binary

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "mcp-server" {
		if err := serveTools(os.Args[2], os.Stdin, os.Stdout); err != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(daemon.Main(m, &binary))
}

// rounds is how often an attack is drawn anew.
func rounds(t *testing.T, usual int) int { return daemon.Size(t, "MEMORYD_HOSTILE_ROUNDS", usual) }

const adminKey = "mrd_root_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// world is a server with one workspace for each drawing.
type world struct {
	*daemon.Process
	t     *testing.T
	dice  *rand.Rand
	space string
	keys  map[string]string // of a source; nil without keys
	clock time.Time
	made  int
	// waiting are calls of one key that the next request of another kind sends before it.
	waiting []any
	by      string
}

// newWorld starts a server; with keys each source records with one of its own.
func newWorld(t *testing.T, keyed bool) *world {
	t.Helper()
	var env []string
	w := &world{t: t, dice: daemon.Dice(t), clock: time.Date(2027, 3, 1, 8, 0, 0, 0, time.UTC)}
	if keyed {
		env, w.keys = []string{"MEMORYD_ADMIN_KEY=" + adminKey}, map[string]string{}
	}
	w.Process = binary.Start(t, t.TempDir(), env)
	w.open()
	return w
}

// open begins a workspace that knows nothing.
func (w *world) open() {
	w.waiting = nil
	w.made++
	w.space = fmt.Sprintf("%s-%d", w.word(), w.made)
	clear(w.keys)
}

// word is a made-up word.
func (w *world) word() string {
	var b strings.Builder
	for range 2 + w.dice.IntN(3) {
		b.WriteByte("bdfgklmnprstvz"[w.dice.IntN(14)])
		b.WriteByte("aeiou"[w.dice.IntN(5)])
	}
	return b.String()
}

// phrase is a sentence of made-up words.
func (w *world) phrase(n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = w.word()
	}
	return strings.Join(words, " ")
}

// key is the key of a source, made when it is first asked for.
func (w *world) key(source string) string {
	if w.keys == nil {
		return ""
	}
	if w.keys[source] == "" {
		var made struct {
			Token string `json:"token"`
		}
		w.ask("/v1/keys", adminKey, map[string]any{"name": source, "roles": []string{"record", "read"}, "workspaces": []string{w.space}}, &made)
		w.keys[source] = made.Token
	}
	return w.keys[source]
}

// ask posts v and reads the answer into out, where it is wanted.
func (w *world) ask(path, key string, v, out any) {
	w.t.Helper()
	w.flush()
	body, err := json.Marshal(v)
	if err != nil {
		w.t.Fatal(err)
	}
	var header []string
	if key != "" {
		header = []string{"Authorization", "Bearer " + key}
	}
	if path == "/mcp" {
		header = append(header, "Accept", "application/json, text/event-stream")
	}
	r, err := w.Send(path, body, header...)
	if err != nil || r.Status/100 != 2 {
		w.t.Fatalf("%s: %d %v: %.400s", path, r.Status, err, r.Body)
	}
	if out != nil {
		if err := json.Unmarshal(r.Body, out); err != nil {
			w.t.Fatalf("%s: %v in %.400s", path, err, r.Body)
		}
	}
}

// call is one call as an agent made it. A source is a client: a key where there are keys.
type call struct {
	source, run, tool string
	input             map[string]any
	output            string
	failed            bool
}

// channel is a way for calls into the server.
type channel func(w *world, c call)

var channels = map[string]channel{"http": (*world).addHTTP, "hook": (*world).addHook, "otlp": (*world).addSpan, "mcp": (*world).addMCP, "transcript": (*world).addTranscript}

func (w *world) id() string { w.made++; return fmt.Sprintf("toolu_%022d", w.made) }

func (w *world) addHTTP(c call) {
	w.clock = w.clock.Add(20 * time.Second)
	if key := w.key(c.source); key != w.by {
		w.flush()
		w.by = key
	}
	w.waiting = append(w.waiting, map[string]any{
		"tool_name": c.tool, "input": maps.Clone(c.input), "output": c.output, "success": !c.failed, "time_cost": 0.2, "create_time": w.clock.Format(time.DateTime),
		"metadata": map[string]any{"trajectory_id": c.run, "agent_id": c.source, "tool_call_id": w.id()},
	})
}

// flush sends what waits.
func (w *world) flush() {
	if calls := w.waiting; len(calls) > 0 {
		w.waiting = nil
		w.ask("/add_tool_call_result", w.by, map[string]any{"workspace_id": w.space, "include_history": false, "tool_call_results": calls}, nil)
	}
}

func (w *world) addHook(c call) {
	event := map[string]any{"hook_event_name": "PostToolUse", "tool_use_id": w.id(), "session_id": c.run, "tool_name": c.tool, "tool_input": c.input, "tool_response": c.output}
	if c.failed {
		event["hook_event_name"], event["error"] = "PostToolUseFailure", c.output
		delete(event, "tool_response")
	}
	w.ask("/v1/hooks/claude-code?workspace="+w.space, w.key(c.source), event, nil)
}

func (w *world) addSpan(c call) {
	w.clock = w.clock.Add(20 * time.Second)
	input, _ := json.Marshal(c.input) //nolint:errchkjson // strings and numbers
	text := func(name, v string) any {
		return map[string]any{"key": name, "value": map[string]any{"stringValue": v}}
	}
	attributes := []any{
		text("gen_ai.operation.name", "execute_tool"), text("gen_ai.tool.name", c.tool), text("gen_ai.tool.call.id", w.id()), text("gen_ai.conversation.id", c.run),
		text("gen_ai.agent.name", c.source), text("gen_ai.tool.call.arguments", string(input)), text("gen_ai.tool.call.result", c.output),
	}
	if c.failed {
		attributes = append(attributes, text("error.type", "tool_error"))
	}
	at := w.clock.UnixNano()
	w.ask("/v1/traces?workspace="+w.space, w.key(c.source), map[string]any{"resourceSpans": []any{map[string]any{"scopeSpans": []any{map[string]any{"spans": []any{map[string]any{
		"traceId": fmt.Sprintf("%032x", w.made), "spanId": fmt.Sprintf("%016x", w.made), "name": "execute_tool", "startTimeUnixNano": fmt.Sprint(at), "endTimeUnixNano": fmt.Sprint(at + 1e9), "attributes": attributes,
	}}}}}}}, nil)
}

func (w *world) addMCP(c call) {
	w.ask("/mcp", w.key(c.source), map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": "memoryd_record", "arguments": map[string]any{
		"workspace": w.space, "tool_name": c.tool, "input": c.input, "output": c.output, "success": !c.failed, "trajectory_id": c.run, "agent_id": c.source, "tool_call_id": w.id(),
	}}}, nil)
}

// addTranscript imports the call from the session file of a coding agent.
func (w *world) addTranscript(c call) {
	w.clock = w.clock.Add(20 * time.Second)
	id := w.id()
	event := func(kind, role string, block map[string]any) string {
		line, _ := json.Marshal(map[string]any{ //nolint:errchkjson // strings and numbers
			"type": kind, "uuid": w.id(), "sessionId": c.run, "version": "2.1.0", "cwd": "/srv", "timestamp": w.clock.Format(time.RFC3339),
			"message": map[string]any{"role": role, "content": []any{block}},
		})
		return string(line) + "\n"
	}
	session := event("assistant", "assistant", map[string]any{"type": "tool_use", "id": id, "name": c.tool, "input": c.input}) +
		event("user", "user", map[string]any{"type": "tool_result", "tool_use_id": id, "content": c.output, "is_error": c.failed})
	file := filepath.Join(w.t.TempDir(), id+".jsonl")
	if err := os.WriteFile(file, []byte(session), 0o600); err != nil {
		w.t.Fatal(err)
	}
	args := []string{"import", file, "--format", "claude-code", "--url", w.URL, "--workspace", w.space}
	if key := w.key(c.source); key != "" {
		args = append(args, "--key", key)
	}
	if code, out, errs := binary.Run(w.t, "", args...); code != 0 || !strings.Contains(out, "1") {
		w.t.Fatalf("importing %s: %d %s%s", session, code, out, errs)
	}
}

// forecast is what the server says of a planned call.
type forecast struct {
	Metadata struct {
		Risk     *float64 `json:"risk"`
		Warnings []struct {
			Text     string `json:"text"`
			Severity string `json:"severity"`
		} `json:"warnings"`
		Suggestion json.RawMessage `json:"suggestion"`
	} `json:"metadata"`
}

func (w *world) forecast(source, tool string, input map[string]any) (f forecast) {
	w.ask("/preflight_tool_call", w.key(source), map[string]any{"workspace_id": w.space, "tool_name": tool, "input": input, "trajectory_id": "planned", "agent_id": source}, &f)
	return f
}

// told is all that an agent is told of a planned call, whichever way it asks: but for what stands in the fenced section and in
// fields that are marked as untrusted.
func (w *world) told(source, tool string, input map[string]any) string {
	f := w.forecast(source, tool, input)
	var hook, begins json.RawMessage
	w.made++
	event := map[string]any{"hook_event_name": "PreToolUse", "session_id": fmt.Sprintf("planned%d", w.made), "tool_name": tool, "tool_input": input}
	w.hook(source, event, &hook)
	event["hook_event_name"] = "UserPromptSubmit"
	w.hook(source, event, &begins)
	var mcp struct {
		Result struct {
			Content []struct{ Text string }
		}
	}
	w.ask("/mcp", w.key(source), map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{
		"name": "memoryd_guidelines", "arguments": map[string]any{"workspace": w.space, "tool_names": []string{tool}},
	}}, &mcp)
	all := f.text() + string(f.Metadata.Suggestion) + string(hook) + string(begins)
	for _, c := range mcp.Result.Content {
		ours, _ := said(c.Text)
		all += ours
	}
	return all
}

// hook sends an event that may have no answer.
func (w *world) hook(source string, event map[string]any, out *json.RawMessage) {
	w.flush()
	body, _ := json.Marshal(event) //nolint:errchkjson // strings and numbers
	r, err := w.Send("/v1/hooks/claude-code?workspace="+w.space, body, "Authorization", "Bearer "+w.key(source))
	if err != nil || r.Status/100 != 2 {
		w.t.Fatalf("%v: %d %v: %.400s", event["hook_event_name"], r.Status, err, r.Body)
	}
	*out = r.Body
}

// stops reports whether the agent is told not to make the call.
func (f *forecast) stops() bool {
	for _, x := range f.Metadata.Warnings {
		if x.Severity == "stop" {
			return true
		}
	}
	return false
}

func (f *forecast) text() string {
	var b strings.Builder
	for _, x := range f.Metadata.Warnings {
		b.WriteString(x.Text + "\n")
	}
	return b.String()
}

// guideline writes a tool's guideline anew and gives it, as the source reads it.
func (w *world) guideline(source, tool string) string {
	w.t.Helper()
	var a daemon.Answer
	writer := w.key(source)
	if w.keys != nil {
		writer = adminKey
	}
	w.ask("/summary_tool_memory", writer, map[string]any{"workspace_id": w.space, "tool_names": tool, "force": true}, nil)
	w.ask("/retrieve_tool_memory", w.key(source), map[string]any{"workspace_id": w.space, "tool_names": tool, "include_history": false}, &a)
	if len(a.Metadata.MemoryList) != 1 {
		w.t.Fatalf("no guideline of %s: %s", tool, a.Answer)
	}
	return a.Metadata.MemoryList[0].Content
}

// said parts a guideline into what it says itself and the fenced section of what tools
// answered. Nothing after the fence may belong to it but the statistics.
func said(guideline string) (ours, fenced string) {
	before, rest, found := strings.Cut(guideline, "\n## What the tool answered\n")
	if !found {
		return guideline, ""
	}
	fenced, after, found := strings.Cut(rest, "\n## Statistics\n")
	if !found {
		return before, fenced
	}
	return before + after, fenced
}

// send makes any request, reads the answer into out where it is wanted and gives the status.
func (w *world) send(method, path, key string, v, out any) int {
	w.t.Helper()
	body, err := json.Marshal(v)
	if err != nil {
		w.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.URL+path, bytes.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	if out != nil {
		if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
			w.t.Fatalf("%s %s: %d %v", method, path, resp.StatusCode, err)
		}
	}
	return resp.StatusCode
}

// status is the status of a request that may be refused.
func (w *world) status(path, key string, v any) int {
	body, _ := json.Marshal(v) //nolint:errchkjson // strings and numbers
	r, err := w.Send(path, body, "Authorization", "Bearer "+key)
	if err != nil {
		w.t.Fatal(err)
	}
	return r.Status
}
