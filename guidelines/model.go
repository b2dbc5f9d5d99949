package guidelines

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/template"

	"memoryd"
	"memoryd/guidelines/evidence"
	"memoryd/llm/summarize"

	"memoryd/internal/textsafe"
)

//go:embed prompt.txt
var builtInPrompt string

// maxStatement bounds one statement of a model, in characters.
const maxStatement = 400

// Model lets a model word the evidence and keeps of its answer what the evidence
// bears out. What the model leaves empty, or loses to the checks, the rules fill
// in; when nothing of the answer is left, writing fails and the guideline that
// is there stays.
type Model struct {
	// Observe, when set, is told after each answer how many statements were kept
	// and why the others were dropped. It must be set before the first Write.
	Observe func(ctx context.Context, tool memoryd.ToolRef, r Review)

	cfg        Config
	summarizer summarize.Summarizer
	prompt     *template.Template
	rules      *Rules
}

// NewModel makes a Model that asks m. It fails when the prompt file cannot be
// read or is not a template.
func NewModel(cfg Config, m memoryd.Model) (*Model, error) {
	text := builtInPrompt
	if cfg.PromptFile != "" {
		b, err := os.ReadFile(cfg.PromptFile)
		if err != nil {
			return nil, fmt.Errorf("prompt_file: %w", err)
		}
		text = string(b)
	}
	t, err := template.New("prompt").Option("missingkey=error").Parse(text)
	if err != nil {
		return nil, fmt.Errorf("prompt_file: %w", err)
	}
	x := &Model{cfg: cfg, summarizer: summarize.Summarizer{Model: m}, prompt: t, rules: NewRules(cfg)}
	if _, err := x.instructions(); err != nil {
		return nil, fmt.Errorf("prompt_file: %w", err)
	}
	return x, nil
}

// Use sets the window, as Rules.Window; it must be called before the first Write.
func (x *Model) Use(w Window) { x.rules.Window = w }

// Write composes the guideline of tool as Rules.Write does, with the wording of
// the model. Its author is the model's name. When the model fails, or nothing in
// its answer is usable, the error is of kind Unavailable.
func (x *Model) Write(ctx context.Context, tool memoryd.Tool, calls []memoryd.Call, recent int) (content, author string, err error) {
	d, err := x.Compose(ctx, tool, calls, recent, nil)
	if err != nil {
		return "", "", err
	}
	return d.Render(), d.Author, nil
}

// Compose is Write with the statements and their evidence. Where prev, the
// version before, was worded from the same evidence, no model is asked: its items
// stay as they are, and only the statistics are brought up to date. Otherwise
// those of its items whose evidence is the same keep their bytes, and the answer
// replaces the rest.
func (x *Model) Compose(ctx context.Context, tool memoryd.Tool, calls []memoryd.Call, recent int, prev *Document) (*Document, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	f, err := x.rules.find(ctx, tool, calls, recent)
	if err != nil {
		return nil, err
	}
	draft := f.draft()
	instructions, err := x.instructions()
	if err != nil {
		return nil, err
	}
	mark := fingerprint(draft.fingerprint(x.cfg.MaxWords), instructions, x.summarizer.Model.Name())
	if prev != nil && prev.Fingerprint == mark && prev.Tool == tool.Tool {
		d := *prev
		d.Statistics = statisticsSection(f.stats)
		return &d, nil
	}
	parts := x.parts(f, draft.render(x.cfg.MaxWords), calls, recent)
	reviewer := newReviewer(f, draft, parts, x.cfg.MaxWords)
	reviewer.author = x.summarizer.Model.Name()
	request := summarize.Request{
		Instructions: instructions, Parts: parts, Budget: x.cfg.TokenBudget, MaxTokens: x.cfg.MaxAnswerTokens, Workspace: tool.Workspace, Tool: tool.Tool,
		Check: func(answer string) (string, error) {
			text, review, err := reviewer.review(answer)
			if x.Observe != nil {
				x.Observe(ctx, tool.ToolRef, review)
			}
			return text, err
		},
	}
	if x.cfg.FallbackToRules && tool.Guideline.Revision == 0 {
		request.Fallback = func(context.Context) (string, string, error) {
			return draft.render(x.cfg.MaxWords), AuthorRules, nil
		}
	}
	text, err := x.summarizer.Do(ctx, request)
	if err != nil {
		return nil, failure(ctx, fmt.Errorf("guideline of %q: %w", tool.Tool, err))
	}
	d := x.rules.document(f, draft, prev)
	if text.Cause == nil {
		d.Items = merge(prev, itemsOf(reviewer.kept, d.Grounds, AuthorRules, prev), printsOf(d.Grounds))
		d.Author, d.Fingerprint = text.Author, mark
	}
	return d, nil
}

// merge keeps the items of a model in prev whose evidence is the same, in place
// of those of next on the same evidence.
func merge(prev *Document, next []Item, prints map[string]string) []Item {
	if prev == nil {
		return next
	}
	about := func(it Item) string { return it.Section + " " + strings.Join(it.Evidence, " ") }
	standing := map[string][]Item{}
	for _, it := range prev.Items {
		if it.Author != AuthorRules && len(it.Evidence) > 0 && it.Fingerprint == itemPrint(it.Evidence, prints) {
			standing[about(it)] = append(standing[about(it)], it)
		}
	}
	var merged []Item
	used := map[string]bool{}
	for _, it := range next {
		old, known := standing[about(it)]
		switch {
		case !known:
			merged = append(merged, it)
		case !used[about(it)]:
			merged = append(merged, old...)
			used[about(it)] = true
		}
	}
	for _, it := range prev.Items { // what the answer left out stands as long as its evidence does
		if _, known := standing[about(it)]; known && !used[about(it)] {
			merged = append(merged, it)
		}
	}
	slices.SortStableFunc(merged, func(a, b Item) int {
		return slices.Index(sectionNames(), a.Section) - slices.Index(sectionNames(), b.Section)
	})
	return merged
}

