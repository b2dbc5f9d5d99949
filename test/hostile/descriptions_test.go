package hostile

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// described are the places of an MCP server's answers that describe a tool, beside its name.
var described = map[string]func(server, tool, schema, p map[string]any, s string){
	"description": func(_, tool, _, _ map[string]any, s string) { tool["description"] = s },
	"title":       func(_, tool, _, _ map[string]any, s string) { tool["title"] = s },
	"annotation":  func(_, tool, _, _ map[string]any, s string) { tool["annotations"] = map[string]any{"title": s} },
	"meta": func(_, tool, _, _ map[string]any, s string) {
		tool["_meta"] = map[string]any{"com.example/note": s}
	},
	"schema":       func(_, _, schema, _ map[string]any, s string) { schema["description"] = s },
	"comment":      func(_, _, schema, _ map[string]any, s string) { schema["$comment"] = s },
	"parameter":    func(_, _, _, p map[string]any, s string) { p["description"] = s },
	"choice":       func(_, _, _, p map[string]any, s string) { p["enum"] = []any{s} },
	"default":      func(_, _, _, p map[string]any, s string) { p["default"] = s },
	"name":         func(_, _, schema, p map[string]any, s string) { schema["properties"].(map[string]any)[s] = p }, //nolint:forcetypeassert // made here
	"instructions": func(server, _, _, _ map[string]any, s string) { server["instructions"] = s },
	"server": func(server, _, _, _ map[string]any, s string) {
		server["serverInfo"] = map[string]any{"name": "m", "title": s}
	},
}

// session is what a server answers that is wrapped: to initialize, and to tools/list. A call without the needed parameter fails.
type session struct {
	Server map[string]any
	Tools  []any
	Needed string
}

// serveTools is an MCP server on stdio: this program once more, started by the one that is tested.
func serveTools(file string, in io.Reader, out io.Writer) error {
	var s session
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	for lines := bufio.NewScanner(in); err == nil && lines.Scan(); {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct{ Arguments map[string]any }
		}
		if json.Unmarshal(lines.Bytes(), &m) != nil || len(m.ID) == 0 {
			continue
		}
		result := any(map[string]any{})
		switch m.Method {
		case "initialize":
			result = s.Server
		case "tools/list":
			result = map[string]any{"tools": s.Tools}
		case "tools/call":
			text, given := "{\"rows\":1}", m.Params.Arguments[s.Needed] != nil
			if !given {
				text = "Error: it is missing"
			}
			result = map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}, "isError": !given}
		}
		err = json.NewEncoder(out).Encode(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result})
	}
	return err
}

