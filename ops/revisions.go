package ops

import (
	"context"

	"memoryd"
	"memoryd/guidelines"
	"memoryd/guidelines/revisions"
	"memoryd/internal/stats"
	"memoryd/store"
)

// Revision is one version of a tool's guideline.
type Revision = revisions.Revision

// Revisions writes guidelines and keeps their versions; *revisions.Manager is one.
type Revisions interface {
	// Refresh writes the guideline of a tool if the occasion asks for it. An error
	// is the store's; a failed writing is in the result.
	Refresh(ctx context.Context, ref memoryd.ToolRef, when revisions.When) (revisions.Result, error)
	// Show is the guideline that is shown, in at most maxTokens if that is more than 0.
	Show(ctx context.Context, tool memoryd.Tool, maxTokens int) (memoryd.Guideline, error)
	// Untold reports whether a run is told nothing, to compare others with.
	Untold(workspace, run string) bool

	List(ctx context.Context, ref memoryd.ToolRef) ([]Revision, error)
	Revision(ctx context.Context, ref memoryd.ToolRef, number int64) (Revision, error)
	Stale(ctx context.Context, ref memoryd.ToolRef) ([]revisions.Reason, error)
	PinnedVersion(ctx context.Context, ref memoryd.ToolRef) (int64, error)
	Pin(ctx context.Context, ref memoryd.ToolRef, number int64, by string) (Revision, error)
	Unpin(ctx context.Context, ref memoryd.ToolRef) error
	RollBack(ctx context.Context, ref memoryd.ToolRef, number int64, by string) (Revision, error)
	// Pending lists the statements of a tool that are not published, Release decides
	// on one.
	Pending(ctx context.Context, ref memoryd.ToolRef) ([]revisions.Pending, error)
	Release(ctx context.Context, ref memoryd.ToolRef, id string, accept bool, by string) (Revision, error)
	UndoRelease(ctx context.Context, ref memoryd.ToolRef, id, by string) (Revision, error)
	// Edit sets a line on behalf of a person, UndoEdit takes the newest change back.
	Edit(ctx context.Context, ref memoryd.ToolRef, c revisions.LineChange) (e Revision, line string, err error)
	UndoEdit(ctx context.Context, ref memoryd.ToolRef, line, by string) (Revision, error)
	LineOutcomes(ctx context.Context, ref memoryd.ToolRef) ([]guidelines.LineOutcome, error)
}

// ListPending asks for the statements of a workspace that are not published, those of
// at most Limit tools (Tool: of one) after a name.
type ListPending struct {
	Workspace, Tool, After string
	Limit                  int
}

// PendingStatement is one of them.
type PendingStatement struct {
	revisions.Pending

	Tool string
}

// PendingPage is a page of them; Next is the tool to go on after, "" at the end.
type PendingPage struct {
	Statements []PendingStatement
	Next       string
}

func (library) ListPending() Definition { return define("list_pending_op", Deps.listPending) }

func (d Deps) listPending(ctx context.Context, r ListPending) (page PendingPage, err error) {
	names := []string{r.Tool}
	if r.Tool == "" {
		tools, err := d.Store.ListTools(ctx, r.Workspace, r.After, r.Limit)
		if err != nil {
			return page, err
		}
		names = nil
		for _, t := range tools {
			names = append(names, t.Tool)
		}
		if len(tools) == r.Limit {
			page.Next = names[len(names)-1]
		}
	}
	for _, name := range names {
		list, err := d.Revisions.Pending(ctx, memoryd.ToolRef{Workspace: r.Workspace, Tool: name})
		if err != nil && (r.Tool != "" || !memoryd.IsKind(err, memoryd.NotFound)) {
			return page, err
		}
		for _, p := range list {
			page.Statements = append(page.Statements, PendingStatement{p, name})
		}
	}
	return page, nil
}

// ReleasePending decides on a pending statement. By is who does.
type ReleasePending struct {
	memoryd.ToolRef

	ID     string
	Accept bool
	By     string
}

func (library) ReleasePending() Definition {
	return define("release_pending_op", func(d Deps, ctx context.Context, r ReleasePending) (Revision, error) {
		return d.Revisions.Release(ctx, r.ToolRef, r.ID, r.Accept, r.By)
	})
}

// UndoRelease takes a decision on a pending statement back. By is who does.
type UndoRelease struct {
	memoryd.ToolRef

	ID, By string
}

func (library) UndoRelease() Definition {
	return define("undo_release_op", func(d Deps, ctx context.Context, r UndoRelease) (Revision, error) {
		return d.Revisions.UndoRelease(ctx, r.ToolRef, r.ID, r.By)
	})
}

// LineChange is what a person wants of a line.
type LineChange = revisions.LineChange

// EditLine asks to set, add or take out a line of a tool's guideline on behalf of a
// person.
type EditLine struct {
	memoryd.ToolRef
	LineChange
}

// EditedLine is the version with the change; Line is the id of the line.
type EditedLine struct {
	Revision

	Line string
}

func (library) EditLine() Definition {
	return define("edit_line_op", func(d Deps, ctx context.Context, r EditLine) (out EditedLine, err error) {
		r.Text, r.By = d.Redaction.Text(ctx, r.Text), d.Redaction.Text(ctx, r.By)
		out.Revision, out.Line, err = d.Revisions.Edit(ctx, r.ToolRef, r.LineChange)
		return out, err
	})
}

