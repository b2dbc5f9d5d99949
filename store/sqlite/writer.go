package sqlite

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"memoryd/internal/lifecycle"
	"memoryd/store"
)

// How much shares one commit.
const (
	groupJobs  = 256
	groupBytes = 8 << 20
)

// writer owns the only connection that writes. One goroutine runs it: it takes
// whatever waits, commits it as one transaction and answers each waiter. Who
// arrives during a commit shares the next; no timer delays anybody.
type writer struct {
	cfg     Config
	log     *slog.Logger
	c       *conn
	cat     *catalog
	win     *window
	pend    *pendingSet
	samples *sampleCache
	runs    *runIndex // guarded by the catalog's lock

	queue     chan *job
	queued    atomic.Int64 // bytes
	maxQueued int64
	alive     sync.Mutex      // held by run
	stop      <-chan struct{} // for run alone

	// writing is held from BEGIN until memory has followed the commit. Who holds
	// it sees file and memory agree, and keeps writers waiting.
	writing sync.Mutex
	// commit ends a transaction; tests put a failing one in its place.
	commit func() error
	// wrote tells the checkpointer that there is something to do.
	wrote chan struct{}
	// clean asks the checkpointer to empty the write-ahead log, so that deleted
	// text does not linger there.
	clean atomic.Bool

	// The newest numbers given.
	nextTool    uint32
	nextSlot    int64
	nextPending int64
	nextPurge   int64
	nextVerdict int64
	lastLog     int64
	note        func(counter) error

	housekeeping
	trimLag atomic.Int64 // rows in purges

	failed atomic.Pointer[error] // set once nothing more may be acknowledged
	sick   atomic.Bool           // the last transaction failed
	// refused is the newest write that failed; nil: none did.
	refused atomic.Pointer[refused]
	// path is where the file has to be, file what stood there at the start.
	path  string
	file  os.FileInfo
	spare *job // taken from the queue for the next commit

	records []byte // the room for those of the next draft
}

// run commits until the context ends and the queue is empty.
func (w *writer) run(ctx context.Context) {
	w.alive.Lock()
	defer w.alive.Unlock()
	w.stop = ctx.Done()
	for {
		group := w.next()
		if group == nil {
			return
		}
		if len(group) > 0 {
			w.commitGroup(group)
		}
		w.maintain()
	}
}

// next gives the jobs of the next commit; an empty group says that there is
// housekeeping to do instead, nil that it is time to stop.
func (w *writer) next() []*job {
	first := w.spare
	w.spare = nil
	if first == nil {
		select {
		case first = <-w.queue:
		default:
			if w.busy() {
				return []*job{}
			}
			select {
			case first = <-w.queue:
			case <-w.stop:
				select {
				case first = <-w.queue:
				default:
					return nil
				}
			}
		}
	}
	return w.gather(first)
}

// gather adds what else waits to the first job of a group.
func (w *writer) gather(first *job) []*job {
	group := []*job{first}
	bytes := first.bytes
	if first.order == alone {
		return group
	}
	runtime.Gosched() // whoever is about to append shares this commit
	for len(group) < groupJobs && bytes < groupBytes {
		select {
		case j := <-w.queue:
			if j.order == alone {
				w.spare = j
				return group
			}
			bytes += j.bytes
			group = append(group, j)
		default:
			return group
		}
	}
	return group
}

// commitGroup runs the jobs as one transaction. If that fails, each is tried
// by itself, so that one that cannot work does not fail the others.
func (w *writer) commitGroup(group []*job) {
	live := group[:0]
	for _, j := range group {
		w.queued.Add(-j.bytes)
		if err := store.Ended(j.ctx); err != nil {
			j.done <- err
			continue
		}
		live = append(live, j)
	}
	if len(live) == 0 {
		return
	}
	slices.SortStableFunc(live, func(a, b *job) int { return int(a.order) - int(b.order) })
	err := w.transact(live)
	if err != nil && len(live) > 1 && w.failed.Load() == nil {
		for _, j := range live {
			j.answer(w.transact([]*job{j}))
		}
		return
	}
	for _, j := range live {
		j.answer(err)
	}
}

func (j *job) answer(err error) {
	if err == nil {
		err = j.refusal
	}
	j.done <- err
}

// transact runs jobs in one transaction and lets memory follow it.
func (w *writer) transact(jobs []*job) error {
	return w.update(func(d *draft) error {
		for _, j := range jobs {
			j.refusal = nil
			err := j.run(d)
			if r, ok := err.(refusal); ok { //nolint:errorlint // made by run itself
				j.refusal = r.error
			} else if err != nil {
				return err
			}
		}
		return nil
	})
}

// update is one transaction: all of change, or nothing. A deletion that finds the disk
// full has the reserve.
func (w *writer) update(change func(*draft) error) error {
	d := w.newDraft()
	err := w.try(d, change)
	if err != nil && d.wipes && w.failed.Load() == nil && w.releaseBallast(err) {
		err = w.try(w.newDraft(), change)
	}
	return err
}

