package compact

import (
	"github.com/go-json-experiment/json/jsontext"

	"memoryd/compact/chat"
)

// outcome of assembling: the new list, and where each old message went.
type assembled struct {
	messages []jsontext.Value
	parsed   []chat.Message // the same, read
	cost     []int          // their tokens
	output   []int          // place of message i in messages, -1 when it is gone
	at       int            // place of the summary, -1 when there is none
	text     string
	tokens   int
	broken   bool // the summary's message is no JSON
}

// assemble puts the kept and edited messages and the summary together. The
// summary stands where the first removed message stood, but never inside a kept
// group and never right behind a call that waits for its result.
func (t *tiers) assemble(p *plan, summaryText string, msg jsontext.Value) assembled {
	c := t.c
	gone := make([]bool, len(c.messages))
	for _, u := range p.remove {
		for _, i := range c.units[u].Index {
			gone[i] = true
		}
	}
	a := assembled{output: make([]int, len(c.messages)), at: -1, text: summaryText, tokens: c.tools}
	place := -1
	if len(msg) > 0 {
		place = c.placeFor(gone, p.edits)
	}
	for i := range c.messages {
		if i == place {
			a.at = len(a.messages)
			m, err := chat.Parse(msg)
			a.broken = err != nil
			a.add(m, c.messageTokens(&m))
			a.tokens += perMessage + c.count(summaryText) - a.cost[a.at]
		}
		a.output[i] = -1
		if gone[i] {
			continue
		}
		m, cost := c.messages[i], c.cost[i]
		if e, ok := p.edits[i]; ok {
			m, cost = e, c.messageTokens(&e)
		}
		a.output[i] = len(a.messages)
		a.add(m, cost)
	}
	return a
}

func (a *assembled) add(m chat.Message, cost int) {
	a.messages, a.parsed, a.cost = append(a.messages, m.Raw), append(a.parsed, m), append(a.cost, cost)
	a.tokens += cost
}

// placeFor is the message before which the summary goes: the first that changes.
func (c *conversation) placeFor(gone []bool, edits map[int]chat.Message) int {
	place := 0
	for place < len(gone) && !gone[place] {
		if _, ok := edits[place]; ok {
			break
		}
		place++
	}
	for moved := true; moved; {
		moved = false
		for u := range c.units {
			unit := &c.units[u]
			if gone[unit.First()] || unit.First() >= place {
				continue
			}
			inside := unit.Last() >= place
			behind := unit.Pending && c.nextKept(gone, unit.Last()) >= place
			if inside || behind {
				place, moved = unit.First(), true
			}
		}
	}
	return place
}

// nextKept is the first message after i that stays, or the length.
func (c *conversation) nextKept(gone []bool, i int) int {
	for i++; i < len(gone) && gone[i]; i++ {
	}
	return i
}

// fates says what became of each message.
func (t *tiers) fates(p *plan, a *assembled) []Fate {
	c := t.c
	fs := make([]Fate, len(c.messages))
	for i := range c.messages {
		m := &c.messages[i]
		f := Fate{Index: i, Role: m.Role, Tokens: c.cost[i], Output: a.output[i]}
		f.Disposition, f.Why = c.keptWhy(i)
		_, edited := p.edits[i]
		switch {
		case a.output[i] < 0:
			f.Disposition, f.Why = Summarised, "old"
			switch c.status[c.unitOf[i]] {
			case broken:
				f.Why = "result without its call"
			case earlier:
				f.Why = "earlier summary, carried on"
			}
			f.Original = originalID(m.Raw)
		case edited:
			f.Disposition, f.Why, f.Original = Offloaded, "large and old", originalID(m.Raw)
			if i == c.request {
				f.Why = "current request, larger than the room"
			}
		}
		fs[i] = f
	}
	return fs
}

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
