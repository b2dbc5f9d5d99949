package ops

import (
	"context"

	"memoryd"
	"memoryd/guidelines"
	"memoryd/guidelines/revisions"
	"memoryd/internal/stats"
	"memoryd/store"
)

// What versions of a guideline are made of.
type (
	// Revision is a version of a tool's guideline.
	Revision = revisions.Revision
	// GuidelineItem is a statement of a guideline.
	GuidelineItem = guidelines.Item
	// GuidelineGround is a fact of the history that supports statements.
	GuidelineGround = guidelines.Ground
	// GuidelineChange is a statement that was added, removed or changed.
	GuidelineChange = guidelines.Change
)

// ListPending requests the unpublished statements of a workspace: those of up to Limit tools after
// a name, or of one Tool.
type ListPending struct {
	Workspace, Tool, After string
	Limit                  int
}

// PendingStatement waits for further sources or for a person. It may contain a tool's words.
type PendingStatement struct {
	revisions.Pending

	Tool string `json:"tool_name"`
	// It may hold words that a tool or a dump brought.
	Untrusted bool `json:"untrusted"`
}

// PendingPage is a page of unpublished statements; Next is the value of After for the next page, ""
// on the last one.
type PendingPage struct {
	Statements []PendingStatement
	Next       string
}

func (d *Deps) listPending(ctx context.Context, r ListPending) (page PendingPage, err error) {
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
			page.Statements = append(page.Statements, PendingStatement{p, name, true})
		}
	}
	return page, nil
}

// Decision is what a person decides.
type Decision = revisions.Decision

// Decide requests what a person decides on a guideline, one of its lines, or a statement that waits.
type Decide struct {
	memoryd.ToolRef
	Decision
}

// Decided is the version that then stands; Line is the id of the line.
type Decided struct {
	Revision

	Line string
}

func (d *Deps) decide(ctx context.Context, r Decide) (out Decided, err error) {
	r.Text, r.By = d.Redaction.Text(ctx, r.Text), d.Redaction.Text(ctx, r.By)
	out.Revision, out.Line, err = d.Revisions.Decide(ctx, r.ToolRef, r.Decision)
	return out, err
}

// LineOutcome counts what happened with one line.
type LineOutcome = guidelines.LineOutcome

// GuidelineSections returns the names of a guideline's sections.
func GuidelineSections() []string { return guidelines.Sections() }

// SourceShare is the part of one source in a tool.
type SourceShare = guidelines.SourceShare

// LineOutcomes are the published lines, in order, and who recorded the calls behind them.
type LineOutcomes struct {
	Lines []guidelines.LineOutcome `json:"lines"`
	// Who recorded the calls that the guideline is learned from, the source with the most lines of its own first.
	Sources []SourceShare `json:"sources"`
}

func (d *Deps) listLineOutcomes(ctx context.Context, ref memoryd.ToolRef) (out LineOutcomes, err error) {
	out.Lines, out.Sources, err = d.Revisions.LineOutcomes(ctx, ref)
	return out, err
}

// RevisionList are the versions, newest first.
type RevisionList struct {
	// Pinned is the version that agents always get; 0 means none.
	Pinned int64
	// Stale are the reasons to write a new version.
	Stale     []string
	Revisions []RevisionOutcome
}

// RevisionOutcome is a version with the results of the calls whose agents got it.
type RevisionOutcome struct {
	Revision
	VersionOutcomes
}

// VersionOutcomes counts judged calls whose agents got a version.
type VersionOutcomes struct {
	Calls int `json:"calls"`
	// Those that scored 0.
	Failed     int             `json:"failed"`
	FailedCI95 *stats.Interval `json:"failed_ci95"`
}

func (d *Deps) listRevisions(ctx context.Context, ref memoryd.ToolRef) (list RevisionList, err error) {
	kept, err := d.Revisions.List(ctx, ref)
	if err != nil {
		return list, err
	}
	if list.Pinned, err = d.Revisions.PinnedVersion(ctx, ref); err != nil {
		return list, err
	}
	reasons, err := d.Revisions.Stale(ctx, ref)
	if err != nil {
		return list, err
	}
	for _, reason := range reasons {
		list.Stale = append(list.Stale, string(reason.Change)+": "+reason.Text)
	}
	var calls []memoryd.Call // without their texts
	for call, err := range store.AllCalls(ctx, d.Store, ref, true) {
		if err != nil {
			return list, err
		}
		calls = append(calls, call)
	}
	outcomes := revisions.Outcomes(calls)
	for _, version := range kept {
		o := outcomes[version.Number]
		list.Revisions = append(list.Revisions, RevisionOutcome{version, VersionOutcomes{o.Calls, o.Bad, stats.Wilson(o.Bad, o.Calls)}})
	}
	return list, nil
}

// GetRevision requests one version.
type GetRevision struct {
	memoryd.ToolRef

	Number int64
}

func (d *Deps) getRevision(ctx context.Context, r GetRevision) (Revision, error) {
	return d.Revisions.Revision(ctx, r.ToolRef, r.Number)
}

// DiffRevisions requests the differences between two versions; 0 is an empty one.
type DiffRevisions struct {
	memoryd.ToolRef

	Number, With int64
}

func (d *Deps) diffRevisions(ctx context.Context, r DiffRevisions) ([]GuidelineChange, error) {
	next, err := d.Revisions.Revision(ctx, r.ToolRef, r.Number)
	if err != nil {
		return nil, err
	}
	var prev Revision
	if r.With > 0 {
		if prev, err = d.Revisions.Revision(ctx, r.ToolRef, r.With); err != nil {
			return nil, err
		}
	}
	return guidelines.Diff(prev.Document, next.Document), nil
}
