package revisions

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"memoryd"
	"memoryd/guidelines/coldstart"
	"memoryd/guidelines/preflight"
)

// The bounds of a search for tools to borrow from: how many tools of the
// workspace are looked at, and how many of their newest calls for parameters.
const (
	mostNeighbours = 500
	lookedAtCalls  = 5
)

// Borrow gives what a tool with few judged calls may expect from the tools of its
// workspace that have its shape; nil for a tool that has calls enough, or no like.
func (c *Curator) Borrow(ctx context.Context, tool memoryd.Tool, calls []memoryd.Call) (*preflight.Prior, error) {
	loan, err := c.loan(ctx, tool, calls)
	return loan.Prior, err
}

func (c *Curator) loan(ctx context.Context, tool memoryd.Tool, calls []memoryd.Call) (coldstart.Loan, error) {
	// Asked first without others: nothing is read for a tool that needs no loan.
	if judged, _ := counted(samplesOf(calls)); judged >= enoughJudged {
		return coldstart.Loan{}, nil
	}
	t := shapeOf(tool.ToolRef, calls)
	if len(t.Parameters) == 0 {
		return coldstart.Loan{}, nil
	}
	others, err := c.neighbours(ctx, tool.ToolRef)
	if err != nil {
		return coldstart.Loan{}, err
	}
	return coldstart.Borrow(t, others), nil
}

// enoughJudged is from how many judged calls on a tool borrows nothing.
const enoughJudged = 20

// Lends tells, by the numbers of kept and pending calls, a tool that others may
// borrow from; all others may borrow from it, and lend nothing. So whoever has the
// guidelines of several tools written begins with those that lend: then it does
// not depend on the order what the others find to borrow.
func Lends(kept, pending int64) bool { return kept-pending >= enoughJudged }

func (c *Curator) neighbours(ctx context.Context, ref memoryd.ToolRef) ([]coldstart.Tool, error) {
	tools, err := c.Store.ListTools(ctx, ref.Workspace, "", mostNeighbours)
	if err != nil {
		return nil, err
	}
	var list []coldstart.Tool
	for _, t := range tools {
		if t.ToolRef == ref || t.Lifetime < enoughJudged {
			continue
		}
		calls, err := c.Store.History(ctx, t.ToolRef, lookedAtCalls)
		if err != nil {
			return nil, err
		}
		samples, err := c.Store.Samples(ctx, t.ToolRef)
		if err != nil {
			return nil, err
		}
		o := shapeOf(t.ToolRef, calls)
		o.Judged, o.Failed = counted(samples)
		e, err := c.current(ctx, t)
		if err != nil {
			return nil, err
		}
		o.Document = e.Document
		list = append(list, o)
	}
	return list, nil
}

func counted(samples []memoryd.Sample) (judged, failed int) {
	for _, s := range samples {
		if s.State == memoryd.Judged {
			judged++
			if s.Score <= memoryd.ScoreFailure {
				failed++
			}
		}
	}
	return judged, failed
}

// shapeOf is a tool with the parameters that its calls gave.
func shapeOf(ref memoryd.ToolRef, calls []memoryd.Call) coldstart.Tool {
	t := coldstart.Tool{ToolRef: ref}
	names := map[string]bool{}
	for i := range calls {
		var input map[string]json.RawMessage
		if json.Unmarshal(calls[i].Input, &input) == nil {
			for name := range input {
				names[name] = true
			}
		}
	}
	t.Parameters = slices.Sorted(maps.Keys(names))
	t.Judged, t.Failed = counted(samplesOf(calls))
	return t
}

func samplesOf(calls []memoryd.Call) []memoryd.Sample {
	samples := make([]memoryd.Sample, len(calls))
	for i := range calls {
		samples[i] = calls[i].Sample()
	}
	return samples
}
