package compact

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"memoryd"
)

// plan is what a profile wants to be done.
type plan struct {
	reason Reason
	// remove are the units that go into the summary, in order.
	remove []int
	// room is how many tokens the summary message may have.
	room int
	// holds is the size that would hold all words of people and the ledger; 0 where this one does.
	holds int
	asked int  // the target before it was raised, 0 where it was not
	whole bool // the summary holds them
	// target is the size aimed at, limit what must not be passed; 0 is none.
	target, limit int
	// most is how far the target may be raised to hold all words of people and the ledger: to
	// where the summary has the share of what goes that the target is of the whole.
	most int
	aims bool // the target is the size to reach, not a bound
	lead string
	// model says whether a model may be asked, and how.
	model     bool
	prompt    string // replaces the instructions; "" takes ours
	promptCap int    // bounds one request, in tokens; 0 takes the configured bound
	answerCap int    // bounds one answer, in tokens; 0 takes the configured bound
	newest    bool   // one request only, with the newest that fits
}

// profile decides when to compact and what may go. A profile sees a conversation
// that is classified and read-only.
type profile interface {
	excluded() map[string]bool // names of tools
	plan(c *conversation, r Request) (*plan, *refusal)
}

// profileFor picks a profile and lays the request's overrides over its settings.
func (c Config) profileFor(r Request) (name string, p profile, err error) {
	name = r.Profile
	if name == "" {
		name = c.Profile
	}
	switch name {
	case "default":
		s, err := settingsOf(c.Default, r.Overrides)
		return name, s, err
	case "deerflow":
		s, err := settingsOf(c.DeerFlow, r.Overrides)
		if err == nil && s.needsWindow() && r.MaxInputTokens <= 0 {
			err = memoryd.Errorf(memoryd.Invalid, "deerflow: a fraction needs max_input_tokens")
		}
		return name, deerflow{s, c.SummaryTokens}, err
	case "forge":
		s, err := settingsOf(c.Forge, r.Overrides)
		return name, forge{s, c.SummaryTokens}, err
	case "ra_aid":
		s, err := settingsOf(c.RAAid, r.Overrides)
		return name, raaid{s}, err
	}
	return name, nil, memoryd.Errorf(memoryd.Invalid, "profile %q is not known; use default, deerflow, forge or ra_aid", name)
}

// settingsOf lays overrides over the settings of a profile, and checks them.
func settingsOf[S interface{ Validate() error }](s S, overrides jsontext.Value) (S, error) {
	switch kind := overrides.Kind(); {
	case len(overrides) == 0, kind == 'n':
	case kind != '{':
		return s, memoryd.Errorf(memoryd.Invalid, "overrides must be an object")
	default:
		if err := json.Unmarshal(overrides, &s, json.RejectUnknownMembers(true)); err != nil {
			return s, memoryd.Wrap(memoryd.Invalid, err, "overrides: "+err.Error())
		}
	}
	return s, s.Validate()
}

// partsOf says in words what must stay.
func partsOf(sys, pins, tail int) string {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{sys, "system messages and tools"}, {pins, "pinned and excluded messages"}, {tail, "the current request and calls without a result"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d of %s", p.n, p.what))
		}
	}
	return strings.Join(parts, ", ")
}

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

func (f forge) excluded() map[string]bool { return f.s.excluded() }

func (f forge) plan(c *conversation, r Request) (*plan, *refusal) {
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
	merge := c.tokensBy()[earlier] > f.tokens // until then each stays in its place, so that the bytes before the new one do not change
	for u := range c.units {                  // broken units cannot stay
		if slices.Contains(buffer, u) || c.status[u] == broken || merge && c.status[u] == earlier {
			p.remove = append(p.remove, u)
		}
	}
	p.room = min(f.tokens, c.tokensOf(p.remove)/2)
	return p, nil
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

// raaid behaves as RA.Aid's plan for context summarization intends: above a limit
// all but system messages and the newest few are condensed, chunk by chunk.
// Against the plan: chunks are whole groups; condensed text is a user message,
// never a system message, and is condensed with the rest next time; the buffer
// ratio bounds it; messages are told apart by place, not by text.
type raaid struct{ s RAAidSettings }

func (raaid) excluded() map[string]bool { return nil }

func (a raaid) plan(c *conversation, r Request) (*plan, *refusal) {
	limit := r.MaxInputTokens
	if limit <= 0 {
		limit = a.s.MaxTokens
	}
	p := &plan{reason: ForTokens, limit: limit, target: limit, aims: true}
	if r.Force {
		p.reason = Forced
	} else if c.total <= limit {
		return no(NotTriggered, "%d tokens are within the limit of %d", c.total, limit)
	}
	keep := a.s.NumMessagesToKeep
	p.remove = c.removable(max(0, len(c.messages)-keep))
	for keep > 0 && c.total-c.tokensOf(p.remove)+leastRoom > limit { // rather fewer than too much
		keep--
		p.remove = c.removable(max(0, len(c.messages)-keep))
	}
	if len(p.remove) == 0 {
		if fixed, parts, largest := c.fixed(); c.total > limit {
			return no(largest, "%d tokens must stay (%s) and the limit is %d", fixed, parts, limit)
		}
		return no(NothingToRemove, "everything is among the newest %d messages, or protected", a.s.NumMessagesToKeep)
	}
	gone := c.tokensOf(p.remove)
	p.room = max(leastRoom, min(int(float64(limit)*a.s.SummaryBufferRatio), gone/2, limit-(c.total-gone)))
	lost := float64(gone) / float64(max(1, c.total))
	p.model = a.s.EnableCondensation && lost > a.s.HybridLoss
	p.answerCap = a.s.MaxTokensPerSummary
	return p, nil
}

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

func (deerflow) excluded() map[string]bool { return nil }

func (d deerflow) plan(c *conversation, r Request) (*plan, *refusal) {
	p := &plan{reason: Forced, lead: deerflowLead, model: true, target: r.MaxInputTokens}
	if !r.Force {
		if !d.s.Enabled {
			return no(Disabled, "the profile is turned off")
		}
		reason, ok := d.fires(c, r.MaxInputTokens)
		if !ok {
			return no(NotTriggered, "no trigger fires at %d tokens and %d messages", c.total, len(c.messages))
		}
		p.reason = reason
	}
	p.remove = c.removable(d.cutoff(c, r.MaxInputTokens))
	if len(p.remove) == 0 {
		return no(NothingToRemove, "everything is kept by the setting keep, or protected")
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
		if len(clause) > 0 && !slices.ContainsFunc(clause, func(s Size) bool { return !s.reached(c.total, len(c.messages), window) }) {
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
		return suffix(c, int(float64(window)*d.s.Keep.Value))
	}
	return suffix(c, int(d.s.Keep.Value))
}

// suffix is where the longest run of newest messages within budget begins.
func suffix(c *conversation, budget int) int {
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

// removable lists the units before message cut that may go: those without a
// protected status and with all of their messages before it. Broken units go
// wherever they stand, and earlier summaries go along when anything does.
func (c *conversation) removable(cut int) []int {
	var us []int
	for u := range c.units {
		switch c.status[u] {
		case broken, earlier:
			us = append(us, u)
		case free:
			if c.units[u].Last() < cut {
				us = append(us, u)
			}
		}
	}
	if !c.frees(us) {
		return nil
	}
	return us
}

// frees reports whether anything but earlier summaries would go.
func (c *conversation) frees(units []int) bool {
	return slices.ContainsFunc(units, func(u int) bool { return c.status[u] != earlier })
}
