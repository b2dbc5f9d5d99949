package admission

import (
	"sync"
	"time"

	"memoryd"
)

// Quota bounds the requests under way, by number and by the bytes of their
// bodies, and refuses the others at once. No workspace can take all of it: a
// workspace gets no more than shareOfFree times what it leaves free, so that a
// small one finds room beside one that floods, and several that flood get equal
// shares. A workspace that has nothing under way is not held to that. The bounds
// of all together are strict. See Choudhury, Hahne, "Dynamic queue length
// thresholds for shared-memory packet switches", IEEE/ACM Transactions on
// Networking 6(2), 1998.
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

// NewQuota makes a quota of so many requests at once, whose bodies hold so many
// bytes together.
func NewQuota(requests, bytes int64) *Quota {
	return &Quota{most: load{requests: requests, bytes: bytes}, byOne: map[string]load{}}
}

// Lease is the place of one request under way. It belongs to no workspace until
// Bind.
type Lease struct {
	quota     *Quota
	workspace string
	bound     bool
	bytes     int64 // that it has
	counted   int64 // of these, those that all others find taken; see Hold
	held      int64 // of these, an answer's
}

// Admit lets a request in whose body is announced to have so many bytes; it fails
// with Overloaded where there is no room.
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

// Room fails with Overloaded where there is none for one request more whose body is
// announced to have so many bytes. It takes none: a body that does not come must keep
// nobody out.
func (q *Quota) Room(announced int64) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.used.requests >= q.most.requests || q.used.bytes+announced > q.most.bytes {
		return overloaded(full)
	}
	return nil
}

// Bind says whose the request is and how many bytes its body really has. It fails
// with Overloaded when the workspace has its share.
func (l *Lease) Bind(workspace string, bytes int64) error {
	q := l.quota
	q.mu.Lock()
	defer q.mu.Unlock()
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

// Reserve counts so many bytes of a body as they arrive; it fails with Overloaded
// where there is no room for them.
func (l *Lease) Reserve(bytes int64) error {
	q := l.quota
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.used.bytes+bytes > q.most.bytes {
		return overloaded(full)
	}
	q.used.bytes += bytes
	l.bytes += bytes
	l.counted += bytes
	return nil
}

const greedy = "the workspace has too many requests under way"

// Begin is asked again when the request's turn to work has come: it fails with
// Overloaded where the answers that its workspace has not fetched take a third of what is
// free by then: those of one alone may take a quarter of the room.
func (l *Lease) Begin() error {
	q := l.quota
	q.mu.Lock()
	defer q.mu.Unlock()
	if held := q.byOne[l.workspace].held; held > 0 && 3*held >= q.most.bytes-q.used.bytes+l.counted {
		return overloaded(greedy)
	}
	return nil
}

// Hold counts so many bytes more, those of an answer, until Release. It refuses
// nothing: the work is done. Its workspace's next requests find less room; those of
// others do up to the share that one workspace may have.
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

// Release gives back what the request took. It is called once.
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

// UnderWay counts the requests that hold a lease.
func (q *Quota) UnderWay() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.used.requests
}

func overloaded(msg string) error {
	return &memoryd.Error{Kind: memoryd.Overloaded, Msg: msg, RetryAfter: time.Second}
}
