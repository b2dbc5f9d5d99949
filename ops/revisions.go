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
	// Show is the guideline that a session is shown, in at most maxTokens if that
	// is more than 0.
	Show(ctx context.Context, tool memoryd.Tool, session string, maxTokens int) (memoryd.Guideline, error)

	List(ctx context.Context, ref memoryd.ToolRef) ([]Revision, error)
	Revision(ctx context.Context, ref memoryd.ToolRef, number int64) (Revision, error)
	Stale(ctx context.Context, ref memoryd.ToolRef) ([]revisions.Reason, error)
	PinnedVersion(ctx context.Context, ref memoryd.ToolRef) (int64, error)
	Pin(ctx context.Context, ref memoryd.ToolRef, number int64, by string) (Revision, error)
	Unpin(ctx context.Context, ref memoryd.ToolRef) error
	RollBack(ctx context.Context, ref memoryd.ToolRef, number int64, by string) (Revision, error)
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