// UndoEdit takes the newest change that a person made to a line back. By is who asks.
type UndoEdit struct {
	memoryd.ToolRef

	Line, By string
}

func (library) UndoEdit() Definition {
	return define("undo_edit_op", func(d Deps, ctx context.Context, r UndoEdit) (Revision, error) {
		return d.Revisions.UndoEdit(ctx, r.ToolRef, r.Line, r.By)
	})
}

// ListLineOutcomes asks how the lines of a tool's guideline did.
type ListLineOutcomes struct{ memoryd.ToolRef }

// LineOutcome says how one line did.
type LineOutcome = guidelines.LineOutcome

// GuidelineSections are the names of a guideline's sections.
func GuidelineSections() []string { return guidelines.Sections() }

// LineOutcomes are the lines that are shown, in their order.
type LineOutcomes struct{ Lines []guidelines.LineOutcome }

func (library) ListLineOutcomes() Definition {
	return define("list_line_outcomes_op", func(d Deps, ctx context.Context, r ListLineOutcomes) (out LineOutcomes, err error) {
		out.Lines, err = d.Revisions.LineOutcomes(ctx, r.ToolRef)
		return out, err
	})
}

// ListRevisions asks for the versions of a tool's guideline.
type ListRevisions struct{ memoryd.ToolRef }

// RevisionList are the versions, the newest first.
type RevisionList struct {
	// Pinned is the version that agents are always shown; 0: none.
	Pinned int64
	// Stale are the reasons to write a new one.
	Stale     []string
	Revisions []RevisionOutcome
}

// RevisionOutcome is a version with what became of the calls whose agents were
// shown it.
type RevisionOutcome struct {
	Revision

	Calls, Failed int
	FailedCI95    *stats.Interval
}

func (library) ListRevisions() Definition { return define("list_revisions_op", Deps.listRevisions) }

func (d Deps) listRevisions(ctx context.Context, r ListRevisions) (list RevisionList, err error) {
	kept, err := d.Revisions.List(ctx, r.ToolRef)
	if err != nil {
		return list, err
	}
	if list.Pinned, err = d.Revisions.PinnedVersion(ctx, r.ToolRef); err != nil {
		return list, err
	}
	reasons, err := d.Revisions.Stale(ctx, r.ToolRef)
	if err != nil {
		return list, err
	}
	for _, reason := range reasons {
		list.Stale = append(list.Stale, string(reason.Change)+": "+reason.Text)
	}
	var calls []memoryd.Call // without their texts
	for call, err := range store.AllCalls(ctx, d.Store, r.ToolRef, true) {
		if err != nil {
			return list, err
		}
		calls = append(calls, call)
	}
	outcomes := revisions.Outcomes(calls)
	for _, version := range kept {
		o := outcomes[version.Number]
		list.Revisions = append(list.Revisions, RevisionOutcome{version, o.Calls, o.Bad, stats.Wilson(o.Bad, o.Calls)})
	}
	return list, nil
}

// GetRevision asks for one version.
type GetRevision struct {
	memoryd.ToolRef

	Number int64
}

func (library) GetRevision() Definition {
	return define("get_revision_op", func(d Deps, ctx context.Context, r GetRevision) (Revision, error) {
		return d.Revisions.Revision(ctx, r.ToolRef, r.Number)
	})
}

// DiffRevisions asks what a version changed against another; 0 is an empty one.
type DiffRevisions struct {
	memoryd.ToolRef

	Number, With int64
}

// RevisionDiff is what it changed.
type RevisionDiff struct{ Changes []guidelines.Change }

func (library) DiffRevisions() Definition {
	return define("diff_revisions_op", func(d Deps, ctx context.Context, r DiffRevisions) (diff RevisionDiff, err error) {
		next, err := d.Revisions.Revision(ctx, r.ToolRef, r.Number)
		if err != nil {
			return diff, err
		}
		var prev Revision
		if r.With > 0 {
			if prev, err = d.Revisions.Revision(ctx, r.ToolRef, r.With); err != nil {
				return diff, err
			}
		}
		diff.Changes = guidelines.Diff(prev.Document, next.Document)
		return diff, nil
	})
}

// PinRevision asks to show agents one version from now on. By is who asks.
type PinRevision struct {
	memoryd.ToolRef

	Number int64
	By     string
}

func (library) PinRevision() Definition {
	return define("pin_revision_op", func(d Deps, ctx context.Context, r PinRevision) (Revision, error) {
		return d.Revisions.Pin(ctx, r.ToolRef, r.Number, r.By)
	})
}

// UnpinRevision asks to show agents the newest version again.
type UnpinRevision struct{ memoryd.ToolRef }

func (library) UnpinRevision() Definition {
	return define("unpin_revision_op", func(d Deps, ctx context.Context, r UnpinRevision) (Done, error) {
		return Done{}, d.Revisions.Unpin(ctx, r.ToolRef)
	})
}

// RollBackRevision asks to write an old version anew. By is who asks.
type RollBackRevision struct {
	memoryd.ToolRef

	Number int64
	By     string
}

func (library) RollBackRevision() Definition {
	return define("roll_back_revision_op", func(d Deps, ctx context.Context, r RollBackRevision) (Revision, error) {
		return d.Revisions.RollBack(ctx, r.ToolRef, r.Number, r.By)
	})
}
