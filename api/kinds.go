package api

import (
	"github.com/labstack/echo/v4"

	"memoryd/api/wire"
	"memoryd/internal/textsafe"
	"memoryd/ops"
)

// listKinds lists the kinds of a tool's outputs, those first that nobody is sure of.
func (s *server) listKinds(c echo.Context, _ []byte) (any, error) {
	q := queryOf(c)
	return answer(q, s.Flows.ListKinds, q.tool(), func(found []ops.OutputKind) any {
		return map[string]any{"kinds": each(found, func(k ops.OutputKind) outputKind { return outputKind{k, storedCallOf(&k.Example, 0)} })}
	})
}

// outputKind is a kind of output with its newest call.
type outputKind struct {
	ops.OutputKind

	Example wire.StoredCall `json:"example"`
}

// putKind judges all outputs of a kind alike, says what that would change, or takes a
// person's label back.
func (s *server) putKind(c echo.Context, req *wire.LabelRequest) (any, error) {
	q := queryOf(c)
	in := ops.LabelKind{
		ToolRef: q.tool(), Kind: q.path("kind"), Withdraw: or(req.Withdraw, false), Preview: or(req.Preview, false),
		Correction: ops.Correction{Score: or(req.Score, 0), Evaluation: or(req.Evaluation, ""), By: or(req.By, "")},
	}
	if req.Score == nil && !in.Withdraw {
		q.fail(missing("score"))
	}
	return answer(q, s.Flows.LabelKind, in, func(done ops.LabelledKind) any {
		out := wire.LabelledKind{Calls: done.Calls, Changes: len(done.Changed), Examples: []wire.RescoredCall{}}
		for _, r := range done.Changed[:min(len(done.Changed), mostRescored)] {
			out.Examples = append(out.Examples, wire.RescoredCall{ID: r.Call.Key.String(), Before: r.Before, After: r.After, Output: textsafe.Head(r.Call.Output, 300)})
		}
		return out
	})
}

// mostRescored is how many of the calls that a label changes are shown.
const mostRescored = 20
