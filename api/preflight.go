package api

import (
	"fmt"

	"memoryd"
	"memoryd/api/wire"
	"memoryd/ops"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"
)

// preflightRequest is the body of preflight_tool_call.
type preflightRequest struct {
	workspace string
	tool      string
	input     jsontext.Value
}

var preflightFields = []field[preflightRequest]{
	{name: "workspace_id", kind: text, set: func(r *preflightRequest, v jsontext.Value) *invalidRequest {
		return setName(&r.workspace, v)
	}},
	{name: "tool_name", required: true, kind: text, set: func(r *preflightRequest, v jsontext.Value) *invalidRequest {
		return setName(&r.tool, v)
	}},
	{name: "input", kind: textOrObject, set: func(r *preflightRequest, v jsontext.Value) *invalidRequest {
		if depthOf(v) > maxDepth {
			return invalid("too_deep", fmt.Sprintf("nested deeper than %d levels", maxDepth), nil)
		}
		r.input = v.Clone()
		return nil
	}},
}

func (s *server) preflightToolCall(c echo.Context, body []byte) (any, error) {
	req := preflightRequest{input: jsontext.Value(`""`)}
	if fault := decodeBody(body, preflightFields, &req); fault != nil {
		return nil, fault
	}
	if req.tool == "" {
		return nil, &ops.Refusal{Answer: "tool_name is required"}
	}
	st := &ops.State{Workspace: workspaceOr(req.workspace), Forecast: ops.Forecast{Tool: req.tool, Input: []byte(req.input)}}
	if err := s.Flows[FlowPreflight].Run(c.Request().Context(), st); err != nil {
		return nil, err
	}
	f := forecastOf(&st.Forecast)
	return wire.PreflightResponse{
		Response: wire.Response{Answer: sentenceOf(&st.Forecast), Success: true, Metadata: f}, Forecast: f,
	}, nil
}

func forecastOf(f *ops.Forecast) wire.Forecast {
	a := &f.Assessment
	out := wire.Forecast{
		Risk: a.Risk, BaseRate: a.BaseRate, JudgedCalls: a.Judged, Borrowed: a.Borrowed, ExpectedTimeCost: a.ExpectedTimeCost,
		Warnings: []wire.Warning{}, SimilarCalls: wire.SimilarCalls{Good: similarOf(f.Good), Bad: similarOf(f.Bad)},
	}
	if a.Risk != nil {
		out.RiskCI95 = &a.RiskCI95
	}
	for _, w := range a.Warnings {
		out.Warnings = append(out.Warnings, wire.Warning{Text: w.Text, Evidence: append([]string{}, w.Evidence...), Calls: idsOf(w.Calls)})
	}
	return out
}

func similarOf(list []ops.SimilarCall) []wire.SimilarCall {
	out := make([]wire.SimilarCall, len(list))
	for i, s := range list {
		out[i] = wire.SimilarCall{CallID: s.Call.String(), Similarity: s.Similarity, Score: s.Score, Input: s.Input, Summary: s.Summary}
	}
	return out
}

func idsOf(keys []memoryd.CallKey) []string {
	ids := make([]string, len(keys))
	for i, k := range keys {
		ids[i] = k.String()
	}
	return ids
}

// sentenceOf says the forecast in words.
func sentenceOf(f *ops.Forecast) string {
	a := &f.Assessment
	if a.Risk == nil {
		return fmt.Sprintf("Nothing is known of %s: its history has no judged call.", f.Tool)
	}
	s := fmt.Sprintf("Risk of failure %.0f %% (95 %% interval %.0f to %.0f %%), against %.0f %% over %d judged calls.",
		100**a.Risk, 100*a.RiskCI95[0], 100*a.RiskCI95[1], 100*a.BaseRate, a.Judged)
	for _, w := range a.Warnings {
		s += "\n- " + w.Text
	}
	return s
}
