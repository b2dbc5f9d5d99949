package admission

import (
	"sync"
	"time"

	"memoryd"
)

// Quota limits the running requests, by number and by the bytes of their bodies, and refuses
// the others at once. A workspace gets at most shareOfFree times what it leaves free. So a
// small workspace finds room beside one that floods, and several that flood get equal shares.
// A workspace without running requests is exempt. The totals are never exceeded. See
// Choudhury, Hahne, "Dynamic queue length thresholds for shared-memory packet switches",
// IEEE/ACM Transactions on Networking 6(2), 1998.
type Quota struct {
	mu    sync.Mutex
	most  load
	used  load
	byOne map[string]load // by workspaces that have something under way
}

// load is what requests take; held are the bytes of answers among the others.
type load struct{ requests, bytes, held int64 }

// shareOfFree is how many times the free room a workspace may take: one alone gets
// eight ninths of all, two eight seventeenths each.
const shareOfFree = 8

// NewQuota returns a quota for the given number of concurrent requests and the total bytes of
// their bodies.
func NewQuota(requests, bytes int64) *Quota {
	return &Quota{most: load{requests: requests, bytes: bytes}, byOne: map[string]load{}}
}

// Lease is the place of one running request. It belongs to no workspace until Bind.
type Lease struct {
	quota     *Quota
	workspace string
	bound     bool
	bytes     int64 // that it has
	counted   int64 // of these, those that all others find taken; see Hold
	held      int64 // of these, an answer's
}

// Admit admits a request that announces a body of the given size. It fails with Overloaded if
// there is no room.
func (q *Quota) Admit(bytes int64) (Lease, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.used.requests >= q.most.requests || q.used.bytes+bytes > q.most.bytes {
		return Lease{}, overloaded(full)
	}
	q.used.requests++
	q.used.bytes += bytes
	return Lease{quota: q, bytes: bytes, counted: bytes}, nil
}

const full = "too many requests under way"

// Room fails with Overloaded if there is no room for one more request that announces a body
// of the given size. It reserves nothing, because a body that never arrives must not keep
// others out.
func (q *Quota) Room(announced int64) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.used.requests >= q.most.requests || q.used.bytes+announced > q.most.bytes {
		return overloaded(full)
	}
	return nil
}

// Bind assigns the request to a workspace and sets the size of its body, as far as it is known.
// It fails with Overloaded if the workspace has used its share. Bind again, with the real size,
// refuses nothing.
func (l *Lease) Bind(workspace string, bytes int64) error {
	q := l.quota
	q.mu.Lock()
	defer q.mu.Unlock()
	if l.bound {
		l.take(bytes - l.counted)
		return nil
	}
	q.used.bytes += bytes - l.counted
	l.bytes, l.counted = bytes, bytes
	mine := q.byOne[workspace]
	free := load{requests: q.most.requests - q.used.requests + 1, bytes: q.most.bytes - q.used.bytes + bytes}
	if mine.requests > 0 && (mine.requests >= shareOfFree*free.requests || mine.bytes >= shareOfFree*free.bytes) {
		return overloaded(greedy)
	}
	l.workspace, l.bound = workspace, true
	q.byOne[workspace] = load{mine.requests + 1, mine.bytes + bytes, mine.held}
	return nil
}

// Reserve reserves bytes of a body as they arrive. It fails with Overloaded if there is no
// room for them.
func (l *Lease) Reserve(bytes int64) error {
	q := l.quota
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.used.bytes+bytes > q.most.bytes {
		return overloaded(full)
	}
	l.take(bytes)
	return nil
}

// take adds bytes of a body, or gives some back.
func (l *Lease) take(bytes int64) {
	l.quota.used.bytes += bytes
	l.bytes += bytes
	l.counted += bytes
	if mine, bound := l.quota.byOne[l.workspace]; bound && l.bound {
		mine.bytes += bytes
		l.quota.byOne[l.workspace] = mine
	}
}

const greedy = "the workspace has too many requests under way"

// Begin checks again when it is the request's turn. It fails with Overloaded if answers that
// its workspace has not fetched take up a third of the free bytes. The answers of a single
// request may take up a quarter of all bytes.
func (l *Lease) Begin() error {
	q := l.quota
	q.mu.Lock()
	defer q.mu.Unlock()
	if held := q.byOne[l.workspace].held; held > 0 && 3*held >= q.most.bytes-q.used.bytes+l.counted {
		return overloaded(greedy)
	}
	return nil
}

// Hold adds the bytes of an answer until Release. It refuses nothing, because the work is
// done. Later requests of the same workspace find less room; those of others do so only up to
// one workspace's share.
func (l *Lease) Hold(bytes int64) {
	q := l.quota
	q.mu.Lock()
	defer q.mu.Unlock()
	mine := q.byOne[l.workspace]
	counted := min(bytes, max(0, q.most.bytes/(shareOfFree+1)*shareOfFree-mine.bytes))
	q.used.bytes += counted
	l.bytes += bytes
	l.counted += counted
	l.held += bytes
	if l.bound {
		q.byOne[l.workspace] = load{mine.requests, mine.bytes + bytes, mine.held + bytes}
	}
}

// Release returns what the request took. Call it once.
func (l *Lease) Release() {
	q := l.quota
	q.mu.Lock()
	defer q.mu.Unlock()
	q.used.requests--
	q.used.bytes -= l.counted
	if !l.bound {
		return
	}
	mine := q.byOne[l.workspace]
	if mine.requests == 1 {
		delete(q.byOne, l.workspace)
		return
	}
	q.byOne[l.workspace] = load{mine.requests - 1, mine.bytes - l.bytes, mine.held - l.held}
}

// UnderWay returns the number of requests that hold a lease.
func (q *Quota) UnderWay() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.used.requests
}

func overloaded(msg string) error {
	return &memoryd.Error{Kind: memoryd.Overloaded, Msg: msg, RetryAfter: time.Second}
}
