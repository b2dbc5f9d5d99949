package llm

import "time"

// halt stops a model or the whole endpoint for a reason that waiting a moment
// will not cure. After until, one request at a time may probe; the first
// success of a request that began after the halt ends it.
type halt struct {
	reason string // "" when there is none
	fault  *fault
	since  time.Time
	until  time.Time
}

func (h *halt) on() bool                  { return h.reason != "" }
func (h *halt) closed(now time.Time) bool { return h.on() && now.Before(h.until) }

// set begins or prolongs the halt and reports whether it is news.
func (h *halt) set(reason string, f *fault, now time.Time, d time.Duration) bool {
	news := h.reason != reason
	if news {
		h.since = now
	}
	h.reason, h.fault, h.until = reason, f, now.Add(d)
	return news
}

// lift ends the halt if a request that began at started proves it over, and
// reports whether it did.
func (h *halt) lift(started time.Time) bool {
	if !h.on() || started.Before(h.until) {
		return false
	}
	since := h.since
	*h = halt{since: since}
	return true
}

// health is the halt as Health shows it.
func (h *halt) health() Health {
	return Health{Status: HealthDegraded, Reason: h.reason, Since: h.since, Until: h.until}
}
