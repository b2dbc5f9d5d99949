package transcripts

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

	"memoryd/internal/accounts"
	"memoryd/internal/loosejson"

	"github.com/go-json-experiment/json/jsontext"
)

// trajectory reads a run of SWE-agent. A step is a command line, or calls of functions that
// the history shows.
func (f *file) trajectory(d loosejson.Members, doc []byte) {
	c := f.chat(f.base + "-" + accounts.Digest(doc))
	f.sayDoc(c.base.Conversation, d)
	steps, history := loosejson.Objects(d.At("trajectory")), loosejson.Objects(d.At("history"))
	if len(steps) == 0 { // a demonstration: the conversation alone
		c.unwrap = func(s string) result { return result{output: sweagentEnd.ReplaceAllString(s, "")} }
		for _, m := range history {
			c.message(m)
		}
		return
	}
	for n, step := range steps {
		action := strings.TrimSpace(step.Text("action"))
		if action == "" || strings.HasPrefix(action, "exit_") { // nothing was done
			continue
		}
		part := c.base
		part.ID = fmt.Sprintf("step-%d", n+1)
		part.Tool, part.Input = "bash", json.RawMessage(objectOf("command", action))
		if first := strings.Fields(action)[0]; slices.Contains(ownCommands, first) {
			part.Tool = first
		}
		at := slices.IndexFunc(history, func(h loosejson.Members) bool {
			return h.Text("role") == "assistant" && !h.Is("is_demo") && strings.TrimSpace(h.Text("action")) == action
		})
		if at >= 0 {
			c.askedIn(&part, loosejson.Objects(history[at].At("tool_calls")))
			history = history[at+1:]
		}
		end(&part, result{output: contentText(step.At("observation")), took: secondsOf(step, 1, "execution_time")})
		f.add(part)
	}
}

// askedIn takes the tool of a step from its only call of a function.
func (c *chat) askedIn(part *accounts.Call, calls []loosejson.Members) {
	if len(calls) != 1 {
		return
	}
	name, args := asked(calls[0])
	if name == "" {
		return
	}
	part.Tool, part.Input = name, input(args)
	if id := calls[0].Text("id"); id != "" && c.seen[id] == 0 {
		part.ID, c.seen[id] = id, 1
	}
}

// ownCommands are the commands of SWE-agent's interface; any other line is the
// shell's.
var ownCommands = []string{
	"append", "connect_exec", "connect_sendline", "connect_start", "connect_stop", "create", "debug_add_breakpoint",
	"debug_continue", "debug_exec",
	"debug_start", "debug_step", "debug_stop", "decompile", "disassemble", "edit", "find_file", "filemap", "goto", "insert",
	"open", "scroll_down",
	"scroll_up", "search_dir", "search_file", "set_cursors", "str_replace_editor", "submit", "undo_edit", "view_image",
}

// fenced finds the command of a message that has no other account of it.
var fenced = regexp.MustCompile("(?s)```(?:mswea_bash_command|bash|sh)[ \\t]*\\n(.*?)\\n?```")

// readMini reads trajectories of mini-swe-agent: a list of messages, or an object
// that holds one.
func readMini(f *file) reader {
	var m *miniRun
	return func(d loosejson.Members, doc []byte) {
		if m == nil {
			m = &miniRun{c: f.chat(f.base + "-" + accounts.Digest(doc))}
		}
		if d.Text("role") != "" {
			m.message(d)
		}
		for _, one := range loosejson.Objects(d.At("messages")) {
			m.message(one)
		}
	}
}

type miniRun struct {
	c    *chat // only the commands of the newest message are open
	made int
}

// message takes a message; what mini-swe-agent knows of it is in extra.
func (m *miniRun) message(msg loosejson.Members) {
	at := loosejson.Time(msg.At("extra.timestamp|timestamp"))
	if msg.Text("role") == "assistant" {
		m.assistant(msg, at)
		return
	}
	r, ok := unwrapMini(contentText(msg.At("content")))
	if n, known := loosejson.NumberOf(msg.At("extra.returncode")); known {
		r.exited(fmt.Sprint(int(n)))
		ok = true
	}
	if ok && len(m.c.open) > 0 {
		m.c.result(msg.Text("tool_call_id"), "", r, at)
	}
}

func (m *miniRun) assistant(msg loosejson.Members, at time.Time) {
	m.c.open = nil
	var commands []string
	for _, a := range loosejson.Objects(msg.At("extra.actions")) {
		commands = append(commands, a.Text("command"))
	}
	calls := loosejson.Objects(msg.At("tool_calls"))
	if len(commands) == 0 && len(calls) == 0 {
		if found := fenced.FindAllStringSubmatch(contentText(msg.At("content")), -1); len(found) == 1 { // more are a mistake that is not run
			commands = append(commands, found[0][1])
		}
	}
	for i, command := range commands {
		m.made++
		id := fmt.Sprintf("command-%d", m.made)
		if i < len(calls) {
			id = cmp.Or(calls[i].Text("id"), id)
		}
		m.c.call(id, "bash", objectOf("command", command), at)
	}
	if len(commands) == 0 {
		m.c.message(msg)
	}
}

// inspect reads a sample of a log of Inspect AI.
func (f *file) inspect(s loosejson.Members, doc []byte) {
	conversation := cmp.Or(s.Text("uuid"), strings.Trim(string(s["id"]), `"`)+"-"+string(s["epoch"])+"-"+accounts.Digest(doc))
	attachments, found := loosejson.MembersOf(s.At("attachments")), false
	for _, e := range loosejson.Objects(s.At("events")) {
		if e.Text("event") != "tool" || e.Is("pending") {
			continue
		}
		found = true
		c := accounts.Call{
			Source: f.format, Conversation: conversation, Local: true, Agent: e.Text("agent"), ID: e.Text("id"), Tool: e.Text("function"),
			Input: input(attached(attachments, e.At("arguments"))), Begun: loosejson.Time(e.At("timestamp")),
			Done: loosejson.Time(e.At("completed")),
		}
		r := result{
			output: contentText(attached(attachments, e.At("result"))), outcome: accounts.Succeeded, took: secondsOf(e, 1, "working_time"),
		}
		if why := loosejson.MembersOf(e.At("error")); e.Is("failed") || why != nil {
			r.outcome, r.errorType, r.output = accounts.Failed, why.Text("type"), cmp.Or(why.Text("message"), r.output)
			if r.errorType == "approval" || r.errorType == "cancelled" {
				r.outcome = accounts.Cancelled
			}
		}
		end(&c, r)
		f.add(c)
	}
	if found {
		return
	}
	c := f.chat(conversation)
	for _, m := range loosejson.Objects(s.At("messages")) {
		c.message(m)
	}
}

// attached resolves a text that stands among the attachments of its sample.
func attached(o loosejson.Members, v jsontext.Value) jsontext.Value {
	if hash, ok := strings.CutPrefix(loosejson.Text(v), "attachment://"); ok && loosejson.There(o[hash]) {
		return o[hash]
	}
	if v.Kind() != '{' || !bytes.Contains(v, []byte("attachment://")) {
		return v
	}
	var all []any
	members := loosejson.MembersOf(v)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		m := members[name]
		if m.Kind() == '"' {
			m = attached(o, m)
		}
		all = append(all, name, m)
	}
	return objectOf(all...)
}
