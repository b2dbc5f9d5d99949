package ingest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"memoryd"

	"github.com/go-json-experiment/json/jsontext"
)

// Format is a file format in which a program records what its agents did.
type Format struct {
	// Name is the value for --format.
	Name string
	// Expects describes in a few words what such a file looks like.
	Expects string

	is     func(s *shape) bool
	reader func(f *file) func(doc []byte) error
}

// Auto means: detect the format.
const Auto = "auto"

// Formats are all supported formats, in the order in which they are tried.
func Formats() []Format {
	return []Format{
		{"codex", "lines with type and payload, the first a session_meta", isCodex, readCodex},
		{"otlp", "resourceSpans or resourceLogs", func(s *shape) bool { return s.has("resourceSpans") || s.has("resourceLogs") }, readOTLP},
		{"inspect", "an .eval archive, or eval and samples", isInspect, readInspect},
		{"swe-agent", "trajectory with action and observation, or history with role and action", isSWEAgent, each((*file).trajectory)},
		{"openhands", "history of events with action, observation and cause; or events with kind", isOpenHands, readOpenHands},
		{"mini-swe-agent", "messages with <returncode>, or trajectory_format", isMini, readMini},
		{"opencode", "info and messages with parts, as opencode export prints, or its database", func(s *shape) bool {
			return s.has("sessionID", "parts") || s.has("info") && (s.within("messages", "info", "parts") || s.has("parts"))
		}, readHost},
		{"goose", "messages with content of type toolRequest and toolResponse, or its database", func(s *shape) bool {
			return s.has("content") && (s.has("created") || s.has("session_id")) && s.holds(`"toolRequest"`, `"toolResponse"`) || s.has("working_dir", "message_count")
		}, readHost},
		{"copilot", "events with type and data, the first a session.start", func(s *shape) bool {
			return s.has("type", "data", "id", "timestamp") && s.has("parentId")
		}, readHost},
		{"pi", "a session with version and cwd, then messages with toolCall and toolResult", func(s *shape) bool {
			return s.oneOf("type", "session") && s.has("id", "timestamp", "cwd") || s.has("parentId", "message") && s.holds(`"toolCall"`, `"toolResult"`)
		}, readHost},
		{"cursor", "events of cursor-agent with type, subtype and session_id", func(s *shape) bool {
			return s.has("session_id") && s.oneOf("type", "tool_call") && s.has("tool_call") || s.oneOf("type", "system") && s.has("apiKeySource", "session_id")
		}, readHost},
		{"pydantic-ai", "messages with kind and parts with part_kind", func(s *shape) bool { return s.has("parts", "kind") || s.within("messages", "parts", "kind") }, readHost},
		{"langchain", "messages with type and data, or as LangChain serialises them", func(s *shape) bool {
			return s.has("lc", "kwargs") || s.within("messages", "lc", "kwargs") || s.has("type", "data") && s.oneOf("type", "human", "ai", "system", "tool") || s.within("messages", "type", "data")
		}, readHost},
		{"ai-sdk", "messages with parts or content of type tool-...", func(s *shape) bool {
			return (s.has("role") || s.has("messages")) && s.holds(`"toolCallId"`, `"tool-invocation"`) && !s.has("sessionId")
		}, readHost},
		{"cline", "messages whose texts hold calls as XML and [tool] Result:", func(s *shape) bool {
			return s.has("role", "content") && s.holds("<environment_details>", "] Result:", "<task>")
		}, readCline},
		{"claude-code", "lines with type, sessionId, uuid and message", isClaude, readClaude},
		{"gemini", "lines with sessionId, then messages with toolCalls", isGemini, readGemini},
		{"langsmith", "runs with run_type, inputs and outputs", func(s *shape) bool {
			return s.has("run_type") || s.within("runs", "run_type") || s.within("data", "run_type")
		}, each(func(f *file, d object, _ []byte) { f.export(d, 0) })},
		{"langfuse", "observations with type, traceId and startTime", isLangfuse, each(func(f *file, d object, _ []byte) { f.export(d, 0) })},
		{"phoenix", "spans with span_kind, context and attributes", func(s *shape) bool {
			return s.has("span_kind") || s.within("spans", "span_kind") || s.within("data", "span_kind")
		}, each(func(f *file, d object, _ []byte) { f.export(d, 0) })},
		{"tau-bench", "runs with traj and reward, or simulations", func(s *shape) bool {
			return s.has("traj") || s.within("simulations", "messages") || s.within("messages", "requestor")
		}, readChat},
		{"openai-responses", "items with type function_call and call_id", isResponses, readResponsesOrChat},
		{"anthropic", "messages with blocks of type tool_use and tool_result", isAnthropic, readChat},
		{"openai-chat", "messages with role and tool_calls", isChat, readChat},
		{"calls", "calls with tool_name, input and output", func(s *shape) bool { return s.has("tool_name") }, readCalls},
	}
}

