package transcripts

import (
	"cmp"
	"context"
	"database/sql"
	"net/url"
	"slices"
	"strings"
	"time"

	"memoryd/internal/accounts"
	"memoryd/internal/loosejson"

	"github.com/go-json-experiment/json/jsontext"
	_ "modernc.org/sqlite" // the databases in which hosts keep their sessions
)

// form says where the messages of a program hold calls and results. Its members are paths of
// an object.
type form struct {
	// parts leads from a message to the list of parts, or to the only one; "" is the
	// message itself.
	parts string
	// kind leads to what tells parts apart; call and result are the kinds that make a
	// call and end one. A kind that ends with - is a prefix.
	kind         string
	call, result []string
	id, tool     string
	input        string
	// output is what the tool returned. failed leads to what is true, or there at all, in
	// a part that failed; of path=value to that value.
	output string
	failed []string
	exit   string // code of a command
	notes  bool   // it may stand at the end of the output
	begun  string
	done   string
}

// host is the messages of one program.
type host struct {
	// conversation and at lead from a message to the session and the time.
	conversation, at string
	forms            []form
}

// hosts are the programs whose messages are read by their forms alone.
func hosts() map[string]host {
	return map[string]host{
		"opencode": {"sessionID|info.sessionID|info.id", "info.time.created", []form{{
			parts: "parts", kind: "state.status", call: []string{"completed", "error"}, result: []string{"completed", "error"},
			id: "callID", tool: "tool", input: "state.input",
			output: "state.output|state.error", failed: []string{"state.status=error"}, exit: "state.metadata.exit",
			begun: "state.time.start", done: "state.time.end",
		}}},
		"goose": {"session_id", "created", []form{{
			parts: "content", kind: "type", call: []string{"toolRequest"}, result: []string{"toolResponse"}, id: "id",
			tool: "toolCall.value.name|toolCall.Ok.name", input: "toolCall.value.arguments|toolCall.Ok.arguments",
			output: "toolResult.value.content|toolResult.value|toolResult.Ok.content|toolResult.Ok|toolResult.error|toolResult.Err",
			failed: []string{"toolResult.value.isError", "toolResult.status=error", "toolResult.Ok.isError", "toolResult.Err"},
		}}},
		"copilot": {"data.sessionId", "timestamp", []form{{
			kind: "type", call: []string{"tool.execution_start"}, result: []string{"tool.execution_complete"}, id: "data.toolCallId",
			tool:  "data.toolName",
			input: "data.arguments", output: "data.result.content|data.error.message|data.error",
			failed: []string{"data.success=false", "data.error"}, notes: true,
		}}},
		"pi": {"sessionId", "timestamp|message.timestamp", []form{
			{parts: "message.content", kind: "type", call: []string{"toolCall"}, id: "id", tool: "name", input: "arguments"},
			{
				parts: "message", kind: "role", result: []string{"toolResult"}, id: "toolCallId", tool: "toolName", output: "content",
				failed: []string{"isError"},
			},
		}},
		"cursor": {"session_id", "timestamp_ms", []form{{
			kind: "subtype", call: []string{"started"}, result: []string{"completed"}, id: "call_id", tool: "tool_call.#", input: "tool_call.*.args",
			output: "tool_call.*.result.success.stdout|tool_call.*.result.failure.stderr|tool_call.*.result.success|tool_call.*.result",
			failed: []string{"tool_call.*.result.error", "tool_call.*.result.failure"},
			exit:   "tool_call.*.result.success.exitCode|tool_call.*.result.failure.exitCode",
		}}},
		"pydantic-ai": {"conversation_id|run_id", "timestamp", []form{
			{
				parts: "parts", kind: "part_kind", call: []string{"tool-call"}, result: []string{"tool-return"}, id: "tool_call_id",
				tool: "tool_name", input: "args", output: "content", failed: []string{"outcome=failed", "outcome=retried"}, done: "timestamp",
			},
			{
				parts: "parts", kind: "part_kind", result: []string{"retry-prompt"}, id: "tool_call_id", tool: "tool_name",
				output: "content", failed: []string{"part_kind"}, done: "timestamp",
			},
		}},
		"langchain": {"", "", []form{
			{parts: "data.tool_calls|kwargs.tool_calls", kind: "name", call: []string{"-"}, id: "id", tool: "name", input: "args"},
			{
				kind: "data.type|kwargs.type|type", result: []string{"tool"}, id: "data.tool_call_id|kwargs.tool_call_id",
				tool: "data.name|kwargs.name", output: "data.content|kwargs.content", failed: []string{"data.status=error", "kwargs.status=error"},
			},
		}},
		"ai-sdk": {"chatId", "createdAt|metadata.createdAt", []form{
			{
				parts: "content", kind: "type", call: []string{"tool-call"}, result: []string{"tool-result", "tool-error"},
				id: "toolCallId", tool: "toolName", input: "input|args",
				output: "output.value|output|result|error", failed: []string{
					"isError", "output.type=error-text", "output.type=error-json",
					"type=tool-error",
				},
			},
			{
				parts: "parts", kind: "state", call: []string{"output-"}, result: []string{"output-"}, id: "toolCallId",
				tool: "toolName|type", input: "input|rawInput", output: "output|errorText", failed: []string{"state=output-error"},
			},
			{
				parts: "parts", kind: "toolInvocation.state", call: []string{"result"}, result: []string{"result"},
				id: "toolInvocation.toolCallId", tool: "toolInvocation.toolName", input: "toolInvocation.args", output: "toolInvocation.result",
			},
		}},
	}
}

