package stats

import "time"

// Earlier returns the earlier of two times, of which the zero time is unknown.
func Earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