// FormatNames returns the names of all formats, and Auto.
func FormatNames() []string {
	names := []string{Auto}
	for _, f := range Formats() {
		names = append(names, f.Name)
	}
	return names
}

// shape is a document of which only the outermost members are known.
type shape struct {
	doc     []byte
	members object
	first   map[string][]*shape // objects among the first elements of lists that are members
}

func shapeOf(doc []byte) *shape {
	s := &shape{doc: doc}
	_ = decode(doc, &s.members) // what is broken has no members
	return s
}

func (s *shape) has(names ...string) bool {
	for _, n := range names {
		if _, ok := s.members[n]; !ok {
			return false
		}
	}
	return true
}

// oneOf reports whether a member is one of the texts.
func (s *shape) oneOf(name string, texts ...string) bool {
	return slices.Contains(texts, text(s.members[name]))
}

// within reports whether the first element of a list that is a member has a member.
func (s *shape) within(list string, names ...string) bool {
	first, known := s.first[list]
	if !known {
		if first = firstOf(s.members[list]); s.first == nil {
			s.first = map[string][]*shape{}
		}
		s.first[list] = first
	}
	return slices.ContainsFunc(first, func(e *shape) bool { return e.has(names...) })
}

// firstOf are the objects among the first three elements of a list.
func firstOf(list jsontext.Value) (first []*shape) {
	if list.Kind() != '[' {
		return nil
	}
	d := jsontext.NewDecoder(bytes.NewReader(list), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if _, err := d.ReadToken(); err != nil {
		return nil
	}
	for range 3 {
		if d.PeekKind() == ']' {
			break
		}
		e, err := d.ReadValue()
		if err != nil {
			break
		}
		if e.Kind() == '{' {
			first = append(first, shapeOf(e.Clone()))
		}
	}
	return first
}

func (s *shape) holds(texts ...string) bool { return mentions(s.doc, texts...) }

// mentions reports whether a document holds one of the texts anywhere.
func mentions(doc []byte, texts ...string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return bytes.Contains(doc, []byte(text)) })
}

func isCodex(s *shape) bool {
	return s.has("type", "payload") &&
		s.oneOf("type", "session_meta", "response_item", "event_msg", "turn_context", "compacted")
}

func isInspect(s *shape) bool {
	return s.has("eval", "plan") || s.has("eval", "samples") || s.within("samples", "epoch") ||
		s.has("epoch") && (s.has("events") || s.has("messages"))
}

func isSWEAgent(s *shape) bool {
	return s.within("trajectory", "action", "observation") || s.within("history", "role") && (s.within("history", "agent") || s.within("history", "message_type"))
}

