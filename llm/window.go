package llm

import "time"

// Growth of the concurrency window.
const (
	windowStart    = 2
	plateauStart   = 1 // clean windows at the level of the last refusal before one more is tried
	plateauLongest = 6 // the same, after many refusals there
)

// window is how many requests may be in flight: additive increase,
// multiplicative decrease. It starts at two and grows by one with each success
// (so it doubles with each clean window) until the first refusal; then it is
// halved, comes back as fast to just below where it was refused, and from there
// goes up by one only after several clean windows, more of them each time. Not
// safe for concurrent use.
type window struct {
	limit   int
	ceiling int
	brink   int // growth is slow from here on
	plateau int
	clean   int // successes since the last change
	proved  int // most requests in flight at a success
	epoch   time.Time
}

func newWindow(ceiling int) window {
	return window{limit: min(windowStart, ceiling), ceiling: ceiling, brink: ceiling, plateau: plateauStart}
}

// success notes a good reply while inFlight requests were out, itself
// included. A window that was not full proves nothing.
func (w *window) success(inFlight int) {
	w.proved = max(w.proved, inFlight)
	if inFlight < w.limit || w.limit >= w.ceiling {
		return
	}
	w.clean++
	if w.limit < w.brink || w.clean >= w.limit*w.plateau {
		if w.limit >= w.brink {
			w.brink = w.limit + 1
		}
		w.limit++
		w.clean = 0
	}
}

// shrink halves the window because of a request that began at started, once
// for all that were out together, and reports whether it did. refused says that
// the server found them too many; a time-out alone says nothing of how many
// would have been right.
func (w *window) shrink(now, started time.Time, inFlight int, refused bool) bool {
	if started.Before(w.epoch) {
		return false
	}
	w.epoch = now
	if refused && inFlight > w.proved {
		w.brink = max(1, min(w.limit, inFlight)-1)
		w.plateau = min(plateauLongest, 2*w.plateau)
	}
	w.limit = max(1, w.limit/2)
	w.clean = 0
	return true
}
