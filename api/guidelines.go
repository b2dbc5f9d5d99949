package api

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"memoryd"
	"memoryd/api/wire"
	"memoryd/ops"
)

// listGuidelines lists the versions of a tool's guideline, the newest first.
//
// Without their texts; with the outcomes of calls whose agents were shown each, what is pinned, and why the newest is stale.
func (s *server) listGuidelines(ctx context.Context, in *inTool) (guidelineList, error) {
	return answer(ctx, s.Flows.ListRevisions, in.ref(), func(kept ops.RevisionList) guidelineList {
		versions := each(kept.Revisions, func(r ops.RevisionOutcome) guidelineVersion {
			v := versionOf(r.Revision)
			v.Outcomes, v.Content, v.Items, v.Evidence = r.VersionOutcomes, "", nil, nil
			return v
		})
		return guidelineList{Versions: versions, Stale: kept.Stale, Pinned: kept.Pinned}
	})
}

// guidelineList has the versions of a tool's guideline, newest first.
type guidelineList struct {
	Versions []guidelineVersion `json:"versions"`
	Pinned   int64              `json:"pinned"` // 0 means none
	Stale    []string           `json:"stale"`  // why the newest version is stale; empty if it is not
}

// guidelineVersion is a version of a guideline; lists leave out text and evidence.
type guidelineVersion struct {
	Revision int64 `json:"revision"`
	// A model's name or `rules`.
	Author  string    `json:"author"`
	Written time.Time `json:"written"`
	BasedOn int64     `json:"based_on"` // the revision of the tool that it was written from
	Reasons []string  `json:"reasons"`  // why the previous version was stale
	Judges  []string  `json:"judges"`   // versions of the judges behind the calls
	// The version whose text this is again.
	RolledBackTo int64  `json:"rolled_back_to,omitempty"`
	Why          string `json:"why,omitempty"`
	// Judged calls of the history whose agent was shown this version (`metadata.guideline_version`).
	Outcomes ops.VersionOutcomes `json:"outcomes"`
	// With is the version that `changes` compares with, where one was asked for.
	With *int64 `json:"with,omitempty"`
	// Statements that were added, removed or changed since.
	Changes []ops.GuidelineChange `json:"changes,omitempty"`

	Content  string              `json:"content,omitempty"`
	Items    []ops.GuidelineItem `json:"items,omitempty"`
	Evidence []evidence          `json:"evidence,omitempty"`
}

// evidence is a fact of the history that supports statements. It may contain texts of callers and
// tools.
type evidence struct {
	ops.GuidelineGround

	Untrusted bool `json:"untrusted" const:"true"` // always true
}

func versionOf(e ops.Revision) guidelineVersion {
	v := guidelineVersion{
		Revision: e.Number, Author: e.Author, Written: e.Written, BasedOn: e.BasedOn,
		Reasons: e.Reasons, Judges: e.Judges, RolledBackTo: e.RolledBackTo, Why: e.Why, Content: e.Content,
	}
	if e.Document == nil {
		return v
	}
	v.Items = e.Document.Items
	for _, ground := range e.Document.Grounds {
		ground.Data = []byte(asShown.Replace(string(ground.Data)))
		v.Evidence = append(v.Evidence, evidence{ground, true})
	}
	return v
}

// asShown renames members of stored evidence that are shown under other names. Within a text a
// quote is escaped: what stands between two and a colon is a name.
var asShown = strings.NewReplacer(`"With":`, `"with":`, `"WithBad":`, `"with_bad":`, `"Without":`, `"without":`, `"WithoutBad":`, `"without_bad":`)

// versionQuery asks for a version.
type versionQuery struct {
	inTool

	Revision int64  `path:"revision" minimum:"1"` // The number of a version.
	With     *int64 `query:"with" minimum:"0"`    // The version that it is compared with; 0 is the empty one.
}

// getGuideline shows one version with its statements and their evidence.
//
// The text of a version, its statements, and the evidence that each rests on; with `with`, what it changed against another.
func (s *server) getGuideline(ctx context.Context, in *versionQuery) (version guidelineVersion, err error) {
	found, err := s.Flows.GetRevision.Run(ctx, ops.GetRevision{ToolRef: in.ref(), Number: in.Revision})
	if err != nil {
		return version, err
	}
	version = versionOf(found)
	if in.With != nil {
		version.With = in.With
		version.Changes, err = s.Flows.DiffRevisions.Run(ctx, ops.DiffRevisions{ToolRef: in.ref(), Number: in.Revision, With: *in.With})
	}
	return version, err
}

// checkDecision refuses a decision that is not one of the known.
func checkDecision(given string, known ...string) error {
	if !slices.Contains(known, given) {
		return invalid("enum", "Input should be '"+strings.Join(known, "' or '")+"'", fmt.Appendf(nil, "%q", given), "decision")
	}
	return nil
}

// guidelineDecision is a decision on a tool's guideline.
type guidelineDecision struct {
	inTool

	Body wire.GuidelineDecision
}

