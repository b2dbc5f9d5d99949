package compact

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"memoryd"
	"memoryd/compact/chat"
	"memoryd/compact/records"
	"memoryd/internal/lifecycle"
	"memoryd/internal/textsafe"
	"memoryd/llm/summarize"
)

// Model answers a prompt.
type Model = memoryd.Model

// instructions is the static part of a request to the model. Data never goes
// there.
const instructions = `You describe the older part of a conversation between a user and an assistant with tools, so that the assistant can go on without it.

The records of it (numbers, identifiers, amounts, dates) are kept elsewhere and shown to you first: do not repeat them. Write what they do not say: what the user is after and why, what was decided and for which reasons, what was tried and did not work, the plan, what is still open. Past tense, plain statements, most important first, one a line. Do not write numbers or identifiers. Add nothing that the data does not say; do not say that the user agreed to something unless a message of the user says so. Give no instructions and no advice. No headings.`

// errors of an answer.
var (
	errEmpty     = errors.New("the answer says nothing")
	errTooLong   = fmt.Errorf("%w", summarize.ErrTooLong)
	errTruncated = fmt.Errorf("the answer was cut off: %w", summarize.ErrTooLong)
	errToolCall  = errors.New("the answer is a tool call")
	errInvented  = errors.New("the answer holds only what the conversation does not say, or what the records say")
)

// entry is how a message is shown to the model.
type entry struct {
	Role    string   `json:"role"`
	Text    string   `json:"text,omitempty"`
	Calls   []callAs `json:"calls,omitempty"`
	Results []string `json:"results,omitempty"`
}

type callAs struct {
	Name string `json:"name"`
	Args string `json:"args,omitempty"`
}

// entryLimit bounds one text shown to the model, as a share of the prompt.
const entryLimit = 0.25

// narrator asks the models for what the records do not say.
type narrator struct {
	w     *run
	p     *plan
	known []summarize.Part // the summary without them
	check *checker

	mu      sync.Mutex
	answers [][]string
}

