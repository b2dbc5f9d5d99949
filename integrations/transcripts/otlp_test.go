package transcripts

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"memoryd/internal/accounts"

	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
)

// attrs writes attributes as OTLP does in JSON.
func attrs(of map[string]any) []any {
	var list []any
	for k, v := range of {
		value := map[string]any{"stringValue": v}
		switch x := v.(type) {
		case bool:
			value = map[string]any{"boolValue": x}
		case float64:
			value = map[string]any{"doubleValue": x}
		case map[string]any:
			value = map[string]any{"kvlistValue": map[string]any{"values": attrs(x)}}
		}
		list = append(list, map[string]any{"key": k, "value": value})
	}
	return list
}

// span is a span of a test, in the words of OTLP/JSON.
type span struct {
	name, parent string
	kind         int
	attributes   map[string]any
	status       map[string]any
	events       []any
}

func (s span) body(t *testing.T) []byte {
	t.Helper()
	m := map[string]any{
		"traceId": "5b8efff798038103d269b633813fc60c", "spanId": "eee19b7ec3c1b174", "parentSpanId": s.parent, "name": s.name, "kind": s.kind,
		"startTimeUnixNano": "1763776161000000000", "endTimeUnixNano": "1763776162500000000", "attributes": attrs(s.attributes),
		"status": s.status, "events": s.events,
	}
	b, err := json.Marshal(map[string]any{"resourceSpans": []any{map[string]any{"scopeSpans": []any{map[string]any{"spans": []any{m}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// both reads a body as JSON and as the protobuf that it stands for: they are one.
func both(t *testing.T, body []byte) accounts.Batch {
	t.Helper()
	b, err := tracesBatch(body, true)
	if err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	r := ptraceotlp.NewExportRequest()
	if err := r.UnmarshalJSON(body); err != nil {
		t.Fatal(err)
	}
	proto, err := r.MarshalProto()
	if err != nil {
		t.Fatal(err)
	}
	p, err := tracesBatch(proto, false)
	if err != nil || len(p.Calls) != len(b.Calls) {
		t.Fatalf("protobuf gives %d calls (%v), JSON %d", len(p.Calls), err, len(b.Calls))
	}
	return p
}

var failed = map[string]any{"code": 2, "message": "ValueError: kaput"}

func exception(message string) []any {
	return []any{map[string]any{"name": "exception", "timeUnixNano": "1763776162400000000", "attributes": attrs(map[string]any{
		"exception.type": "ValueError", "exception.message": message,
	})}}
}

// The shapes are those that the named exporters were seen to send.
func TestTheDialectsOfRealExporters(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		span span
		want accounts.Call
	}{
		{
			"pydantic-ai",
			span{name: "execute_tool get_weather", kind: 1, attributes: map[string]any{
				"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get_weather", "gen_ai.tool.call.id": "pyd_ai_1", "gen_ai.agent.name": "agent",
				"gen_ai.tool.call.arguments": `{"city":"a"}`, "gen_ai.tool.call.result": "sunny", "gen_ai.conversation.id": "c1",
			}},
			accounts.Call{Source: "otlp:genai", Tool: "get_weather", Input: json.RawMessage(`{"city":"a"}`), Output: "sunny", ID: "pyd_ai_1", Conversation: "c1", Agent: "agent", Outcome: accounts.Claimed},
		},
		{
			"pydantic-ai, a retry that the model was asked for",
			span{
				name: "execute_tool get_weather", kind: 1, status: map[string]any{"code": 2},
				events: exception("Unknown city"), attributes: map[string]any{
					"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get_weather", "gen_ai.tool.call.id": "pyd_ai_2",
					"gen_ai.tool.call.arguments": `{"city":"x"}`, "gen_ai.tool.call.result": "Unknown city, try another", "pydantic_ai.tool.retry.cause": "model_retry",
				},
			},
			accounts.Call{Source: "otlp:genai", Tool: "get_weather", Input: json.RawMessage(`{"city":"x"}`), Output: "Unknown city, try another", ID: "pyd_ai_2", Outcome: accounts.Failed},
		},
		{
			"openai agents through openinference",
			span{name: "get_weather", kind: 1, attributes: map[string]any{
				"openinference.span.kind": "TOOL", "tool.name": "get_weather", "input.value": `{"city":"Berlin"}`, "output.value": "rain",
				"tool.parameters": `{"type":"object","properties":{"city":{"type":"string"}}}`,
			}},
			accounts.Call{Source: "otlp:openinference", Tool: "get_weather", Input: json.RawMessage(`{"city":"Berlin"}`), Output: "rain", Outcome: accounts.Claimed},
		},
		{
			"langchain through openinference: a bare argument, a message around the result",
			span{name: "search", kind: 1, attributes: map[string]any{
				"openinference.span.kind": "TOOL", "tool.name": "search", "input.value": "Berlin",
				"output.value": `{"type":"tool","data":{"content":"found","tool_call_id":"call_7","status":"success"}}`,
			}},
			accounts.Call{Source: "otlp:openinference", Tool: "search", Input: json.RawMessage(`"Berlin"`), Output: "found", ID: "call_7", Outcome: accounts.Claimed},
		},
		{
			"langchain says that its tool failed inside the message",
			span{name: "search", kind: 1, attributes: map[string]any{
				"openinference.span.kind": "TOOL", "tool.name": "search", "input.value": `{"q":"x"}`,
				"output.value": `{"type":"tool","data":{"content":"Error: no index","tool_call_id":"call_8","status":"error"}}`,
			}},
			accounts.Call{Source: "otlp:openinference", Tool: "search", Input: json.RawMessage(`{"q":"x"}`), Output: "Error: no index", ID: "call_8", Outcome: accounts.Failed},
		},
		{
			"langchain through openllmetry",
			span{name: "execute_tool search", kind: 1, attributes: map[string]any{
				"traceloop.span.kind": "tool", "gen_ai.tool.name": "search",
				"gen_ai.tool.call.arguments": `{"input_str":"{'city': 'Berlin'}","inputs":{"city":"Berlin"},"kwargs":{"tool_call_id":"call_9"},"metadata":{}}`,
				"gen_ai.tool.call.result":    `{"output":{"kwargs":{"content":"rain","tool_call_id":"call_9"}}}`,
			}},
			accounts.Call{Source: "otlp:traceloop", Tool: "search", Input: json.RawMessage(`{"city":"Berlin"}`), Output: "rain", ID: "call_9", Outcome: accounts.Claimed},
		},
		{
			"smolagents",
			span{name: "SimpleTool", kind: 1, status: failed, events: exception("kaput"), attributes: map[string]any{
				"openinference.span.kind": "TOOL", "tool.name": "divide", "input.value": `{"args":[],"kwargs":{"a":1,"b":0}}`,
			}},
			accounts.Call{Source: "otlp:openinference", Tool: "divide", Input: json.RawMessage(`{"a":1,"b":0}`), Output: "ValueError: kaput", Outcome: accounts.Failed},
		},
		{
			"AI SDK 7, a result that is a text as JSON",
			span{name: "execute_tool lookup", kind: 1, attributes: map[string]any{
				"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "lookup", "gen_ai.tool.call.id": "call_1",
				"gen_ai.tool.call.arguments": `{"order":"A1"}`, "gen_ai.tool.call.result": `"rain in \"Oslo\""`,
			}},
			accounts.Call{Source: "otlp:genai", Tool: "lookup", ID: "call_1", Input: json.RawMessage(`{"order":"A1"}`), Output: `rain in "Oslo"`, Outcome: accounts.Claimed},
		},
		{
			"AI SDK 7",
			span{name: "execute_tool lookup", kind: 1, status: map[string]any{"code": 2, "message": "no such order"}, attributes: map[string]any{
				"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "lookup", "gen_ai.tool.call.id": "call_1",
				"gen_ai.tool.call.arguments": `{"order":"A1"}`, "gen_ai.execute_tool.duration": 1.5,
			}},
			accounts.Call{Source: "otlp:genai", Tool: "lookup", Input: json.RawMessage(`{"order":"A1"}`), Output: "no such order", ID: "call_1", Outcome: accounts.Failed},
		},
		{
			"AI SDK 5",
			span{name: "ai.toolCall", kind: 1, attributes: map[string]any{
				"ai.operationId": "ai.toolCall", "ai.toolCall.name": "lookup", "ai.toolCall.id": "call_2", "ai.toolCall.args": `{"order":"A1"}`, "ai.toolCall.result": `{"state":"sent"}`,
			}},
			accounts.Call{Source: "otlp:ai-sdk", Tool: "lookup", Input: json.RawMessage(`{"order":"A1"}`), Output: `{"state":"sent"}`, ID: "call_2", Outcome: accounts.Claimed},
		},
		{
			"an MCP client",
			span{name: "tools/call read", kind: 3, parent: "aaaaaaaaaaaaaaaa", attributes: map[string]any{
				"mcp.method.name": "tools/call", "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "read", "error.type": "tool_error",
				"gen_ai.tool.call.arguments": map[string]any{"path": "/x"}, "gen_ai.tool.call.result": "no such file",
			}},
			accounts.Call{Source: "otlp:genai", Tool: "read", Input: json.RawMessage(`{"path":"/x"}`), Output: "no such file", ErrorType: "tool_error", Outcome: accounts.Failed},
		},
		{
			"gemini-cli",
			span{name: "tool_call", kind: 1, attributes: map[string]any{
				"gen_ai.operation.name": "tool_call", "gen_ai.tool.name": "read_file", "gen_ai.tool.call_id": "g1", "session.id": "s", "gen_ai.tool.call.arguments": `{"file_path":"a"}`,
			}},
			accounts.Call{Source: "otlp:genai", Tool: "read_file", ID: "g1", Conversation: "s", Input: json.RawMessage(`{"file_path":"a"}`), Truncated: true, Outcome: accounts.Claimed},
		},
		{
			"langsmith",
			span{name: "search", kind: 1, status: failed, attributes: map[string]any{
				"langsmith.span.kind": "tool", "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search", "gen_ai.prompt": `{"q":"x"}`,
			}},
			accounts.Call{Source: "otlp:langsmith", Tool: "search", Input: json.RawMessage(`{"q":"x"}`), Output: "ValueError: kaput", Outcome: accounts.Failed},
		},
		{
			"langfuse",
			span{name: "search", kind: 1, attributes: map[string]any{
				"langfuse.observation.type": "tool", "langfuse.observation.input": `{"q":"x"}`, "langfuse.observation.level": "ERROR",
				"langfuse.observation.status_message": "timed out", "session.id": "s9",
			}},
			accounts.Call{Source: "otlp:langfuse", Tool: "search", Input: json.RawMessage(`{"q":"x"}`), Output: "timed out", Conversation: "s9", Outcome: accounts.Failed},
		},
		{
			"langfuse, of a function that is called without names",
			span{name: "search", kind: 1, attributes: map[string]any{
				"langfuse.observation.type": "tool", "langfuse.observation.input": `{"args":["Oslo"],"kwargs":{}}`, "langfuse.observation.output": "rain",
			}},
			accounts.Call{Source: "otlp:langfuse", Tool: "search", Input: json.RawMessage(`"Oslo"`), Output: "rain", Outcome: accounts.Claimed},
		},
		{
			"langfuse, with some names",
			span{name: "search", kind: 1, attributes: map[string]any{
				"langfuse.observation.type": "tool", "langfuse.observation.input": `{"args":["Oslo",3],"kwargs":{"unit":"C"}}`, "langfuse.observation.output": "rain",
			}},
			accounts.Call{Source: "otlp:langfuse", Tool: "search", Input: json.RawMessage(`{"0":"Oslo","1":3,"unit":"C"}`), Output: "rain", Outcome: accounts.Claimed},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			b := both(t, tc.span.body(t))
			if len(b.Calls) != 1 {
				t.Fatalf("%d calls, skipped %v", len(b.Calls), b.Skipped)
			}
			got, want := b.Calls[0], tc.want
			want.Ended, want.Trace, want.Span = true, "5b8efff798038103d269b633813fc60c", "eee19b7ec3c1b174"
			want.Duration = 1500 * time.Millisecond
			want.Begun, want.Done = time.Unix(1763776161, 0).UTC(), time.Unix(1763776162, 500_000_000).UTC()
			want.Parent = tc.span.parent
			if want.Conversation == "" {
				want.Conversation = want.Trace
			}
			if want.ID == "" {
				want.ID = "span-" + want.Span
			}
			if g, w := jsonOf(t, got), jsonOf(t, want); g != w {
				t.Errorf("got  %s\nwant %s", g, w)
			}
		})
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestSpansThatAreNoCallsAreLeft(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		span    span
		skipped string
	}{
		"a request to a model":                 {span{name: "chat gpt", attributes: map[string]any{"gen_ai.operation.name": "chat"}}, noCall},
		"a chain":                              {span{name: "RunnableSequence", attributes: map[string]any{"openinference.span.kind": "CHAIN"}}, noCall},
		"another method of MCP":                {span{name: "tools/list", attributes: map[string]any{"mcp.method.name": "tools/list"}}, noCall},
		"the server's side of a call":          {span{name: "tools/call read", kind: 2, parent: "aaaaaaaaaaaaaaaa", attributes: map[string]any{"mcp.method.name": "tools/call", "gen_ai.tool.name": "read"}}, serverSide},
		"the last word of an agent":            {span{name: "FinalAnswerTool", attributes: map[string]any{"openinference.span.kind": "TOOL", "tool.name": "final_answer"}}, notATool},
		"a call whose tool nobody says":        {span{name: "", attributes: map[string]any{"openinference.span.kind": "TOOL"}}, nameless},
		"an HTTP request, in no dialect known": {span{name: "GET /x", attributes: map[string]any{"http.request.method": "GET"}}, noCall},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := both(t, tc.span.body(t))
			if len(b.Calls) != 0 {
				t.Fatalf("a call: %+v", b.Calls[0])
			}
			if b.Skipped[tc.skipped] != 1 {
				t.Errorf("skipped %v", b.Skipped)
			}
		})
	}
}

func TestASpanOfAServerWithoutACallerIsACall(t *testing.T) {
	t.Parallel()
	b := both(t, span{name: "tools/call read", kind: 2, attributes: map[string]any{"mcp.method.name": "tools/call"}}.body(t))
	if len(b.Calls) != 1 || b.Calls[0].Tool != "read" {
		t.Errorf("%+v", b)
	}
}

func TestLogRecordsOfCodingAgents(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name       string
		attributes map[string]any
		want       accounts.Call
	}{
		{
			"codex",
			map[string]any{
				"event.name": "codex.tool_result", "call_id": "call_2", "tool_name": "exec_command", "arguments": `{"cmd":"ls /x"}`,
				"output": "ls: /x: No such file", "duration_ms": "250", "success": "false", "conversation.id": "conv",
			},
			accounts.Call{Source: "otlp:codex", Tool: "exec_command", ID: "call_2", Conversation: "conv", Input: json.RawMessage(`{"cmd":"ls /x"}`), Output: "ls: /x: No such file", Outcome: accounts.Failed, Duration: 250 * time.Millisecond},
		},
		{
			"codex with a tool of MCP",
			map[string]any{
				"event.name": "codex.tool_result", "call_id": "call_3", "tool_name": "echo", "tool_namespace": "mcp__ev", "arguments": `{}`, "output": "x",
				"duration_ms": "250", "success": "true", "conversation.id": "conv", "output_truncated": "true",
			},
			accounts.Call{Source: "otlp:codex", Tool: "mcp__ev__echo", ID: "call_3", Conversation: "conv", Input: json.RawMessage(`{}`), Output: "x", Outcome: accounts.Claimed, Duration: 250 * time.Millisecond, Truncated: true},
		},
		{
			"gemini",
			map[string]any{
				"event.name": "gemini_cli.tool_call", "function_name": "read_file", "function_args": `{"path":"/x"}`, "duration_ms": 250.0,
				"success": false, "error": "file not found", "error_type": "file_not_found", "session.id": "s",
			},
			accounts.Call{Source: "otlp:gemini", Tool: "read_file", Conversation: "s", Input: json.RawMessage(`{"path":"/x"}`), Output: "file not found", ErrorType: "file_not_found", Outcome: accounts.Failed, Duration: 250 * time.Millisecond, Truncated: true},
		},
		{
			"gemini, refused by a person",
			map[string]any{
				"event.name": "gemini_cli.tool_call", "function_name": "rm", "decision": "reject", "success": false, "duration_ms": 250.0, "session.id": "s",
			},
			accounts.Call{Source: "otlp:gemini", Tool: "rm", Conversation: "s", Outcome: accounts.Cancelled, Duration: 250 * time.Millisecond, Truncated: true},
		},
		{
			"claude code",
			map[string]any{"event.name": "tool_result", "tool_name": "Bash", "success": "true", "duration_ms": "250", "session.id": "s"},
			accounts.Call{Source: "otlp:claude-code", Tool: "Bash", Conversation: "s", Outcome: accounts.Claimed, Duration: 250 * time.Millisecond, Truncated: true},
		},
		{
			"claude code names a tool of MCP beside the arguments",
			map[string]any{
				"event.name": "tool_result", "tool_name": "mcp_tool", "tool_use_id": "toolu_01AbCdEfGh23456789", "success": "true", "duration_ms": "250", "session.id": "s",
				"tool_parameters": `{"mcp_server_name":"time","mcp_tool_name":"now"}`,
			},
			accounts.Call{Source: "otlp:claude-code", Tool: "mcp__time__now", ID: "toolu_01AbCdEfGh23456789", Conversation: "s", Outcome: accounts.Claimed, Duration: 250 * time.Millisecond, Truncated: true},
		},
		{
			"claude code names a command in its own way",
			map[string]any{
				"event.name": "tool_result", "tool_name": "Bash", "tool_use_id": "toolu_01AbCdEfGh23456789", "success": "true", "duration_ms": "250", "session.id": "s",
				"tool_parameters": `{"bash_command":"ls","full_command":"ls /x"}`,
			},
			accounts.Call{Source: "otlp:claude-code", Tool: "Bash", ID: "toolu_01AbCdEfGh23456789", Conversation: "s", Input: json.RawMessage(`{"command":"ls /x"}`), Outcome: accounts.Claimed, Duration: 250 * time.Millisecond, Truncated: true},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			record := map[string]any{"timeUnixNano": "1763776162000000000", "attributes": attrs(tc.attributes)}
			body, err := json.Marshal(map[string]any{"resourceLogs": []any{map[string]any{"scopeLogs": []any{map[string]any{"logRecords": []any{record}}}}}})
			if err != nil {
				t.Fatal(err)
			}
			r := plogotlp.NewExportRequest()
			if err := r.UnmarshalJSON(body); err != nil {
				t.Fatal(err)
			}
			proto, err := r.MarshalProto()
			if err != nil {
				t.Fatal(err)
			}
			b, err := logsBatch(proto, false)
			if err != nil || len(b.Calls) != 1 {
				t.Fatalf("%+v, %v", b, err)
			}
			want := tc.want
			want.Ended, want.Done = true, time.Unix(1763776162, 0).UTC()
			want.Begun = want.Done.Add(-want.Duration)
			if g, w := jsonOf(t, b.Calls[0]), jsonOf(t, want); g != w {
				t.Errorf("got  %s\nwant %s", g, w)
			}
		})
	}
}

// Whatever comes is read or refused, and every call can be recorded.
func FuzzTelemetry(f *testing.F) {
	t := &testing.T{}
	f.Add(span{name: "execute_tool x", attributes: map[string]any{"gen_ai.operation.name": "execute_tool"}}.body(t), true, false)
	f.Add([]byte(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"attributes":[{"key":"event.name","value":{"stringValue":"codex.tool_result"}}]}]}]}]}`), true, true)
	f.Add([]byte{10, 2, 18, 0}, false, false)
	f.Fuzz(func(t *testing.T, body []byte, isJSON, logs bool) {
		read := tracesBatch
		if logs {
			read = logsBatch
		}
		b, err := read(bytes.Clone(body), isJSON)
		if err != nil {
			return
		}
		for i := range b.Calls {
			c := b.Calls[i].Record()
			if c.Tool == "" || !json.Valid(c.Input) || c.TimeCost < 0 {
				t.Errorf("%+v", c)
			}
		}
	})
}

// OpenInference writes of an only argument that is a text but its value; the model's span
// before it has the whole.
func TestABareArgumentIsCompletedByWhatTheModelAskedFor(t *testing.T) {
	t.Parallel()
	const call = "llm.output_messages.0.message.tool_calls.0.tool_call."
	model := both(t, span{name: "ChatModel", kind: 1, attributes: map[string]any{
		"openinference.span.kind": "LLM", call + "id": "c1", call + "function.name": "search", call + "function.arguments": `{"query": "Oslo"}`,
	}}.body(t))
	tool := both(t, span{name: "search", kind: 1, attributes: map[string]any{
		"openinference.span.kind": "TOOL", "tool.name": "search", "input.value": "Oslo",
		"output.value": `{"type":"tool","data":{"content":"rain","tool_call_id":"c1","status":"success"}}`,
	}}.body(t))
	in := accounts.NewIntake(time.Now)
	if got := in.Join("w", tool.Calls); string(got[0].Input) != `"Oslo"` {
		t.Errorf("before the model's span: %s", got[0].Input)
	}
	in.Plan("w", model.Planned)
	if got := in.Join("w", tool.Calls); len(got) != 1 || string(got[0].Input) != `{"query": "Oslo"}` || got[0].Output != "rain" {
		t.Errorf("%+v", got)
	}
	if got := in.Join("other", tool.Calls); string(got[0].Input) != `"Oslo"` {
		t.Errorf("in another workspace: %s", got[0].Input)
	}
}

// W22: an agent's span around that of its MCP client gives the call its id and conversation,
// whichever came first, with arguments and without.
func TestASpanAroundThatOfAnMCPClientKeepsItsIDAndConversation(t *testing.T) {
	t.Parallel()
	for _, arguments := range []any{nil, `{"q":1}`} {
		outer := map[string]any{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search", "gen_ai.tool.call.id": "call_7", "gen_ai.conversation.id": "talk"}
		inner := map[string]any{"gen_ai.operation.name": "execute_tool", "mcp.method.name": "tools/call", "gen_ai.tool.name": "search"}
		if arguments != nil {
			outer["gen_ai.tool.call.arguments"], inner["gen_ai.tool.call.arguments"] = arguments, arguments
		}
		framework := both(t, span{name: "execute_tool search", kind: 1, attributes: outer}.body(t)).Calls[0]
		client := both(t, span{name: "tools/call search", kind: 3, parent: framework.Span, attributes: inner}.body(t)).Calls[0]
		client.Span, client.ID = "aaaaaaaaaaaaaaaa", "span-aaaaaaaaaaaaaaaa"
		for _, order := range [][]accounts.Call{{framework, client}, {client, framework}} {
			got := accounts.NewIntake(time.Now).Join("w", order)
			if len(got) != 1 || got[0].ID != "call_7" || got[0].Conversation != "talk" {
				t.Errorf("%v: %+v", arguments, got)
			}
			kept, next := order[0].Record(), order[1].Record()
			account, _ := accounts.FromRecord(&next)
			kept, _ = accounts.Amended(&kept, &account)
			if !bytes.Contains(kept.Metadata, []byte(`"tool_call_id":"call_7"`)) {
				t.Errorf("%v, recorded one after the other: %s", arguments, kept.Metadata)
			}
		}
	}
}
