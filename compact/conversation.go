package compact

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"memoryd"
	"memoryd/compact/chat"
	"memoryd/compact/records"
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

// earlierSummary is a summary that stood in a message of somebody else.
type earlierSummary struct {
	text   string
	rec    *record
	tokens int
}

// conversation is a request's messages with everything that a profile and the
// summary need to know of them. Its methods stand in
// this file, those about earlier compactions in record.go.
type conversation struct {
	messages []chat.Message
	units    []chat.Unit
	unitOf   []int    // message to unit
	status   []status // by unit
	cost     []int    // tokens by message
	tools    int      // tokens of the tool schemas
	total    int      // tokens of all
	request  int      // message that holds the current request, or -1
	blocks   bool     // Anthropic-style
	// known holds the records of verified earlier summaries by message; sent the
	// bytes of messages that a summary stood in beside their own text, older those
	// summaries: here the message is without it.
	known   map[int]*record
	sent    map[int]jsontext.Value
	older   map[int]earlierSummary
	counter tokens.Counter
	vouched *consents
	media   int
	safe    sanitizer
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
		known: map[int]*record{}, sent: map[int]jsontext.Value{}, older: map[int]earlierSummary{}, counter: counter, media: media, request: -1,
	}
	c.status = make([]status, len(c.units))
	for u := range c.units {
		for _, i := range c.units[u].Index {
			c.unitOf[i] = u
		}
	}
	if len(r.Tools) > 0 {
		c.tools = c.count(string(r.Tools))
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

// unitTokens is the cost of a unit, tokensOf that of several.
func (c *conversation) unitTokens(u int) int {
	n := 0
	for _, i := range c.units[u].Index {
		n += c.cost[i]
	}
	return n
}

func (c *conversation) tokensOf(units []int) int {
	n := 0
	for _, u := range units {
		n += c.unitTokens(u)
	}
	return n
}

// classify fills in status. Excluded tools are those of e; small groups count as
// excluded too.
func (c *conversation) classify(e Exclusions) {
	names := e.names()
	c.request = -1
	for i := len(c.messages) - 1; i >= 0 && c.request < 0; i-- {
		if c.messages[i].FromUser() && c.known[i] == nil {
			c.request = i
		}
	}
	for u := range c.units {
		c.status[u] = c.statusOf(u, names, e.KeepBelowTokens)
	}
}

func (c *conversation) statusOf(u int, names map[string]bool, below int) status {
	unit := &c.units[u]
	st := free
	for _, i := range unit.Index {
		m := &c.messages[i]
		switch {
		case m.Kind == chat.System || m.Kind == chat.Opaque:
			st = max(st, system)
		case m.Pinned:
			return pinned
		case c.known[i] != nil:
			st = earlier
		case i == c.request:
			st = request
		}
	}
	switch {
	case unit.Orphan:
		return broken
	case st != free:
		return st
	case unit.Pending:
		return pending
	}
	for _, t := range unit.Tools {
		if names[t] {
			return excluded
		}
	}
	if unit.Calls && below > 0 && c.unitTokens(u) < below {
		return excluded
	}
	return free
}

// removable lists the units before message cut that may go: those without a
// protected status and with all of their messages before it. Broken units go
// wherever they stand, and earlier summaries go along when anything does.
func (c *conversation) removable(cut int) []int {
	var us []int
	any := false
	for u := range c.units {
		switch c.status[u] {
		case broken:
			us, any = append(us, u), true
		case free:
			if c.units[u].Last() < cut {
				us, any = append(us, u), true
			}
		case earlier:
			us = append(us, u)
		}
	}
	if !any {
		return nil
	}
	return us
}

// frees reports whether anything but earlier summaries would go.
func (c *conversation) frees(units []int) bool {
	for _, u := range units {
		if c.status[u] != earlier {
			return true
		}
	}
	return false
}

// task is the unit of the first message of a person, when it may be removed.
func (c *conversation) task() int {
	for u := range c.units {
		if c.messages[c.units[u].First()].FromUser() && c.known[c.units[u].First()] == nil {
			if c.status[u] == free {
				return u
			}
			return -1
		}
	}
	return -1
}

// fixed is what stays in any case: the whole, and its parts as a sentence says
// them; largest is the reason that the largest part gives.
func (c *conversation) fixed() (sum int, parts string, largest Reason) {
	var by [broken + 1]int
	for u := range c.units {
		by[c.status[u]] += c.unitTokens(u)
	}
	sys, pins, tail := by[system]+c.tools, by[pinned]+by[excluded], by[request]+by[pending]
	largest = TailTooLarge
	switch {
	case sys >= pins && sys >= tail:
		largest = SystemTooLarge
	case pins >= tail:
		largest = PinsTooLarge
	}
	return sys + pins + tail, partsOf(sys, pins, tail), largest
}

// breakdown says where the tokens are.
func (c *conversation) breakdown() Breakdown {
	b := Breakdown{Tools: c.tools}
	for _, e := range c.older {
		b.Summary += e.tokens
	}
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
		out[i] = sized{c.sentRaw(i), c.cost[i]}
	}
	return out
}