// failure gives err the sentence that a caller may see.
func failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	if m, ok := errors.AsType[*memoryd.ModelError](err); ok {
		return memoryd.Wrap(memoryd.Unavailable, err, "the model failed ("+m.Reason+")")
	}
	if errors.Is(err, summarize.ErrUnusable) {
		return memoryd.Wrap(memoryd.Unavailable, err, "the model gave no usable guideline")
	}
	return err
}

func (x *Model) instructions() (string, error) {
	var b bytes.Buffer
	err := x.prompt.Execute(&b, struct {
		MaxWords, MaxStatement int
	}{x.cfg.MaxWords, maxStatement})
	return b.String(), err
}

// parts is the data of the prompt, most important first: what was computed, then
// the recent calls, newest first.
func (x *Model) parts(f *findings, draft string, calls []memoryd.Call, recent int) []summarize.Part {
	parts := []summarize.Part{
		{Label: "tool", Data: textsafe.Visible(f.tool.Tool), Required: true},
		{Label: "statistics", Data: statisticsSection(f.stats), Required: true},
		{Label: "draft", Data: draft, Required: true},
	}
	for _, item := range promptEvidence(&f.evidence) {
		parts = append(parts, summarize.Part{Label: "evidence", Data: item})
	}
	window := calls[max(0, len(calls)-max(0, recent)):]
	limit := x.callLimit(parts, len(window))
	for i := len(window) - 1; i >= 0; i-- {
		parts = append(parts, summarize.Part{Label: "call", Data: promptCallOf(&window[i], limit)})
	}
	return parts
}

// The share of the budget that a call may take, in characters.
const (
	leastCall = 400
	mostCall  = 6000
)

// callLimit is how many characters the input and the output of one call may
// have each, so that the whole window fits where that leaves enough of each.
func (x *Model) callLimit(parts []summarize.Part, window int) int {
	room := 4 * x.cfg.TokenBudget
	for _, p := range parts {
		room -= 4 * summarize.Tokens(fmt.Sprint(p.Data))
	}
	return min(mostCall, max(leastCall, room/max(1, window)/3))
}

// promptCall is a recorded call as a model sees it.
type promptCall struct {
	Input      string   `json:"input"`
	Output     string   `json:"output"`
	Success    bool     `json:"success"`
	Score      *float64 `json:"score"`
	Summary    string   `json:"summary,omitempty"`
	Evaluation string   `json:"evaluation,omitempty"`
	Seconds    float64  `json:"seconds,omitempty"`
	Tokens     *int64   `json:"tokens,omitempty"`
}

func promptCallOf(c *memoryd.Call, limit int) promptCall {
	fit := func(s string, n int) string { return textsafe.MaskStrict(summarize.Cut(s, n)) }
	p := promptCall{Input: fit(string(c.Input), limit), Output: fit(c.Output, limit), Success: c.Success, Seconds: c.TimeCost}
	if c.Evaluation.State == memoryd.Judged {
		p.Score = &c.Evaluation.Score
		p.Summary, p.Evaluation = fit(c.Evaluation.Summary, leastCall), fit(c.Evaluation.Evaluation, leastCall)
	}
	if c.TokenCost >= 0 {
		p.Tokens = &c.TokenCost
	}
	return p
}

// promptEvidence is the evidence for a model, strongest first, without the keys
// of calls. Texts in it are cleaned, so that the model's quotes of them can be.
func promptEvidence(e *evidence.Evidence) []map[string]any {
	var items []map[string]any
	conditions := make([]*evidence.Condition, 0, len(e.Conditions))
	for i := range e.Conditions {
		conditions = append(conditions, &e.Conditions[i])
	}
	for i := range e.Errors[:min(len(e.Errors), 2*shownErrors)] {
		if e.Errors[i].When != nil {
			conditions = append(conditions, e.Errors[i].When)
		}
	}
	for _, c := range conditions {
		items = append(items, map[string]any{
			"id": c.ID, "outcome": c.Outcome, "provisional": c.Provisional, "with": facts(c.Facts, factPhrase, shownFacts), "without": facts(c.Contrast, factPhrase, shownFacts),
			"calls_with": c.With, "outcome_with": c.WithBad, "calls_without": c.Without, "outcome_without": c.WithoutBad,
		})
	}
	for i := range e.Errors[:min(len(e.Errors), 2*shownErrors)] {
		c := &e.Errors[i]
		items = append(items, map[string]any{"id": c.ID, "message": firstOf(quotedMessage(c.Template)), "calls": c.Count, "scored_zero": c.Failed})
	}
	for i := range e.Costs {
		items = append(items, map[string]any{"id": e.Costs[i].ID, "cost": dearer(&e.Costs[i])})
	}
	for i := range e.Recoveries {
		r := &e.Recoveries[i]
		if message, ok := quotable(r.Template, messageLimit); ok {
			items = append(items, map[string]any{"id": r.ID, "after": message, "changed": r.Changed, "tries": r.Tries, "succeeded": r.Succeeded})
		}
	}
	return items
}

func firstOf(s string, _ bool) string { return s }
