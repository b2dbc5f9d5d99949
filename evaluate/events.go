package evaluate

import (
	"context"

	"memoryd"
)

// Event is a verdict that was reached, or the end of a call that nobody could
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

// Observe names who is told of each verdict: of those that Prejudge reached, and
// of the others once the store has them. A call that is sent twice is prejudged
// twice, and told twice. f is called from many goroutines and must not block.
// Observe comes before Start and Prejudge.
func (d *Desk) Observe(f func(Event)) { d.told = f }

func (d *Desk) tellPrejudged(c *memoryd.Call, o opinion, said memoryd.Evaluation) {
	d.told(Event{c.ToolRef, c.Key, c.Evaluation, said, o.ruled, o.sure})
}

// tellSettled tells of those that the store has taken.
func (d *Desk) tellSettled(list []settled, written []bool) {
	for i, s := range list {
		if s.e.State != memoryd.Pending && i < len(written) && written[i] {
			d.told(Event{s.j.ref, s.j.key, s.e, s.said, s.j.ruled, s.j.sure})
		}
	}
}

// Overruled takes in that a person gave call the evaluation e, once the store has
// it: equal calls that would go to the model get the same verdict from now on,
// also from other processes and from later versions of the judge, and what the
// rules remember of the tool is read anew. What the rules are sure of, and texts
// that address the judge, go by the rules as before.
func (d *Desk) Overruled(ctx context.Context, call memoryd.Call, e memoryd.Evaluation) error {
	d.profiles.drop(call.ToolRef)
	if e.State != memoryd.Judged {
		return memoryd.Errorf(memoryd.Invalid, "a correction is a verdict")
	}
	e.Overruled = nil
	if err := d.verdicts.keep(ctx, personKey(&call), e, d.now()); err != nil {
		d.tally.count(func(s *Stats) { s.LedgerErrors++ })
		return err
	}
	return nil
}
