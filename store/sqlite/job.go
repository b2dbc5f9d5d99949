package sqlite

import (
	"context"

	"memoryd"
	"memoryd/store"
)

// job is one write that waits for a commit.
type job interface {
	// run makes the job's changes in the open transaction and notes in d what
	// memory shall take over after the commit. A non-nil error is a failure of
	// the store and rolls the whole transaction back; a refusal of the job
	// itself, which changes nothing, goes into its ticket.
	run(d *draft) error
	base() *ticket
	order() order
}

// order says where a job stands among those that share its commit.
type order int

const (
	early order = iota // verdicts: they see only what earlier commits did
	late               // appends
	alone              // what changes whole tools has a commit of its own
)

// ticket is a job's place in the queue and its result.
type ticket struct {
	ctx     context.Context
	bytes   int64
	refusal error
	done    chan error // takes the one result
}

func newTicket(ctx context.Context, bytes int64) ticket {
	return ticket{ctx: ctx, bytes: bytes, done: make(chan error, 1)}
}

func (t *ticket) base() *ticket { return t }

// refuse makes err the job's result.
func (t *ticket) refuse(kind memoryd.Kind, msg string) error {
	t.refusal = memoryd.Errorf(kind, "%s", msg)
	return nil
}

// submit queues the job and waits for its result or the end of its context.
func (w *writer) submit(j job) error {
	t := j.base()
	if w.queued.Add(t.bytes) > w.maxQueued && t.bytes < w.queued.Load() {
		w.queued.Add(-t.bytes)
		return overloaded()
	}
	select {
	case w.queue <- j:
	default:
		w.queued.Add(-t.bytes)
		return overloaded()
	}
	select {
	case err := <-t.done:
		return err
	case <-t.ctx.Done():
		return store.Ended(t.ctx)
	}
}
