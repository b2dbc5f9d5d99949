package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
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
	return answer(q, s.Flows.ListRevisions, q.tool(), func(kept ops.RevisionList) any {
		list := guidelineList{Versions: []guidelineVersion{}, Stale: append([]string{}, kept.Stale...), Pinned: kept.Pinned}
		for i := range kept.Revisions {
			r := &kept.Revisions[i]
			v := versionOf(r.Revision)
			v.Outcomes, v.Content, v.Items, v.Evidence = r.VersionOutcomes, "", nil, nil
			list.Versions = append(list.Versions, v)
		}
		return list
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
	Revision     int64               `json:"revision"`
	Author       string              `json:"author"`
	Written      time.Time           `json:"written"`
	BasedOn      int64               `json:"based_on"` // the revision of the tool that it was written from
	Reasons      []string            `json:"reasons"`  // why the previous version was stale
	Judges       []string            `json:"judges"`   // versions of the judges behind the calls
	RolledBackTo int64               `json:"rolled_back_to,omitempty"`
	Why          string              `json:"why,omitempty"`
	Outcomes     ops.VersionOutcomes `json:"outcomes"`
	// With is the version that Changes compares with; nil if the request named none.
	With    *int64                `json:"with,omitempty"`
	Changes []ops.GuidelineChange `json:"changes,omitempty"`

	Content  string              `json:"content,omitempty"`
	Items    []ops.GuidelineItem `json:"items,omitempty"`
	Evidence []evidence          `json:"evidence,omitempty"`
}

// evidence is a fact of the history that supports statements. It may contain texts of callers and
// tools.
type evidence struct {
	ops.GuidelineGround

	Untrusted bool `json:"untrusted"` // always true
}

func versionOf(e ops.Revision) guidelineVersion {
	v := guidelineVersion{
		Revision: e.Number, Author: e.Author, Written: e.Written, BasedOn: e.BasedOn,
		Reasons: append([]string{}, e.Reasons...), Judges: append([]string{}, e.Judges...),
		RolledBackTo: e.RolledBackTo, Why: e.Why, Content: e.Content,
	}
	if e.Document == nil {
		return v
	}
	v.Items = e.Document.Items
	for _, ground := range e.Document.Grounds {
		ground.Data = snakeCase(ground.Data)
		v.Evidence = append(v.Evidence, evidence{ground, true})
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

// getGuideline shows a version; ?with= adds what it changed against that one.
func (s *server) getGuideline(c echo.Context, _ []byte) (any, error) {
	q := queryOf(c)
	ref, number := q.tool(), q.revision()
	_, compare := q.once("with")
	with := int64(q.number("with", 0, 0, math.MaxInt))
	if q.err != nil {
		return nil, q.err
	}
	found, err := s.Flows.GetRevision.Run(q.ctx(), ops.GetRevision{ToolRef: ref, Number: number})
	if err != nil {
		return nil, err
	}
	version := versionOf(found)
	if !compare {
		return version, nil
	}
	version.With = &with
	return answer(q, s.Flows.DiffRevisions, ops.DiffRevisions{ToolRef: ref, Number: number, With: with}, func(changes []ops.GuidelineChange) any {
		version.Changes = changes
		return version
	})
}

// The decisions on a guideline, on one of its lines, and on an unpublished statement.
const (
	pin, unpin, rollBack = "pin", "unpin", "roll_back"
	set, remove, undo    = "set", "remove", "undo"
	accept, refuse, wait = "accept", "refuse", "wait"
)

// decision reads which of some decisions a request makes.
func (q *query) decision(given *string, known ...string) string {
	if given == nil {
		q.fail(missing("decision"))
	} else if !slices.Contains(known, *given) {
		q.fail(invalid("enum", "Input should be '"+strings.Join(known, "' or '")+"'", fmt.Appendf(nil, "%q", *given), "decision"))
	}
	return or(given, "")
}

// decideGuideline pins a version, goes back to one, or lets the pinned one go.
func (s *server) decideGuideline(c echo.Context, req *wire.RevisionRequest) (any, error) {
	q := queryOf(c)
	ref, number := q.tool(), or(req.Revision, 0)
	decision := q.decision(req.Decision, pin, unpin, rollBack)
	switch {
	case decision == unpin && req.Revision != nil:
		q.fail(invalid("int_type", "Input should be left out: unpin needs no revision", fmt.Append(nil, number), "revision"))
	case decision == unpin:
	case req.Revision == nil:
		q.fail(missing("revision"))
	case number < 1:
		q.fail(invalid("int_type", "Input should be a whole number of 1 or more", fmt.Append(nil, number), "revision"))
	}
	in := ops.Decide{ToolRef: ref, Decision: ops.Decision{Kind: decision, Revision: number, By: q.name(or(req.By, "a person"))}}
	return answer(q, s.Flows.Decide, in, func(d ops.Decided) any {
		if decision == unpin {
			return nil
		}
		return versionOf(d.Revision)
	})
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

// listLineOutcomes says how the lines of the guideline did since they were published.
func (s *server) listLineOutcomes(c echo.Context, _ []byte) (any, error) {
	q := queryOf(c)
	return answer(q, s.Flows.ListLineOutcomes, q.tool(), shown[ops.LineOutcomes])
}

func (s *server) addLine(c echo.Context, req *wire.LineRequest) (any, error) {
	if req.Section == nil {
		return nil, missing("section")
	}
	return s.onLine(c, req, ops.Decision{Kind: set, Section: *req.Section})
}

// decideLine sets a line, takes it out, or takes its newest change back; or decides on a
// statement that waits.
func (s *server) decideLine(c echo.Context, req *wire.LineRequest) (any, error) {
	q := queryOf(c)
	d := ops.Decision{Line: c.Param("line")}
	d.Kind = q.decision(req.Decision, set, remove, undo, accept, refuse, wait)
	if d.Kind != set && req.Text != nil {
		q.fail(invalid("string_type", "Input should be left out unless the line is set", fmt.Appendf(nil, "%q", *req.Text), "text"))
	}
	if q.err != nil {
		return nil, q.err
	}
	return s.onLine(c, req, d)
}

func (s *server) onLine(c echo.Context, req *wire.LineRequest, d ops.Decision) (any, error) {
	q := queryOf(c)
	switch d.Kind {
	case set:
		if req.Text == nil {
			q.fail(missing("text"))
		}
	case accept, refuse, wait:
		d.By = "a person"
	}
	d.Text, d.By = or(req.Text, ""), q.name(or(req.By, d.By))
	return answer(q, s.Flows.Decide, ops.Decide{ToolRef: q.tool(), Decision: d}, func(e ops.Decided) any {
		return map[string]any{"line": e.Line, "version": versionOf(e.Revision)}
	})
}
