package preflight

import (
	"slices"

	tested "memoryd/guidelines/rules"
)

// maxSeenBytes bounds how much of a run's outputs is read for values, maxSeen how many are kept.
const (
	maxSeenBytes = 128 << 10
	maxSeen      = 2000
)

// seenValue is an identifier that an output of the run held, and the tool that answered with it last.
type seenValue struct {
	tested.Given

	tool string
}

// valuesSeen are the identifiers of the outputs of the run, the newest first, read once.
func (v *view) valuesSeen() []*seenValue {
	if v.seen != nil {
		return v.seen
	}
	v.seen = []*seenValue{}
	byValue, room := map[string]*seenValue{}, maxSeenBytes
	for i := range v.RunCalls {
		c := &v.RunCalls[i]
		if failed, known := outcome(c); failed && known || len(c.Output) > room {
			continue
		}
		room -= len(c.Output)
		for g := range tested.Identifiers(c.Output) {
			known := byValue[g.Value]
			switch {
			case known != nil:
				if known.Under = append(known.Under, g.Under...); known.State == "" {
					known.State = g.State
				}
			case len(v.seen) < maxSeen && len(g.Value) <= maxValue:
				g.Under = slices.Clone(g.Under)
				byValue[g.Value] = &seenValue{g, c.Tool}
				v.seen = append(v.seen, byValue[g.Value])
			}
		}
	}
	return v.seen
}
