package ui

import (
	"encoding/json"
	"net/url"
	"slices"
	"time"

	"memoryd"
	"memoryd/ops"
	"memoryd/store"
)

type callView struct {
	memoryd.Call
	Run     string
	Agent   string
	InAPI   string
	Back    string
	Similar ops.Assessment
}

// call shows one call: what went in, what came out, and why it has its score.
func (d *dashboard) call(r *request, ref memoryd.ToolRef, key memoryd.CallKey) error {
	kept, err := d.Flows.GetCall.Run(r.Context(), ops.GetCall{ToolRef: ref, Key: key})
	if err != nil {
		return err
	}
	c := kept.Call
	v := callView{
		Call: c, Run: c.Run(), Agent: memoryd.NamesOf(c.Metadata).Agent, Back: r.with(),
		InAPI: "/v1/workspaces/" + url.PathEscape(ref.Workspace) + "/tools/" + url.PathEscape(ref.Tool) + "/calls/" + key.String(),
	}
	forecast, err := d.Flows.PreflightToolCall.Run(r.Context(), ops.PreflightRequest{ToolRef: ref, Input: c.Input})
	if err != nil {
		return err
	}
	v.Similar = forecast.Assessment
	itself := func(s ops.SimilarCall) bool { return s.Call == key }
	v.Similar.SimilarGood = slices.DeleteFunc(slices.Clone(v.Similar.SimilarGood), itself)
	v.Similar.SimilarBad = slices.DeleteFunc(slices.Clone(v.Similar.SimilarBad), itself)
	return d.show(r, "call.html", "calls", "Call of "+ref.Tool, v)
}

// plain is the text of an input: a string without its quotes.
func plain(input []byte) string {
	var text string
	if json.Unmarshal(input, &text) == nil {
		return text
	}
	return string(input)
}

type runView struct {
	Run   string
	Steps []step
	// Whole is false where the run had more calls than are kept of one.
	Whole bool
}

// step is a call of a run with what is forecast of it.
type step struct {
	store.RunCall
	Number   int
	Summary  string
	Forecast *ops.Assessment
}

// forecastTime is how long a page computes forecasts; later steps have none.
const forecastTime = 50 * time.Millisecond

// run shows the calls of one run in order.
func (d *dashboard) run(r *request) error {
	v := runView{Run: r.arg("run")}
	if v.Run == "" {
		return memoryd.Errorf(memoryd.Invalid, "This address does not contain a run.")
	}
	calls, err := d.Flows.ListRun.Run(r.Context(), ops.ListRun{Workspace: r.Workspace, Run: v.Run})
	if err != nil {
		return err
	}
	v.Whole = len(calls) < store.MaxRunCalls
	began := d.Now()
	for i, c := range calls {
		s := step{RunCall: c, Number: i + 1}
		if d.Now().Sub(began) < forecastTime {
			f, err := d.Flows.PreflightToolCall.Run(r.Context(), ops.PreflightRequest{ToolRef: c.ToolRef, Input: c.Input})
			if err != nil {
				return err
			}
			s.Forecast = &f.Assessment
		}
		v.Steps = append(v.Steps, s)
	}
	return d.show(r, "run.html", "calls", "Run "+v.Run, v)
}
