package compact

import "strings"

// raaid behaves as RA.Aid's plan for context summarization intends: above a limit
// all but system messages and the newest few are condensed, chunk by chunk.
// Against the plan: chunks are whole groups; condensed text is a user message,
// never a system message, and is condensed with the rest next time; the buffer
// ratio bounds it; messages are told apart by place, not by text.
type raaid struct{ s RAAidSettings }

func (a raaid) excluded() Exclusions {
	none := []string{}
	return Exclusions{ExcludedTools: &none}
}

func (a raaid) plan(t *tiers, r Request) (*plan, *verdict) {
	c := t.c
	limit := r.MaxInputTokens
	if limit <= 0 {
		limit = a.s.MaxTokens
	}
	p := &plan{reason: ForTokens, limit: limit, target: limit}
	if r.Force {
		p.reason = Forced
	} else if c.total <= limit {
		return no(NotTriggered, "%d tokens are within the limit of %d", c.total, limit)
	}
	fixed, largest := c.fixed()
	if fixed >= limit {
		return no(largest, "%d tokens must stay and the limit is %d", fixed, limit)
	}
	p.remove = c.removable(max(0, len(c.messages)-a.s.NumMessagesToKeep))
	if len(p.remove) == 0 {
		if c.total > limit {
			return no(TailTooLarge, "the newest %d messages and what is protected have %d tokens, the limit is %d", a.s.NumMessagesToKeep, c.total, limit)
		}
		return no(NothingToRemove, "everything is among the newest %d messages, or protected", a.s.NumMessagesToKeep)
	}
	gone := c.tokensOf(p.remove)
	p.room = min(int(float64(limit)*a.s.SummaryBufferRatio), gone/2)
	if left := limit - (c.total - gone); left < p.room {
		if left < leastRoom {
			return no(TailTooLarge, "the newest messages leave %d tokens for a summary", max(0, left))
		}
		p.room = left
	}
	lost := float64(gone) / float64(max(1, c.total))
	p.model = a.s.EnableCondensation && lost > a.s.HybridLoss
	p.modelName = a.s.CondenserModel
	p.answerCap = a.s.MaxTokensPerSummary
	return p, nil
}

// splitModel takes a provider prefix off a model's name.
func splitModel(name string) (provider, model string) {
	if p, m, ok := strings.Cut(name, "/"); ok && p != "" && m != "" {
		return p, m
	}
	return "", name
}
