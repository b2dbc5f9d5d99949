package compact

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"memoryd/compact/chat"
)

// run is one compaction.
func (c *Compactor) run(ctx context.Context, r Request, name string, prof profile, settings string, prog *progress) (Result, error) {
	began := c.now()
	if err := ctx.Err(); err != nil {
		return Result{}, context.Cause(ctx)
	}
	conv, err := read(r, c.counterFor(r.Model), c.cfg.MediaTokens)
	if err != nil {
		return Result{}, err
	}
	c.learned.learn(r.Model, conv.total, r.ReportedTokens)
	w := &work{c: c, r: r, t: &tiers{c: conv, redactOn: c.cfg.Redact, weights: c.weights}, settings: settings, prog: prog}
	w.report = Report{
		Profile: name, TokensBefore: conv.total, TokensAfter: conv.total,
		MessagesBefore: len(conv.messages), MessagesAfter: len(conv.messages),
	}
	keys := prefixKeys(settings, r)
	var res Result
	if p, ok := c.replayed(r, keys); ok {
		conv.classify(prof.excluded())
		w.report.Before = conv.breakdown()
		res, err = w.runOn(ctx, prof, p)
	} else {
		res, err = w.do(ctx, prof)
	}
	if err != nil {
		return Result{}, err
	}
	if res.Compacted && !r.DryRun {
		c.replays.put(keys[len(r.Messages)], replay{len(r.Messages), res})
	}
	res.Report.WallSeconds = c.now().Sub(began).Seconds()
	c.log.DebugContext(ctx, "conversation compacted", "profile", name, "reason", string(res.Reason), "compacted", res.Compacted,
		"tokens_before", res.Report.TokensBefore, "tokens_after", res.Report.TokensAfter, "model_calls", res.Report.ModelCalls)
	return res, nil
}

// work is the state of one run.
type work struct {
	c        *Compactor
	r        Request
	t        *tiers
	settings string
	prog     *progress
	report   Report
	// sent are the request's messages when the run works on what their beginning
	// became earlier; nil otherwise.
	sent []chat.Message
}

func (w *work) do(ctx context.Context, prof profile) (Result, error) {
	conv := w.t.c
	if err := conv.recognise(ctx, w.c.store, w.r.Workspace); err != nil {
		if ctx.Err() != nil {
			return Result{}, context.Cause(ctx)
		}
		conv.classify(prof.excluded())
		return w.unchanged(StoreFailed, "the store of originals cannot be read"), nil
	}
	conv.classify(prof.excluded())
	w.report.Before = conv.breakdown()
	w.report.ExcludedTools = conv.excludedTools()
	w.report.OldestCallAge = conv.oldestCall()
	if v := w.resting(); v != nil {
		return w.unchanged(v.reason, v.detail), nil
	}
	p, v := prof.plan(w.t, w.r)
	if v != nil {
		return w.unchanged(v.reason, v.detail), nil
	}
	w.prog.start(len(p.remove)+len(p.edits), conv.total)
	return w.carryOut(ctx, p)
}

// resting says no when too little is new since the last compaction.
func (w *work) resting() *verdict {
	conv := w.t.c
	for i := range slices.Backward(conv.messages) {
		rec := conv.known[i]
		if rec == nil {
			continue
		}
		n, ok := conv.since(rec)
		if !ok {
			return nil
		}
		if n == len(conv.messages) && rec.Settings == w.settings {
			return &verdict{AlreadyCompacted, "no message was added since the last compaction"}
		}
		fresh := 0
		for j := n; j < len(conv.messages); j++ {
			fresh += conv.cost[j]
		}
		need := int(w.c.cfg.CoolDownFraction * float64(rec.Tokens))
		over := w.r.MaxInputTokens > 0 && conv.total > w.r.MaxInputTokens && rec.Tokens <= w.r.MaxInputTokens
		if !w.r.Force && rec.Settings == w.settings && fresh < need && !over {
			return &verdict{CoolingDown, fmt.Sprintf("%d tokens were added since the last compaction, the next waits for %d", fresh, need)}
		}
		return nil
	}
	return nil
}

// unchanged returns the input.
func (w *work) unchanged(reason Reason, detail string) Result {
	conv := w.t.c
	rep := w.report
	rep.After = rep.Before
	rep.Messages = make([]Fate, len(conv.messages))
	for i := range conv.messages {
		f := Fate{Index: i, Role: conv.messages[i].Role, Tokens: conv.cost[i], Output: i}
		f.Disposition, f.Why = conv.keptWhy(i)
		rep.Messages[i] = f
	}
	rep.Cache = cacheOf(conv.sized(), conv.sized())
	out := w.r.Messages
	if out == nil {
		out = []jsontext.Value{}
	}
	return Result{Reason: reason, Detail: detail, Messages: out, Report: rep}
}

// kept lists the messages that stay, as they will be.
func (t *tiers) kept(p *plan) []chat.Message {
	gone := map[int]bool{}
	for _, u := range p.remove {
		gone[u] = true
	}
	var ms []chat.Message
	for i := range t.c.messages {
		m := t.c.messages[i]
		if gone[t.c.unitOf[i]] || m.Kind == chat.System {
			continue
		}
		if e, ok := p.edits[i]; ok {
			m = e
		}
		ms = append(ms, m)
	}
	return ms
}
