package api

import (
	"cmp"
	"fmt"

	"memoryd"
	"memoryd/api/wire"
	"memoryd/ops"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"
)

func (s *server) preflightToolCall(c echo.Context, body []byte) (any, error) {
	var req wire.PreflightRequest
	err := s.decode(body, &req)
	if err == nil {
		err = cmp.Or(checkName(req.Workspace, "workspace_id"), checkName(req.ToolName, "tool_name"), checkInput(&req.Input))
	}
	switch {
	case err != nil:
		return nil, err
	case req.ToolName == nil:
		return nil, missing("tool_name")
	case *req.ToolName == "":
		return nil, &ops.Refusal{Answer: "tool_name is required"}
	}
	st := &ops.State{Workspace: workspaceOf(req.Workspace), Forecast: ops.Forecast{Tool: *req.ToolName, Input: []byte(req.Input)}}
	if err := s.Flows[FlowPreflight].Run(c.Request().Context(), st); err != nil {
		return nil, err
	}
	f := forecastOf(&st.Forecast)
	return wire.PreflightResponse{
		Response: wire.Response{Answer: sentenceOf(&st.Forecast), Success: true, Metadata: f}, Forecast: f,
	}, nil
}

// checkInput holds the input of a planned call to what a recorded one may be.
func checkInput(v *jsontext.Value) error {
	switch {
	case *v == nil:
		*v = jsontext.Value(`""`)
	case v.Kind() != '{' && v.Kind() != '"':
		return invalid("string_or_dict_type", "Input should be a valid object or string", *v, "input")
	case memoryd.JSONDepth(*v) > memoryd.MaxJSONDepth:
		return invalid("too_deep", fmt.Sprintf("nested deeper than %d levels", memoryd.MaxJSONDepth), nil, "input")
	}
	return nil
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
