package compact

import (
	"github.com/go-json-experiment/json/jsontext"

	"memoryd/compact/chat"
)

// assembled is a new list of messages, and where each old message went.
type assembled struct {
	messages []jsontext.Value
	parsed   []chat.Message // the same, read
	cost     []int          // their tokens
	output   []int          // place of message i in messages, -1 when it is gone
	at       int            // place of the message that holds the summary, -1 when there is none
	text     string
	tokens   int
}

// assembler puts what stays and the summary together.
type assembler struct {
	c    *conversation
	gone []bool
	out  assembled
	last int // the old message that the newest of out came from, -1 for ours
}

// assemble makes the new list. The summary stands where the first removed message
// stood, but never inside a kept group and never right behind a call that waits
// for its result; nowhere do two messages of one speaker meet that did not meet
// before, if the style of the conversation allows to avoid it.
func assemble(c *conversation, p *plan, text string) assembled {
	a := &assembler{c: c, gone: make([]bool, len(c.messages)), last: -1}
	for _, u := range p.remove {
		for _, i := range c.units[u].Index {
			a.gone[i] = true
		}
	}
	a.out = assembled{output: make([]int, len(c.messages)), at: -1, text: text, tokens: c.tools}
	place := a.placeFor()
	if n := c.nextKept(a.gone, place-1); a.answers(place) {
		place = len(c.messages)
	} else if c.request >= 0 && c.nextKept(a.gone, c.request) == n && a.assistantsTurn(n) {
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

// keep adds message i. Where what stood between two messages of the user is gone, the assistant
// speaks between them.
func (a *assembler) keep(i int) {
	m := a.c.messages[i]
	n := len(a.out.parsed) - 1
	if n >= 0 && (a.last < 0 || a.last != i-1) && m.Kind == chat.User && meets(&a.out.parsed[n], &m) {
		a.add(a.say("assistant", bridgeText))
	}
	a.out.output[i] = len(a.out.messages)
	a.add(m, a.c.cost[i])
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

// side is who speaks in a message, "" for tools and what nobody understands.
func side(m *chat.Message) string {
	if m.Fixed() || m.Item || m.Kind == chat.Result && m.Role != "user" {
		return ""
	}
	return m.Role
}

// summary adds the summary before message i, as a message whose role keeps the speakers in turn,
// if need be behind a word of the assistant; keep sees to the next message of the user.
func (a *assembler) summary(i int, text string) {
	next := a.c.nextKept(a.gone, i-1)
	before, left := a.before()
	right := ""
	if next < len(a.c.messages) {
		right = side(&a.c.messages[next])
	}
	role := "user"
	switch request := before >= 0 && a.last == a.c.request; {
	case request && next == len(a.c.messages) && a.c.messages[next-1].Kind == chat.Assistant,
		before >= 0 && left != "assistant" && right != "assistant" && (left == role || right == role):
		role = "assistant"
	case left == role:
		a.add(a.say("assistant", bridgeText))
	}
	m, cost := a.say(role, text)
	a.out.at = len(a.out.messages)
	a.add(m, cost)
	a.last = -1
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
		if a.output[i] < 0 {
			f.Disposition, f.Why = Summarised, "old"
			switch c.status[c.unitOf[i]] {
			case broken:
				f.Why = "result without its call"
			case earlier:
				f.Why = "earlier summary, carried on"
			}
			f.Original = originalID(m.Raw)
		}
		fs[i] = f
	}
	return fs
}
