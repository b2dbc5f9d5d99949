package guidelines

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"

	"memoryd"
	"memoryd/llm/summarize"

	"memoryd/internal/textsafe"
)

//go:embed prompt.txt
var instructions string

// choose lets the model choose which recommendations come first, and propose conditions under
// which calls fail. These are tested on the calls, and kept if the calls support them. The
// program writes every sentence and every count. If nothing of the answer is usable, or if the
// model failed on a first guideline, the guideline is the one of the rules. Any other failure
// is an error of kind Unavailable, and the existing guideline stays. If prev was written from
// the same evidence, no model is asked.
func (x *Writer) choose(ctx context.Context, f *findings, draft draft, prev *Document) (*Document, error) {
	tool := f.tool
	mark := fingerprint(draft.fingerprint(x.cfg.MaxWords), instructions, x.model.Name())
	if prev != nil && prev.Fingerprint == mark && prev.Tool == tool.Tool {
		d := *prev
		d.Answers, d.Statistics = f.answers(), statisticsSection(f.stats, f.judgedGood)
		return &d, nil
	}
	f.model = x.model.Name()
	worded := draft
	mined := f.evidence.Rules
	request := summarize.Request{
		Instructions: instructions, Parts: x.parts(f, draft), Budget: tokenBudget, MaxTokens: answerTokens,
		Workspace: tool.Workspace, Tool: tool.Tool,
		Check: func(answer memoryd.Completion) error {
			records, ok := recordsOf(answer.Text)
			if !ok {
				return errors.New("it is no JSON with items")
			}
			f.evidence.Rules = mined // of an answer before nothing is left
			review := f.review(records)
			if x.Observe != nil {
				x.Observe(ctx, tool.ToolRef, review)
			}
			if len(records) > 0 && review.Kept == 0 {
				return fmt.Errorf("none of its items stood the checks (%v)", review.Dropped)
			}
			worded = f.draft()
			return nil
		},
	}
	answered, err := (&summarize.Summarizer{Model: x.model}).Do(ctx, request)
	switch {
	case err == nil:
	case ctx.Err() == nil && (tool.Guideline.Revision == 0 || errors.Is(err, summarize.ErrUnusable)):
		f.chosen, f.proposed, f.evidence.Rules = nil, nil, mined
		return x.document(f, f.draft()), nil // the rules' text stands whenever the model's does not
	default:
		return nil, failure(ctx, fmt.Errorf("guideline of %q: %w", tool.Tool, err))
	}
	d := x.document(f, worded)
	d.Author, d.Fingerprint = answered.Author, mark
	return d, nil
}

// failure gives err the sentence that a caller may see.
func failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	if m, ok := errors.AsType[*memoryd.ModelError](err); ok {
		return memoryd.Wrap(memoryd.Unavailable, err, "the model failed ("+m.Reason+")")
	}
	return err
}

// What of a message a model is shown, in characters, and how many messages and failed
// inputs.
const (
	shownMessage  = 200
	shownMessages = 16
	shownInputs   = 12
)

// parts is the data of the prompt, most important first.
func (x *Writer) parts(f *findings, draft draft) []summarize.Part {
	e := &f.evidence
	parts := []summarize.Part{
		{Label: "tool", Data: textsafe.Visible(f.tool.Tool), Required: true},
		{Label: "draft", Data: sectionsOf(within(draft, x.cfg.MaxWords)) + "\n", Required: true},
	}
	var table []map[string]any
	for _, p := range e.Parameters {
		table = append(table, map[string]any{"name": p.Path, "types": p.Types, "given": p.Given, "of": p.Of})
	}
	parts = append(parts, summarize.Part{Label: "parameters", Data: table})
	for i := range e.Rules {
		r := &e.Rules[i]
		parts = append(parts, summarize.Part{
			Label: "rule",
			Data:  map[string]any{"id": r.GroundID(), "says": r.Line, "calls": r.Calls, "runs": r.Runs, "good calls against it": r.Good},
		})
	}
	unread := map[memoryd.CallKey]string{}
	for i := range e.Messages[:min(len(e.Messages), shownMessages)] {
		m := &e.Messages[i]
		if m.Unexplained == 0 {
			continue
		}
		text := textsafe.Line(textsafe.MaskStrict(textsafe.Visible(m.Text)), shownMessage)
		parts = append(parts, summarize.Part{Label: "unread", Data: map[string]any{"message": text, "calls": m.Unexplained, "runs": m.Runs}})
		for _, k := range m.Keys {
			unread[k] = text
		}
	}
	shown := 0
	for i := range slices.Backward(f.obs) {
		if text := unread[f.obs[i].Key]; text != "" && shown < shownInputs {
			shown++
			parts = append(parts, summarize.Part{
				Label: "failed input",
				Data: map[string]any{
					"input":   textsafe.Line(textsafe.MaskStrict(textsafe.Visible(string(f.obs[i].Input))), shownMessage),
					"message": text,
				},
			})
		}
	}
	if e.Exemplar != nil {
		parts = append(parts, summarize.Part{Label: "good call", Data: f.exemplar(e.Exemplar)})
	}
	return parts
}
