package compact

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"memoryd"
	"memoryd/compact/chat"
	"memoryd/compact/tokens"
)

// perMessage and perCall are the tokens that the framing of a message and of a
// tool call costs, as OpenAI's cookbook counts them, rounded up.
const (
	perMessage = 4
	perCall    = 8
)

// status says whether a unit may be removed, and why not.
type status uint8

const (
	free     status = iota
	system          // system messages, and messages nobody understands
	pinned          // marked by the caller
	pending         // a tool call that waits for its result
	excluded        // a tool that is never touched
	request         // the current user request
	earlier         // the summary of an earlier compaction
	broken          // a result without its call: it has to go
)

// sized is a message and its cost.
type sized struct {
	raw    jsontext.Value
	tokens int
}

// conversation is a request's messages with everything the tiers need to know.
type conversation struct {
	messages []chat.Message
	units    []chat.Unit
	unitOf   []int    // message to unit
	status   []status // by unit
	cost     []int    // tokens by message
	tools    int      // tokens of the tool schemas
	total    int      // tokens of all
	request  int      // message that holds the current request, or -1
	argNames []string // parameters of the tool schemas
	blocks   bool     // Anthropic-style
	// known holds the records of verified earlier summaries by message.
	known   map[int]*record
	counter tokens.Counter
	media   int
}

// read parses the request's messages.
func read(r Request, counter tokens.Counter, media int) (*conversation, error) {
	ms, err := chat.ParseAll(r.Messages)
	if err != nil {
		return nil, memoryd.Wrap(memoryd.Invalid, err, "messages: "+err.Error())
	}
	for _, i := range r.Pins {
		if i < 0 || i >= len(ms) {
			return nil, memoryd.Errorf(memoryd.Invalid, "pins: there is no message %d", i)
		}
		ms[i].Pinned = true
	}
	c := &conversation{
		messages: ms, units: chat.Units(ms), unitOf: make([]int, len(ms)), cost: make([]int, len(ms)),
		known: map[int]*record{}, counter: counter, media: media, request: -1,
	}
	c.status = make([]status, len(c.units))
	for u := range c.units {
		for _, i := range c.units[u].Index {
			c.unitOf[i] = u
		}
	}
	if len(r.Tools) > 0 {
		c.tools = c.count(string(r.Tools))
		c.argNames = parameterNames(r.Tools)
	}
	c.total = c.tools
	for i := range ms {
		c.cost[i] = c.messageTokens(&ms[i])
		c.total += c.cost[i]
		c.blocks = c.blocks || ms[i].Blocks
	}
	return c, nil
}

// count asks the counter. A counter that panics or gives a negative number is
// replaced by a bound that never counts too little: one token a byte.
func (c *conversation) count(text string) (n int) {
	defer func() {
		if recover() != nil || n < 0 {
			n = len(text)
		}
	}()
	return c.counter.Count(text)
}

// messageTokens counts all of a message that a model reads.
func (c *conversation) messageTokens(m *chat.Message) int {
	n := perMessage + m.Media*c.media
	for _, list := range [][]string{m.Texts, m.Reasoning, m.Other} {
		for _, s := range list {
			n += c.count(s)
		}
	}
	for _, call := range m.Calls {
		n += perCall + c.count(call.Name) + c.count(call.Args)
	}
	for _, r := range m.Results {
		n += perCall + c.count(r.Text)
	}
	if m.Kind == chat.Opaque {
		n += c.count(string(m.Raw))
	}
	return n
}

func (c *conversation) unitTokens(u int) int {
	n := 0
	for _, i := range c.units[u].Index {
		n += c.cost[i]
	}
	return n
}

// breakdown says where the tokens are; summary is the message that holds our
// summary, or -1.
func (c *conversation) breakdown() Breakdown {
	b := Breakdown{Tools: c.tools}
	for i := range c.messages {
		n := c.cost[i]
		switch {
		case c.known[i] != nil:
			b.Summary += n
		case c.messages[i].Kind == chat.System || c.messages[i].Kind == chat.Opaque:
			b.System += n
		case c.messages[i].Kind == chat.Assistant:
			b.Assistant += n
		case c.messages[i].Kind == chat.Result:
			b.Results += n
		default:
			b.User += n
		}
	}
	return b
}

func (c *conversation) sized() []sized {
	out := make([]sized, len(c.messages))
	for i := range c.messages {
		out[i] = sized{c.messages[i].Raw, c.cost[i]}
	}
	return out
}

// age is the number of newer messages.
func (c *conversation) age(i int) int { return len(c.messages) - 1 - i }

// parameterNames lists the names in the "properties" of tool schemas.
func parameterNames(tools jsontext.Value) []string {
	var names []string
	dec := jsontext.NewDecoder(strings.NewReader(string(tools)), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		tok, err := dec.ReadToken()
		if err != nil {
			return names
		}
		if tok.Kind() != '"' {
			continue
		}
		kind, n := dec.StackIndex(dec.StackDepth())
		if kind != '{' || n%2 == 0 { // a value, not a name
			continue
		}
		if parent := dec.StackPointer(); strings.HasSuffix(string(parent.Parent()), "/properties") {
			names = append(names, parent.LastToken())
		}
	}
}
