package api

import (
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"memoryd"
	"memoryd/api/wire"
	"memoryd/ops"

	"github.com/labstack/echo/v4"
)

// toolOf reads the workspace and the tool from the path.
func toolOf(c echo.Context) (ref memoryd.ToolRef, err error) {
	if ref.Workspace, err = pathParam(c, "workspace"); err != nil {
		return ref, err
	}
	ref.Tool, err = pathParam(c, "tool")
	return ref, err
}

// callID reads a call's id from the path.
func callID(c echo.Context) (key memoryd.CallKey, err error) {
	id, err := pathParam(c, "call")
	if err != nil {
		return key, err
	}
	raw, err := hex.DecodeString(id)
	if err != nil || copy(key[:], raw) != len(raw) || len(raw) != len(key) {
		return key, memoryd.Errorf(memoryd.Invalid, "call: an id is %d hexadecimal digits", 2*len(key))
	}
	return key, nil
}

// listCalls lists the kept calls of a tool, the newest first. A cursor is the
// number of the last call of the page before.
func (s *server) listCalls(c echo.Context) error {
	ref, err := toolOf(c)
	if err != nil {
		return err
	}
	after, limit, err := page(c)
	if err != nil {
		return err
	}
	before := int64(1) << 62
	if after != "" {
		if before, err = strconv.ParseInt(after, 10, 64); err != nil {
			return memoryd.Errorf(memoryd.Invalid, "cursor: not one that this server gave")
		}
	}
	tool, err := s.Store.Tool(c.Request().Context(), ref)
	if err != nil {
		return err
	}
	calls, err := s.Store.History(c.Request().Context(), ref, 0)
	if err != nil {
		return err
	}
	slices.Reverse(calls)
	calls = slices.DeleteFunc(calls, func(call memoryd.Call) bool { return call.Seq >= before })
	list := wire.CallList{Calls: []wire.StoredCall{}}
	for i := range calls[:min(limit, len(calls))] {
		list.Calls = append(list.Calls, storedCallOf(&calls[i], tool.Guideline.ThroughSeq))
	}
	if len(calls) > limit {
		list.NextCursor = cursorAfter(strconv.FormatInt(calls[limit-1].Seq, 10))
	}
	return writeJSON(c, http.StatusOK, jsonType, list)
}

func storedCallOf(c *memoryd.Call, summarisedThrough int64) wire.StoredCall {
	e := &c.Evaluation
	out := wire.StoredCall{
		ID: c.Key.String(), Number: c.Seq, Call: callOf(c, summarisedThrough),
		Judgement: wire.Judgement{
			State: string(e.State), By: e.JudgedBy, Rule: e.Rule, Version: e.JudgeVersion, At: timeText(e.JudgedAt),
			FailedChecks: checksOf(e.FailedChecks), Attempts: e.Attempts, LastError: e.LastError, NotBefore: timeText(e.NotBefore),
			Cost: wire.Cost{Requests: e.Cost.Requests, PromptTokens: e.Cost.PromptTokens, CompletionTokens: e.Cost.CompletionTokens},
		},
	}
	if o := e.Overruled; o != nil {
		out.Judgement.Overruled = &wire.Overruled{
			State: string(o.State), Score: o.Score, By: o.JudgedBy, Rule: o.Rule, Version: o.JudgeVersion,
		}
	}
	return out
}

// checksOf gives the names of failed checks.
func checksOf(names string) []string { return append([]string{}, strings.Fields(names)...) }

func (s *server) getCall(c echo.Context) error {
	ref, err := toolOf(c)
	if err != nil {
		return err
	}
	key, err := callID(c)
	if err != nil {
		return err
	}
	tool, err := s.Store.Tool(c.Request().Context(), ref)
	if err != nil {
		return err
	}
	call, err := ops.FindCall(c.Request().Context(), s.Store, ref, key)
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, jsonType, storedCallOf(&call, tool.Guideline.ThroughSeq))
}

// putEvaluation lets a person correct a verdict.
func (s *server) putEvaluation(c echo.Context, body []byte) (any, error) {
	ref, err := toolOf(c)
	if err != nil {
		return nil, err
	}
	key, err := callID(c)
	if err != nil {
		return nil, err
	}
	var req wire.CorrectionRequest
	if err := s.decode(body, &req); err != nil {
		return nil, err
	}
	if req.Score == nil {
		return nil, missing("score")
	}
	call, err := s.Corrector.Correct(c.Request().Context(), ref, key, ops.Correction{
		Score: *req.Score, Summary: or(req.Summary, ""), Evaluation: or(req.Evaluation, ""), By: or(req.By, ""),
	})
	if err != nil {
		return nil, err
	}
	return storedCallOf(&call, 0), nil
}

// listCorrections streams the corrected calls of a workspace as labelled
// JSON-lines, which "memoryd evaluate" reads.
func (s *server) listCorrections(c echo.Context) error {
	workspace, err := pathParam(c, "workspace")
	if err != nil {
		return err
	}
	out := &lines{w: c.Response()}
	return out.close(s.Corrector.Corrections(c.Request().Context(), workspace, out.write))
}