// age is the number of newer messages.
func (c *conversation) age(i int) int { return len(c.messages) - 1 - i }

// oldestCall is the age of the oldest call that may be removed.
func (c *conversation) oldestCall() int {
	for u := range c.units {
		if c.units[u].Calls && c.status[u] == free {
			return c.age(c.units[u].First())
		}
	}
	return 0
}

// excludedTools counts the calls of excluded units by tool.
func (c *conversation) excludedTools() map[string]int {
	var by map[string]int
	for u := range c.units {
		if c.status[u] != excluded {
			continue
		}
		for _, t := range c.units[u].Tools {
			if by == nil {
				by = map[string]int{}
			}
			by[t]++
		}
	}
	return by
}

// keptWhy is the disposition of a message that stays.
func (c *conversation) keptWhy(i int) (Disposition, string) {
	switch c.status[c.unitOf[i]] {
	case system:
		if c.messages[i].Kind == chat.Opaque {
			return Kept, "unknown role"
		}
		return Kept, "system"
	case pinned:
		return Pinned, "pinned"
	case pending:
		return Kept, "waits for its result"
	case excluded:
		return Excluded, "excluded tool"
	case request:
		return Kept, "current request"
	case earlier:
		return Kept, "earlier summary"
	}
	return Kept, "recent"
}

// tail lists the units that an agent needs to go on, before any record is kept:
// the last text of the assistant, what it said right before the current request,
// and the last complete exchange with a tool.
func (c *conversation) tail() (said, asked, exchange int) {
	said, asked, exchange = -1, -1, -1
	for u := len(c.units) - 1; u >= 0; u-- {
		unit := &c.units[u]
		if c.status[u] != free {
			continue
		}
		switch m := &c.messages[unit.First()]; {
		case unit.Calls:
			if exchange < 0 && !unit.Pending {
				exchange = u
			}
			if strings.TrimSpace(m.Text()) != "" && said < 0 {
				said = u
			}
		case m.Kind == chat.Assistant && strings.TrimSpace(m.Text()) != "":
			if said < 0 {
				said = u
			}
			if asked < 0 && unit.Last() < c.request {
				asked = u
			}
		}
	}
	if asked >= 0 && c.units[asked].Last() != c.request-1 {
		asked = -1 // the request answers something else
	}
	return said, asked, exchange
}

// unanswered is the unit of the newest exchange with a tool when the conversation
// ends with its results, else -1.
func (c *conversation) unanswered() int {
	n := len(c.messages) - 1
	if n < 0 || c.messages[n].Kind != chat.Result || c.messages[n].FromUser() {
		return -1
	}
	return c.unitOf[n]
}

// nextKept is the first message after i that stays, or the length.
func (c *conversation) nextKept(gone []bool, i int) int {
	for i++; i < len(gone) && gone[i]; i++ {
	}
	return i
}

// callOf finds the call that a result in message i answers.
func (c *conversation) callOf(i int, r chat.Output) chat.Call {
	for _, j := range c.units[c.unitOf[i]].Index {
		if j >= i {
			break
		}
		for _, call := range c.messages[j].Calls {
			if r.Legacy == call.Legacy && (r.Legacy && call.Name == r.Name || !r.Legacy && call.ID == r.ID) {
				return call
			}
		}
	}
	return chat.Call{}
}

// resultOf finds the result of a call in message i.
func (c *conversation) resultOf(i int, call chat.Call) (chat.Output, bool) {
	for _, j := range c.units[c.unitOf[i]].Index {
		if j <= i {
			continue
		}
		for _, r := range c.messages[j].Results {
			if r.Legacy == call.Legacy && (r.Legacy && call.Name == r.Name || !r.Legacy && call.ID == r.ID) {
				return r, true
			}
		}
	}
	return chat.Output{}, false
}

// outcome is what became of a call in message i, in a few words: a failure, or a
// short answer that is no record.
func (c *conversation) outcome(i int, call chat.Call) string {
	r, ok := c.resultOf(i, call)
	if !ok {
		return ""
	}
	if failure := failureIn(r.Text); failure != "" {
		return records.Shorten(failure, 140)
	}
	if len(r.Text) <= 80 && !records.Structured(r.Text) {
		return records.OneLine(r.Text)
	}
	return ""
}

// gaveRecords reports whether the output of a call in message i has lines of its
// own, whose head says what was asked.
func (c *conversation) gaveRecords(i int, call chat.Call) bool {
	r, ok := c.resultOf(i, call)
	return ok && strings.TrimSpace(r.Text) != "" && c.outcome(i, call) == ""
}

// systemTokens is what system messages and tools take.
func (c *conversation) systemTokens() int {
	n := c.tools
	for u := range c.units {
		if c.status[u] == system {
			n += c.unitTokens(u)
		}
	}
	return n
}
