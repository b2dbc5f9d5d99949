package compact

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"memoryd/compact/chat"
)

// assembled is a new list of messages, and where each old message went.
type assembled struct {
	messages []jsontext.Value
	parsed   []chat.Message // the same, read
	cost     []int          // their tokens
	output   []int          // place of message i in messages, -1 when it is gone
	changed  map[int]string // old messages whose bytes changed, and why
	at       int            // place of the message that holds the summary, -1 when there is none
	text     string
	tokens   int
}

// assembler puts what stays and the summary together.
type assembler struct {
	c     *conversation
	gone  []bool
	edits map[int]chat.Message
	out   assembled
	last  int // the old message that the newest of out came from, -1 for ours
}

// assemble makes the new list. The summary stands where the first removed message
// stood, but never inside a kept group and never right behind a call that waits
// for its result; nowhere do two messages of one speaker meet that did not meet
// before, if the style of the conversation allows to avoid it.
func assemble(c *conversation, p *plan, text string) assembled {
	a := &assembler{c: c, gone: make([]bool, len(c.messages)), edits: map[int]chat.Message{}, last: -1}
	for _, u := range p.remove {
		for _, i := range c.units[u].Index {
			a.gone[i] = true
		}
	}
	a.out = assembled{output: make([]int, len(c.messages)), changed: map[int]string{}, at: -1, text: text, tokens: c.tools}
	place := a.placeFor()
	if n := c.nextKept(a.gone, place-1); a.answers(place) {
		place = len(c.messages)
	} else if c.request >= 0 && !c.blocks && c.nextKept(a.gone, c.request) == n && a.assistantsTurn(n) {
		place = c.request // between the request and an answer nobody else speaks
	}
	for i := range c.messages {
		if i == place {
			a.summary(i, text)
		}
		a.out.output[i] = -1
		if !a.gone[i] {
			a.keep(i)
		}
	}
	if place == len(c.messages) {
		a.summary(place, text)
	}
	if n, m := len(c.messages)-1, len(a.out.parsed)-1; n >= 0 && m >= 0 && a.gone[n] &&
		c.messages[n].Kind == chat.Assistant && a.out.parsed[m].Role == "user" {
		a.add(a.say("assistant", bridgeText)) // the user speaks next
	}
	return a.out
}

// answers reports whether a summary at place may as well stand behind the current
// request, as the turn of the assistant that went: then nothing has to be said to
// keep the speakers in turn.
func (a *assembler) answers(place int) bool {
	n := len(a.gone) - 1
	return a.c.request >= place && a.c.messages[n].Kind == chat.Assistant && a.gone[n] &&
		a.c.nextKept(a.gone, place-1) == a.c.request && a.c.nextKept(a.gone, a.c.request) > n
}

// assistantsTurn reports whether the assistant speaks in message n, or next behind
// the last.
func (a *assembler) assistantsTurn(n int) bool {
	if n < len(a.c.messages) {
		return side(&a.c.messages[n]) == "assistant"
	}
	return a.c.messages[n-1].Kind != chat.Assistant
}

// message is message i as it will be.
func (a *assembler) message(i int) (m chat.Message, cost int) {
	if e, ok := a.edits[i]; ok {
		return e, a.c.messageTokens(&e)
	}
	return a.c.messages[i], a.c.cost[i]
}

// keep adds message i.
func (a *assembler) keep(i int) {
	m, cost := a.message(i)
	n := len(a.out.parsed) - 1
	if n >= 0 && (a.last < 0 || a.last != i-1) && meets(&a.out.parsed[n], &m) {
		switch {
		case a.c.blocks:
			if joined, ok := a.out.parsed[n].Joined(&m); ok {
				a.replace(n, joined)
				a.out.output[i] = n
				a.out.changed[i] = "joined with the message before it"
				if a.last >= 0 {
					a.out.changed[a.last] = "joined with the message after it"
				}
				a.last = i
				return
			}
		case m.Kind == chat.User:
			a.add(a.say("assistant", bridgeText))
		}
	}
	a.out.output[i] = len(a.out.messages)
	a.add(m, cost)
	a.last = i
}

// meets reports whether two neighbours speak for the same side.
func meets(x, y *chat.Message) bool {
	s := side(x)
	return s != "" && s == side(y)
}

func (a *assembler) add(m chat.Message, cost int) {
	a.out.messages, a.out.parsed, a.out.cost = append(a.out.messages, m.Raw), append(a.out.parsed, m), append(a.out.cost, cost)
	a.out.tokens += cost
}

// replace puts another message in the place of an assembled one.
func (a *assembler) replace(n int, m chat.Message) {
	a.out.tokens -= a.out.cost[n]
	a.out.messages[n], a.out.parsed[n], a.out.cost[n] = m.Raw, m, a.c.messageTokens(&m)
	a.out.tokens += a.out.cost[n]
}

