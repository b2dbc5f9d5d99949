package revisions

import (
	"context"
	"fmt"
	"slices"

	"memoryd"
	"memoryd/guidelines/staleness"
)

// Outcome says what a refresh did.
type Outcome struct {
	// Written says that there is a new version; Skipped why there is none.
	Written bool
	Skipped string
	// Failed is why writing failed; the guideline that was there stays.
	Failed error
}

// Why a guideline was not written anew.
const (
	NothingNew = "nothing new since the guideline"
	SameText   = "the evidence is the same"
	NotStale   = "not stale"
	Pinned     = "pinned"
	Rejected   = "the same evidence gave a version that did worse"
)

// When says which guidelines a refresh writes.
type When int

// The occasions.
const (
	IfNew   When = iota // something happened to the tool since
	IfStale             // and enough of it
	Always              // in any case
)

// Refresh writes the guideline of the tool if the occasion asks for it. An error
// is the store's; a failed writing is an Outcome.
func (c *Curator) Refresh(ctx context.Context, ref memoryd.ToolRef, when When) (Outcome, error) {
	tool, err := c.Store.Tool(ctx, ref)
	if err != nil {
		return Outcome{}, err
	}
	g := tool.Guideline
	if g.Revision > 0 && g.BasedOn == tool.Revision && when != Always {
		return Outcome{Skipped: NothingNew}, nil
	}
	st, _, err := c.standing(ctx, ref)
	if err != nil {
		return Outcome{}, err
	}
	if st.Pinned > 0 {
		return Outcome{Skipped: Pinned}, nil
	}
	calls, err := c.Store.History(ctx, ref, 0)
	if err != nil {
		return Outcome{}, fmt.Errorf("history of %q: %w", ref.Tool, err)
	}
	prev, err := c.current(ctx, tool)
	if err != nil {
		return Outcome{}, err
	}
	reasons := c.reasons(tool, prev, calls)
	if when == IfStale && len(reasons) == 0 {
		return Outcome{Skipped: NotStale}, nil
	}
	return c.write(ctx, tool, calls, prev, st, reasons)
}

// write composes and stores a version.
func (c *Curator) write(ctx context.Context, tool memoryd.Tool, calls []memoryd.Call, prev Edition, st standing, reasons []staleness.Reason) (Outcome, error) {
	doc, err := c.Composer.Compose(ctx, tool, calls, c.Recent, prev.Document)
	if err != nil {
		if ctx.Err() != nil {
			return Outcome{}, context.Cause(ctx)
		}
		return Outcome{Failed: err}, nil
	}
	loan, err := c.loan(ctx, tool, calls)
	if err != nil {
		return Outcome{}, err
	}
	doc.Items = append(doc.Items, loan.Items...)
	text := doc.Render()
	switch {
	case tool.Guideline.Revision > 0 && text == tool.Guideline.Content && tool.Guideline.BasedOn == tool.Revision:
		return Outcome{Skipped: SameText}, nil
	case slices.Contains(st.Rejected, doc.Fingerprint):
		return Outcome{Skipped: Rejected}, nil
	}
	e := Edition{
		Content: text, Author: doc.Author, BasedOn: tool.Revision, ThroughSeq: newest(calls), Document: doc,
		Judges: judgesOf(calls), Baseline: c.baseline(calls),
	}
	for _, r := range reasons {
		e.Reasons = append(e.Reasons, r.Text)
	}
	written, err := c.publish(ctx, tool, e)
	if err != nil || !written {
		return Outcome{Skipped: NothingNew}, err
	}
	return Outcome{Written: true}, nil
}

// publish makes e the tool's guideline, unless one written from the same history,
// or from newer, has come first.
func (c *Curator) publish(ctx context.Context, tool memoryd.Tool, e Edition) (written bool, err error) {
	for {
		e.Revision, e.Written = tool.Guideline.Revision+1, c.Now()
		err := c.Store.PutGuideline(ctx, tool.ToolRef, e.guideline(), tool.Guideline.Revision)
		if err == nil {
			c.wrote(tool.ToolRef)
			return true, c.file(ctx, tool.ToolRef, e)
		}
		if !memoryd.IsKind(err, memoryd.Conflict) {
			return false, err
		}
		if tool, err = c.Store.Tool(ctx, tool.ToolRef); err != nil {
			return false, err
		}
		if tool.Guideline.BasedOn >= e.BasedOn && e.RolledBackTo == 0 {
			return false, nil
		}
	}
}

func newest(calls []memoryd.Call) int64 {
	if len(calls) == 0 {
		return 0
	}
	return calls[len(calls)-1].Seq
}

// judgesOf lists the versions of the judges that judged the calls.
func judgesOf(calls []memoryd.Call) []string {
	var found []string
	for i := range calls {
		if v := calls[i].Evaluation.JudgeVersion; v != "" && !slices.Contains(found, v) {
			found = append(found, v)
		}
	}
	slices.Sort(found)
	return found
}
