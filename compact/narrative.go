package compact

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"memoryd"
	"memoryd/compact/chat"
	"memoryd/internal/lifecycle"
	"memoryd/internal/textsafe"
	"memoryd/llm/summarize"
)

// Model answers a prompt.
type Model = memoryd.Model

// instructions is the static part of a request to the model. Data never goes
// there.
const instructions = `You read the older part of a conversation between a user and an assistant with tools. Most of it will be left out. Pick what the assistant cannot go on without: what the user is after and why, what was decided, what was tried and did not work, what is still open.

Copy these sentences or lines word for word from the data, one a line, most important first. Write nothing of your own: what does not stand in the data word for word is thrown away. No headings, no numbering.`

// errors of an answer.
var (
	errEmpty     = errors.New("the answer says nothing")
	errTruncated = fmt.Errorf("the answer was cut off: %w", summarize.ErrTooLong)
	errToolCall  = errors.New("the answer is a tool call")
	errInvented  = errors.New("the answer quotes no line of the conversation")
)

// entry is how a message is shown to the model.
type entry struct {
	Role string `json:"role"`
	Text string `json:"text"`
}

// entryLimit bounds one text shown to the model, as a share of the prompt.
const entryLimit = 0.25

// narrator asks the models which lines matter. They only pick: what they write stands
// nowhere, so that they can claim, order and refuse nothing.
type narrator struct {
	w *run
	p *plan
	s *summary

	mu      sync.Mutex
	answers [][]string
}

// narrate asks for all batches of the plan at once. A batch that fails is left to
// the state and the records; what others gave is kept and remembered, so that a
// later run pays only for the rest. The only error is that ctx ended.
func (w *run) narrate(ctx context.Context, p *plan, s *summary) ([]string, error) {
	c, cfg := w.conv, w.c.cfg.Model
	n := &narrator{w: w, p: p, s: s}
	budget := cfg.PromptTokens
	if p.promptCap > 0 {
		budget = max(p.promptCap, c.count(n.instructions())+300)
	}
	groups := make([][]summarize.Part, len(p.remove))
	for i, u := range p.remove {
		for _, m := range c.units[u].Index {
			groups[i] = append(groups[i], summarize.Part{Label: "message", Data: n.show(&c.messages[m], budget), Required: true})
		}
	}
	room := budget - c.count(n.instructions()) - 150
	batches := summarize.Pack(groups, room, c.count)
	if p.newest && len(batches) > 1 {
		batches = batches[len(batches)-1:]
	}
	n.answers = make([][]string, len(batches))
	w.report.Batches = len(batches)
	tell := min(cfg.AnswerTokens, max(30, int(0.4*float64(p.room))/max(1, len(batches))))
	if p.answerCap > 0 {
		tell = min(tell, p.answerCap)
	}
	g, gctx := lifecycle.NewGroup(ctx, w.c.log, "describing", cfg.Parallel)
	shown := 0
	for i, b := range batches {
		var parts []summarize.Part
		tokens := 0
		for _, k := range b {
			parts = append(parts, groups[k]...)
			tokens += c.unitTokens(p.remove[k])
		}
		shown += len(b)
		g.Go(func() error { return n.batch(gctx, i, len(b), parts, min(tell, max(30, tokens/2)), budget) })
	}
	if err := g.Wait(); err != nil || ctx.Err() != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	slices.Sort(w.report.ModelFailures)
	w.prog.units(len(p.remove) - shown)
	return slices.Concat(n.answers...), nil
}

func (n *narrator) instructions() string { return cmp.Or(strings.TrimSpace(n.p.prompt), instructions) }

// batch gets what one part of the conversation is about: from memory, or from the model.
func (n *narrator) batch(ctx context.Context, i, units int, parts []summarize.Part, tell, budget int) error {
	c := n.w.c
	key := shortHash(fmt.Append(nil, n.p.prompt, "\x00", tell, "\x00", parts))
	lines, reused := c.answers.get(key)
	var t summarize.Answer
	var err error
	if !reused {
		s := summarize.Summarizer{Model: c.model, Timeout: c.cfg.Model.Timeout, Log: c.log}
		t, err = s.Do(ctx, summarize.Request{
			Instructions: n.instructions(), Parts: parts, Budget: budget + c.cfg.SummaryTokens, MaxTokens: tell,
			Workspace: n.w.r.Workspace, Nonce: key[:12], Count: n.w.conv.count,
			Check: func(answer memoryd.Completion) (err error) {
				lines, err = n.picked(answer, tell)
				return err
			},
		})
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err == nil {
			c.answers.put(key, lines)
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	rep := &n.w.report
	rep.ModelCalls += t.Calls
	rep.ModelSeconds += t.Seconds
	rep.ModelPromptTokens += t.Usage.PromptTokens
	rep.ModelCompletionTokens += t.Usage.CompletionTokens
	if reused {
		rep.ReusedSummaries++
	}
	if err != nil {
		rep.ModelFailures = append(rep.ModelFailures, fmt.Sprintf("batch %d of %d: %s", i+1, len(n.answers), reasonOf(err)))
	} else {
		n.answers[i] = lines
	}
	n.w.prog.units(units)
	return nil
}

// show writes a message as the model gets it.
func (n *narrator) show(m *chat.Message, promptTokens int) entry {
	text := summarize.Cut(readable(m, ""), int(entryLimit*float64(promptTokens)*3))
	return entry{m.Role, n.w.conv.safe.mask(text)}
}

// reasonOf is the part of an error that a report may show.
func reasonOf(err error) string {
	if me, ok := errors.AsType[*memoryd.ModelError](err); ok {
		return me.Reason
	}
	for _, known := range []error{
		errEmpty, errTruncated, errToolCall, errInvented,
		summarize.ErrTooLong, summarize.ErrBudget,
	} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	switch {
	case errors.Is(err, summarize.ErrUnusable):
		return errEmpty.Error()
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	}
	return "failed"
}

// picked turns a model's answer into texts that lines of the summary hold, or says why
// it cannot be used.
func (n *narrator) picked(answer memoryd.Completion, limit int) ([]string, error) {
	if used := answer.Usage.CompletionTokens; used > 0 && used >= limit {
		return nil, errTruncated
	}
	text := strings.TrimSpace(thinking.ReplaceAllString(answer.Text, ""))
	if object := strings.HasPrefix(text, "{") && strings.HasSuffix(text, "}"); object ||
		strings.Contains(text, "<tool_call>") || strings.Contains(text, "<function=") {
		return nil, errToolCall
	}
	if n.w.conv.count(text) > limit {
		return nil, summarize.ErrTooLong
	}
	var lines []string
	said := false
	for l := range strings.SplitSeq(text, "\n") {
		l = textsafe.Visible(strings.Trim(l, "-*•>#|\"“” \t\r"))
		said = said || l != ""
		if n.s.records.Holds(l) {
			lines = append(lines, l)
		}
	}
	switch {
	case len(lines) > 0:
		return lines, nil
	case said:
		return nil, errInvented
	}
	return nil, errEmpty
}

// thinking is what a reasoning model put between think tags.
var thinking = regexp.MustCompile(`(?s)<think>.*?(</think>|$)`)
