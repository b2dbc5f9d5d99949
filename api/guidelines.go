package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"memoryd/api/wire"
	"memoryd/ops"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"
)

// listGuidelines lists the versions of a tool's guideline, the newest first,
// with the outcomes of calls whose agents were shown each.
func (s *server) listGuidelines(c echo.Context, _ []byte) (any, error) {
	q := queryOf(c)
	return answer(q, s.Flows.ListRevisions, ops.ListRevisions{ToolRef: q.tool()}, func(kept ops.RevisionList) any {
		list := wire.GuidelineList{Versions: []wire.GuidelineVersion{}, Stale: append([]string{}, kept.Stale...), Pinned: kept.Pinned}
		for i := range kept.Revisions {
			r := &kept.Revisions[i]
			v := versionOf(r.Revision)
			v.Outcomes = wire.Outcomes{Calls: r.Calls, Failed: r.Failed, FailedCI95: r.FailedCI95}
			v.Content, v.Items, v.Evidence = "", nil, nil
			list.Versions = append(list.Versions, v)
		}
		return list
	})
}

func shownVersion(r ops.Revision) any { return versionOf(r) }

func versionOf(e ops.Revision) wire.GuidelineVersion {
	v := wire.GuidelineVersion{
		Revision: e.Number, Author: e.Author, Written: e.Written.Format(time.RFC3339), BasedOn: e.BasedOn,
		Reasons: append([]string{}, e.Reasons...), Judges: append([]string{}, e.Judges...),
		RolledBackTo: e.RolledBackTo, Why: e.Why, Content: e.Content,
	}
	if e.Document == nil {
		return v
	}
	for _, item := range e.Document.Items {
		v.Items = append(v.Items, wire.GuidelineItem(item))
	}
	for _, ground := range e.Document.Grounds {
		evidence := wire.Evidence{
			ID: ground.ID, Kind: ground.Kind, Data: ground.Data, Calls: ground.Calls, CallCount: ground.CallCount, Fingerprint: ground.Fingerprint, Untrusted: true,
		}
		evidence.Data = snakeCase(evidence.Data)
		v.Evidence = append(v.Evidence, evidence)
	}
	return v
}

// tableNames are the members of evidence that are stored under other names than
// they are shown.
var tableNames = map[string]string{"With": "with", "WithBad": "with_bad", "Without": "without", "WithoutBad": "without_bad"}

// snakeCase renames members of stored evidence for readers.
func snakeCase(data []byte) []byte {
	if !bytes.Contains(data, []byte(`"With`)) {
		return data
	}
	var out bytes.Buffer
	dec, enc := jsontext.NewDecoder(bytes.NewReader(data)), jsontext.NewEncoder(&out)
	for {
		token, err := dec.ReadToken()
		if errors.Is(err, io.EOF) {
			return bytes.TrimSpace(out.Bytes())
		}
		if err != nil {
			return data
		}
		if kind, n := dec.StackIndex(dec.StackDepth()); kind == '{' && n%2 == 1 && tableNames[token.String()] != "" {
			token = jsontext.String(tableNames[token.String()])
		}
		if enc.WriteToken(token) != nil {
			return data
		}
	}
}

func (s *server) getGuideline(c echo.Context, _ []byte) (any, error) {
	q := queryOf(c)
	return answer(q, s.Flows.GetRevision, ops.GetRevision{ToolRef: q.tool(), Number: q.revision()}, shownVersion)
}

// diffGuideline says what a version changed against another, or against the one
// before it.
func (s *server) diffGuideline(c echo.Context, _ []byte) (any, error) {
	q := queryOf(c)
	in := ops.DiffRevisions{ToolRef: q.tool(), Number: q.revision()}
	in.With = int64(q.number("with", int(in.Number-1), 0, math.MaxInt))
	return answer(q, s.Flows.DiffRevisions, in, func(diff ops.RevisionDiff) any {
		out := wire.GuidelineDiff{Revision: in.Number, With: in.With, Changes: []wire.GuidelineChange{}}
		for _, change := range diff.Changes {
			out.Changes = append(out.Changes, wire.GuidelineChange(change))
		}
		return out
	})
}

// decidedBy says who decided on a version.
func (q *query) decidedBy(req *wire.RevisionRequest) string {
	if req.Revision != nil && *req.Revision < 1 {
		q.fail(invalid("int_type", "Input should be a whole number of 1 or more", fmt.Append(nil, *req.Revision), "revision"))
	}
	return q.name(or(req.By, "a person"))
}

func (s *server) pinGuideline(c echo.Context, req *wire.RevisionRequest) (any, error) {
	q := queryOf(c)
	in := ops.PinRevision{ToolRef: q.tool(), Number: or(req.Revision, 0)}
	if req.Revision == nil {
		q.fail(missing("revision"))
	}
	in.By = q.decidedBy(req)
	return answer(q, s.Flows.PinRevision, in, shownVersion)
}