// side is who speaks in a message, "" for tools and what nobody understands.
func side(m *chat.Message) string {
	if m.Fixed() || m.Item || m.Kind == chat.Result && m.Role != "user" {
		return ""
	}
	return m.Role
}

// summary adds the summary before message i: as a message of its own whose role
// keeps the speakers in turn, else as a part of a neighbour's.
func (a *assembler) summary(i int, text string) {
	next := a.c.nextKept(a.gone, i-1)
	before, left := a.before()
	right := ""
	if next < len(a.c.messages) {
		right = side(&a.c.messages[next])
	}
	request := before >= 0 && a.last == a.c.request
	fits := func(role string) bool { return role != left && role != right && (role == "user" || before >= 0) }
	switch {
	case request && next == len(a.c.messages) && a.c.messages[next-1].Kind == chat.Assistant:
		a.mine(a.say("assistant", text))
	case a.c.blocks && left == "user" && a.joins(before, text):
	case a.c.blocks && right == "user" && a.joinsNext(i, next, text):
	case fits("user"):
		a.mine(a.say("user", text))
	case fits("assistant"):
		a.mine(a.say("assistant", text))
	case left == "user" && !request && a.joins(before, text):
	default: // keep lets the assistant speak before the next message of the user
		a.mine(a.say("user", text))
	}
}

// before is the last assembled message that is not fixed, -1 for none, and who speaks in it if
// none stands behind it.
func (a *assembler) before() (n int, speaks string) {
	last := len(a.out.parsed) - 1
	for n = last; n >= 0; n-- {
		if m := &a.out.parsed[n]; !m.Fixed() {
			if n == last {
				speaks = side(m)
			}
			return n, speaks
		}
	}
	return -1, ""
}

// joins makes the summary a part of a message that is assembled already.
func (a *assembler) joins(n int, text string) bool {
	m, ok := a.out.parsed[n].WithPart(text, true, a.c.blocks)
	if !ok {
		return false
	}
	a.replace(n, m)
	for i, at := range a.out.output[:a.last+1] {
		if at == n {
			a.out.changed[i] = "it contains the summary"
		}
	}
	a.out.at = n
	return true
}

// joinsNext makes it a part of the message that follows; of those before it, from
// i on, nothing stays.
func (a *assembler) joinsNext(i, next int, text string) bool {
	m, _ := a.message(next)
	m, ok := m.WithPart(text, false, a.c.blocks)
	if !ok {
		return false
	}
	a.edits[next] = m
	a.out.changed[next] = "it contains the summary"
	a.out.at = len(a.out.messages)
	for j := i; j < next; j++ {
		a.gone[j] = true
	}
	return true
}

// mine adds the message of the summary.
func (a *assembler) mine(m chat.Message, cost int) {
	a.out.at = len(a.out.messages)
	a.add(m, cost)
	a.last = -1
}

// say makes a message of ours in the style of the conversation.
func (a *assembler) say(role, text string) (chat.Message, int) {
	quoted, _ := jsontext.AppendQuote(nil, text) // an error says only that bytes were replaced
	raw := `{"role":"` + role + `","content":` + string(quoted) + `}`
	if a.c.blocks {
		raw = `{"role":"` + role + `","content":[{"type":"text","text":` + string(quoted) + `}]}`
	}
	m, _ := chat.Parse([]byte(raw)) // it was written just now
	return m, perMessage + a.c.count(text)
}

// placeFor is the message before which the summary goes: the first that changes.
func (a *assembler) placeFor() int {
	c, place := a.c, 0
	for place < len(a.gone) && !a.gone[place] {
		place++
	}
	for moved := true; moved; {
		moved = false
		for u := range c.units {
			unit := &c.units[u]
			if a.gone[unit.First()] || unit.First() >= place {
				continue
			}
			inside := unit.Last() >= place
			behind := unit.Pending && c.nextKept(a.gone, unit.Last()) >= place
			if inside || behind {
				place, moved = unit.First(), true
			}
		}
	}
	return place
}

// dispositions says what became of each message.
func (a *assembled) dispositions(c *conversation) []Fate {
	fs := make([]Fate, len(c.messages))
	for i := range c.messages {
		m := &c.messages[i]
		f := Fate{Index: i, Role: m.Role, Tokens: c.cost[i], Output: a.output[i]}
		f.Disposition, f.Why = c.keptWhy(i)
		raw := c.sentRaw(i)
		switch {
		case a.output[i] < 0:
			f.Disposition, f.Why = Summarised, "old"
			switch c.status[c.unitOf[i]] {
			case broken:
				f.Why = "result without its call"
			case earlier:
				f.Why = "earlier summary, carried on"
			}
			f.Original = originalID(raw)
		case !slices.Equal(a.messages[a.output[i]], raw):
			f.Disposition, f.Why, f.Original = Offloaded, a.changed[i], originalID(raw)
		}
		fs[i] = f
	}
	return fs
}
