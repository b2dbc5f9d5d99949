package api

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"memoryd"
	"memoryd/api/wire"
	"memoryd/guidelines"
	"memoryd/guidelines/revisions"
	"memoryd/internal/stats"

	"github.com/labstack/echo/v4"
)

// Curator keeps the versions of guidelines.
type Curator interface {
	List(ctx context.Context, ref memoryd.ToolRef) ([]revisions.Revision, error)
	Revision(ctx context.Context, ref memoryd.ToolRef, revision int64) (revisions.Revision, error)
	Stale(ctx context.Context, ref memoryd.ToolRef) ([]revisions.Reason, error)
	PinnedVersion(ctx context.Context, ref memoryd.ToolRef) (int64, error)
	Pin(ctx context.Context, ref memoryd.ToolRef, revision int64, by string) (revisions.Revision, error)
	Unpin(ctx context.Context, ref memoryd.ToolRef) error
	RollBack(ctx context.Context, ref memoryd.ToolRef, revision int64, by string) (revisions.Revision, error)
}

// revisionOf reads a tool and the number of a version from the path.
func revisionOf(c echo.Context) (ref memoryd.ToolRef, revision int64, err error) {
	if ref, err = toolOf(c); err != nil {
		return ref, 0, err
	}
	revision, err = strconv.ParseInt(c.Param("revision"), 10, 64)
	if err != nil || revision < 1 {
		return ref, 0, memoryd.Errorf(memoryd.Invalid, "revision: must be a whole number of 1 or more")
	}
	return ref, revision, nil
}

// listGuidelines lists the versions of a tool's guideline, the newest first,
// with the outcomes of calls whose agents were shown each.
func (s *server) listGuidelines(c echo.Context) error {
	ref, err := toolOf(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	kept, err := s.Curator.List(ctx, ref)
	if err != nil {
		return err
	}
	list := wire.GuidelineList{Versions: []wire.GuidelineVersion{}, Stale: []string{}}
	if list.Pinned, err = s.Curator.PinnedVersion(ctx, ref); err != nil {
		return err
	}
	reasons, err := s.Curator.Stale(ctx, ref)
	if err != nil {
		return err
	}
	for _, r := range reasons {
		list.Stale = append(list.Stale, string(r.Change)+": "+r.Text)
	}
	calls, err := s.Store.History(ctx, ref, 0)
	if err != nil {
		return err
	}
	outcomes := revisions.Outcomes(calls)
	for _, e := range kept {
		v := versionOf(&e)
		o := outcomes[e.Number]
		v.Outcomes = wire.Outcomes{Calls: o.Calls, Failed: o.Bad, FailedCI95: stats.Wilson(o.Bad, o.Calls)}
		v.Content, v.Items, v.Evidence = "", nil, nil
		list.Versions = append(list.Versions, v)
	}
	return writeJSON(c, http.StatusOK, jsonType, list)
}

func versionOf(e *revisions.Revision) wire.GuidelineVersion {
	v := wire.GuidelineVersion{
		Revision: e.Number, Author: e.Author, Written: e.Written.Format(time.RFC3339), BasedOn: e.BasedOn,
		Reasons: append([]string{}, e.Reasons...), Judges: append([]string{}, e.Judges...),
		RolledBackTo: e.RolledBackTo, Why: e.Why, Content: e.Content,
	}
	if e.Document != nil {
		v.Items, v.Evidence = e.Document.Items, e.Document.Grounds
	}
	return v
}

func (s *server) getGuideline(c echo.Context) error {
	ref, revision, err := revisionOf(c)
	if err != nil {
		return err
	}
	e, err := s.Curator.Revision(c.Request().Context(), ref, revision)
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, jsonType, versionOf(&e))
}

// diffGuideline says what a version changed against another, or against the one
// before it.
func (s *server) diffGuideline(c echo.Context) error {
	ref, revision, err := revisionOf(c)
	if err != nil {
		return err
	}
	with := revision - 1
	if text := c.QueryParam("with"); text != "" {
		if with, err = strconv.ParseInt(text, 10, 64); err != nil || with < 0 {
			return memoryd.Errorf(memoryd.Invalid, "with: must be the number of a version")
		}
	}
	next, err := s.Curator.Revision(c.Request().Context(), ref, revision)
	if err != nil {
		return err
	}
	var prev revisions.Revision // of version 0 there is nothing
	if with > 0 {
		if prev, err = s.Curator.Revision(c.Request().Context(), ref, with); err != nil {
			return err
		}
	}
	changes := append([]guidelines.Change{}, guidelines.Diff(prev.Document, next.Document)...)
	return writeJSON(c, http.StatusOK, jsonType, wire.GuidelineDiff{Revision: revision, With: with, Changes: changes})
}

// maxBy bounds the name of who decided.
const maxBy = 100

// decision reads which version, if the body names one, and who decided.
func (s *server) decision(body []byte) (revision int64, by string, err error) {
	var req wire.RevisionRequest
	if len(body) > 0 {
		err = s.decode(body, &req)
	}
	by = or(req.By, "a person")
	switch {
	case err != nil:
		return 0, "", err
	case req.Revision != nil && *req.Revision < 1:
		return 0, "", invalid("int_type", "Input should be a whole number of 1 or more", fmt.Append(nil, *req.Revision), "revision")
	case len(by) > maxBy:
		return 0, "", invalid("string_too_long", fmt.Sprintf("at most %d bytes", maxBy), nil, "by")
	}
	return or(req.Revision, 0), by, nil
}

func (s *server) pinGuideline(c echo.Context, body []byte) (any, error) {
	ref, err := toolOf(c)
	if err != nil {
		return nil, err
	}
	revision, by, err := s.decision(body)
	if err != nil {
		return nil, err
	}
	if revision == 0 {
		return nil, missing("revision")
	}
	e, err := s.Curator.Pin(c.Request().Context(), ref, revision, by)
	if err != nil {
		return nil, err
	}
	return versionOf(&e), nil
}

func (s *server) unpinGuideline(c echo.Context) error {
	ref, err := toolOf(c)
	if err != nil {
		return err
	}
	if err := s.Curator.Unpin(c.Request().Context(), ref); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

func (s *server) rollBackGuideline(c echo.Context, body []byte) (any, error) {
	ref, revision, err := revisionOf(c)
	if err != nil {
		return nil, err
	}
	_, by, err := s.decision(body)
	if err != nil {
		return nil, err
	}
	e, err := s.Curator.RollBack(c.Request().Context(), ref, revision, by)
	if err != nil {
		return nil, err
	}
	return versionOf(&e), nil
}
