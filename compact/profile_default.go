package compact

import (
	"maps"

	"memoryd/compact/chat"
)

func (s DefaultSettings) excluded() Exclusions { return s.Exclusions }

const (
	// leastRoom is the smallest summary worth writing, in tokens.
	leastRoom = 24
	// factsNeed is how much of what is removed its facts take, by experience.
	factsNeed = 0.12
	// offloadFacts is the same for what the first tier cuts out of texts.
	offloadFacts = 0.25
	// newestUnits are never edited by the first tier.
	newestUnits = 2
)

// plan aims at a size: the first tier alone when that is enough, else the oldest
// units go into a summary and the newest stay.
func (s DefaultSettings) plan(t *tiers, r Request) (*plan, *verdict) {
	c := t.c
	p, v := s.aim(c, r)
	if v != nil {
		return nil, v
	}
	fixed, largest := c.fixed()
	if p.limit > 0 && fixed >= p.limit {
		return no(largest, "%d tokens must stay and the limit is %d", fixed, p.limit)
	}
	var units []int // that may go, oldest first
	for u := range c.units {
		if c.status[u] == free {
			units = append(units, u)
		}
	}
	edits, total := s.edit(t, units, p.target)
	broken := len(c.removable(0)) > 0
	if !broken && total+withFacts(c.total-total, p.target) <= p.target && len(edits) > 0 && (r.TargetTokens > 0 || p.limit > 0) {
		p.edits = edits
		p.room = min(p.target-total, withFacts(c.total-total, p.target))
		return p, nil
	}
	saved := s.excerpt(t, p, p.target-fixed)
	s.split(t, p, units, edits, p.target-fixed+saved)
	if len(p.remove) == 0 && len(edits) > 0 && total <= p.target {
		p.edits, p.room = edits, p.target-total
		return p, nil
	}
	if len(p.remove) == 0 || c.onlyEarlier(p.remove) {
		return no(NothingToRemove, "nothing but protected messages and an earlier summary is left")
	}
	return p, nil
}

// aim checks the trigger and sets target and limit. A caller that forces a
// conversation into fewer tokens than it has gets all of them; one that forces a
// conversation that is small already gets it halved.
func (s DefaultSettings) aim(c *conversation, r Request) (*plan, *verdict) {
	p := &plan{target: r.TargetTokens, limit: r.MaxInputTokens, model: true}
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

// edit runs the first tier over the units, oldest first, until the target is
// reached. It gives the edits and the size that they lead to.
func (s DefaultSettings) edit(t *tiers, units []int, target int) (map[int]chat.Message, int) {
	all, total := map[int]chat.Message{}, t.c.total
	later := t.repeats()
	for _, u := range units[:max(0, len(units)-newestUnits)] {
		if total+withFacts(t.c.total-total, target) <= target {
			break
		}
		edits, ok := t.offload(u, s.PreviewTokens, later)
		if !ok {
			continue
		}
		for i, m := range edits {
			all[i] = m
			total -= t.c.cost[i] - t.c.messageTokens(&m)
		}
	}
	return all, total
}

// withFacts is the room that the facts of offloaded texts of the given size may
// take: never more than half of the target.
func withFacts(gone, target int) int { return min(int(offloadFacts*float64(gone)), target/2) }

// repeats maps each long output to the last message that has it.
func (t *tiers) repeats() map[string]int {
	last := map[string]int{}
	for i := range t.c.messages {
		for _, r := range t.c.messages[i].Results {
			if len(r.Text) > 200 {
				last[r.Text] = i
			}
		}
	}
	return last
}

// excerpt cuts the current request when the settings allow it and it takes more
// than it leaves. It gives the tokens that this frees.
func (s DefaultSettings) excerpt(t *tiers, p *plan, left int) int {
	c := t.c
	p.edits = map[int]chat.Message{}
	if !s.ExcerptRequest || c.request < 0 || c.cost[c.request] <= left {
		return 0
	}
	m := &c.messages[c.request]
	text := m.Text()
	budget := max(s.PreviewTokens/2, (left+c.cost[c.request])/3)
	short, ok := m.WithText(t.preview(text, originalID(m.Raw), charsFor(text, c.count(text), budget)))
	if saved := c.cost[c.request] - c.messageTokens(&short); ok && saved > 0 {
		p.edits[c.request] = short
		return saved
	}
	return 0
}

// split decides which units stay verbatim (or with their large outputs offloaded)
// and which go. room is what the fixed messages leave of the target.
func (s DefaultSettings) split(t *tiers, p *plan, units []int, edits map[int]chat.Message, room int) {
	c := t.c
	gone := c.tokensOf(units)
	if room < leastRoom { // the target cannot be reached: little is lost by a little more
		room = leastRoom + gone/50
	}
	summary := min(0.95*float64(room), max(factsNeed*float64(gone), (1-s.TailShare)*float64(room)))
	summary = min(summary, max(4000, 0.2*float64(gone)))
	tail := room - int(summary)
	cut := len(units)
	for cut > 0 {
		cost, use := 0, map[int]chat.Message{}
		for _, i := range c.units[units[cut-1]].Index {
			m, ok := edits[i]
			if !ok {
				cost += c.cost[i]
				continue
			}
			use[i] = m
			cost += c.messageTokens(&m)
		}
		if cost > tail {
			break
		}
		tail -= cost
		maps.Copy(p.edits, use)
		cut--
	}
	stays := map[int]bool{}
	for _, u := range units[cut:] {
		stays[u] = true
	}
	for _, u := range c.removable(len(c.messages)) {
		if !stays[u] {
			p.remove = append(p.remove, u)
		}
	}
	p.room = int(summary) + tail
	if most := int(0.8 * float64(c.tokensOf(p.remove))); p.room > most {
		p.room = most
	}
}
