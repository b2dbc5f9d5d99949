package mcp

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"memoryd/internal/loosejson"

	"github.com/go-json-experiment/json/jsontext"
)

// message is what the wrapper looks at of a JSON-RPC message.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// in are the members of parameters, or of a result.
func in(v json.RawMessage) loosejson.Members { return loosejson.MembersOf(jsontext.Value(v)) }

// meta is a member of _meta that has the protocol's name before it.
func meta(m loosejson.Members, name string) jsontext.Value {
	return loosejson.MembersOf(m.At("_meta"))["io.modelcontextprotocol/"+name]
}

// protocolOf is the revision of the protocol that a request names.
func protocolOf(params json.RawMessage) string {
	return loosejson.Text(meta(in(params), "protocolVersion"))
}

// response tells a response from a request: ids of the two directions collide,
// and a message with a method is never a response.
func (m message) response() bool { return m.Method == "" && len(m.ID) > 0 }

// messages reads a line of the transport: one message, or a batch of them. A
// line that is neither gives none.
func messages(line []byte) []message {
	all := make([]message, 1)
	var into any = &all[0]
	if jsontext.Value(line).Kind() == '[' {
		into = &all
	}
	if json.Unmarshal(line, into) != nil {
		return nil
	}
	return all
}

// callParams are the parameters of tools/call.
type callParams struct {
	Name         string          `json:"name"`
	Arguments    json.RawMessage `json:"arguments"`
	RequestState string          `json:"requestState"`
	Meta         struct {
		Traceparent string `json:"traceparent"`
	} `json:"_meta"`
}

// openCall is a call under way.
type openCall struct {
	name, traceparent string
	arguments         json.RawMessage
	began             time.Time
	rounds            int // how often the server asked for more input
	note              <-chan string
}

// outcome is how a call ended.
type outcome struct {
	text      string
	failed    bool
	cancelled bool
}

// calls follows the calls of one client and server: each is told once, when its
// last result is there, whatever came between.
type calls struct {
	now  func() time.Time
	tell func(openCall, outcome)

	mu     sync.Mutex
	open   map[string]openCall // by the raw text of the request's id: 1 is not "1"
	states map[string]openCall // by requestState: the server wants another round
	tasks  map[string]openCall // by task id: the result comes later
	asks   map[string]ask      // other requests whose answers matter, by id

	client, server string
}

// ask is a request for something else than a call.
type ask struct{ method, task string }

// maxOpen bounds each table: a peer that never answers must not fill memory.
const maxOpen = 10_000

func newCalls(now func() time.Time, tell func(openCall, outcome)) *calls {
	return &calls{
		now: now, tell: tell, open: map[string]openCall{}, states: map[string]openCall{}, tasks: map[string]openCall{},
		asks: map[string]ask{},
	}
}

// sent looks at a message from the client. note, if not nil, gives what is known of the call by
// the time its result comes.
func (c *calls) sent(m message, note func(server string, p callParams) <-chan string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	id := string(m.ID)
	switch m.Method {
	case "tools/call":
		var p callParams
		if json.Unmarshal(m.Params, &p) != nil || len(c.open) >= maxOpen || len(m.ID) == 0 {
			return
		}
		call, again := c.states[p.RequestState]
		if again && p.RequestState != "" {
			delete(c.states, p.RequestState)
			call.rounds++
		} else {
			call = openCall{name: p.Name, arguments: p.Arguments, traceparent: p.Meta.Traceparent, began: c.now()}
			if note != nil {
				call.note = note(c.server, p)
			}
		}
		c.open[id] = call
	case "tasks/get", "tasks/result":
		c.ask(id, ask{m.Method, in(m.Params).Text("taskId")})
	case "tools/list":
		c.ask(id, ask{method: m.Method})
	case "initialize", "server/discover":
		c.ask(id, ask{method: m.Method})
		p := in(m.Params)
		c.client = cmp.Or(p.Text("clientInfo.name"), loosejson.MembersOf(meta(p, "clientInfo")).Text("name"), c.client)
	case "notifications/cancelled":
		of := string(in(m.Params)["requestId"])
		if call, ok := c.open[of]; ok {
			delete(c.open, of)
			c.tell(call, outcome{text: "Cancelled by the client before it ended", cancelled: true})
		}
	}
}

