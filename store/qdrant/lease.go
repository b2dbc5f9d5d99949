package qdrant

import (
	"context"
	"math"
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
// process's lease in the lower 4.
const (
	leaseBits = 4
	leases    = 1 << leaseBits
	stampStep = 2 * time.Microsecond
)

// stampEpoch is 2020-01-01 UTC, in seconds since 1970.
const stampEpoch = 1_577_836_800

func stepsAt(t time.Time) int64 { return t.UnixMicro()/2 - stampEpoch*500_000 }

// stampAt is the smallest stamp of an instant.
func stampAt(t time.Time) int64 { return stepsAt(t) << leaseBits }

// instant is when a stamp was given.
func instant(stamp int64) time.Time {
	return time.UnixMicro((stamp>>leaseBits + stampEpoch*500_000) * 2)
}

// clock gives stamps that grow, in this process strictly and beyond the largest
// that it has seen from others.
type clock struct {
	mu    sync.Mutex
	last  int64 // steps
	lease int64
	begun map[*beginning]bool // see counts.go
}

// next reserves n stamps and gives the first; the others follow in steps of
// leases.
func (c *clock) next(n int) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reserve(n)
}

func (c *clock) reserve(n int) int64 {
	first := max(stepsAt(time.Now()), c.last+1)
	c.last = first + int64(n) - 1
	return first<<leaseBits | c.lease
}

// see keeps the clock ahead of a stamp that another process gave. One far in the
// future is not believed.
func (c *clock) see(stamp int64) {
	steps := stamp >> leaseBits
	if steps > stepsAt(time.Now().Add(time.Hour)) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = max(c.last, steps)
}

func (c *clock) use(lease int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lease = lease
}

// A lease keeps the stamps of two processes apart. It is a record of the server that its process
// renews while it accepts calls.
const (
	leaseTime = time.Minute
	// leaseRenewal bounds one try to renew a lease, leasePause is the time between two.
	leaseRenewal = 2 * time.Second
	leasePause   = 10 * time.Second
)

type clockLease struct {
	taking sync.Mutex // held by who takes the first lease

	mu      sync.Mutex
	held    bool // this process has had a lease
	number  int
	record  int64 // its revision; 0: the lease is shared
	renewAt time.Time
	endsAt  time.Time
}

// acquireLease makes sure that this process has a lease, and renews it when it is
// time. When all are taken it shares one for a while: then two calls of one tool
// that two processes accept in the same two microseconds may get the same number.
// So they may when a lease cannot be renewed because the node that orders such
// writes is away: calls go on being accepted with the number that the process had.
func (s *backend) acquireLease(ctx context.Context) error {
	l := &s.clockLease
	first, due := l.look()
	if first {
		l.taking.Lock()
		defer l.taking.Unlock()
		if first, _ = l.look(); !first {
			return nil
		}
		return s.takeAnyLease(ctx)
	}
	if !due {
		return nil
	}
	short, cancel := context.WithTimeout(ctx, leaseRenewal)
	defer cancel()
	if err := s.takeAnyLease(short); err != nil {
		s.log.WarnContext(ctx, "cannot renew the lease of the clock", "err", err)
	}
	return nil
}

// look tells whether this process has no lease yet, and whether the caller has to
// renew the one it has. It tells that to one caller, and to the next after a pause.
func (l *clockLease) look() (first, due bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if !l.held || now.Before(l.renewAt) {
		return !l.held, false
	}
	l.renewAt = now.Add(leasePause)
	return false, true
}

// takeAnyLease keeps the lease that this process has, takes a free one, or shares one.
func (s *backend) takeAnyLease(ctx context.Context) error {
	l := &s.clockLease
	l.mu.Lock()
	number, record, endsAt := l.number, l.record, l.endsAt
	l.mu.Unlock()
	now := time.Now()
	if record > 0 && now.Before(endsAt) {
		if taken, err := s.takeLease(ctx, number, record, now); taken || err != nil {
			return err
		}
	}
	first := rand.IntN(leases)
	for i := range leases {
		number := (first + i) % leases
		old, err := s.Record(ctx, leaseKey(number))
		if err := memoryd.Except(err, memoryd.NotFound); err != nil {
			return err
		}
		if old.Revision > 0 && takenUntil(&old).After(now) {
			continue
		}
		if taken, err := s.takeLease(ctx, number, old.Revision, now); taken || err != nil {
			return err
		}
	}
	s.log.WarnContext(ctx, "all leases of the clock are taken; this process shares one", "lease", first)
	s.clock.use(int64(first))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held, l.record, l.renewAt = true, 0, now.Add(leaseTime/2)
	return nil
}

func leaseKey(n int) store.RecordKey { return store.RecordKey{Kind: "seat", ID: strconv.Itoa(n)} }

func leaseRecord(n int, revision int64, until time.Time) store.Record {
	return store.Record{RecordKey: leaseKey(n), Revision: revision, Data: []byte(until.UTC().Format(time.RFC3339Nano))}
}

// takenUntil reads when a lease is free; one that cannot be read is free.
func takenUntil(r *store.Record) time.Time {
	t, _ := time.Parse(time.RFC3339Nano, string(r.Data))
	return t
}

func (s *backend) takeLease(ctx context.Context, n int, revision int64, now time.Time) (bool, error) {
	r := leaseRecord(n, revision, now.Add(leaseTime))
	got, err := s.putRecords(ctx, r)
	if err != nil {
		return false, memoryd.Except(err, memoryd.Conflict)
	}
	s.clock.use(int64(n))
	l := &s.clockLease
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held, l.number, l.record, l.renewAt, l.endsAt = true, n, got, now.Add(leaseTime/2), now.Add(leaseTime)
	return true, nil
}

// releaseLease gives the lease back, for the next process to have: as one that nobody
// had, unless something of this process may still take effect.
func (s *backend) releaseLease(ctx context.Context) {
	l := &s.clockLease
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.record == 0 || time.Now().After(l.endsAt) {
		return
	}
	until := time.Time{}
	if s.clock.oldest() != math.MaxInt64 {
		until = time.Now()
	}
	r := leaseRecord(l.number, l.record, until)
	if _, err := s.putRecords(ctx, r); err != nil {
		s.log.DebugContext(ctx, "cannot release the lease", "err", err)
	}
	l.record = 0
}

// aloneAfter is how long ago all other leases must have ended for a process to be alone.
// One that cannot renew its lease goes on without for as long as that takes.
const aloneAfter = 10 * time.Minute

// alone tells whether no other process stores calls. Who begins to takes a lease first.
func (s *backend) alone(ctx context.Context) (bool, error) {
	l := &s.clockLease
	l.mu.Lock()
	mine, held := l.number, l.record > 0 && time.Now().Before(l.endsAt)
	l.mu.Unlock()
	if !held {
		return false, nil
	}
	var ids []string
	for n := range leases {
		if key := leaseKey(n); n != mine {
			ids = append(ids, recordID(recordGroup(key, ""), key.ID))
		}
	}
	found, err := s.getMap(ctx, s.docs, ids, include(fieldData))
	for _, p := range found {
		other, derr := decodeRecord(p)
		if derr != nil || time.Since(takenUntil(&other)) < aloneAfter {
			return false, err
		}
	}
	return err == nil, err
}
