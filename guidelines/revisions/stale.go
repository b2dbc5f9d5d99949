package revisions

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"memoryd"
	"memoryd/guidelines/staleness"
)

// Stale tells why the tool's guideline is stale; nothing means that it is not.
func (c *Curator) Stale(ctx context.Context, ref memoryd.ToolRef) ([]staleness.Reason, error) {
	tool, err := c.Store.Tool(ctx, ref)
	if err != nil {
		return nil, err
	}
	if g := tool.Guideline; g.Revision > 0 && g.BasedOn == tool.Revision {
		return nil, nil
	}
	prev, err := c.current(ctx, tool)
	if err != nil {
		return nil, err
	}
	calls, err := c.Store.History(ctx, ref, 0)
	if err != nil {
		return nil, err
	}
	return c.reasons(tool, prev, calls), nil
}

func (c *Curator) reasons(tool memoryd.Tool, prev Edition, calls []memoryd.Call) []staleness.Reason {
	since := calls
	for len(since) > 0 && since[0].Seq <= tool.Guideline.ThroughSeq {
		since = since[1:]
	}
	return staleness.Of(c.Config.Config, prev.Baseline, observations(since), schemaOf(calls), c.Now())
}

func (c *Curator) baseline(calls []memoryd.Call) staleness.Baseline {
	return staleness.Baseline{
		Schema: schemaOf(calls), Observations: observations(calls[max(0, len(calls)-staleness.MaxObservations):]),
	}
}

func observations(calls []memoryd.Call) []staleness.Observation {
	list := make([]staleness.Observation, len(calls))
	for i := range calls {
		list[i].Sample = calls[i].Sample()
		if e := &calls[i].Evaluation; e.State == memoryd.Judged && e.Score < memoryd.ScoreSuccess {
			list[i].Error = e.Rule
		}
	}
	return list
}

// schemaOf stands for the tool's parameters as the newest call that carries
// metadata.tool_schema describes them; "" when none does.
func schemaOf(calls []memoryd.Call) string {
	for i := len(calls) - 1; i >= 0; i-- {
		var m struct {
			Schema json.RawMessage `json:"tool_schema"`
		}
		if len(calls[i].Metadata) > 0 && json.Unmarshal(calls[i].Metadata, &m) == nil && len(m.Schema) > 0 {
			sum := sha256.Sum256(memoryd.InputText(m.Schema))
			return hex.EncodeToString(sum[:8])
		}
	}
	return ""
}
