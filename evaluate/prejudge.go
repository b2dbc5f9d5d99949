package evaluate

import (
	"cmp"
	"context"
	"runtime"
	"strings"
	"time"

	"memoryd"
	"memoryd/evaluate/kinds"
	"memoryd/evaluate/rules"
	"memoryd/internal/lifecycle"
	"memoryd/internal/reading"
)

// handover is how long a pending call is held back from the sweep, so that the
// request that brings it can store it and hand it over first. It is short,
// because it is also how long such a call waits for the next process when this
// one dies.
const handover = 15 * time.Second

// Prejudge fills in the evaluations that need no model: with the judge "rules" all of them;
// otherwise those that the rules are sure of or must decide alone, and those known from an
// equal call. The others stay pending. They are hidden from the sweep for a moment, because
// Await is expected to receive them at once. Calls that have an evaluation keep it.
func (d *Evaluator) Prejudge(ctx context.Context, calls []memoryd.Call) {
	held := d.now().Add(min(handover, d.cfg.Lease))
	room := d.queue.room()
	for i := range calls {
		if i > 0 {
			runtime.Gosched() // small requests need not wait for a whole batch
		}
		c := &calls[i]
		if cmp.Or(c.Evaluation.State, memoryd.Pending) != memoryd.Pending {
			continue
		}
		c.Evaluation.State = memoryd.Pending
		o := d.consider(ctx, c)
		if v, ok := d.withoutModel(ctx, c, &o); ok {
			c.Evaluation = v.e
			d.observe(&o, c)
			d.observer(Event{c.ToolRef, c.Key, c.Metadata, c.Evaluation, v.said, o.ruled, o.sure})
			continue
		}
		if room--; room >= 0 {
			c.Evaluation.NotBefore = held
		}
	}
}

// opinion is what is known of a call without a model.
type opinion struct {
	ruled memoryd.Evaluation // by the rules, within the bound
	bound bound
	facts bound // that hold also for what a person says of a kind
	sure  bool
	doubt rules.Doubt
	brief brief
	cache keys
	kind  *reading.Kind  // nil where nobody needs it
	known *kinds.Verdict // on the kind; nil where there is none
	tool  *profile
}

// consider asks the rules, and what is known of the kind.
func (d *Evaluator) consider(ctx context.Context, c *memoryd.Call) opinion {
	return d.considerBy(ctx, c, nil)
}

// considerBy is consider with another book than the tool's, where there is one.
func (d *Evaluator) considerBy(ctx context.Context, c *memoryd.Call, book *kinds.Book) opinion {
	var v rules.Result
	var o opinion
	err := d.profiles.with(ctx, c.ToolRef, func(p *profile) { //nolint:contextcheck // rules take microseconds
		var r *reading.Reading
		if v, r = d.ask(c, p.rules); r != nil {
			defer r.Release()
			o.kind, o.known = d.recall(c, r, cmp.Or(book, p.book), &v)
		}
		o.tool = p
	})
	if err != nil {
		d.counters.count(func(s *Stats) { s.LedgerErrors++ })
		d.log.DebugContext(ctx, "judged without the tool's history", "workspace", c.Workspace, "tool", c.Tool, "err", err)
	}
	v.State, v.JudgedBy, v.JudgedAt = memoryd.Judged, memoryd.JudgedByRules, d.now()
	o.ruled, o.sure, o.doubt = v.Evaluation, v.Sure, v.Doubt
	alone := d.judge == JudgeRules || d.cfg.Barred(c.Workspace)
	if alone && o.known == nil {
		o.bound = bound{ceiling: v.Score, alone: true}
		return o
	}
	o.brief, o.cache = newBrief(c, &d.cfg), d.keysOf(c)
	addressed := addressesJudge(o.brief)
	o.bound, o.facts = boundOf(c, addressed, v), factsOf(c, addressed, v)
	o.bound.alone = o.bound.alone || alone
	o.ruled = o.bound.lower(o.ruled)
	return o
}

// ask lets the rules judge. Rules that panic over hostile text are a defect that
// must not take the request with them: such a call counts as a partial success
// that nobody is sure of. The reading is nil where already that panicked.
func (d *Evaluator) ask(c *memoryd.Call, p *rules.Profile) (v rules.Result, r *reading.Reading) {
	err := lifecycle.Do(context.Background(), d.log, "rules", func() error {
		r = reading.Read(c.Input, c.Output)
		v = d.rules.JudgeRead(c, r, p)
		return nil
	})
	if err == nil {
		return v, r
	}
	d.log.Error("the rules could not read a call", "workspace", c.Workspace, "tool", c.Tool, "key", c.Key.String(), "err", err)
	return rules.Result{Evaluation: memoryd.Evaluation{
		Score: memoryd.ScorePartial, Rule: "none", JudgeVersion: d.rules.Version(),
		Summary: "The rules could not read this call.", Evaluation: "The rules failed on this call.",
	}}, r
}

// doubt is what the rules' score says of a call that was judged before.
func (d *Evaluator) doubt(c *memoryd.Call) rules.Doubt {
	v, r := d.ask(c, nil)
	if r != nil {
		r.Release()
	}
	return v.Doubt
}

// decision is an evaluation and what its judge said before it was bounded.
type decision struct{ e, said memoryd.Evaluation }

// withoutModel decides the call if no model is needed.
func (d *Evaluator) withoutModel(ctx context.Context, c *memoryd.Call, o *opinion) (decision, bool) {
	if d.holds(c, o) {
		d.counters.count(func(s *Stats) { s.KindVerdicts++ })
		return d.asKind(o.known, o), true
	}
	if o.bound.alone || o.sure && d.judge == JudgeCascade {
		d.counters.count(func(s *Stats) { s.RuleVerdicts[o.ruled.Rule]++ })
		return decision{o.ruled, o.ruled}, true
	}
	known, ok := d.cache.find(ctx, o.cache, d.now())
	if !ok {
		return decision{}, false
	}
	return d.bounded(known, o.bound, o.ruled), true
}

// bounded counts an evaluation of the model or of the cache, and brings it within
// what the rules know. A person's evaluation is above that.
func (d *Evaluator) bounded(k known, b bound, ruled memoryd.Evaluation) decision {
	said := k.e
	e, bounded := said, false
	if !k.byPerson {
		e, bounded = b.apply(said, ruled)
	}
	d.counters.count(func(s *Stats) {
		switch {
		case said.JudgedBy == memoryd.JudgedByCache:
			s.CacheHits++
		case !strings.HasPrefix(said.JudgedBy, memoryd.KindPrefix): // counted as such
			s.ModelVerdicts++
		}
		if bounded {
			s.Bounded++
		}
	})
	return decision{e, said}
}

// observe lets the tool's profile learn from a judged call.
func (d *Evaluator) observe(o *opinion, c *memoryd.Call) {
	o.tool.mu.Lock()
	defer o.tool.mu.Unlock()
	d.profiles.observe(o, c)
}
