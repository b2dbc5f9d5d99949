package ingest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// trajectoryDoc is a run of SWE-agent.
type trajectoryDoc struct {
	Trajectory listOf[struct {
		Action      str            `json:"action"`
		Observation jsontext.Value `json:"observation"`
		Took        jsontext.Value `json:"execution_time"`
	}] `json:"trajectory"`
	History listOf[struct {
		message
		Action str `json:"action"`
	}] `json:"history"`
	Environment str `json:"environment"`
}

// trajectory reads trajectories of SWE-agent. A step is a command line, or calls
// of functions that the history shows.
func (f *file) trajectory(d *trajectoryDoc, doc []byte) {
	c := f.chat(f.base + "-" + digest(doc))
	f.sayDoc(c.base.Conversation, doc)
	if len(d.Trajectory) == 0 { // a demonstration: the conversation alone
		c.unwrap = func(s string) result { return result{output: sweagentEnd.ReplaceAllString(s, "")} }
		for i := range d.History {
			c.message(&d.History[i].message)
		}
		return
	}
	asked := 0
	for n, step := range d.Trajectory {
		action := strings.TrimSpace(string(step.Action))
		if action == "" || strings.HasPrefix(action, "exit_") { // nothing was done
			continue
		}
		part := c.base
		part.ID = fmt.Sprintf("step-%d", n+1)
		part.Tool, part.Input = command(action)
		for i := asked; i < len(d.History); i++ {
			h := &d.History[i]
			if h.Role != "assistant" || h.IsDemo || strings.TrimSpace(string(h.Action)) != action {
				continue
			}
			asked = i + 1
			if len(h.ToolCalls) != 1 {
				break
			}
			if name, args := h.ToolCalls[0].function(); name != "" {
				part.Tool, part.Input = name, input(args)
				if id := string(h.ToolCalls[0].ID); id != "" && c.seen[id] == 0 {
					part.ID, c.seen[id] = id, 1
				}
			}
			break
		}
		took, _ := number(step.Took)
		part.end(result{output: contentText(step.Observation), took: seconds(took)})
		f.add(part)
	}
}

// ownCommands are the commands of SWE-agent's interface; any other line is the
// shell's.
var ownCommands = []string{
	"append", "connect_exec", "connect_sendline", "connect_start", "connect_stop", "create", "debug_add_breakpoint", "debug_continue", "debug_exec",
	"debug_start", "debug_step", "debug_stop", "decompile", "disassemble", "edit", "find_file", "filemap", "goto", "insert", "open", "scroll_down",
	"scroll_up", "search_dir", "search_file", "set_cursors", "str_replace_editor", "submit", "undo_edit", "view_image",
}

func command(action string) (tool string, in json.RawMessage) {
	tool = "bash"
	if first := strings.FieldsFunc(action, func(r rune) bool { return r == ' ' || r == '\n' || r == '\t' }); len(first) > 0 && slices.Contains(ownCommands, first[0]) {
		tool = first[0]
	}
	return tool, json.RawMessage(objectOf("command", action))
}

// miniExtra is what mini-swe-agent keeps beside a message.
type miniExtra struct {
	Actions listOf[struct {
		Command str `json:"command"`
		ID      str `json:"tool_call_id"`
	}] `json:"actions"`
	ReturnCode jsontext.Value `json:"returncode"`
	Output     jsontext.Value `json:"raw_output"`
	Timestamp  jsontext.Value `json:"timestamp"`
}

// fenced finds the command of a message that has no other account of it.
var fenced = regexp.MustCompile("(?s)```(?:mswea_bash_command|bash|sh)[ \\t]*\\n(.*?)\\n?```")

// readMini reads trajectories of mini-swe-agent: a list of messages, or an object
// that holds one.
func readMini(f *file) func(doc []byte) error {
	var m *miniRun
	return func(doc []byte) error {
		var d struct {
			Messages listOf[message] `json:"messages"`
			message
		}
		if err := decode(doc, &d); err != nil {
			return err
		}
		if m == nil {
			m = &miniRun{c: f.chat(f.base + "-" + digest(doc))}
		}
		if d.Role != "" {
			m.message(&d.message)
		}
		for i := range d.Messages {
			m.message(&d.Messages[i])
		}
		return nil
	}
}

type miniRun struct {
	c    *chat // only the commands of the newest message are open
	made int
}

