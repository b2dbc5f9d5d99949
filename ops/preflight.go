package ops

import (
	"cmp"
	"context"
	"encoding/json"

	"memoryd"
	"memoryd/guidelines/preflight"
)

// PreflightRequest asks about a call before it is made.
type PreflightRequest struct {
	memoryd.ToolRef

	Input json.RawMessage
	// By is the run, the session and the agent of the call, as far as they are known.
	By preflight.Caller
	// Host says that who calls the tool so names the server of each tool that has one.
	Host bool
}

// Forecast is what the history, and the run, let expect of a planned call.
type Forecast struct {
	Tool       string
	Assessment Assessment
	// Nearest are the known tools whose names are most like that of one that nothing is
	// known of.
	Nearest []string
}

// Assessment is what was computed for the planned call.
type Assessment = preflight.Assessment

// SimilarCall is a call of the history that resembles a planned one.
type SimilarCall = preflight.Similar

// Caller is what is known of who plans a call.
type Caller = preflight.Caller

// PreflightParams is the settings of the op.
type PreflightParams = preflight.Config

func (library) PreflightToolCall() Definition {
	return defineWith("preflight_tool_call_op", func(d Deps, _ PreflightParams) func(context.Context, PreflightRequest) (*Forecast, error) {
		return d.preflight
	})
}

// preflight says what to expect of a call. It asks no model.
func (d Deps) preflight(ctx context.Context, r PreflightRequest) (*Forecast, error) {
	run := cmp.Or(r.By.Run, r.By.Session)
	untold := d.Revisions != nil && d.Revisions.Untold(r.Workspace, run)
	d.Told.note(r.ToolRef, run, 0, untold)
	if untold {
		return &Forecast{Tool: r.Tool}, nil
	}
	// The history that it is held against was redacted likewise.
	r.Input = d.Redaction.JSON(ctx, r.Input)
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
	return f, d.loops(ctx, &r, run, &f.Assessment)
}
