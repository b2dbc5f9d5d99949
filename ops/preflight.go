package ops

import (
	"cmp"
	"context"
	"encoding/json"

	"memoryd"
	"memoryd/guidelines/preflight"
)

// PreflightRequest requests a forecast for a planned call.
type PreflightRequest struct {
	memoryd.ToolRef

	Input json.RawMessage
	// By is the run, session and agent of the call, as far as known.
	By preflight.Caller
	// Host reports that a hook asks, which names the server of each tool that has one and notes
	// itself what it tells.
	Host bool
}

// Forecast is what to expect of a planned call, from the history and the run.
type Forecast struct {
	Tool       string
	Assessment Assessment
	// Nearest are the known tools with the most similar names, if the tool is unknown.
	Nearest []string
}

// Assessment is the result for the planned call.
type Assessment = preflight.Assessment

// SimilarCall is a recorded call that resembles the planned one.
type SimilarCall = preflight.Similar

// Caller identifies who plans a call.
type Caller = preflight.Caller

// PreflightParams are the settings of the op.
type PreflightParams = preflight.Config

// preflight says what to expect of a call. It uses no model.
func (d *Deps) preflight(ctx context.Context, r PreflightRequest) (*Forecast, error) {
	run := cmp.Or(r.By.Run, r.By.Session)
	untold := d.Revisions.Untold(r.Workspace, run)
	if !r.Host || untold {
		d.Told.note(r.ToolRef, run, 0, untold)
	}
	if untold {
		return &Forecast{Tool: r.Tool}, nil
	}
	// The history that it is held against was redacted likewise.
	r.Input = d.Redaction.JSON(ctx, r.Input)
	r.By.Source = sourceOf(ctx)
	a, err := d.Forecasts.Assess(ctx, r.ToolRef, r.Input, r.By)
	if err != nil {
		return nil, err
	}
	f := &Forecast{Tool: r.Tool, Assessment: a}
	if a.Judged == 0 && len(a.Warnings) == 0 {
		if _, err := d.Store.Tool(ctx, r.ToolRef); memoryd.IsKind(err, memoryd.NotFound) {
			f.Nearest = nearest(ctx, d.Store, r.ToolRef)
		}
	}
	return f, nil
}
