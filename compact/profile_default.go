package compact

import (
	"slices"
	"strings"

	"memoryd/compact/chat"
)

const (
	// leastRoom is the smallest summary worth writing, in tokens.
	leastRoom = 24
	// Where the target cannot be reached, or cannot hold what was said and done, a summary may
	// take half of what goes, at most beyondRoom.
	beyondRoom = 600
	// answeredShare of the room is the most that the last text takes where the request
	// answers it, or the next message: without it nobody knows what was agreed to.
	answeredShare = 0.7
	// tailShare of the room is for the newest messages, verbatim.
	tailShare = 0.1
)

// plan aims at a size: what an agent needs to go on stays, and the rest goes into a
// summary.
func (s DefaultSettings) plan(c *conversation, r Request) (*plan, *refusal) {
	p, v := s.aim(c, r)
	if v != nil {
		return nil, v
	}
	fixed, parts, largest := c.fixed()
	s.split(c, p, p.target-fixed)
	if len(p.remove) == 0 || !c.frees(p.remove) {
		if p.limit > 0 && fixed >= p.limit {
			return no(largest, "%d tokens must stay (%s) and the limit is %d", fixed, parts, p.limit)
		}
		return no(NothingToRemove, "only protected messages and an earlier summary are left")
	}
	return p, nil
}

// aim checks the trigger and sets target and limit. A caller that forces a
// conversation into fewer tokens than it has gets all of them; one that forces a
// conversation that is small already gets it halved.
func (s DefaultSettings) aim(c *conversation, r Request) (*plan, *refusal) {
	p := &plan{target: r.TargetTokens, limit: r.MaxInputTokens, model: true, aims: true}
	window := float64(r.MaxInputTokens)
	if p.target == 0 && window > 0 {
		p.target = int(window * s.TargetFraction)
	}
	switch {
	case r.Force:
		p.reason = Forced
	case window > 0:
		if float64(c.total) < window*s.TriggerFraction {
			return no(NotTriggered, "%d tokens are below %.0f", c.total, window*s.TriggerFraction)
		}
		p.reason = ForFraction
	case p.target > 0:
		p.reason = ForTokens
	default:
		return no(NotTriggered, "neither max_input_tokens nor target_tokens is known")
	}
	switch {
	case r.Force && r.TargetTokens == 0 && window > 0 && c.total > r.MaxInputTokens:
		p.target = r.MaxInputTokens // who forces a size gets that size
	case p.target == 0, r.Force && r.TargetTokens == 0 && c.total <= p.target:
		p.target = c.total / 2
	}
	if c.total <= p.target {
		return no(NotTriggered, "%d tokens are within the target of %d", c.total, p.target)
	}
	return p, nil
}

// split decides which units stay verbatim and which go. room is what the fixed
// messages leave of the target. What an agent needs to go on comes first: the last
// text, and an exchange that nobody has answered; then the newest units, to the tail's
// share; the rest of the room is the summary's.
func (s DefaultSettings) split(c *conversation, p *plan, room int) {
	stays := map[int]bool{}
	left := room - leastRoom
	keep := func(u, most int) {
		if u < 0 || stays[u] {
			return
		}
		if n := c.unitTokens(u); n <= min(left, most) {
			stays[u] = true
			left -= n
		}
	}
	keep(c.lastSaid(), int(answeredShare*float64(room)))
	keep(c.unanswered(), room/2)
	newest := int(tailShare*float64(room)) - (room - leastRoom - left)
	for u := len(c.units) - 1; u >= 0 && c.status[u] != broken && c.status[u] != earlier; u-- { // where one goes, speakers might meet
		if c.status[u] != free || stays[u] {
			continue
		}
		n := c.unitTokens(u)
		if n > newest || n > left {
			break
		}
		stays[u] = true
		left, newest = left-n, newest-n
	}
	for _, u := range c.removable(len(c.messages)) {
		if !stays[u] {
			p.remove = append(p.remove, u)
		}
	}
	p.room, p.aims = c.summaryRoom(p, room, left)
}

// summaryRoom is what the summary may take, of room that the fixed messages leave and
// left that nothing else takes. aims is false where the target cannot be reached: then
// little is lost by a little more, and the answer says what it takes.
func (c *conversation) summaryRoom(p *plan, room, left int) (most int, aims bool) {
	gone := c.tokensOf(p.remove)
	p.most = p.target - room + max(gone*p.target/max(1, c.total), min(gone/2, beyondRoom))
	if p.limit > 0 {
		p.most = min(p.most, p.limit)
	}
	if room < leastRoom {
		return leastRoom + min(gone/2, beyondRoom), false
	}
	return max(leastRoom, min(left+leastRoom, gone*4/5)), p.aims
}

// lastSaid is the unit of the last text of the assistant where the request answers it, or the
// next message will; else -1.
func (c *conversation) lastSaid() int {
	for u := range slices.Backward(c.units) {
		if m := &c.messages[c.units[u].First()]; c.status[u] == free && m.Kind == chat.Assistant && strings.TrimSpace(m.Text()) != "" {
			if last, n := c.units[u].Last(), len(c.messages)-1; last == n || last == c.request-1 && c.request == n {
				return u
			}
			break
		}
	}
	return -1
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
