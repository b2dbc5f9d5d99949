package api

import (
	"context"

	"memoryd/api/wire"
	"memoryd/ops"
)

// listKinds lists the kinds of a tool's outputs.
//
// A kind is an output without its data. Kinds that the judge is unsure of come first, then those with most calls. At most 500 kinds, of
// the newest 20,000 calls.
func (s *server) listKinds(ctx context.Context, in *inTool) (KindList, error) {
	return answer(ctx, s.Flows.ListKinds, in.ref(), func(found []ops.OutputKind) KindList {
		return KindList{each(found, func(k ops.OutputKind) OutputKind { return OutputKind{k, storedCallOf(&k.Example, 0)} })}
	})
}

// KindList has the kinds of a tool's outputs.
type KindList struct {
	Kinds []OutputKind `json:"kinds"`
}

// OutputKind is a kind of output with its newest call.
type OutputKind struct {
	ops.OutputKind

	Example wire.StoredCall `json:"example"`
}

// kindLabel is a person's verdict on a kind.
type kindLabel struct {
	inTool

	Kind string `path:"kind" pattern:"^[0-9a-f]{16}$"` // The id of the kind.
	Body wire.Label
}

// putKind scores all outputs of a kind.
//
// The score holds for the kept calls of the kind and for those to come, as far as exit codes, error flags and the caller's own report
// allow. A correction of a single call stays. `preview` changes nothing; `withdraw` takes the score back.
func (s *server) putKind(ctx context.Context, in *kindLabel) (out ops.LabelledKind, err error) {
	req := &in.Body
	label := ops.LabelKind{
		ToolRef: in.ref(), Kind: in.Kind, Withdraw: or(req.Withdraw, false), Preview: or(req.Preview, false),
		Correction: ops.Correction{Score: or(req.Score, 0), Evaluation: or(req.Evaluation, ""), By: or(req.By, "")},
	}
	if req.Score == nil && !label.Withdraw {
		return out, missing("score")
	}
	return s.Flows.LabelKind.Run(ctx, label)
}