func isOpenHands(s *shape) bool {
	event := func(s *shape) bool {
		return s.has("source") && (s.has("action") || s.has("observation") || s.has("kind") && s.has("timestamp"))
	}
	if event(s) {
		return true
	}
	for _, list := range []string{"history", "events", "trajectory"} {
		if s.within(list, "source", "action") || s.within(list, "source", "observation") || s.within(list, "source", "kind") {
			return true
		}
		if all := arrayOf(s.members[list]); len(all) > 0 {
			if pair := arrayOf(all[0]); len(pair) > 0 && event(shapeOf(pair[0])) {
				return true
			}
		}
	}
	return false
}

func isMini(s *shape) bool {
	if strings.HasPrefix(text(s.members["trajectory_format"]), "mini-swe-agent") {
		return true
	}
	return (s.has("role", "content") || s.has("messages")) && s.holds("mswea_bash_command", `"content":"<returncode>`, `"content": "<returncode>`)
}

func isClaude(s *shape) bool {
	if s.has("loglines") {
		return true
	}
	return s.has("type") && !s.has("payload") &&
		(s.has("sessionId", "message") || s.has("leafUuid") || s.has("uuid", "message") || s.has("sessionId") && s.oneOf("type", "system", "attachment", "queue-operation", "progress"))
}

func isGemini(s *shape) bool {
	return s.has("sessionId") && (s.has("projectHash") || s.has("startTime")) || s.has("toolCalls") && s.oneOf("type", "gemini")
}

func isLangfuse(s *shape) bool {
	kinds := []string{"TOOL", "SPAN", "GENERATION", "EVENT", "AGENT", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL"}
	return s.has("traceId") && s.oneOf("type", kinds...) || s.within("observations", "type", "startTime") || s.within("data", "traceId", "type")
}

func isResponses(s *shape) bool {
	if s.oneOf("type", "function_call", "function_call_output", "custom_tool_call", "local_shell_call", "mcp_call") {
		return true
	}
	return (s.within("input", "type") || s.within("output", "type") || s.oneOf("object", "response")) &&
		s.holds(`"function_call`, `"mcp_call"`, `"custom_tool_call`) && !s.has("messages")
}

func isAnthropic(s *shape) bool {
	return (s.has("messages") || s.has("role", "content")) && s.holds(`"tool_use"`, `"tool_result"`)
}

func isChat(s *shape) bool {
	return s.within("messages", "role") || s.has("role") && (s.has("content") || s.has("tool_calls")) || s.within("choices", "message") ||
		(s.has("request") || s.has("body") || s.has("response")) && s.holds(`"role"`)
}

// each makes a reader of documents by themselves.
func each(take func(f *file, d object, doc []byte)) func(f *file) func(doc []byte) error {
	return func(f *file) func(doc []byte) error {
		return func(doc []byte) error {
			d, err := parse(doc)
			if err == nil {
				take(f, d, doc)
			}
			return err
		}
	}
}

// readResponsesOrChat reads documents that are items, and those that hold them.
func readResponsesOrChat(f *file) func(doc []byte) error {
	item, whole := readResponses(f), readChat(f)
	return func(doc []byte) error {
		if shapeOf(doc).has("type") && !bytes.Contains(doc, []byte(`"input":`)) {
			return item(doc)
		}
		return whole(doc)
	}
}

// readCalls reads recordings of this program.
func readCalls(f *file) func(doc []byte) error {
	return func(doc []byte) error {
		l, err := memoryd.ParseCall(doc)
		if err != nil {
			return err
		}
		m := l.Call()
		c, told := FromRecord(&m)
		if !told {
			m.Metadata, _ = json.Marshal(notes{Sources: []string{f.format}, CallID: memoryd.ToolCallID(m.Metadata), Session: m.Run()}) // texts: it cannot fail
			c, _ = FromRecord(&m)
		}
		if c.Ref() == "" {
			c.ID = digest(doc)
		}
		f.add(c)
		return nil
	}
}

// digest names what has no id by what it holds.
func digest(doc []byte) string {
	sum := sha256.Sum256(doc)
	return hex.EncodeToString(sum[:8])
}
