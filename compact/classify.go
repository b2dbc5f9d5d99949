package compact

import "memoryd/compact/chat"

// classify fills in status. Excluded tools are those of e; small groups count as
// excluded too.
func (c *conversation) classify(e Exclusions) {
	names := e.names()
	c.request = c.currentRequest()
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

// currentRequest is the last message that a person wrote; earlier summaries are
// not a person's.
func (c *conversation) currentRequest() int {
	for i := len(c.messages) - 1; i >= 0; i-- {
		if c.messages[i].FromUser() && c.known[i] == nil {
			return i
		}
	}
	return -1
}
