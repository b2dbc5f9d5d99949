package ui

import (
	"memoryd"
	"memoryd/ops"
)

// kindsView is the kinds of a tool's outputs.
type kindsView struct {
	Tool  string
	Kinds []kindRow
	Back  string
}

// kindRow is a kind of output of a tool.
type kindRow struct {
	Tool string
	ops.OutputKind
}

func (d *dashboard) kinds(r *request, ref memoryd.ToolRef) error {
	found, err := d.Flows.ListKinds.Run(r.Context(), ref)
	if err != nil {
		return err
	}
	v := kindsView{Tool: ref.Tool, Back: r.with()}
	for _, k := range found {
		v.Kinds = append(v.Kinds, kindRow{ref.Tool, k})
	}
	return d.show(r, "kinds.html", "tools", "Kinds of output of "+ref.Tool, v)
}

// label judges all outputs of a kind alike, or takes that back.
func (d *dashboard) label(r *request, ref memoryd.ToolRef) error {
	in := ops.LabelKind{ToolRef: ref, Kind: r.arg("kind"), Correction: ops.Correction{By: r.by()}}
	if r.arg("score") == "" {
		in.Withdraw = true
		return change(r, d.Flows.LabelKind, in, "unlabelled")
	}
	var err error
	if in.Score, err = r.score(); err != nil {
		return err
	}
	return change(r, d.Flows.LabelKind, in, "labelled."+in.Kind+"."+ref.Tool)
}
