package revisions

import (
	"context"
	"fmt"
	"slices"

	"memoryd"
)

// Result says what a refresh did.
type Result struct {
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
// is the store's; a failed writing is a Result.
func (m *Manager) Refresh(ctx context.Context, ref memoryd.ToolRef, when When) (Result, error) {
	tool, err := m.Store.Tool(ctx, ref)
	if err != nil {
		return Result{}, err
	}
	g := tool.Guideline
	if g.Revision > 0 && g.BasedOn == tool.Revision && when != Always {
		return Result{Skipped: NothingNew}, nil
	}
	st, _, err := m.status(ctx, ref)
	if err != nil {
		return Result{}, err
	}
	if st.Pinned > 0 {
		return Result{Skipped: Pinned}, nil
	}
	calls, err := m.Store.History(ctx, ref, 0)
	if err != nil {
		return Result{}, fmt.Errorf("history of %q: %w", ref.Tool, err)
	}
	prev, err := m.current(ctx, tool)
	if err != nil {
		return Result{}, err
	}
	reasons := m.reasons(tool, prev, calls)
	if when == IfStale && len(reasons) == 0 {
		return Result{Skipped: NotStale}, nil
	}
	return m.write(ctx, tool, calls, prev, st, reasons)
}

// write composes and stores a version.
func (m *Manager) write(ctx context.Context, tool memoryd.Tool, calls []memoryd.Call, prev Revision, st Status, reasons []Reason) (Result, error) {
	doc, err := m.Composer.Compose(ctx, tool, calls, m.Recent, prev.Document.Unedited())
	if err != nil {
		if ctx.Err() != nil {
			return Result{}, context.Cause(ctx)
		}
		return Result{Failed: err}, nil
	}
	doc = st.applied(doc)
	text := doc.Render()
	switch {
	case tool.Guideline.Revision > 0 && text == tool.Guideline.Content && tool.Guideline.BasedOn == tool.Revision:
		return Result{Skipped: SameText}, nil
	case slices.Contains(st.Rejected, doc.Fingerprint):
		return Result{Skipped: Rejected}, nil
	}
	e := Revision{
		Content: text, Author: doc.Author, BasedOn: tool.Revision, ThroughSeq: newest(calls), Document: doc,
		Judges: judgesOf(calls), Baseline: m.baseline(calls),
	}
	for _, r := range reasons {
		e.Reasons = append(e.Reasons, r.Text)
	}
	written, err := m.publish(ctx, tool, e)
	if err != nil || !written {
		return Result{Skipped: NothingNew}, err
	}
	return Result{Written: true}, nil
}

// publish makes e the tool's guideline, unless one written from the same history,
// or from newer, has come first.
func (m *Manager) publish(ctx context.Context, tool memoryd.Tool, e Revision) (written bool, err error) {
	for {
		e.Number, e.Written = tool.Guideline.Revision+1, m.Now()
		err := m.Store.PutGuideline(ctx, tool.ToolRef, e.guideline(), tool.Guideline.Revision)
		if err == nil {
			m.wrote(tool.ToolRef)
			return true, m.put(ctx, tool.ToolRef, e)
		}
		if !memoryd.IsKind(err, memoryd.Conflict) {
			return false, err
		}
		if tool, err = m.Store.Tool(ctx, tool.ToolRef); err != nil {
			return false, err
		}
		if tool.Guideline.BasedOn >= e.BasedOn && e.RolledBackTo == 0 {
			return false, nil
		}
		if err := m.reapply(ctx, tool.ToolRef, &e); err != nil {
			return false, err
		}
	}
}

// reapply brings what people decided by now into a version that is not published yet.
func (m *Manager) reapply(ctx context.Context, ref memoryd.ToolRef, e *Revision) error {
	st, _, err := m.status(ctx, ref)
	if err == nil && e.Document != nil {
		e.Document = st.applied(e.Document)
		e.Content = e.Document.Render()
	}
	return err
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