// wrap is a session of an agent with the server behind the program's wrapper; it gives the answer to tools/list.
func (w *world) wrap(s session, run, enrich, tool string, inputs ...map[string]any) string {
	b, _ := json.Marshal(s) //nolint:errchkjson // texts
	file := filepath.Join(w.t.TempDir(), "session.json")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		w.t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	asks := []any{
		map[string]any{"id": 1, "method": "initialize", "params": map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "c"}}},
		map[string]any{"method": "notifications/initialized"},
		map[string]any{"id": 2, "method": "tools/list"},
	}
	for i, input := range inputs {
		asks = append(asks, map[string]any{"id": 3 + i, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": input}})
	}
	var lines strings.Builder
	for _, ask := range asks {
		ask.(map[string]any)["jsonrpc"] = "2.0" //nolint:forcetypeassert // made above
		line, _ := json.Marshal(ask)            //nolint:errchkjson // texts
		lines.Write(append(line, '\n'))
	}
	w.flush()
	code, out, errs := binary.Run(w.t, lines.String(), "mcp-wrap", "--url", w.URL, "--workspace", w.space, "--name", "srv", "--run-id", run, "--enrich", enrich, "--warn", "--journal", "-", "--", program, "mcp-server", file)
	if code != 0 || strings.Count(out, "\n") < 2+len(inputs) {
		w.t.Fatalf("%d %s%s", code, out, errs)
	}
	for line := range strings.Lines(out) {
		if strings.Contains(line, `"tools":[`) {
			return line
		}
	}
	w.t.Fatalf("no list of tools: %s", out)
	return ""
}

// What a server says of its tools, in the description, the schema or anywhere beside them, is its own: a client gets it as it is, and
// nothing of it reaches what memoryd says of the tool, in the note beside the description, in guidelines, warnings or compactions.
// The controls: the client gets the sentence, and the note says what the calls showed.
func TestDescriptionsAndSchemasReachNoAdvice(t *testing.T) {
	w := newWorld(t, false)
	places, forms := slices.Sorted(maps.Keys(described)), slices.Sorted(maps.Keys(wrappings))
	n, got, notes := rounds(t, len(places)), 0, 0
	for k := range n {
		w.open()
		tool, p, mark := "get_"+w.word(), w.word(), w.word()+w.word()
		sentence := fmt.Sprintf(orders[w.dice.IntN(len(orders))], mark, w.word()+w.word()) + " " + w.phrase(3)
		text := wrappings[forms[w.dice.IntN(len(forms))]](w, sentence)
		server := map[string]any{"protocolVersion": "2025-11-25", "serverInfo": map[string]any{"name": "srv"}, "capabilities": map[string]any{"tools": map[string]any{}}}
		of := map[string]any{"type": "integer"}
		schema := map[string]any{"type": "object", "properties": map[string]any{p: of}}
		entry := map[string]any{"name": tool, "description": "Gets it.", "inputSchema": schema}
		described[places[k%len(places)]](server, entry, schema, of, text)
		s := session{server, []any{entry}, p}
		for run := range 4 {
			var inputs []map[string]any
			for i := range 6 {
				inputs = append(inputs, map[string]any{p: i})
				if i%3 == 0 {
					delete(inputs[i], p)
				}
			}
			w.wrap(s, fmt.Sprintf("run%d", run), "off", tool, inputs...)
		}
		name := "mcp__srv__" + tool
		ours, _ := said(w.guideline("agent1", name))
		list := w.wrap(s, "last", []string{"description", "meta"}[k%2], tool)
		var listed struct {
			Result struct {
				Tools []struct {
					Description string
					Meta        struct {
						Guideline struct{ Text string } `json:"dev.memoryd/guideline"`
					} `json:"_meta"`
				}
			}
		}
		if err := json.Unmarshal([]byte(list), &listed); err != nil || len(listed.Result.Tools) != 1 {
			t.Fatalf("%v: %s", err, list)
		}
		_, note, _ := strings.Cut(listed.Result.Tools[0].Description, "\n[memoryd v")
		if note += listed.Result.Tools[0].Meta.Guideline.Text; strings.Contains(note, "`"+p+"`") {
			notes++
		}
		if strings.Contains(list, mark) || server["instructions"] != nil || places[k%len(places)] == "server" {
			got++
		}
		var small struct{ Summary string }
		messages := []any{map[string]any{"role": "user", "content": "go on"}}
		for i := range 20 {
			id := fmt.Sprintf("c%d", i)
			messages = append(messages, map[string]any{"role": "assistant", "content": "", "tool_calls": []any{map[string]any{"id": id, "type": "function", "function": map[string]any{"name": tool, "arguments": "{}"}}}},
				map[string]any{"role": "tool", "tool_call_id": id, "content": w.phrase(40)})
		}
		w.ask("/compact_conversation", "", map[string]any{"workspace_id": w.space, "messages": messages, "tools": []any{map[string]any{"type": "function", "function": map[string]any{"name": tool, "description": text, "parameters": schema}}}, "force": true, "max_input_tokens": 1500}, &small)
		if small.Summary == "" {
			t.Error("nothing was compacted")
		}
		for where, told := range map[string]string{"note": note, "guideline": ours, "compaction": small.Summary, "warning": w.told("agent1", name, map[string]any{})} {
			if strings.Contains(strings.ToLower(told), mark) {
				t.Errorf("%s in a %s: a word of %q is told by the %s:\n%s", places[k%len(places)], text, sentence, where, told)
			}
		}
	}
	if got < n || notes < n*3/4 {
		t.Errorf("of %d lists %d hold the sentence and %d our note: the attack shows nothing", n, got, notes)
	}
}
