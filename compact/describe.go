package compact

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"memoryd"
	"memoryd/compact/facts"
	"memoryd/internal/lifecycle"
)

// Model answers a prompt.
type Model interface {
	// Complete fails with a *memoryd.ModelError where the server or its answer is
	// at fault.
	Complete(ctx context.Context, p memoryd.Prompt) (memoryd.Completion, error)
}

// described is what the models gave for a plan.
type described struct {
	covered  map[int]bool
	lines    []string
	failures []string
	calls    int
	reused   int
	batches  int
	usage    memoryd.Usage
	seconds  float64
	groups   int // units that were shown to a model
}

// describe asks the models for all batches of the plan at once, at most Parallel
// at a time. A batch that fails is left to the deterministic extract; what other
// batches gave is kept and remembered, so that a later run pays only for the rest.
// The only error is that ctx ended.
func (c *Compactor) describe(ctx context.Context, t *tiers, p *plan, r Request, prog *progress) (described, error) {
	cfg := c.cfg.Model
	promptTokens := cfg.PromptTokens
	if p.promptCap > 0 {
		promptTokens = max(p.promptCap, t.c.count(instructions)+300)
	}
	bs := t.batches(p, promptTokens)
	d := described{covered: map[int]bool{}, batches: len(bs)}
	if len(bs) == 0 {
		return d, nil
	}
	tell := min(cfg.AnswerTokens, max(30, p.room/2/len(bs)))
	if p.answerCap > 0 {
		tell = min(tell, p.answerCap)
	}
	answers := make([][]string, len(bs))
	var mu sync.Mutex
	g, gctx := lifecycle.NewGroup(ctx, c.log, "describing", cfg.Parallel)
	for i := range bs {
		b := &bs[i]
		b.tell = min(tell, max(30, t.c.tokensOf(b.units)/2))
		b.key = shortHash([]byte(fmt.Sprint(p.prompt, "\x00", p.modelName, "\x00", b.tell, "\x00", strings.Join(b.lines, "\n"))))
		g.Go(func() error {
			var a answer
			if err := lifecycle.Do(gctx, c.log, "describing", func() error { a = c.ask(gctx, t, p, b, r); return nil }); err != nil {
				a.err = err
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			mu.Lock()
			defer mu.Unlock()
			d.calls += a.calls
			d.seconds += a.seconds
			d.usage.PromptTokens += a.usage.PromptTokens
			d.usage.CompletionTokens += a.usage.CompletionTokens
			if a.reused {
				d.reused++
			}
			answers[i] = a.lines
			if a.err != nil {
				d.failures = append(d.failures, fmt.Sprintf("batch %d of %d: %s", i+1, len(bs), reasonOf(a.err)))
			}
			prog.units(len(b.units))
			d.groups += len(b.units)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return d, err
	}
	slices.Sort(d.failures)
	for i, lines := range answers {
		if len(lines) == 0 {
			continue
		}
		d.lines = append(d.lines, lines...)
		for _, u := range bs[i].units {
			d.covered[u] = true
		}
	}
	return d, nil
}

// answer is what came of one batch.
type answer struct {
	lines   []string
	err     error
	reused  bool
	calls   int
	usage   memoryd.Usage
	seconds float64
}

// ask gets the description of one batch: from memory, or from the first model
// that gives a good one. An answer that is too long is asked for once more,
// shorter.
func (c *Compactor) ask(ctx context.Context, t *tiers, p *plan, b *batch, r Request) answer {
	if lines, ok := c.answers.get(b.key); ok {
		return answer{lines: lines, reused: true}
	}
	var source []facts.Span
	for _, u := range b.units {
		for _, i := range t.c.units[u].Index {
			source = append(source, spansOf(&t.c.messages[i], i)...)
		}
	}
	a := answer{err: errors.New("no model is configured")}
	for _, m := range c.modelsFor(p.modelName) {
		words := 0
		for range 2 {
			prompt := b.prompt(p, r.Workspace, words)
			if err := c.guard.allow(r, t.c.count(prompt.System)+t.c.count(prompt.User)+b.tell); err != nil {
				a.err = err
				return a
			}
			began := c.now()
			reply, err := c.complete(ctx, m, prompt)
			a.seconds += c.now().Sub(began).Seconds()
			a.calls++
			a.usage.PromptTokens += reply.Usage.PromptTokens
			a.usage.CompletionTokens += reply.Usage.CompletionTokens
			c.guard.spent(r, reply.Usage.PromptTokens+reply.Usage.CompletionTokens)
			if ctx.Err() != nil {
				a.err = context.Cause(ctx)
				return a
			}
			if err == nil {
				a.lines, err = t.checkAnswer(reply.Text, reply.Usage.CompletionTokens, b.tell, source)
			}
			if a.err = err; err == nil {
				c.guard.success()
				c.answers.put(b.key, a.lines)
				return a
			}
			if !errors.Is(err, errTooLong) && !errors.Is(err, errTruncated) {
				break
			}
			words = b.tell / 2
		}
		c.guard.failure()
	}
	return a
}

// complete asks one model; a panic or a time-out is an error like any other.
func (c *Compactor) complete(ctx context.Context, m Model, prompt memoryd.Prompt) (reply memoryd.Completion, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Model.Timeout)
	defer cancel()
	err = lifecycle.Do(ctx, c.log, "describing", func() (err error) {
		reply, err = m.Complete(ctx, prompt)
		return err
	})
	return reply, err
}

// modelsFor gives the models to try in order. A name puts the model of that name
// first; a provider prefix may be left out.
func (c *Compactor) modelsFor(name string) []Model {
	var first, rest []Model
	_, bare := splitModel(name)
	for _, m := range c.models {
		if named, ok := m.(interface{ Name() string }); ok && name != "" {
			if _, n := splitModel(named.Name()); n == bare {
				first = append(first, m)
				continue
			}
		}
		rest = append(rest, m)
	}
	return append(first, rest...)
}

// reasonOf is the part of an error that a report may show.
func reasonOf(err error) string {
	if me, ok := errors.AsType[*memoryd.ModelError](err); ok {
		return me.Reason
	}
	for _, known := range []error{errEmpty, errTooLong, errTruncated, errToolCall, errInvented, errPaused, errSpent} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "timeout"
	}
	return "failed"
}

// now is the clock of the Compactor.
func (c *Compactor) now() time.Time { return c.clock() }