func (s *server) unpinGuideline(c echo.Context, _ []byte) (any, error) {
	q := queryOf(c)
	return answer(q, s.Flows.UnpinRevision, ops.UnpinRevision{ToolRef: q.tool()}, func(ops.Done) any { return nil })
}

// listPending lists the statements of a workspace, or of the tool ?tool=, that wait for
// their quorum or for a person.
func (s *server) listPending(c echo.Context, _ []byte) (any, error) {
	q := queryOf(c)
	in := ops.ListPending{Workspace: q.workspace(), Tool: c.QueryParam("tool"), After: q.cursor(), Limit: q.limit()}
	return answer(q, s.Flows.ListPending, in, func(p ops.PendingPage) any {
		return wire.PendingList{NextCursor: cursorAfter(p.Next), Statements: each(p.Statements, func(x ops.PendingStatement) wire.PendingStatement {
			return wire.PendingStatement{
				ID: x.ID, ToolName: x.Tool, Section: x.Section, Text: x.Text, Published: x.Published, Author: x.Author,
				Evidence: append([]string{}, x.Evidence...), Untrusted: true,
			}
		})}
	})
}

func (s *server) releasePending(c echo.Context, req *wire.ReleaseRequest) (any, error) {
	q := queryOf(c)
	in := ops.ReleasePending{ToolRef: q.tool(), ID: c.Param("statement"), Accept: req.Decision == "accept"}
	if req.Decision != "accept" && req.Decision != "refuse" {
		q.fail(invalid("enum", "Input should be 'accept' or 'refuse'", fmt.Appendf(nil, "%q", req.Decision), "decision"))
	}
	in.By = q.name(or(req.By, "a person"))
	return answer(q, s.Flows.ReleasePending, in, shownVersion)
}

// undoRelease lets a statement wait again that somebody decided on; ?by= says who asks.
func (s *server) undoRelease(c echo.Context, _ []byte) (any, error) {
	q := queryOf(c)
	return answer(q, s.Flows.UndoRelease, ops.UndoRelease{ToolRef: q.tool(), ID: c.Param("statement"), By: q.by()}, shownVersion)
}

// listLineOutcomes says how the lines of the guideline did since they were published.
func (s *server) listLineOutcomes(c echo.Context, _ []byte) (any, error) {
	q := queryOf(c)
	return answer(q, s.Flows.ListLineOutcomes, ops.ListLineOutcomes{ToolRef: q.tool()}, func(found ops.LineOutcomes) any {
		out := wire.LineOutcomes{Lines: []wire.LineOutcome{}}
		for _, l := range found.Lines {
			out.Lines = append(out.Lines, wire.LineOutcome{
				Line: l.Line, Since: l.Since, Tells: l.Tells,
				Before: wire.LineCounts(l.Before), After: wire.LineCounts(l.After), Shown: wire.LineCounts(l.Shown),
			})
		}
		return out
	})
}

func (s *server) addLine(c echo.Context, req *wire.LineRequest) (any, error) {
	if req.Section == nil {
		return nil, missing("section")
	}
	return s.editLine(c, req, ops.LineChange{Section: *req.Section})
}

func (s *server) setLine(c echo.Context, req *wire.LineRequest) (any, error) {
	return s.editLine(c, req, ops.LineChange{Line: c.Param("line")})
}

func (s *server) removeLine(c echo.Context, _ []byte) (any, error) {
	by := c.QueryParam("by")
	return s.editLine(c, &wire.LineRequest{By: &by, Text: new(string)}, ops.LineChange{Line: c.Param("line"), Remove: true})
}

func (s *server) editLine(c echo.Context, req *wire.LineRequest, change ops.LineChange) (any, error) {
	q := queryOf(c)
	in := ops.EditLine{ToolRef: q.tool(), LineChange: change}
	if req.Text == nil {
		q.fail(missing("text"))
	}
	in.Text, in.By = or(req.Text, ""), q.name(or(req.By, ""))
	return answer(q, s.Flows.EditLine, in, func(e ops.EditedLine) any {
		return wire.EditedLine{Line: e.Line, Version: versionOf(e.Revision)}
	})
}

// undoLine takes the newest change of a line back; ?by= says who asks.
func (s *server) undoLine(c echo.Context, _ []byte) (any, error) {
	q := queryOf(c)
	return answer(q, s.Flows.UndoEdit, ops.UndoEdit{ToolRef: q.tool(), Line: c.Param("line"), By: q.by()}, shownVersion)
}

func (s *server) rollBackGuideline(c echo.Context, req *wire.RevisionRequest) (any, error) {
	q := queryOf(c)
	in := ops.RollBackRevision{ToolRef: q.tool(), Number: q.revision(), By: q.decidedBy(req)}
	return answer(q, s.Flows.RollBackRevision, in, shownVersion)
}