func (m *miniRun) message(msg *message) {
	at := when(msg.Timestamp)
	extra := msg.Extra.is
	if t := when(extra.Timestamp); !t.IsZero() {
		at = t
	}
	if msg.Role == "assistant" {
		m.c.open = nil
		var commands []string
		for _, a := range extra.Actions {
			commands = append(commands, string(a.Command))
		}
		if len(commands) == 0 && len(msg.ToolCalls) == 0 {
			if found := fenced.FindAllStringSubmatch(contentText(msg.Content), -1); len(found) == 1 { // more are a mistake that is not run
				commands = append(commands, found[0][1])
			}
		}
		for i, command := range commands {
			m.made++
			id := fmt.Sprintf("command-%d", m.made)
			if i < len(msg.ToolCalls) && msg.ToolCalls[i].ID != "" {
				id = string(msg.ToolCalls[i].ID)
			}
			m.c.call(id, "bash", objectOf("command", command), at)
		}
		if len(commands) == 0 {
			m.c.message(msg)
		}
		return
	}
	r, ok := unwrapMini(contentText(msg.Content))
	if n, known := number(extra.ReturnCode); known {
		r.exited(fmt.Sprint(int(n)))
		ok = true
	}
	if ok && len(m.c.open) > 0 {
		m.c.result(string(msg.ToolCallID), "", r, at)
	}
}

// inspectSample is a sample of a log of Inspect AI.
type inspectSample struct {
	ID          jsontext.Value                `json:"id"`
	Epoch       jsontext.Value                `json:"epoch"`
	UUID        str                           `json:"uuid"`
	Events      listOf[inspectEvent]          `json:"events"`
	Messages    listOf[message]               `json:"messages"`
	Attachments map[string]jsontext.Value     `json:"attachments"`
	Samples     listOf[object[inspectSample]] `json:"samples"`
}

type inspectEvent struct {
	Event     str            `json:"event"`
	ID        str            `json:"id"`
	Function  str            `json:"function"`
	Arguments jsontext.Value `json:"arguments"`
	Result    jsontext.Value `json:"result"`
	Error     object[struct {
		Type    str `json:"type"`
		Message str `json:"message"`
	}] `json:"error"`
	Failed    bool           `json:"failed"`
	Pending   bool           `json:"pending"`
	Timestamp jsontext.Value `json:"timestamp"`
	Completed jsontext.Value `json:"completed"`
	Working   jsontext.Value `json:"working_time"`
	Agent     str            `json:"agent"`
}

// readInspect reads logs of Inspect AI.
func readInspect(f *file) func(doc []byte) error {
	read := each(func(f *file, d *inspectSample, doc []byte) {
		f.inspect(d, doc)
		for i := range d.Samples {
			f.inspect(&d.Samples[i].is, doc)
		}
	})(f)
	return func(doc []byte) error {
		if !bytes.Contains(doc, []byte(`"tool`)) { // the head of a log
			return nil
		}
		return read(doc)
	}
}

func (f *file) inspect(s *inspectSample, doc []byte) {
	conversation := cmp.Or(string(s.UUID), strings.Trim(string(s.ID), `"`)+"-"+string(s.Epoch)+"-"+digest(doc))
	found := false
	for i := range s.Events {
		e := &s.Events[i]
		if e.Event != "tool" || e.Pending {
			continue
		}
		found = true
		c := Call{
			Source: f.format, Conversation: conversation, Local: true, Agent: string(e.Agent), ID: string(e.ID), Tool: string(e.Function),
			Input: input(s.attached(e.Arguments)), Begun: when(e.Timestamp), Done: when(e.Completed),
		}
		took, _ := number(e.Working)
		r := result{output: contentText(s.attached(e.Result)), outcome: Succeeded, took: seconds(took)}
		if why := e.Error.is; e.Failed || e.Error.given {
			r.outcome, r.errorType, r.output = Failed, string(why.Type), cmp.Or(string(why.Message), r.output)
			if why.Type == "approval" || why.Type == "cancelled" {
				r.outcome = Cancelled
			}
		}
		c.end(r)
		f.add(c)
	}
	if found {
		return
	}
	c := f.chat(conversation)
	for i := range s.Messages {
		c.message(&s.Messages[i])
	}
}

// attached resolves a text that stands elsewhere in the sample.
func (s *inspectSample) attached(v jsontext.Value) jsontext.Value {
	if hash, ok := strings.CutPrefix(text(v), "attachment://"); ok && there(s.Attachments[hash]) {
		return s.Attachments[hash]
	}
	if v.Kind() == '{' && bytes.Contains(v, []byte("attachment://")) {
		members := map[string]jsontext.Value{}
		if decode(v, &members) == nil {
			var all []any
			for _, name := range slices.Sorted(maps.Keys(members)) {
				m := members[name]
				if m.Kind() == '"' {
					m = s.attached(m)
				}
				all = append(all, name, m)
			}
			return objectOf(all...)
		}
	}
	return v
}
