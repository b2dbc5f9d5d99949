package evaluate

import (
	"context"
	"time"

	"memoryd"
	"memoryd/evaluate/rules"
	"memoryd/internal/lifecycle"
)

// handover is how long a pending call is held back from the sweep, so that the
// request that brings it can store it and hand it over first. It is short,
// because it is also how long such a call waits for the next process when this
// one dies.
const handover = 15 * time.Second

// Prejudge fills in the evaluations that need no model: with judge rules all of
// them, otherwise those that the rules are sure of or must decide alone, and
// those whose evaluation is known from an equal call. The others stay pending, held
// back from the sweep for a moment, because Await is expected to hand them over
// at once. Calls that have an evaluation keep it.
func (d *Evaluator) Prejudge(ctx context.Context, calls []memoryd.Call) {
	held := d.now().Add(min(handover, d.cfg.Lease))
	room := d.queue.room()
	for i := range calls {
		c := &calls[i]
		if c.Evaluation.State != memoryd.Pending && c.Evaluation.State != "" {
			continue
		}
		c.Evaluation.State = memoryd.Pending
		o := d.consider(ctx, c)
		if v, ok := d.withoutModel(ctx, c, o); ok {
			c.Evaluation = v.e
			d.observe(ctx, c)
			d.tellPrejudged(c, o, v.said)
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
	sure  bool
	brief brief
}

// consider asks the rules.
func (d *Evaluator) consider(ctx context.Context, c *memoryd.Call) opinion {
	var v rules.Result
	err := d.profiles.with(ctx, c.ToolRef, func(p *profile) { v = d.ask(c, p) }) //nolint:contextcheck // rules take microseconds
	if err != nil {
		d.counters.count(func(s *Stats) { s.LedgerErrors++ })
		d.log.DebugContext(ctx, "judged without the tool's history", "workspace", c.Workspace, "tool", c.Tool, "err", err)
	}
	v.State, v.JudgedBy, v.JudgedAt = memoryd.Judged, memoryd.JudgedByRules, d.now()
	if d.judge == JudgeRules || d.cfg.Barred != nil && d.cfg.Barred(c.Workspace) {
		return opinion{ruled: v.Evaluation, bound: bound{ceiling: v.Score, alone: true}, sure: v.Sure}
	}
	b := newBrief(c, d.cfg.MaxInput, d.cfg.MaxOutput)
	b.setting = settingOf(c.Metadata, d.cfg.MaxContext)
	known := boundOf(c, b, v)
	return opinion{ruled: known.lower(v.Evaluation), bound: known, sure: v.Sure, brief: b}
}

// ask lets the rules judge. Rules that panic over hostile text are a defect that
// must not take the request with them: such a call counts as a partial success
// that nobody is sure of.
func (d *Evaluator) ask(c *memoryd.Call, p *profile) (v rules.Result) {
	err := lifecycle.Do(context.Background(), d.log, "rules", func() error {
		v = d.rules.Judge(c, p.rules)
		return nil
	})
	if err == nil {
		return v
	}
	d.log.Error("the rules could not read a call", "workspace", c.Workspace, "tool", c.Tool, "key", c.Key.String(), "err", err)
	return rules.Result{Evaluation: memoryd.Evaluation{
		Score: memoryd.ScorePartial, Rule: "none", JudgeVersion: d.rules.Version(),
		Summary: "The rules could not read this call.", Evaluation: "The rules failed on this call; nothing is known of it.",
	}}
}

// decision is an evaluation and what its judge said before it was bounded.
type decision struct{ e, said memoryd.Evaluation }

// withoutModel decides the call if no model is needed.
func (d *Evaluator) withoutModel(ctx context.Context, c *memoryd.Call, o opinion) (decision, bool) {
	if o.bound.alone || o.sure && d.judge == JudgeCascade {
		d.counters.count(func(s *Stats) { s.RuleVerdicts[o.ruled.Rule]++ })
		return decision{o.ruled, o.ruled}, true
	}
	known, ok := d.cache.find(ctx, d.keysOf(c), d.now())
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
		if said.JudgedBy == memoryd.JudgedByCache {
			s.CacheHits++
		} else {
			s.ModelVerdicts++
		}
		if bounded {
			s.Bounded++
		}
	})
	return decision{e, said}
}

// observe lets the tool's profile learn from a judged call.
func (d *Evaluator) observe(ctx context.Context, c *memoryd.Call) {
	// An error was counted when the call was considered.
	_ = d.profiles.with(ctx, c.ToolRef, func(p *profile) { d.profiles.observe(p, c) })
}