// check refuses a decision that is not whole.
func (d *guidelineDecision) check() error {
	if err := checkDecision(*d.Body.Decision, "pin", "unpin", "roll_back"); err != nil {
		return err
	}
	number := or(d.Body.Revision, 0)
	switch unpins := *d.Body.Decision == "unpin"; {
	case unpins && d.Body.Revision != nil:
		return invalid("int_type", "Input should be left out: unpin needs no revision", fmt.Append(nil, number), "revision")
	case unpins:
	case d.Body.Revision == nil:
		return missing("revision")
	case number < 1:
		return invalid("int_type", "Input should be a whole number of 1 or more", fmt.Append(nil, number), "revision")
	}
	return checkBy(or(d.Body.By, ""))
}

// decideGuideline pins a version, goes back to one, or lets the pinned one go.
//
// `pin` keeps a version until it is unpinned; an older one becomes the guideline again first, under a new number. `roll_back` makes
// an earlier version the guideline again, under a new number; the version that it replaces is not written again from the same evidence.
// After `unpin` (204) refreshes replace the guideline again, and the tool gets its newest version.
func (s *server) decideGuideline(ctx context.Context, in *guidelineDecision) (*guidelineVersion, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	d := ops.Decision{Kind: *in.Body.Decision, Revision: or(in.Body.Revision, 0), By: or(in.Body.By, "a person")}
	return answer(ctx, s.Flows.Decide, ops.Decide{ToolRef: in.ref(), Decision: d}, func(done ops.Decided) *guidelineVersion {
		if d.Kind == "unpin" {
			return nil
		}
		return new(versionOf(done.Revision))
	})
}

// pendingQuery asks for statements that are not published.
type pendingQuery struct {
	inWorkspace

	Tool string `query:"tool"` // Only of this tool.
	inPage
}

// pendingList is a page of unpublished statements.
type pendingList struct {
	Statements []ops.PendingStatement `json:"statements"`
	NextCursor string                 `json:"next_cursor,omitempty"`
}

// listPending lists the statements that are not published.
//
// What waits for its quorum (three calls of two runs, and of two agents where several are known) or for a person: words, numbers and
// names out of messages, a model's wording, guidelines of dumps that this installation did not write. A page may be empty and not the
// last.
func (s *server) listPending(ctx context.Context, in *pendingQuery) (pendingList, error) {
	wanted := ops.ListPending{Workspace: string(in.Workspace), Tool: in.Tool, After: string(in.Cursor), Limit: in.Limit}
	return answer(ctx, s.Flows.ListPending, wanted, func(p ops.PendingPage) pendingList {
		return pendingList{p.Statements, cursorAfter(p.Next)}
	})
}

// listLineOutcomes says how each line did since it was published.
//
// Of the kept judged calls before the version that a line was published with, and since: how many broke it (did what it warns of, or
// failed with its message) and how many failed. Also the share of each source in the calls and the lines.
func (s *server) listLineOutcomes(ctx context.Context, in *inTool) (ops.LineOutcomes, error) {
	return s.Flows.ListLineOutcomes.Run(ctx, in.ref())
}

// newLine is a line that a person adds.
type newLine struct {
	inTool

	Body wire.NewLine
}

// addLine adds a line.
//
// It becomes a new version, is marked as a person's, and stays when the guideline is updated.
func (s *server) addLine(ctx context.Context, in *newLine) (out editedLine, err error) {
	return s.onLine(ctx, in.ref(), in.Body.Text, in.Body.By, ops.Decision{Kind: "set", Section: *in.Body.Section})
}

// lineDecision is a decision on a line.
type lineDecision struct {
	inTool

	Line string `path:"line"` // The id of the line.
	Body wire.LineDecision
}

// decideLine decides on a line: sets it, takes it out, publishes or forgets a pending one, or takes a decision back.
//
// `set` needs `text`: what a person wrote is marked and kept over rewrites. Where the evidence comes to say something else, that waits
// for a person (`pending`). After `remove` the line stays out of later versions. After `undo` the change before it holds again, or what
// the program says. A statement of `pending` is published by `accept` and forgotten after `refuse`; after `wait` it waits again, and
// what stood in its place is published again.
func (s *server) decideLine(ctx context.Context, in *lineDecision) (out editedLine, err error) {
	if err := checkDecision(*in.Body.Decision, "set", "remove", "undo", "accept", "refuse", "wait"); err != nil {
		return out, err
	}
	d := ops.Decision{Line: in.Line, Kind: *in.Body.Decision}
	if d.Kind != "set" && in.Body.Text != nil {
		return out, invalid("string_type", "Input should be left out unless the line is set", fmt.Appendf(nil, "%q", *in.Body.Text), "text")
	}
	return s.onLine(ctx, in.ref(), in.Body.Text, in.Body.By, d)
}

// editedLine is a line that was decided on, and the version that then stands.
type editedLine struct {
	Line    string           `json:"line"` // Its id.
	Version guidelineVersion `json:"version"`
}

func (s *server) onLine(ctx context.Context, tool memoryd.ToolRef, text, by *string, d ops.Decision) (out editedLine, err error) {
	switch d.Kind {
	case "set":
		if text == nil {
			return out, missing("text")
		}
	case "accept", "refuse", "wait":
		d.By = "a person"
	}
	d.Text, d.By = or(text, ""), or(by, d.By)
	if err := checkBy(d.By); err != nil {
		return out, err
	}
	return answer(ctx, s.Flows.Decide, ops.Decide{ToolRef: tool, Decision: d}, func(e ops.Decided) editedLine {
		return editedLine{e.Line, versionOf(e.Revision)}
	})
}
