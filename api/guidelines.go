package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"memoryd"
	"memoryd/api/wire"
	"memoryd/ops"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"
)

// revisionOf reads a tool and the number of a version from the path.
func revisionOf(c echo.Context) (ref memoryd.ToolRef, revision int64, err error) {
	if ref, err = toolOf(c); err != nil {
		return ref, 0, err
	}
	text := c.Param("revision")
	if text == "pin" { // a resource of its own, which nobody can get
		c.Response().Header().Set(echo.HeaderAllow, "PUT, DELETE")
		return ref, 0, echo.ErrMethodNotAllowed
	}
	revision, err = strconv.ParseInt(text, 10, 64)
	if err != nil || revision < 1 {
		return ref, 0, memoryd.Errorf(memoryd.Invalid, "revision: must be a whole number of 1 or more")
	}
	return ref, revision, nil
}

// listGuidelines lists the versions of a tool's guideline, the newest first,
// with the outcomes of calls whose agents were shown each.
func (s *server) listGuidelines(c echo.Context, _ []byte) (any, error) {
	ref, err := toolOf(c)
	if err != nil {
		return nil, err
	}
	kept, err := s.Flows.ListRevisions.Run(c.Request().Context(), ops.ListRevisions{ToolRef: ref})
	if err != nil {
		return nil, err
	}
	list := wire.GuidelineList{Versions: []wire.GuidelineVersion{}, Stale: append([]string{}, kept.Stale...), Pinned: kept.Pinned}
	for i := range kept.Revisions {
		r := &kept.Revisions[i]
		v := versionOf(&r.Revision)
		v.Outcomes = wire.Outcomes{Calls: r.Calls, Failed: r.Failed, FailedCI95: r.FailedCI95}
		v.Content, v.Items, v.Evidence = "", nil, nil
		list.Versions = append(list.Versions, v)
	}
	return list, nil
}

func versionOf(e *ops.Revision) wire.GuidelineVersion {
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
	ref, revision, err := revisionOf(c)
	if err != nil {
		return nil, err
	}
	e, err := s.Flows.GetRevision.Run(c.Request().Context(), ops.GetRevision{ToolRef: ref, Number: revision})
	return versionOf(&e), err
}

// diffGuideline says what a version changed against another, or against the one
// before it.
func (s *server) diffGuideline(c echo.Context, _ []byte) (any, error) {
	ref, revision, err := revisionOf(c)
	if err != nil {
		return nil, err
	}
	with := revision - 1
	if text := c.QueryParam("with"); text != "" {
		if with, err = strconv.ParseInt(text, 10, 64); err != nil || with < 0 {
			return nil, memoryd.Errorf(memoryd.Invalid, "with: must be the number of a version")
		}
	}
	diff, err := s.Flows.DiffRevisions.Run(c.Request().Context(), ops.DiffRevisions{ToolRef: ref, Number: revision, With: with})
	if err != nil {
		return nil, err
	}
	out := wire.GuidelineDiff{Revision: revision, With: with, Changes: []wire.GuidelineChange{}}
	for _, change := range diff.Changes {
		out.Changes = append(out.Changes, wire.GuidelineChange(change))
	}
	return out, nil
}

// maxBy bounds the name of who decided.
const maxBy = 100

// decidedBy says who decided on a version.
func decidedBy(req *wire.RevisionRequest) (string, error) {
	if req.Revision != nil && *req.Revision < 1 {
		return "", invalid("int_type", "Input should be a whole number of 1 or more", fmt.Append(nil, *req.Revision), "revision")
	}
	by := or(req.By, "a person")
	if len(by) > maxBy {
		return "", invalid("string_too_long", fmt.Sprintf("at most %d bytes", maxBy), nil, "by")
	}
	return by, nil
}

func (s *server) pinGuideline(c echo.Context, req *wire.RevisionRequest) (any, error) {
	ref, err := toolOf(c)
	if err != nil {
		return nil, err
	}
	if req.Revision == nil {
		return nil, missing("revision")
	}
	by, err := decidedBy(req)
	if err != nil {
		return nil, err
	}
	e, err := s.Flows.PinRevision.Run(c.Request().Context(), ops.PinRevision{ToolRef: ref, Number: *req.Revision, By: by})
	return versionOf(&e), err
}

func (s *server) unpinGuideline(c echo.Context, _ []byte) (any, error) {
	ref, err := toolOf(c)
	if err != nil {
		return nil, err
	}
	_, err = s.Flows.UnpinRevision.Run(c.Request().Context(), ops.UnpinRevision{ToolRef: ref})
	return nil, err
}