// ask notes a request whose answer matters.
func (c *calls) ask(id string, a ask) {
	if len(c.asks) < maxOpen {
		c.asks[id] = a
	}
}

// reply is what a message from the server answers.
type reply struct {
	list   bool // a list of tools
	server string
	note   <-chan string // of a call whose last result this is
}

// received looks at a message from the server.
func (c *calls) received(m message) reply {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.Method == "notifications/tasks" || m.Method == "notifications/tasks/status" {
		c.taskResult(m.Params, "")
	}
	if !m.response() {
		return reply{}
	}
	id := string(m.ID)
	if call, ok := c.open[id]; ok {
		delete(c.open, id)
		return c.callResult(call, m)
	}
	asked := c.asks[id]
	delete(c.asks, id)
	switch asked.method {
	case "tasks/get", "tasks/result":
		c.taskResult(m.Result, asked.task)
	case "tools/list":
		return reply{list: m.Error == nil, server: c.server}
	case "initialize", "server/discover":
		p := in(m.Result)
		c.server = cmp.Or(p.Text("serverInfo.name"), loosejson.MembersOf(meta(p, "serverInfo")).Text("name"), c.server)
	}
	return reply{}
}

func (c *calls) callResult(call openCall, m message) reply {
	r := in(m.Result)
	content, kind, inTask := r.At("content"), r.Text("resultType"), r.Text("task.taskId")
	task, o := r.Text("taskId")+inTask, outcome{}
	switch {
	case m.Error != nil:
		o = outcome{text: m.Error.Message, failed: true}
	case r == nil || loosejson.There(content) && content.Kind() != '[':
		o.text = string(m.Result)
	case kind == "input_required" && len(c.states) < maxOpen:
		c.states[r.Text("requestState")] = call
		return reply{}
	case task != "" && (kind == "task" || inTask != "") && len(c.tasks) < maxOpen:
		c.tasks[task] = call
		return reply{}
	default:
		o = outcome{text: outputOf(r), failed: r.Is("isError")}
	}
	c.tell(call, o)
	return reply{note: call.note}
}

// ended are the states of a task that has its result; one that names none has it too.
var ended = []string{"", "completed", "failed", "cancelled"}

// taskResult looks at what is told of a task: by the answer to tasks/get or
// tasks/result for the task asked, or by a notification that names it.
func (c *calls) taskResult(body json.RawMessage, asked string) {
	r := in(body)
	task, status := cmp.Or(r.Text("taskId"), asked), r.Text("status")
	call, ok := c.tasks[task]
	if !ok || r == nil || !slices.Contains(ended, status) {
		return
	}
	final := r
	if inner := r.At("result"); loosejson.There(inner) {
		if final = loosejson.MembersOf(inner); final == nil {
			return
		}
	} else if len(loosejson.Elements(r["content"])) == 0 && !loosejson.There(r["structuredContent"]) && status == "completed" {
		return // 2025-11-25: the result itself comes with tasks/result
	}
	delete(c.tasks, task)
	c.tell(call, outcome{text: outputOf(final), failed: final.Is("isError") || status == "failed", cancelled: status == "cancelled"})
}

// abandon tells all calls that are still open as failed.
func (c *calls) abandon(why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, table := range []map[string]openCall{c.open, c.states, c.tasks} {
		for id, call := range table {
			delete(table, id)
			c.tell(call, outcome{text: why, failed: true})
		}
	}
}

// outputOf joins the texts of a result; other parts are named by their type. A
// result without content gives its structured content.
func outputOf(r loosejson.Members) string {
	var parts []string
	for _, part := range loosejson.Objects(r["content"]) {
		kind := part.Text("type")
		if text := part.Text("text|resource.text"); text != "" {
			parts = append(parts, text)
		} else if kind != "" && kind != "text" {
			parts = append(parts, strings.TrimSpace("["+kind+" "+part.Text("mimeType")+part.Text("uri")+part.Text("resource.uri"))+"]")
		}
	}
	if len(parts) == 0 {
		return string(r["structuredContent"])
	}
	return strings.Join(parts, "\n")
}

// fingerprint names a text in few characters.
func fingerprint(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
