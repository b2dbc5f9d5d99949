package evaluate

import (
	"context"
	"encoding/binary"
	"math"

	"memoryd"
	"memoryd/evaluate/kinds"
	"memoryd/evaluate/rules"
	"memoryd/internal/origin"
	"memoryd/internal/reading"
	"memoryd/internal/textsafe"
	"memoryd/store"
)

// A tool may ask the model so many questions at once, less and less as it gets to know its
// outputs, and one more for each so many calls that need none: together 60 for its first
// 1,000 calls and 20 for each further 1,000. What is beyond that the rules decide, unsure
// as they are.
const (
	questionsAtOnce  = 40.0
	questionsPerCall = 0.02
	newTool          = 1000
)

// earn gives a tool what one more call of it is worth in questions.
func (p *profile) earn() {
	p.calls++
	most := max(2, questionsAtOnce*(1-float64(p.calls)/newTool))
	p.questions = min(most, p.questions+questionsPerCall)
}

// recall finds what is known of the kind of a call that the rules say v of.
func (d *Evaluator) recall(c *memoryd.Call, r *reading.Reading, book *kinds.Book, v *rules.Result) (k *reading.Kind, known *kinds.Verdict) {
	asks := d.judge != JudgeRules && !v.Sure
	if book.Empty() && !asks {
		return nil, nil
	}
	kind := r.Kind()
	if said, ok := book.Decide(&kind, c.Source()); ok {
		known = &said
	}
	return &kind, known
}

// holds reports whether what is known of the call's kind decides: a person's word always,
// a model's where the rules are unsure, but for the calls that are asked about to notice
// a kind that changes.
func (d *Evaluator) holds(c *memoryd.Call, o *opinion) bool {
	switch {
	case o.known == nil:
		return false
	case o.known.ByPerson():
		return true
	}
	return !o.sure && d.judge != JudgeLLM && (o.bound.alone || !d.sampled(c))
}

// sampled reports whether a call is one of those that are asked about all the same. Equal
// calls are, or are not, in every process.
func (d *Evaluator) sampled(c *memoryd.Call) bool {
	return float64(binary.BigEndian.Uint32(c.Key[:4]))/math.MaxUint32 < d.cfg.KindSampling
}

// everyKindOnce reports whether the model is asked once for each kind, not for each call.
func (d *Evaluator) everyKindOnce() bool { return d.judge == JudgeCascade && d.cfg.KindSampling < 1 }

// asKind is the verdict on a kind as a call of it takes it over.
func (d *Evaluator) asKind(known *kinds.Verdict, o *opinion) decision {
	who := known.By
	if known.ByPerson() {
		who = "a person"
	}
	e := o.ruled
	e.JudgedBy, e.Rule, e.JudgeVersion, e.JudgedAt = memoryd.KindPrefix+known.By, "", known.Version, d.now()
	if e.Score != known.Score {
		e.Score = known.Score
		e.Summary = rules.Outcome(known.Score) + ": its output is of a kind that " + who + " judged."
	}
	template, _ := origin.Show(origin.Verdict, origin.Answer, o.kind.Template, maxEvaluation)
	e.Evaluation = rules.Outcome(known.Score) + ": " + who + " judged outputs of this kind so (" + template + ")."
	if known.ByPerson() && known.Reason != "" {
		e.Evaluation += " " + known.Reason
	}
	e.Evaluation = textsafe.Line(e.Evaluation, maxEvaluation)
	said := e
	ceiling := o.bound
	if known.ByPerson() {
		ceiling = o.facts
	}
	e, _ = ceiling.apply(e, ceiling.lower(o.ruled))
	return decision{e, said}
}

// mayAsk reports whether a question on a call of the tool is left, and counts it.
func (d *Evaluator) mayAsk(p *profile) bool {
	if !d.everyKindOnce() {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.questions < 1 {
		return false
	}
	p.questions--
	return true
}

// reached gives what became known of the kind of a job's call while it waited; nil where
// that is nothing.
func (d *Evaluator) reached(ctx context.Context, j *job) (known *kinds.Verdict) {
	if j.like == j.cache.judge {
		return nil
	}
	_ = d.profiles.with(ctx, j.ref, func(p *profile) {
		if v, ok := p.book.Decide(j.kind, j.source); ok {
			known = &v
		}
	})
	return known
}

// learnTries is how often a label is written when another process writes the same kind.
const learnTries = 3

// learn remembers what the model said of a call for its like. What fails costs another
// question, nothing else.
func (d *Evaluator) learn(ctx context.Context, j *job, e memoryd.Evaluation) {
	if j.kind == nil || !d.everyKindOnce() {
		return
	}
	id := j.kind.ID()
	key := store.RecordKey{ToolRef: j.ref, Kind: kinds.RecordKind, ID: id.String()}
	label := kinds.Label{
		IDs: j.kind.IDs, Score: e.Score, By: e.JudgedBy, Source: j.source, Call: j.key, At: e.JudgedAt,
		Version: e.JudgeVersion,
	}
	for range learnTries {
		labels, err := kinds.Write(ctx, d.ledger, key, func(old []kinds.Label) []kinds.Label { return kinds.Add(old, label) })
		switch {
		case memoryd.IsKind(err, memoryd.Conflict):
			continue
		case err != nil:
			d.counters.count(func(s *Stats) { s.LedgerErrors++ })
			d.log.DebugContext(ctx, "a verdict was not remembered for its kind", "workspace", j.ref.Workspace, "tool", j.ref.Tool, "err", err)
			labels = kinds.Add(nil, label)
		}
		_ = d.profiles.with(ctx, j.ref, func(p *profile) { p.book.Put(id, labels) })
		return
	}
}

// Relabelled must be called when a person labelled a kind of a tool's outputs, or removed a
// label.
func (d *Evaluator) Relabelled(ref memoryd.ToolRef) { d.profiles.drop(ref) }

// Moved must be called when tools of a workspace were removed or replaced.
func (d *Evaluator) Moved(workspace string) { d.profiles.forget(workspace) }

// Under returns the verdict on a call by the rules and a book of kinds, and whether the judge
// is sure. It changes nothing.
func (d *Evaluator) Under(ctx context.Context, c *memoryd.Call, book *kinds.Book) (e memoryd.Evaluation, sure bool) {
	o := d.considerBy(ctx, c, book)
	if o.known != nil && (o.known.ByPerson() || !o.sure) {
		return d.asKind(o.known, &o).e, true
	}
	return o.ruled, o.sure
}
