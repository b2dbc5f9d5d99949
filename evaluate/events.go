package evaluate

import (
	"context"

	"memoryd"
)

// Event is an evaluation that was reached, or the end of a call that nobody could
// judge.
type Event struct {
	memoryd.ToolRef
	Key memoryd.CallKey
	// Evaluation is what the call got: judged, or failed.
	Evaluation memoryd.Evaluation
	// Said is what the judge itself said, before what the rules know bounded its
	// score; the same as Evaluation where nothing was lowered. It is the one to
	// watch a judge by.
	Said memoryd.Evaluation
	// Ruled is what the rules said, and Sure whether they were sure of it.
	Ruled memoryd.Evaluation
	Sure  bool
}

// Observe names who is told of each evaluation: of those that Prejudge reached, and
// of the others once the store has them. A call that is sent twice is prejudged
// twice, and told twice. f is called from many goroutines and must not block.
// Observe comes before Start and Prejudge.
func (d *Evaluator) Observe(f func(Event)) { d.observer = f }

func (d *Evaluator) tellPrejudged(c *memoryd.Call, o opinion, said memoryd.Evaluation) {
	d.observer(Event{c.ToolRef, c.Key, c.Evaluation, said, o.ruled, o.sure})
}

// tellSettled tells of those that the store has taken.
func (d *Evaluator) tellSettled(list []settled, written []bool) {
	for i, s := range list {
		if s.e.State != memoryd.Pending && i < len(written) && written[i] {
			d.observer(Event{s.j.ref, s.j.key, s.e, s.said, s.j.ruled, s.j.sure})
		}
	}
}

// Overruled takes in that a person gave call the evaluation e, once the store has
// it: equal calls that would go to the model get the same evaluation from now on,
// also from other processes and from later versions of the judge, and what the
// rules remember of the tool is read anew. What the rules are sure of, and texts
// that address the judge, go by the rules as before.
func (d *Evaluator) Overruled(ctx context.Context, call memoryd.Call, e memoryd.Evaluation) error {
	d.profiles.drop(call.ToolRef)
	if e.State != memoryd.Judged {
		return memoryd.Errorf(memoryd.Invalid, "a correction is a verdict")
	}
	e.Overruled = nil
	if err := d.cache.keep(ctx, personKey(&call), e, d.now()); err != nil {
		d.counters.count(func(s *Stats) { s.LedgerErrors++ })
		return err
	}
	return nil
}