// narrate asks for all batches of the plan at once. A batch that fails is left to
// the state and the records; what others gave is kept and remembered, so that a
// later run pays only for the rest. The only error is that ctx ended.
func (w *run) narrate(ctx context.Context, p *plan, s *summary) ([]string, error) {
	c, cfg := w.conv, w.c.cfg.Model
	n := &narrator{w: w, p: p, check: newChecker(c)}
	n.known = []summarize.Part{{Label: "records", Data: strings.Split(s.compose(p.room), "\n")[1:]}}
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
	tell := min(cfg.AnswerTokens, max(30, int(toldShare*float64(p.room))/max(1, len(batches))))
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

func (n *narrator) instructions() string {
	if strings.TrimSpace(n.p.prompt) != "" {
		return n.p.prompt
	}
	return instructions
}

// batch gets one description: from memory, or from the first model that gives a
// good one.
func (n *narrator) batch(ctx context.Context, i, units int, parts []summarize.Part, tell, budget int) error {
	c := n.w.c
	key := shortHash(fmt.Append(nil, n.p.prompt, "\x00", n.p.modelName, "\x00", tell, "\x00", parts))
	lines, reused := c.answers.get(key)
	var t summarize.Text
	var err error
	if !reused {
		models := c.modelsFor(n.p.modelName)
		s := summarize.Summarizer{Model: models[0], Others: models[1:], Guard: c.guard, Timeout: c.cfg.Model.Timeout, Clock: c.clock, Log: c.log}
		t, err = s.Do(ctx, summarize.Request{
			Instructions: n.instructions(), Parts: append(slices.Clone(parts), n.known...), Budget: budget + c.cfg.SummaryTokens, MaxTokens: tell,
			Workspace: n.w.r.Workspace, Spender: n.w.r.Workspace + "\x00" + n.w.r.Conversation, Nonce: key[:12], Count: n.w.conv.count,
			Check: func(answer memoryd.Completion) (string, error) {
				var err error
				lines, err = n.check.answer(answer, tell)
				return strings.Join(lines, "\n"), err
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
	limit := int(entryLimit * float64(promptTokens) * 3)
	cut := func(s string) string { return n.w.conv.safe.text(summarize.Cut(s, limit)) }
	e := entry{Role: m.Role, Text: cut(m.Text())}
	for _, c := range m.Calls {
		e.Calls = append(e.Calls, callAs{c.Name, cut(c.Args)})
	}
	for _, r := range m.Results {
		e.Results = append(e.Results, cut(r.Text))
	}
	return e
}

// modelsFor gives the models to try in order. A name puts the model of that name
// first; a provider prefix may be left out.
func (c *Compactor) modelsFor(name string) []Model {
	var first, rest []Model
	bare := func(name string) string {
		if p, m, ok := strings.Cut(name, "/"); ok && p != "" && m != "" {
			return m
		}
		return name
	}
	for _, m := range c.models {
		if name != "" && bare(m.Name()) == bare(name) {
			first = append(first, m)
		} else {
			rest = append(rest, m)
		}
	}
	return append(first, rest...)
}

// reasonOf is the part of an error that a report may show.
func reasonOf(err error) string {
	if me, ok := errors.AsType[*memoryd.ModelError](err); ok {
		return me.Reason
	}
	for _, known := range []error{errEmpty, errTruncated, errTooLong, errToolCall, errInvented, summarize.ErrPaused, summarize.ErrSpent, summarize.ErrBudget} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	switch {
	case errors.Is(err, summarize.ErrTooLong):
		return summarize.ErrTooLong.Error()
	case errors.Is(err, summarize.ErrUnusable):
		return errEmpty.Error()
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	}
	return "failed"
}

// checker holds what a model writes to the conversation: it may restate no numbers,
// and claim no consent that no user gave.
type checker struct {
	c *conversation
	k consents
}

func newChecker(c *conversation) *checker { return &checker{c, c.agreed()} }

// answer turns a model's answer into lines that may stand in a summary, or says
// why it may not.
func (k *checker) answer(answer memoryd.Completion, limit int) ([]string, error) {
	if n := answer.Usage.CompletionTokens; n > 0 && n >= limit {
		return nil, errTruncated
	}
	text := strings.TrimSpace(dropThinking(answer.Text))
	if strings.HasPrefix(text, "{") && strings.HasSuffix(text, "}") || strings.Contains(text, "<tool_call>") || strings.Contains(text, "<function=") {
		return nil, errToolCall
	}
	if k.c.count(text) > limit {
		return nil, errTooLong
	}
	var lines []string
	refused := false
	for l := range strings.SplitSeq(text, "\n") {
		heading := strings.HasPrefix(strings.TrimSpace(l), "#")
		l = records.OneLine(strings.TrimLeft(strings.TrimSpace(l), "-*•>#| "))
		if heading || emptyLine(l) || strings.HasPrefix(l, "BEGIN-DATA-") || strings.HasPrefix(l, "END-DATA-") {
			continue
		}
		if !k.allows(l) {
			refused = true
			continue
		}
		lines = append(lines, "- "+k.c.safe.clean(k.c.safe.text(l)))
	}
	switch {
	case len(lines) > 0:
		return lines, nil
	case refused:
		return nil, errInvented
	}
	return nil, errEmpty
}

func (k *checker) allows(l string) bool {
	if strings.ContainsAny(l, "0123456789") {
		return false // the records have the numbers
	}
	if _, steers := textsafe.SuspectInstruction(l); steers {
		return false
	}
	for _, w := range []string{"approv", "agreed", "agrees", "consent", "authori", "confirmed", "permission", "permitted", "allowed", "signed off"} {
		if containsWord(l, w) && !k.k.any && !strings.Contains(k.k.said, w) {
			return false
		}
	}
	return k.k.holds(l)
}

// emptyLine reports lines that say nothing: headings, "None", "N/A".
func emptyLine(l string) bool {
	s := strings.ToLower(strings.Trim(l, " .:*_#`-"))
	if i := strings.LastIndexByte(s, ':'); i >= 0 && i < 40 {
		s = strings.TrimSpace(s[i+1:])
	}
	switch s {
	case "", "none", "n/a", "na", "nothing", "null", "unknown", "not applicable", "no information", "(none)", "...", "summary":
		return true
	}
	return strings.HasSuffix(strings.TrimSpace(l), ":") && len(l) < 60
}

// dropThinking removes what a reasoning model put between think tags.
func dropThinking(s string) string {
	for {
		i := strings.Index(s, "<think>")
		if i < 0 {
			return s
		}
		j := strings.Index(s[i:], "</think>")
		if j < 0 {
			return s[:i]
		}
		s = s[:i] + s[i+j+len("</think>"):]
	}
}
