package compact

import (
	"fmt"

	"memoryd"
	"memoryd/compact/chat"
)

// plan is what a profile wants to be done.
type plan struct {
	reason Reason
	// remove are the units that go into the summary, in order.
	remove []int
	// edits replace messages by smaller ones (the first tier).
	edits map[int]chat.Message
	// room is how many tokens the summary message may have.
	room int
	// target is the size aimed at, limit what must not be passed; 0 is none.
	target, limit int
	lead          string
	// model says whether a model may be asked, which one, and how.
	model     bool
	modelName string
	prompt    string // replaces the instructions; "" takes ours
	promptCap int    // bounds one request, in tokens; 0 takes the configured bound
	answerCap int    // bounds one answer, in tokens; 0 takes the configured bound
	newest    bool   // one request only, with the newest that fits
}

// verdict is why a profile wants nothing to be done.
type verdict struct {
	reason Reason
	detail string
}

func no(reason Reason, format string, args ...any) (*plan, *verdict) {
	return nil, &verdict{reason, fmt.Sprintf(format, args...)}
}

// profile decides when to compact and what may go. A profile sees a conversation
// that is classified and read-only.
type profile interface {
	excluded() Exclusions
	plan(t *tiers, r Request) (*plan, *verdict)
}

// profileFor picks a profile and lays the request's overrides over its settings.
func (c Config) profileFor(r Request) (name string, p profile, err error) {
	name = r.Profile
	if name == "" {
		name = c.Profile
	}
	switch name {
	case "default":
		s := c.Default
		if err = overlay(&s, r.Overrides); err == nil {
			err = s.Validate()
		}
		return name, s, err
	case "deerflow":
		s := c.DeerFlow
		if err = overlay(&s, r.Overrides); err == nil {
			err = s.Validate()
		}
		if err == nil && s.needsWindow() && r.MaxInputTokens <= 0 {
			err = memoryd.Errorf(memoryd.Invalid, "deerflow: a fraction needs max_input_tokens")
		}
		return name, deerflow{s, c.SummaryTokens}, err
	case "forge":
		s := c.Forge
		if err = overlay(&s, r.Overrides); err == nil {
			err = s.Validate()
		}
		return name, forge{s, c.SummaryTokens}, err
	case "ra_aid":
		s := c.RAAid
		if err = overlay(&s, r.Overrides); err == nil {
			err = s.Validate()
		}
		return name, raaid{s}, err
	}
	return name, nil, memoryd.Errorf(memoryd.Invalid, "profile %q is not known; use default, deerflow, forge or ra_aid", name)
}

// removable lists the units before cut that may go: those without a protected
// status and with all of their messages before message cut. Broken units go
// wherever they stand, and earlier summaries go along when anything does.
func (c *conversation) removable(cut int) []int {
	var us []int
	any := false
	for u := range c.units {
		switch c.status[u] {
		case broken:
			us, any = append(us, u), true
		case free:
			if c.units[u].Last() < cut {
				us, any = append(us, u), true
			}
		case earlier:
			us = append(us, u)
		}
	}
	if !any {
		return nil
	}
	return us
}

// tokensOf sums units.
func (c *conversation) tokensOf(units []int) int {
	n := 0
	for _, u := range units {
		n += c.unitTokens(u)
	}
	return n
}

// onlyEarlier reports whether nothing but earlier summaries would go.
func (c *conversation) onlyEarlier(units []int) bool {
	for _, u := range units {
		if c.status[u] != earlier {
			return false
		}
	}
	return true
}

// fixed is what stays in any case, and the status that takes most of it.
func (c *conversation) fixed() (sum int, largest Reason) {
	var by [broken + 1]int
	for u := range c.units {
		by[c.status[u]] += c.unitTokens(u)
	}
	sys, pins, tail := by[system]+c.tools, by[pinned]+by[excluded], by[request]+by[pending]
	largest = TailTooLarge
	switch {
	case sys >= pins && sys >= tail:
		largest = SystemTooLarge
	case pins >= tail:
		largest = PinsTooLarge
	}
	return sys + pins + tail, largest
}
