package compact

// forge behaves as Forge's ADR 15 and ADR 18 intend: old groups of tool calls
// gather in a buffer until there are enough of them or one is too old; then all
// of them go. Against the original: calls count, not messages; groups are whole
// whatever the number of parallel calls; excluded, pinned, pending and summarised
// groups neither count nor age; user messages, assistant texts and earlier
// summaries in between stay where they are.
type forge struct {
	s      ForgeSettings
	tokens int
}

func (f forge) excluded() Exclusions { return f.s.Exclusions }

func (f forge) plan(t *tiers, r Request) (*plan, *verdict) {
	c := t.c
	buffer, calls, oldest := f.buffer(c)
	p := &plan{model: true, target: r.MaxInputTokens}
	switch {
	case calls == 0:
		return no(NothingToRemove, "no group of tool calls has %d newer messages", f.s.MessagesOldThreshold)
	case r.Force:
		p.reason = Forced
	case calls >= f.s.MinToolCallsToSummarize:
		p.reason = ForBuffer
	case oldest >= f.s.MaxToolCallDistance:
		p.reason = ForAge
	default:
		return no(NotTriggered, "%d old tool calls are below %d and the oldest has age %d, below %d",
			calls, f.s.MinToolCallsToSummarize, oldest, f.s.MaxToolCallDistance)
	}
	in := map[int]bool{}
	for _, u := range buffer {
		in[u] = true
	}
	merge := f.manySummaries(c)
	for u := range c.units { // broken units cannot stay
		if in[u] || c.status[u] == broken || merge && c.status[u] == earlier {
			p.remove = append(p.remove, u)
		}
	}
	p.room = min(f.tokens, c.tokensOf(p.remove)/2)
	return p, nil
}

// manySummaries reports whether the earlier summaries have become so many that
// they are merged; until then each stays in its place, so that the bytes before
// the new one do not change.
func (f forge) manySummaries(c *conversation) bool {
	n := 0
	for u := range c.units {
		if c.status[u] == earlier {
			n += c.unitTokens(u)
		}
	}
	return n > f.tokens
}

// buffer lists the groups whose newest message is old enough, how many calls they
// hold, and the age of the oldest call.
func (f forge) buffer(c *conversation) (units []int, calls, oldest int) {
	for u := range c.units {
		unit := &c.units[u]
		if c.status[u] != free || !unit.Calls || c.age(unit.Last()) < f.s.MessagesOldThreshold {
			continue
		}
		units = append(units, u)
		calls += len(unit.Tools)
		oldest = max(oldest, c.age(unit.First()))
	}
	return units, calls, oldest
}
