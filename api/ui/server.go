package ui

import (
	"cmp"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"time"

	"memoryd"
	"memoryd/internal/lifecycle"
	"memoryd/ops"
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

// live is the page that calls arrive on.
func (d *dashboard) live(r *request) error {
	return d.show(r, "live.html", "live", "Live", nil)
}

// The pulse of a live view: how often it looks, how often it says that it is
// there, how long a reader may take, and how many rows it is sent at a time.
const (
	liveEvery  = 400 * time.Millisecond
	pingEvery  = 15 * time.Second
	readWithin = 30 * time.Second
	liveRows   = 50
)

// arrival is a row of the live view.
type arrival struct {
	Tool    string `json:"tool"`
	Time    string `json:"time"`
	Input   string `json:"input"`
	Verdict string `json:"verdict"`
	Class   string `json:"class"`
	Summary string `json:"summary"`
	URL     string `json:"url"`
}

// liveEvents tells of calls as they arrive. Of more than a reader can follow it
// tells the newest and counts the others; the calls themselves wait for nobody.
func (d *dashboard) liveEvents(r *request) error {
	h := r.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	out := http.NewResponseController(r.w)
	stop := d.Live.Watch()
	defer stop()
	_, number := d.Live.Since(r.Workspace, 0)
	idle := time.Duration(0)
	event := []byte(": here\n\n")
	for {
		if event != nil {
			// Without deadlines, as behind a recorder, a reader may take its time.
			_ = out.SetWriteDeadline(d.Now().Add(readWithin))
			if _, err := r.w.Write(event); err != nil {
				return nil
			}
			if err := out.Flush(); err != nil {
				return nil
			}
			idle = 0
		}
		if !lifecycle.Sleep(r.Context(), liveEvery) || d.Live.Ended() {
			return nil
		}
		list, now := d.Live.Since(r.Workspace, number)
		event = nil
		if len(list) > 0 {
			event = d.arrivals(list, now-number)
		} else if idle += liveEvery; idle >= pingEvery {
			event = []byte(": here\n\n")
		}
		number = now
	}
}

func (d *dashboard) arrivals(list []memoryd.Call, came int64) []byte {
	shown := list[max(0, len(list)-liveRows):]
	rows := make([]arrival, len(shown))
	for i := range shown {
		c := &shown[i]
		v := verdictOf(c.Evaluation.State, c.Evaluation.Score)
		rows[i] = arrival{
			Tool: c.Tool, Time: c.Time.UTC().Format(time.RFC3339), Input: snippet(c.Input), Verdict: v.Word, Class: v.Class,
			Summary: c.Evaluation.Summary, URL: link("call", "w", c.Workspace, "t", c.Tool, "k", c.Key.String()),
		}
	}
	data, err := json.Marshal(map[string]any{"rows": rows, "missed": max(0, came-int64(len(shown)))})
	if err != nil {
		return nil // rows are plain texts
	}
	return fmt.Appendf(nil, "data: %s\n\n", data)
}

// workspaces lists the workspaces, with what can be done to a whole one.
func (d *dashboard) workspaces(r *request) error {
	o, err := d.Flows.GetOverview.Run(r.Context(), ops.GetOverview{Workspace: r.Workspace})
	if err != nil {
		return err
	}
	list, err := d.Flows.ListWorkspaces.Run(r.Context(), ops.ListWorkspaces{
		Limit: mostWorkspaces, After: r.arg("after"),
		Only: r.who.Workspaces,
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
	if err := snapshot.Write(sent); err != nil && sent.any {
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
