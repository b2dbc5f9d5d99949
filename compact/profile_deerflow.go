package compact

// deerflow behaves as DeerFlow's summarization (LangChain's middleware) is
// documented, with these differences: a cut never splits a tool group, whoever
// owns the results; the current request, system messages and pins stay; an
// earlier summary is carried on, not trimmed away; nothing is ever replaced by a
// canned sentence or an error text.
type deerflow struct {
	s      DeerFlowSettings
	tokens int
}

// deerflowLead is the documented lead-in of the summary.
const deerflowLead = "Here is a summary of the conversation to date:\n\n"

func (d deerflow) excluded() Exclusions {
	none := []string{}
	return Exclusions{ExcludedTools: &none}
}

func (d deerflow) plan(t *tiers, r Request) (*plan, *verdict) {
	c := t.c
	p := &plan{reason: Forced, lead: deerflowLead, model: true, modelName: d.s.ModelName, target: r.MaxInputTokens}
	if !r.Force {
		if !d.s.Enabled {
			return no(Disabled, "the profile is switched off")
		}
		reason, ok := d.fires(c, r.MaxInputTokens)
		if !ok {
			return no(NotTriggered, "no clause of the trigger holds at %d tokens and %d messages", c.total, len(c.messages))
		}
		p.reason = reason
	}
	p.remove = c.removable(d.cutoff(c, r.MaxInputTokens))
	if len(p.remove) == 0 {
		return no(NothingToRemove, "everything is within what keep asks for, or protected")
	}
	if d.s.SummaryPrompt != nil {
		p.prompt = *d.s.SummaryPrompt
	}
	if d.s.TrimTokensToSummarize != nil {
		p.promptCap, p.newest = *d.s.TrimTokensToSummarize, true
	}
	p.room = min(d.tokens, c.tokensOf(p.remove)/2)
	return p, nil
}

// fires gives the first clause that holds, named by its first condition.
func (d deerflow) fires(c *conversation, window int) (Reason, bool) {
	for _, clause := range d.s.Trigger {
		all := len(clause) > 0
		for _, size := range clause {
			all = all && size.reached(c.total, len(c.messages), window)
		}
		if all {
			return Reason(clause[0].Type), true
		}
	}
	return "", false
}

// reached compares as LangChain does: at the threshold counts.
func (s Size) reached(tokens, messages, window int) bool {
	switch s.Type {
	case "tokens":
		return float64(tokens) >= s.Value
	case "messages":
		return float64(messages) >= s.Value
	}
	return window > 0 && tokens >= max(1, int(float64(window)*s.Value))
}

// cutoff is the number of the first message that keep protects. Tokens and
// fractions keep the longest run of newest messages that fits, and the last
// message even if it does not.
func (d deerflow) cutoff(c *conversation, window int) int {
	n := len(c.messages)
	switch d.s.Keep.Type {
	case "messages":
		return max(0, n-int(d.s.Keep.Value))
	case "fraction":
		return c.suffix(int(float64(window) * d.s.Keep.Value))
	}
	return c.suffix(int(d.s.Keep.Value))
}

// suffix is where the longest run of newest messages within budget begins.
func (c *conversation) suffix(budget int) int {
	n := len(c.messages)
	i := n
	for i > 0 && budget >= c.cost[i-1] {
		i--
		budget -= c.cost[i]
	}
	if i == n && n > 0 {
		return n - 1
	}
	return i
}
