package ui

import (
	"cmp"
	"mime"
	"net/http"
	"strconv"

	"memoryd"
	"memoryd/ops"
	"memoryd/ops/survey"
)

// judge shows who judges, and how much is judged.
func (d *dashboard) judge(r *request) error {
	o, err := d.Flows.GetOverview.Run(r.Context(), ops.GetOverview{Workspace: r.Workspace})
	if err != nil {
		return err
	}
	return d.show(r, "judge.html", "judge", "Judge", map[string]any{"Overview": o, "Describe": d.Judge})
}

// spendRows bounds the table of what was spent.
const spendRows = 300

// spend shows what models were asked, and what may still be asked.
func (d *dashboard) spend(r *request) error {
	hours, _ := strconv.Atoi(r.arg("hours"))
	hours = min(max(hours, 0), 31*24)
	hours = cmp.Or(hours, 24)
	whole := r.arg("all") != ""
	ask := ops.ReportUsage{Workspace: r.Workspace, Hours: hours}
	if whole {
		if !r.who.Everywhere() {
			return memoryd.Errorf(memoryd.Forbidden, "This requires a key for all workspaces.")
		}
		ask.Workspace = ""
	}
	report, err := d.Flows.ReportUsage.Run(r.Context(), ask)
	if err != nil {
		return err
	}
	left := max(0, len(report.Rows)-spendRows)
	report.Rows = report.Rows[:len(report.Rows)-left]
	return d.show(r, "spend.html", "spend", "Spend", map[string]any{
		"Left": left, "Report": report, "Hours": hours, "Whole": whole,
		"Spans":  r.choices("hours", "1", "last hour", "24", "last day", "168", "last week", "744", "last month"),
		"Scopes": r.choices("all", "", "this workspace", "1", "the whole server"),
	})
}

// sources shows which ways in beside the API calls came by.
func (d *dashboard) sources(r *request) error {
	if !r.who.Everywhere() {
		return memoryd.Errorf(memoryd.Forbidden, "This requires a key for all workspaces.")
	}
	counts, err := d.Flows.ListSources.Run(r.Context(), ops.ListSources{})
	if err != nil {
		return err
	}
	return d.show(r, "sources.html", "sources", "Sources", counts)
}

// liveView is the newest calls. Its page asks for itself again, until it is paused.
type liveView struct {
	callsView
	Paused bool
	Other  string // the address where it is not paused, or is
}

func (d *dashboard) live(r *request) error {
	found, err := d.find(r, survey.Filter{})
	if err != nil {
		return err
	}
	v := liveView{callsView: found, Paused: r.arg("paused") != "", Other: r.with("paused", "1")}
	if v.Paused {
		v.Other = r.with("paused", "")
	}
	return d.show(r, "live.html", "live", "Live", v)
}

// workspaces lists the workspaces, with what can be done to a whole one.
func (d *dashboard) workspaces(r *request) error {
	o, err := d.Flows.GetOverview.Run(r.Context(), ops.GetOverview{Workspace: r.Workspace})
	if err != nil {
		return err
	}
	list, err := d.Flows.ListWorkspaces.Run(r.Context(), ops.ListWorkspaces{
		Limit: mostWorkspaces, After: r.arg("after"), Only: r.who.Workspaces,
	})
	if err != nil {
		return err
	}
	next := ""
	if list.Next != "" {
		next = r.with("after", list.Next)
	}
	return d.show(r, "workspaces.html", "workspaces", "Workspaces",
		map[string]any{"Names": list.Names, "Next": next, "Overview": o, "Store": d.Store, "Retention": d.Retention})
}

// export sends a copy of the workspace, as "memoryd restore" reads it.
func (d *dashboard) export(r *request) error {
	snapshot, err := d.Flows.Snapshot.Run(r.Context(), ops.TakeSnapshot{Workspace: r.Workspace})
	if err != nil {
		return err
	}
	h := r.w.Header()
	h.Set("Content-Type", "application/x-ndjson")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": "memoryd-" + r.Workspace + ".jsonl"}))
	sent := &begun{ResponseWriter: r.w}
	if err := snapshot(sent); err != nil && sent.any {
		panic(http.ErrAbortHandler) // so that nobody takes a part for the whole
	} else if err != nil {
		h.Del("Content-Disposition")
		return err
	}
	return nil
}

// begun notes that an answer has begun.
type begun struct {
	http.ResponseWriter
	any bool
}

// Write implements io.Writer.
func (b *begun) Write(p []byte) (int, error) {
	b.any = true
	return b.ResponseWriter.Write(p)
}

// mustTool is the tool that a form names, or the first there is.
func (d *dashboard) mustTool(r *request) (memoryd.ToolRef, error) {
	ref := memoryd.ToolRef{Workspace: r.Workspace, Tool: r.arg("t")}
	if ref.Tool != "" {
		return ref, nil
	}
	list, err := d.Flows.ListTools.Run(r.Context(), ops.ListTools{Workspace: r.Workspace, Limit: 1})
	if memoryd.IsKind(err, memoryd.NotFound) {
		return ref, nil
	}
	if err == nil && len(list.Tools) > 0 {
		ref.Tool = list.Tools[0].Tool.Tool
	}
	return ref, err
}
