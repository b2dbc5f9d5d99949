package looptest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"memoryd"
	"memoryd/guidelines"
	"memoryd/guidelines/evidence"
	"memoryd/guidelines/preflight"
	"memoryd/store"
)

// Ours is this program without a server: guidelines, and forecasts if they are on.
type Ours struct {
	Writer *guidelines.Writer
	// FalseAlarms is the setting of forecasts; 0 turns them off.
	FalseAlarms float64

	observer *evidence.Observer
	world    *evidence.World
	obs      map[string][]evidence.Observation
	calls    map[string][]memoryd.Call
	runs     map[string][]store.RunCall
	text     map[string]string
	models   map[string]*preflight.Model
	n        int
}

// Record records a call.
func (o *Ours) Record(c *Call) {
	if o.observer == nil {
		o.world = evidence.NewWorld()
		o.observer, o.obs, o.calls, o.runs = evidence.NewObserver().Teach(o.world), map[string][]evidence.Observation{},
			map[string][]memoryd.Call{}, map[string][]store.RunCall{}
		o.text, o.models = map[string]string{}, map[string]*preflight.Model{}
		o.Writer.Window = o
	}
	o.n++
	call := memoryd.Call{
		ToolRef: memoryd.ToolRef{Workspace: "w", Tool: c.Tool}, Key: memoryd.CallKey{byte(o.n), byte(o.n >> 8), byte(o.n >> 16), 1},
		Seq:   int64(o.n),
		Input: encoded(c.Input), Output: c.Output, Success: c.Score > 0, TokenCost: -1,
		Time: time.Date(2027, 1, 1, 0, 0, 20*o.n, 0, time.UTC), Metadata: fmt.Appendf(nil, `{"trajectory_id":%q}`, c.Run),
		Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: c.Score},
	}
	o.obs[c.Tool] = append(o.obs[c.Tool], o.observer.Observe(&call))
	o.calls[c.Tool] = append(o.calls[c.Tool], call)
	o.runs[c.Run] = append([]store.RunCall{{
		ToolRef: call.ToolRef, Key: call.Key, Time: call.Time, Input: call.Input,
		Output: call.Output, Success: call.Success, State: memoryd.Judged, Score: c.Score,
	}}, o.runs[c.Run]...)
	delete(o.models, c.Tool)
}

// World is what is known; with Observations and Shared it makes this the window of the writer.
func (o *Ours) World(context.Context, string) (*evidence.World, error) { return o.world, nil }

// Observations lists those of a tool.
func (o *Ours) Observations(_ context.Context, ref memoryd.ToolRef) ([]evidence.Observation, error) {
	return slices.Clone(o.obs[ref.Tool]), nil
}

// Shared is false: one source recorded everything.
func (o *Ours) Shared(context.Context, string) (bool, error) { return false, nil }

// Write writes a guideline.
func (o *Ours) Write(tool string) {
	if o.calls[tool] == nil {
		return
	}
	d, err := o.Writer.Compose(context.Background(), memoryd.Tool{ToolRef: memoryd.ToolRef{Workspace: "w", Tool: tool}},
		o.calls[tool], 20, nil)
	if err != nil {
		panic(err) // only an ended context is an error
	}
	o.text[tool], _, _ = strings.Cut(d.Render(), "## Statistics")
}

// Text returns the guideline.
func (o *Ours) Text(tool string) string { return o.text[tool] }

// Forecast returns the forecast from the calls so far.
func (o *Ours) Forecast(tool, run string, input map[string]any) (a Advice) {
	if o.FalseAlarms == 0 || o.calls[tool] == nil {
		return a
	}
	if o.models[tool] == nil {
		found, hints := evidence.RulesAndHints(tool, o.obs[tool])
		o.models[tool] = preflight.Learn(o.obs[tool], preflight.Options{
			Tool: tool, FalseAlarms: o.FalseAlarms, Tested: found, Hints: hints,
		})
	}
	found := o.models[tool].Assess(preflight.Planned{Input: encoded(input), Run: run, RunCalls: o.runs[run], World: o.world})
	for i := range found.Warnings {
		a.Warnings = append(a.Warnings, found.Warnings[i].Text)
	}
	var changed map[string]any
	if found.Suggestion != nil && json.Unmarshal(found.Suggestion, &changed) == nil {
		for k, v := range changed {
			if f, is := v.(float64); is {
				changed[k] = int(f)
			}
		}
		a.Suggestion = changed
	}
	return a
}
