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
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// trajectory reads a run of SWE-agent. A step is a command line, or calls of functions that
// the history shows.
func (f *file) trajectory(d object, doc []byte) {
	c := f.chat(f.base + "-" + digest(doc))
	f.sayDoc(c.base.Conversation, d)
	steps, history := objects(d.at("trajectory")), objects(d.at("history"))
	if len(steps) == 0 { // a demonstration: the conversation alone
		c.unwrap = func(s string) result { return result{output: sweagentEnd.ReplaceAllString(s, "")} }
		for _, m := range history {
			c.message(m)
		}
		return
	}
	for n, step := range steps {
		action := strings.TrimSpace(step.text("action"))
		if action == "" || strings.HasPrefix(action, "exit_") { // nothing was done
			continue
		}
		part := c.base
		part.ID = fmt.Sprintf("step-%d", n+1)
		part.Tool, part.Input = command(action)
		at := slices.IndexFunc(history, func(h object) bool {
			return h.text("role") == "assistant" && !h.is("is_demo") && strings.TrimSpace(h.text("action")) == action
		})
		if at >= 0 {
			c.askedIn(&part, objects(history[at].at("tool_calls")))
			history = history[at+1:]
		}
		part.end(result{output: contentText(step.at("observation")), took: step.seconds(1, "execution_time")})
		f.add(part)
	}
}

// askedIn takes the tool of a step from its only call of a function.
func (c *chat) askedIn(part *Call, calls []object) {
	if len(calls) != 1 {
		return
	}
	name, args := asked(calls[0])
	if name == "" {
		return
	}
	part.Tool, part.Input = name, input(args)
	if id := calls[0].text("id"); id != "" && c.seen[id] == 0 {
		part.ID, c.seen[id] = id, 1
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

// fenced finds the command of a message that has no other account of it.
var fenced = regexp.MustCompile("(?s)```(?:mswea_bash_command|bash|sh)[ \\t]*\\n(.*?)\\n?```")

// readMini reads trajectories of mini-swe-agent: a list of messages, or an object
// that holds one.
func readMini(f *file) func(doc []byte) error {
	var m *miniRun
	return func(doc []byte) error {
		d, err := parse(doc)
		if err != nil {
			return err
		}
		if m == nil {
			m = &miniRun{c: f.chat(f.base + "-" + digest(doc))}
		}
		if d.text("role") != "" {
			m.message(d)
		}
		for _, one := range objects(d.at("messages")) {
			m.message(one)
		}
		return nil
	}
}

type miniRun struct {
	c    *chat // only the commands of the newest message are open
	made int
}

// message takes a message; what mini-swe-agent knows of it is in extra.
func (m *miniRun) message(msg object) {
	at := when(msg.at("extra.timestamp"))
	if at.IsZero() {
		at = when(msg.at("timestamp"))
	}
	if msg.text("role") == "assistant" {
		m.assistant(msg, at)
		return
	}
	r, ok := unwrapMini(contentText(msg.at("content")))
	if n, known := number(msg.at("extra.returncode")); known {
		r.exited(fmt.Sprint(int(n)))
		ok = true
	}
	if ok && len(m.c.open) > 0 {
		m.c.result(msg.text("tool_call_id"), "", r, at)
	}
}

func (m *miniRun) assistant(msg object, at time.Time) {
	m.c.open = nil
	var commands []string
	for _, a := range objects(msg.at("extra.actions")) {
		commands = append(commands, a.text("command"))
	}
	calls := objects(msg.at("tool_calls"))
	if len(commands) == 0 && len(calls) == 0 {
		if found := fenced.FindAllStringSubmatch(contentText(msg.at("content")), -1); len(found) == 1 { // more are a mistake that is not run
			commands = append(commands, found[0][1])
		}
	}
	for i, command := range commands {
		m.made++
		id := fmt.Sprintf("command-%d", m.made)
		if i < len(calls) {
			id = cmp.Or(calls[i].text("id"), id)
		}
		m.c.call(id, "bash", objectOf("command", command), at)
	}
	if len(commands) == 0 {
		m.c.message(msg)
	}
}

// readInspect reads logs of Inspect AI.
func readInspect(f *file) func(doc []byte) error {
	return func(doc []byte) error {
		if !bytes.Contains(doc, []byte(`"tool`)) { // the head of a log
			return nil
		}
		d, err := parse(doc)
		for _, sample := range append([]object{d}, objects(d.at("samples"))...) {
			f.inspect(sample, doc)
		}
		return err
	}
}

func (f *file) inspect(s object, doc []byte) {
	conversation := cmp.Or(s.text("uuid"), strings.Trim(string(s["id"]), `"`)+"-"+string(s["epoch"])+"-"+digest(doc))
	attachments, found := objectIn(s.at("attachments")), false
	for _, e := range objects(s.at("events")) {
		if e.text("event") != "tool" || e.is("pending") {
			continue
		}
		found = true
		c := Call{
			Source: f.format, Conversation: conversation, Local: true, Agent: e.text("agent"), ID: e.text("id"), Tool: e.text("function"),
			Input: input(attachments.attached(e.at("arguments"))), Begun: when(e.at("timestamp")), Done: when(e.at("completed")),
		}
		r := result{output: contentText(attachments.attached(e.at("result"))), outcome: Succeeded, took: e.seconds(1, "working_time")}
		if why := objectIn(e.at("error")); e.is("failed") || why != nil {
			r.outcome, r.errorType, r.output = Failed, why.text("type"), cmp.Or(why.text("message"), r.output)
			if r.errorType == "approval" || r.errorType == "cancelled" {
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
	for _, m := range objects(s.at("messages")) {
		c.message(m)
	}
}

// attached resolves a text that stands among the attachments of its sample.
func (o object) attached(v jsontext.Value) jsontext.Value {
	if hash, ok := strings.CutPrefix(text(v), "attachment://"); ok && there(o[hash]) {
		return o[hash]
	}
	if v.Kind() != '{' || !bytes.Contains(v, []byte("attachment://")) {
		return v
	}
	var all []any
	members := objectIn(v)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		m := members[name]
		if m.Kind() == '"' {
			m = o.attached(m)
		}
		all = append(all, name, m)
	}
	return objectOf(all...)
}