// elementsOf is the elements of an array, or a value alone.
func elementsOf(v jsontext.Value) []jsontext.Value {
	if v.Kind() != '[' && loosejson.There(v) {
		return []jsontext.Value{v}
	}
	return loosejson.Elements(v)
}

// readHost reads messages by the forms of their program.
func readHost(f *file) reader {
	h, chats, last := hosts()[f.format], map[string]*chat{}, ""
	return func(d loosejson.Members, doc []byte) {
		name := loosejson.Text(d.At(h.conversation))
		if f.format == "pi" && loosejson.Text(d["type"]) == "session" {
			name = loosejson.Text(d["id"])
		}
		if last = cmp.Or(name, last); last == "" {
			last = f.base + "-" + accounts.Digest(doc)
		}
		c := chats[last]
		if c == nil {
			c = f.chat(last)
			chats[last] = c
		}
		messages := []loosejson.Members{d}
		if held := elementsOf(d["messages"]); len(held) > 0 {
			messages = loosejson.Objects(loosejson.Join(held))
		}
		for _, m := range messages {
			for i := range h.forms {
				h.forms[i].read(c, m, m.At(h.at))
			}
		}
	}
}

// read takes the calls and results of a message.
func (m *form) read(c *chat, message loosejson.Members, stamp jsontext.Value) {
	parts := []loosejson.Members{message}
	if m.parts != "" {
		parts = loosejson.Objects(loosejson.Join(elementsOf(message.At(m.parts))))
	}
	for _, p := range parts {
		kind := loosejson.Text(p.At(m.kind))
		id, tool := p.Text(m.id), strings.TrimSuffix(strings.TrimPrefix(loosejson.Text(p.At(m.tool)), "tool-"), "ToolCall")
		at := func(path string) time.Time {
			if path == "" {
				return loosejson.Time(stamp)
			}
			return loosejson.Time(p.At(path))
		}
		if is(kind, m.call) {
			c.call(id, tool, p.At(m.input), at(m.begun))
		}
		if is(kind, m.result) {
			r := result{output: contentText(p.At(m.output))}
			if m.notes {
				r = unwrapEnd(r.output)
			}
			r.outcome = max(r.outcome, accounts.Claimed)
			if slices.ContainsFunc(m.failed, func(path string) bool { return meets(p, path) }) {
				r.outcome = accounts.Failed
			}
			if m.exit != "" {
				r.exited(string(p.At(m.exit)))
			}
			c.result(id, tool, r, at(m.done))
		}
	}
}

// is reports whether a kind is one of some.
func is(kind string, of []string) bool {
	return kind != "" && slices.ContainsFunc(of, func(k string) bool {
		return k == kind || k == "-" || strings.HasSuffix(k, "-") && strings.HasPrefix(kind, k)
	})
}

// meets reports whether what a path leads to is the value after =, or, without one, is
// there and not false.
func meets(o loosejson.Members, path string) bool {
	path, want, given := strings.Cut(path, "=")
	now := o.At(path)
	if given {
		return loosejson.Text(now) == want || string(now) == want
	}
	no, known := loosejson.Truth(now)
	return loosejson.There(now) && (!known || no)
}

// databases are the questions that a host's database answers with its messages.
func databases() map[string]string {
	return map[string]string{
		"opencode": `SELECT json_object('sessionID', session_id, 'parts', json_array(json(data))) FROM part ORDER BY time_created, id`,
		"goose":    `SELECT json_object('session_id', session_id, 'created', created_timestamp, 'content', json(content_json)) FROM messages ORDER BY created_timestamp, id`,
	}
}

// readDatabase reads the sessions in an SQLite database of a host.
func readDatabase(ctx context.Context, path string, o Options) (Stats, error) {
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: "mode=ro&_pragma=query_only(1)"}).String())
	if err != nil {
		return Stats{}, err
	}
	defer db.Close() //nolint:errcheck // it was only read
	for _, format := range []string{"opencode", "goose"} {
		rows, err := db.QueryContext(ctx, databases()[format])
		if err != nil {
			continue // it has no such table
		}
		defer rows.Close() //nolint:errcheck,sqlclosecheck // as above
		if o.Format == "" || o.Format == Auto {
			o.Format = format
		}
		return read(ctx, path, o, func(s scanner) error {
			for rows.Next() {
				var doc string
				if err := rows.Scan(&doc); err != nil {
					s.broken(0, err.Error())
					continue
				}
				s.document(0, []byte(doc))
			}
			return rows.Err()
		})
	}
	return Stats{}, &UnknownShape{Found: "an SQLite database", Expected: o.Format}
}
