package powerloss

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	"memoryd"
	"memoryd/store"
	"memoryd/store/mem"
)

// client sends one operation after another. What a power cut leaves of its
// workspace has to be what its operations up to some point made: at least all
// that were acknowledged, and at most the one that was under way.
type client struct {
	*maker
	ops []sent
}

// sent is an operation, with the numbers of disk events before it was sent and
// when its answer came.
type sent struct {
	op      op
	start   int
	acked   int // pending while there was no answer
	answers string
}

const pending = -1

// run sends n operations, or fewer if the store stops answering.
func (c *client) run(ctx context.Context, s store.Store, d *disk, n int) error {
	for range n {
		i := len(c.ops)
		c.ops = append(c.ops, sent{op: c.next(), start: d.now(), acked: pending})
		got, err := c.ops[i].op(ctx, s)
		if err != nil {
			return err
		}
		c.ops[i].answers, c.ops[i].acked = got, d.now()
	}
	return nil
}

// at tells how many operations had been acknowledged, and started, when the
// disk had seen so many events.
func (c *client) at(events int) (acked, started int) {
	for _, o := range c.ops {
		if o.start <= events {
			started++
		}
		if o.acked != pending && o.acked <= events {
			acked++
		}
	}
	return acked, started
}

// model gives a store on which the first n operations were done.
func (c *client) model(ctx context.Context, n int) (store.Store, error) {
	m := mem.New()
	for i, o := range c.ops[:n] {
		want, err := o.op(ctx, m)
		if err != nil {
			return nil, fmt.Errorf("%s: operation %d on the model: %w", c.workspace, i, err)
		}
		if o.acked != pending && o.answers != want {
			return nil, fmt.Errorf("%s: operation %d was answered %s, want %s", c.workspace, i, o.answers, want)
		}
	}
	return m, nil
}

// lostError says that the store holds what no moment of the past explains.
type lostError struct{ text string }

func (e *lostError) Error() string { return e.text }

// check compares the client's workspace with its past and tells how many of its
// operations are in it.
func (c *client) check(ctx context.Context, s store.Store, events int) (int, error) {
	got, err := c.snapshot(ctx, s)
	if err != nil {
		return 0, err
	}
	acked, started := c.at(events)
	var wanted []string
	for n := acked; n <= started; n++ {
		m, err := c.model(ctx, n)
		if err != nil {
			return 0, err
		}
		want, err := c.snapshot(ctx, m)
		if err != nil {
			return 0, err
		}
		if got == want {
			return n, nil
		}
		wanted = append(wanted, want)
	}
	return 0, &lostError{fmt.Sprintf("%s after %d acknowledged of %d operations: got\n%swant\n%s",
		c.workspace, acked, started, got, strings.Join(wanted, "or\n"))}
}

// resume forgets what did not survive and takes the rest as done.
func (c *client) resume(n int) {
	c.ops = c.ops[:n]
	for i := range c.ops {
		c.ops[i].start = 0
		if c.ops[i].acked != pending {
			c.ops[i].acked = 0
		}
	}
}

// snapshot writes down all that the workspace holds, but for the store's clock.
func (c *client) snapshot(ctx context.Context, s store.Store) (string, error) {
	var b strings.Builder
	tools, err := s.ListTools(ctx, c.workspace, "", 100)
	if err != nil {
		return "", err
	}
	for _, t := range tools {
		fmt.Fprintf(&b, "%s %+v kept %d revision %d guideline %+v\n", t.Tool, t.Counters, t.Kept, t.Revision, t.Guideline)
		calls, err := s.History(ctx, t.ToolRef, 0)
		if err != nil {
			return "", err
		}
		for _, call := range calls {
			overruled := call.Evaluation.Overruled
			call.Evaluation.Overruled = nil // a pointer would be printed as its address
			fmt.Fprintf(&b, "  %d %s %s %v %s %x %+v overruled %+v\n", call.Seq, call.Key[:], call.Input, call.Success,
				call.Metadata, sha256.Sum256([]byte(call.Output)), call.Evaluation, overruled)
		}
	}
	for n := range 3 {
		e, err := s.CachedVerdict(ctx, c.cacheKey(n))
		if err != nil && !memoryd.IsKind(err, memoryd.NotFound) {
			return "", err
		}
		fmt.Fprintf(&b, "cached %d %s %v\n", n, e.Summary, err == nil)
	}
	err = c.records(ctx, s, &b)
	return b.String(), err
}

func (c *client) records(ctx context.Context, s store.Store, b *strings.Builder) error {
	for n := range 4 {
		r, err := s.Record(ctx, c.recordKey(n))
		if err != nil && !memoryd.IsKind(err, memoryd.NotFound) {
			return err
		}
		fmt.Fprintf(b, "record %d: %d %s\n", n, r.Revision, r.Data)
	}
	return nil
}
