package compact

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"memoryd"
	"memoryd/compact/chat"
	"memoryd/compact/tokens"
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

// earlierSummary is a summary that stood in a message of somebody else.
type earlierSummary struct {
	text   string
	rec    *record
	tokens int
}

// conversation is a request's messages with everything that a profile and the
// summary need to know of them.
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
	media   int
	safe    sanitizer
	unread  bool // the store of originals failed: nobody knows which are earlier summaries
}

// read gives the conversation of a request, classified: what was said and called,
// what it costs, which of it are earlier summaries, and what may go.
func (co *Compactor) read(ctx context.Context, r Request, untouched map[string]bool) (*conversation, error) {
	ms, err := chat.ParseAll(r.Messages)
	if err != nil {
		return nil, memoryd.Wrap(memoryd.Invalid, err, "messages: "+err.Error())
	}
	for _, i := range r.Pins {
		if i < 0 || i >= len(ms) {
			return nil, memoryd.Errorf(memoryd.NotFound, "pins: there is no message %d", i)
		}
		ms[i].Pinned = true
	}
	c := &conversation{
		messages: ms, units: chat.Units(ms), unitOf: make([]int, len(ms)), cost: make([]int, len(ms)),
		known: map[int]*record{}, sent: map[int]jsontext.Value{}, older: map[int]earlierSummary{},
		counter: co.counterFor(r.Model), media: co.cfg.MediaTokens, request: -1,
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
	c.safe = sanitizer{co.mask}
	c.safe.messages(ms)
	if err := c.recognise(ctx, co.store, r.Workspace); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		c.unread = true
	}
	c.classify(untouched)
	return c, nil
}

// classify fills in status; names are those of excluded tools.
func (c *conversation) classify(names map[string]bool) {
	c.request = -1
	for i := len(c.messages) - 1; i >= 0 && c.request < 0; i-- {
		if c.messages[i].FromUser() && c.known[i] == nil {
			c.request = i
		}
	}
	for u := range c.units {
		c.status[u] = c.statusOf(u, names)
	}
}

func (c *conversation) statusOf(u int, names map[string]bool) status {
	unit := &c.units[u]
	st := free
	for _, i := range unit.Index {
		m := &c.messages[i]
		switch {
		case m.Fixed():
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
	return free
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
	by := map[string]int{}
	for u := range c.units {
		for _, t := range c.units[u].Tools {
			if c.status[u] == excluded {
				by[t]++
			}
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

// nextKept is the first message after i that stays, or the length.
func (c *conversation) nextKept(gone []bool, i int) int {
	for i++; i < len(gone) && gone[i]; i++ {
	}
	return i
}

// perMessage and perCall are the tokens that the framing of a message and of a
// tool call costs, as OpenAI's cookbook counts them, rounded up.
const (
	perMessage = 4
	perCall    = 8
)

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

// fixed is what stays in any case: the whole, and its parts as a sentence says
// them; largest is the reason that the largest part gives.
func (c *conversation) fixed() (sum int, parts string, largest Reason) {
	by := c.tokensBy()
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

// report is that of a conversation to which nothing was done yet.
func (c *conversation) report(profile string) Report {
	return Report{
		Profile: profile, TokensBefore: c.total, TokensAfter: c.total, MessagesBefore: len(c.messages), MessagesAfter: len(c.messages),
		Before: c.breakdown(), ExcludedTools: c.excludedTools(), OldestCallAge: c.oldestCall(),
	}
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
		case c.messages[i].Fixed():
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

// tokensBy is the cost of the units of each status.
func (c *conversation) tokensBy() (by [broken + 1]int) {
	for u := range c.units {
		by[c.status[u]] += c.unitTokens(u)
	}
	return by
}

// recognise finds the summaries of earlier compactions. A message counts only
// when the record that it names is stored in this workspace and holds the hash of
// its very text: whoever imitates the frame is a user who wrote a text.
func (c *conversation) recognise(ctx context.Context, store Originals, workspace string) error {
	for i := range c.messages {
		m := &c.messages[i]
		if m.Kind == chat.Assistant && m.Text() == bridgeText && len(m.Calls) == 0 {
			c.known[i] = &record{}
			continue
		}
		for _, text := range m.Texts {
			id := idIn(text)
			if id == "" || m.Kind == chat.System {
				continue
			}
			summary := summaryIn(text)
			rec, err := loadRecord(ctx, store, workspace, id)
			switch {
			case memoryd.IsKind(err, memoryd.NotFound):
				continue
			case err != nil:
				return err
			case rec.Summary != shortHash([]byte(summary)):
				continue
			}
			if rest, ok := m.Without(summary); ok {
				c.sent[i], c.older[i] = m.Raw, earlierSummary{summary, rec, c.cost[i] - c.messageTokens(&rest)}
				c.messages[i], c.cost[i] = rest, c.messageTokens(&rest)
			} else {
				c.known[i] = rec
			}
			break
		}
	}
	return nil
}

// recordAt is the record of the summary in message i, nil for none.
func (c *conversation) recordAt(i int) *record {
	if e, ok := c.older[i]; ok {
		return e.rec
	}
	if rec := c.known[i]; rec != nil && rec.Version > 0 {
		return rec
	}
	return nil
}

// inputIDs are the ids of the messages as they were sent.
func (c *conversation) inputIDs() []string {
	ids := make([]string, len(c.messages))
	for i := range ids {
		ids[i] = originalID(c.sentRaw(i))
	}
	return ids
}

// since tells how many messages of the conversation are the output of rec, from
// the start: all of them or none.
func (c *conversation) since(rec *record) (n int, ok bool) {
	if len(rec.Output) == 0 || len(rec.Output) > len(c.messages) {
		return 0, false
	}
	for i, h := range rec.Output {
		if canonicalHash(c.sentRaw(i)) != h {
			return 0, false
		}
	}
	return len(rec.Output), true
}

// sentRaw is message i as it was sent.
func (c *conversation) sentRaw(i int) jsontext.Value {
	if raw, ok := c.sent[i]; ok {
		return raw
	}
	return c.messages[i].Raw
}

// resultOf finds the result of a call in message i, and the message that it stands in.
func (c *conversation) resultOf(i int, call chat.Call) (r chat.Output, at int, ok bool) {
	for _, j := range c.units[c.unitOf[i]].Index {
		if j <= i {
			continue
		}
		for _, r := range c.messages[j].Results {
			if call.Answered(r) {
				return r, j, true
			}
		}
	}
	return chat.Output{}, 0, false
}
