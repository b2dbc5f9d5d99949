package qdrant

import (
	"sync"
	"time"
)

// A stamp orders what all processes accept. It is below 2^53, the largest range
// in which a filter's bounds (doubles) are exact: two-microsecond steps since
// 2020 in the upper 49 bits, which last until 2055, and the number of the
// process's seat in the lower 4.
const (
	seatBits  = 4
	seats     = 1 << seatBits
	stampStep = 2 * time.Microsecond
)

// stampEpoch is 2020-01-01 UTC, in seconds since 1970.
const stampEpoch = 1_577_836_800

func stepsAt(t time.Time) int64 { return t.UnixMicro()/2 - stampEpoch*500_000 }

// stampAt is the smallest stamp of an instant.
func stampAt(t time.Time) int64 { return stepsAt(t) << seatBits }

// instant is when a stamp was given.
func instant(stamp int64) time.Time {
	return time.UnixMicro((stamp>>seatBits + stampEpoch*500_000) * 2)
}

// clock gives stamps that grow, in this process strictly and beyond the largest
// that it has seen from others.
type clock struct {
	mu   sync.Mutex
	last int64 // steps
	seat int64
}

// next reserves n stamps and gives the first; the others follow in steps of
// seats.
func (c *clock) next(n int) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := max(stepsAt(time.Now()), c.last+1)
	c.last = first + int64(n) - 1
	return first<<seatBits | c.seat
}

// see keeps the clock ahead of a stamp that another process gave. One far in the
// future is not believed.
func (c *clock) see(stamp int64) {
	steps := stamp >> seatBits
	if steps > stepsAt(time.Now().Add(time.Hour)) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = max(c.last, steps)
}

func (c *clock) sit(seat int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seat = seat
}
