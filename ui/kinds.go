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

func (d *dashboard) kinds(r *request) error {
	ref, err := r.ref()
	if err != nil {
		return err
	}
	found, err := d.Flows.ListKinds.Run(r.Context(), ops.ListKinds{ToolRef: ref})
	if err != nil {
		return err
	}
	v := kindsView{Tool: ref.Tool, Back: r.with()}
	for _, k := range found.Kinds {
		v.Kinds = append(v.Kinds, kindRow{ref.Tool, k})
	}
	return d.show(r, "kinds.html", "tools", "Kinds of output of "+ref.Tool, v)
}

// label judges all outputs of a kind alike, or takes that back.
func (d *dashboard) label(r *request) error {
	ref, err := r.ref()
	if err != nil {
		return err
	}
	in := ops.LabelKind{ToolRef: ref, Kind: r.arg("kind"), Correction: ops.Correction{By: r.by()}}
	if in.Withdraw = r.arg("score") == ""; !in.Withdraw {
		score, known := scores[r.arg("score")]
		if !known {
			return memoryd.Errorf(memoryd.Invalid, "The verdict must be good, partial or failed.")
		}
		in.Score = score
	}
	if _, err := d.Flows.LabelKind.Run(r.Context(), in); err != nil {
		return err
	}
	if in.Withdraw {
		return r.done("unlabelled")
	}
	return r.done("labelled." + in.Kind + "." + ref.Tool)
}
