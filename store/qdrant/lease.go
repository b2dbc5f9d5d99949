package qdrant

import (
	"context"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"memoryd"
	"memoryd/store"
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

// A seat keeps the stamps of two processes apart. It is a record of the server
// that its process renews while it accepts calls.
const (
	seatTime = time.Minute
	// seatRenewal bounds one try to renew a seat, seatPause is the time between two.
	seatRenewal = 2 * time.Second
	seatPause   = 10 * time.Second
)

type seating struct {
	taking sync.Mutex // held by who takes the first seat

	mu      sync.Mutex
	sat     bool // this process has had a seat
	key     store.RecordKey
	record  int64 // its revision; 0: the seat is shared
	renewAt time.Time
	endsAt  time.Time
}

// sit makes sure that this process has a seat, and renews it when it is time. When
// all are taken it shares one for a while: then two calls of one tool that two
// processes accept in the same two microseconds may get the same number. So they
// may when a seat cannot be renewed because the node that orders such writes is
// away: calls go on being accepted with the number that the process had.
func (s *backend) sit(ctx context.Context) error {
	st := &s.seating
	first, due := st.look()
	if first {
		st.taking.Lock()
		defer st.taking.Unlock()
		if first, _ = st.look(); !first {
			return nil
		}
		return s.takeAny(ctx, st)
	}
	if !due {
		return nil
	}
	short, cancel := context.WithTimeout(ctx, seatRenewal)
	defer cancel()
	if err := s.takeAny(short, st); err != nil {
		s.log.Warn("the seat of the clock was not renewed", "err", err)
	}
	return nil
}

// look tells whether this process has no seat yet, and whether the caller has to
// renew the one it has. It tells that to one caller, and to the next after a pause.
func (st *seating) look() (first, due bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	now := time.Now()
	if !st.sat || now.Before(st.renewAt) {
		return !st.sat, false
	}
	st.renewAt = now.Add(seatPause)
	return false, true
}

// takeAny keeps the seat that this process has, takes a free one, or shares one.
func (s *backend) takeAny(ctx context.Context, st *seating) error {
	st.mu.Lock()
	key, record, endsAt := st.key, st.record, st.endsAt
	st.mu.Unlock()
	now := time.Now()
	if record > 0 && now.Before(endsAt) {
		if taken, err := s.takeSeat(ctx, st, key, record, now); taken || err != nil {
			return err
		}
	}
	first := rand.IntN(seats)
	for i := range seats {
		key := seatKey((first + i) % seats)
		old, err := s.record(ctx, key)
		if err != nil && !memoryd.IsKind(err, memoryd.NotFound) {
			return err
		}
		if old.Revision > 0 && takenUntil(&old).After(now) {
			continue
		}
		if taken, err := s.takeSeat(ctx, st, key, old.Revision, now); taken || err != nil {
			return err
		}
	}
	s.log.Warn("all seats of the clock are taken; this process shares one", "seat", first)
	s.clock.sit(int64(first))
	st.mu.Lock()
	defer st.mu.Unlock()
	st.sat, st.record, st.renewAt = true, 0, now.Add(seatTime/2)
	return nil
}

func seatKey(n int) store.RecordKey { return store.RecordKey{Kind: "seat", ID: strconv.Itoa(n)} }

func seatRecord(key store.RecordKey, revision int64, until time.Time) store.Record {
	return store.Record{RecordKey: key, Revision: revision, Data: []byte(until.UTC().Format(time.RFC3339Nano))}
}

// takenUntil reads when a seat is free; one that cannot be read is free.
func takenUntil(r *store.Record) time.Time {
	t, err := time.Parse(time.RFC3339Nano, string(r.Data))
	if err != nil {
		return time.Time{}
	}
	return t
}

func (s *backend) takeSeat(ctx context.Context, st *seating, key store.RecordKey, revision int64, now time.Time) (bool, error) {
	r := seatRecord(key, revision, now.Add(seatTime))
	got, err := s.putRecord(ctx, &r, "")
	if memoryd.IsKind(err, memoryd.Conflict) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	n, err := strconv.ParseInt(key.ID, 10, 64)
	if err != nil {
		return false, err
	}
	s.clock.sit(n)
	st.mu.Lock()
	defer st.mu.Unlock()
	st.sat, st.key, st.record, st.renewAt, st.endsAt = true, key, got, now.Add(seatTime/2), now.Add(seatTime)
	return true, nil
}

// rise gives the seat back, for the next process to have.
func (s *backend) rise(ctx context.Context) {
	st := &s.seating
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.record == 0 || time.Now().After(st.endsAt) {
		return
	}
	r := seatRecord(st.key, st.record, time.Now())
	if _, err := s.putRecord(ctx, &r, ""); err != nil {
		s.log.Debug("the seat was not given back", "err", err)
	}
	st.record = 0
}
