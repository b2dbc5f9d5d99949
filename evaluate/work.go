package evaluate

import (
	"context"
	"sync"
	"time"

	"memoryd"
	"memoryd/internal/lifecycle"
)

// outcome is what a worker found out about a job: an evaluation of the model, fresh
// or from the cache, or why there is none.
type outcome struct {
	j      *job
	known  // its evaluation
	cached bool
	err    error
}

// work judges jobs until the queue is closed.
func (d *Evaluator) work(ctx context.Context) {
	for {
		jobs := d.queue.next(d.batching.size(d.cfg.BatchSize, d.now()))
		if jobs == nil {
			return
		}
		if jobs = d.stillOurs(ctx, jobs); len(jobs) == 0 {
			continue
		}
		done := d.judgeJobs(ctx, jobs)
		if ctx.Err() != nil {
			done = withAnswer(done) // the others are put back by Stop
		}
		d.conclude(ctx, done)
	}
}

func withAnswer(all []outcome) []outcome {
	var some []outcome
	for _, o := range all {
		if o.err == nil {
			some = append(some, o)
		}
	}
	return some
}

// judgeJobs finds an evaluation for each job: in the cache, else from the model.
func (d *Evaluator) judgeJobs(ctx context.Context, jobs []*job) (all []outcome) {
	var open []*job
	for _, j := range jobs {
		if k, ok := d.cache.find(ctx, j.cache, d.now()); ok {
			all = append(all, outcome{j: j, known: k, cached: true})
			continue
		}
		open = append(open, j)
	}
	if len(open) == 0 {
		return all
	}
	return append(all, d.askSafely(ctx, open)...)
}

// askSafely turns a panic into a failed try of all jobs: a defect in reading one
// reply must not end the worker.
func (d *Evaluator) askSafely(ctx context.Context, jobs []*job) (all []outcome) {
	log := d.log.With("workspace", jobs[0].ref.Workspace, "tool", jobs[0].ref.Tool)
	err := lifecycle.Do(ctx, log, "judging", func() error {
		examples := d.examples(ctx, jobs[0].ref)
		if len(jobs) == 1 {
			all = []outcome{d.askAlone(ctx, jobs[0], examples)}
		} else {
			all = d.askTogether(ctx, jobs, examples)
		}
		return nil
	})
	if err == nil {
		return all
	}
	err = &memoryd.ModelError{Reason: reasonInternal, Err: err}
	all = nil
	for _, j := range jobs {
		all = append(all, outcome{j: j, err: err})
	}
	return all
}

func (d *Evaluator) examples(ctx context.Context, ref memoryd.ToolRef) (list []example) {
	if d.cfg.EarlierVerdicts > 0 {
		// Without the history there are no examples, which does no harm.
		_ = d.profiles.with(ctx, ref, func(p *profile) { list = p.examples(d.cfg.EarlierVerdicts) })
	}
	return list
}

// batching says how many calls may share a request. A model that cannot keep
// several calls apart costs more with batches than without, so after three such
// answers in a row each call is asked alone for a while.
type batching struct {
	mu     sync.Mutex
	misses int
	until  time.Time
}

const (
	batchMisses = 3
	batchPause  = 10 * time.Minute
)

func (b *batching) size(most int, now time.Time) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now.Before(b.until) {
		return 1
	}
	return most
}

// note takes in how many of a batch's calls got an evaluation.
func (b *batching) note(asked, answered int, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if 2*answered >= asked {
		b.misses = 0
		return
	}
	if b.misses++; b.misses >= batchMisses {
		b.misses, b.until = 0, now.Add(batchPause)
	}
}