func (w *writer) try(d *draft, change func(*draft) error) error {
	if err := w.failed.Load(); err != nil {
		return unavailable(*err)
	}
	w.writing.Lock()
	defer w.writing.Unlock()
	err := w.c.exec(`BEGIN IMMEDIATE`)
	if err == nil {
		d.begun = w.c.execs
		err = lifecycle.Do(context.Background(), w.log, "committing", func() error {
			if err := change(d); err != nil {
				return err
			}
			return d.write()
		})
		if err == nil {
			d.announce()
			if err = w.commit(); err == nil {
				err = w.stillThere("-wal")
			}
			if err != nil {
				d.announce()
			}
		}
		if err != nil {
			err = w.rollback(err)
		}
	}
	w.sick.Store(err != nil)
	if err != nil {
		w.refused.Store(&refused{time.Now(), err})
		w.log.Error("store: a commit failed", "err", err)
		return unavailable(err)
	}
	apply := func() error { d.apply(); return nil }
	if err := lifecycle.Do(context.Background(), w.log, "committing", apply); err != nil {
		w.giveUp(err) // memory does not say any more what the file says
		return unavailable(err)
	}
	if d.wrote {
		if err := w.note(counter{log: w.lastLog}); err != nil {
			w.log.Warn("store: cannot write the commit counter", "err", err)
		}
	}
	w.stir()
	return nil
}

// refused is a write that failed.
type refused struct {
	at  time.Time
	err error
}

// remember notes which file is open.
func (w *writer) remember(path string) (err error) {
	w.path = path
	w.file, err = os.Stat(path)
	return err
}

var errGone = errors.New("the store's file was removed or replaced while it was open")

// stillThere gives up where the file that was written to is no more the one that the
// next start would open, or the one beside it with this suffix is gone: what went to it
// would be lost.
func (w *writer) stillThere(beside string) error {
	if w.file == nil { // while it is opened
		return nil
	}
	now, err := os.Stat(w.path)
	if err == nil && os.SameFile(now, w.file) {
		_, err = os.Stat(w.path + beside)
	} else if err == nil {
		err = os.ErrNotExist
	}
	if !errors.Is(err, os.ErrNotExist) {
		return nil // it is there, or nobody can tell
	}
	w.giveUp(errGone)
	return errGone
}

// stir tells the checkpointer that there is something to do.
func (w *writer) stir() {
	select {
	case w.wrote <- struct{}{}:
	default:
	}
}

// rollback undoes the transaction that failed with err. SQLite may have done
// it already, so the failure to do it again means nothing by itself.
func (w *writer) rollback(err error) error {
	rerr := w.c.exec(`ROLLBACK`)
	if lost(err) {
		w.giveUp(err)
		return err
	}
	if rerr != nil {
		// Still inside a transaction? Then the next BEGIN fails and says so.
		return errors.Join(err, rerr)
	}
	return err
}

// giveUp makes err the answer to all later writes.
func (w *writer) giveUp(err error) {
	if w.failed.CompareAndSwap(nil, &err) {
		w.log.Error("store: the disk failed to flush; no more writes until a restart", "err", err)
	}
}

// job is one write that waits for a commit.
type job struct {
	ctx   context.Context //nolint:containedctx // of the caller, who waits
	bytes int64
	order order
	// run makes the job's changes in the open transaction and notes in d what
	// memory shall take over after the commit. An error is a failure of the store
	// and rolls the whole transaction back, but for a refusal: that is of the job
	// alone, which has changed nothing.
	run     func(d *draft) error
	refusal error
	done    chan error // takes the one result
}

// refusal is why a job cannot be done.
type refusal struct{ error }

// order says where a job stands among those that share its commit.
type order int

const (
	verdictsFirst order = iota // verdicts: they see only what earlier commits did
	afterVerdicts              // appends
	alone                      // what changes whole tools has a commit of its own
)

func newJob(ctx context.Context, bytes int64, order order, run func(d *draft) error) *job {
	return &job{ctx: ctx, bytes: bytes, order: order, run: run, done: make(chan error, 1)}
}

// do queues a job and waits for its result or the end of ctx.
func (w *writer) do(ctx context.Context, bytes int64, order order, run func(d *draft) error) error {
	if w.queued.Add(bytes) > w.maxQueued && bytes < w.queued.Load() {
		w.queued.Add(-bytes)
		return overloaded()
	}
	j := newJob(ctx, bytes, order, run)
	select {
	case w.queue <- j:
	default:
		w.queued.Add(-bytes)
		return overloaded()
	}
	select {
	case err := <-j.done:
		return err
	case <-ctx.Done():
		return store.Ended(ctx)
	}
}

// written is what a job gave once it is committed. A caller who stopped waiting gets nothing: the
// writer may still be at it.
func written[T any](ctx context.Context, w *writer, bytes int64, order order, run func(d *draft) (T, error)) (T, error) {
	var made, none T
	if err := w.do(ctx, bytes, order, func(d *draft) (err error) {
		made, err = run(d)
		return err
	}); err != nil {
		return none, err
	}
	return made, nil
}