// listPending lists the statements of a workspace, or of the tool ?tool=, that wait for
// their quorum or for a person.
func (s *server) listPending(c echo.Context, _ []byte) (any, error) {
	workspace, err := workspaceParam(c)
	if err != nil {
		return nil, err
	}
	after, limit, err := page(c)
	if err != nil {
		return nil, err
	}
	p, err := s.Flows.ListPending.Run(c.Request().Context(), ops.ListPending{Workspace: workspace, Tool: c.QueryParam("tool"), After: after, Limit: limit})
	list := wire.PendingList{Statements: []wire.PendingStatement{}, NextCursor: cursorAfter(p.Next)}
	for _, st := range p.Statements {
		list.Statements = append(list.Statements, wire.PendingStatement{
			ID: st.ID, ToolName: st.Tool, Section: st.Section, Text: st.Text, Published: st.Published, Author: st.Author,
			Evidence: append([]string{}, st.Evidence...), Untrusted: true,
		})
	}
	return list, err
}

func (s *server) releasePending(c echo.Context, req *wire.ReleaseRequest) (any, error) {
	ref, err := toolOf(c)
	if err != nil {
		return nil, err
	}
	if req.Decision != "accept" && req.Decision != "refuse" {
		return nil, invalid("enum", "Input should be 'accept' or 'refuse'", fmt.Appendf(nil, "%q", req.Decision), "decision")
	}
	by, err := decidedBy(&wire.RevisionRequest{By: req.By})
	if err != nil {
		return nil, err
	}
	e, err := s.Flows.ReleasePending.Run(c.Request().Context(), ops.ReleasePending{ToolRef: ref, ID: c.Param("statement"), Accept: req.Decision == "accept", By: by})
	return versionOf(&e), err
}

// undoRelease lets a statement wait again that somebody decided on; ?by= says who asks.
func (s *server) undoRelease(c echo.Context, _ []byte) (any, error) {
	ref, by, err := changeOf(c)
	if err != nil {
		return nil, err
	}
	e, err := s.Flows.UndoRelease.Run(c.Request().Context(), ops.UndoRelease{ToolRef: ref, ID: c.Param("statement"), By: by})
	return versionOf(&e), err
}

// changeOf reads the tool of the path and who asks, of a request without a body.
func changeOf(c echo.Context) (ref memoryd.ToolRef, by string, err error) {
	if ref, err = toolOf(c); err != nil {
		return ref, "", err
	}
	if by = c.QueryParam("by"); len(by) > maxBy {
		err = invalid("string_too_long", fmt.Sprintf("at most %d bytes", maxBy), nil, "by")
	}
	return ref, by, err
}

// listLineOutcomes says how the lines of the guideline did since they were published.
func (s *server) listLineOutcomes(c echo.Context, _ []byte) (any, error) {
	ref, err := toolOf(c)
	if err != nil {
		return nil, err
	}
	found, err := s.Flows.ListLineOutcomes.Run(c.Request().Context(), ops.ListLineOutcomes{ToolRef: ref})
	out := wire.LineOutcomes{Lines: []wire.LineOutcome{}}
	for _, l := range found.Lines {
		out.Lines = append(out.Lines, wire.LineOutcome{
			Line: l.Line, Since: l.Since, Tells: l.Tells,
			Before: wire.LineCounts(l.Before), After: wire.LineCounts(l.After), Shown: wire.LineCounts(l.Shown),
		})
	}
	return out, err
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
	ref, err := toolOf(c)
	if err != nil {
		return nil, err
	}
	if req.Text == nil {
		return nil, missing("text")
	}
	if _, err = decidedBy(&wire.RevisionRequest{By: req.By}); err != nil {
		return nil, err
	}
	change.Text, change.By = *req.Text, or(req.By, "")
	e, err := s.Flows.EditLine.Run(c.Request().Context(), ops.EditLine{ToolRef: ref, LineChange: change})
	return wire.EditedLine{Line: e.Line, Version: versionOf(&e.Revision)}, err
}

// undoLine takes the newest change of a line back; ?by= says who asks.
func (s *server) undoLine(c echo.Context, _ []byte) (any, error) {
	ref, by, err := changeOf(c)
	if err != nil {
		return nil, err
	}
	e, err := s.Flows.UndoEdit.Run(c.Request().Context(), ops.UndoEdit{ToolRef: ref, Line: c.Param("line"), By: by})
	return versionOf(&e), err
}

func (s *server) rollBackGuideline(c echo.Context, body []byte) (any, error) {
	ref, revision, err := revisionOf(c)
	if err != nil {
		return nil, err
	}
	var req wire.RevisionRequest
	if !isBlank(body) {
		if err := s.decode(body, &req); err != nil {
			return nil, err
		}
	}
	by, err := decidedBy(&req)
	if err != nil {
		return nil, err
	}
	e, err := s.Flows.RollBackRevision.Run(c.Request().Context(), ops.RollBackRevision{ToolRef: ref, Number: revision, By: by})
	return versionOf(&e), err
}
