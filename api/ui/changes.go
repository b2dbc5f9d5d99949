package ui

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"memoryd"
	"memoryd/internal/access"
	"memoryd/ops"
)

func changeRoutes() []Route {
	return []Route{
		{"POST", "/ui/correct", access.Curate, onCall((*dashboard).correct)},
		{"POST", "/ui/withdraw", access.Curate, onCall((*dashboard).withdraw)},
		{"POST", "/ui/label", access.Curate, onTool((*dashboard).label)},
		{"POST", "/ui/pin", access.Curate, decides("pin", "pinned", "")},
		{"POST", "/ui/unpin", access.Curate, decides("unpin", "unpinned", "n")},
		{"POST", "/ui/rollback", access.Curate, decides("roll_back", "rolledback", "from")},
		{"POST", "/ui/rewrite", access.Curate, onTool((*dashboard).rewrite)},
		{"POST", "/ui/release", access.Curate, onTool((*dashboard).release)},
		{"POST", "/ui/release/undo", access.Curate, decides("wait", "waits", "")},
		{"POST", "/ui/line", access.Curate, onTool((*dashboard).editLine)},
		{"POST", "/ui/line/undo", access.Curate, decides("undo", "lineback", "")},
		{"POST", "/ui/compaction", access.Record, (*dashboard).compact},
		{"POST", "/ui/undo", access.Read, (*dashboard).undo},
		{"POST", "/ui/delete", access.Admin, (*dashboard).deleteWorkspace},
	}
}

// notice says what a change did. Its text is one of this list: an address cannot
// put words into a page.
type notice struct {
	Text string
	// Undo is a form that takes it back; nil: there is none.
	Undo *undo
}

type undo struct {
	Action string
	Fields map[string]string
}

// known is a notice of the list: its text, the action that takes the change back, and the field
// of the form that the address gives a value for.
type known struct{ text, undo, field string }

var notices = map[string]known{
	"corrected":  {"The verdict is corrected.", "withdraw", "k"},
	"labelled":   {"The score applies to all outputs of this kind, and to those to come.", "label", "kind"},
	"unlabelled": {text: "The kind's score is undone; the judge's verdicts apply again."},
	"withdrawn":  {text: "The correction is undone; the judge's verdict applies again."},
	"pinned":     {text: "The version is pinned: agents see it until you unpin it.", undo: "unpin"},
	"unpinned":   {"No version is pinned: agents see the newest one.", "pin", "n"},
	"rolledback": {"Rolled back: the earlier text is published as a new version.", "rollback", "n"},
	"rewritten":  {text: "The guideline is updated."},
	"unchanged":  {text: "Nothing changed: the guideline is up to date, or a version is pinned."},
	"failed":     {text: "The update failed; the old guideline stays. See the server's log."},
	"accepted":   {"The line is published.", "release/undo", "id"},
	"refused":    {"The line is refused and will not be published.", "release/undo", "id"},
	"waits":      {text: "The decision is undone: the line waits again."},
	"edited":     {"The line is saved. It carries your name and stays when the guideline is updated.", "line/undo", "line"},
	"lineback":   {text: "The last change of the line is undone."},
	"deleted":    {text: "The workspace is deleted."},
}

// said reads the notice that the address names, with the value of its field and, where the page
// is of no tool, the tool.
func said(r *request) *notice {
	name, value, _ := strings.Cut(r.URL.Query().Get("said"), ".")
	of, is := notices[name]
	if !is {
		return nil
	}
	n := &notice{Text: of.text}
	if of.undo != "" {
		fields := map[string]string{"w": r.Workspace, "t": r.URL.Query().Get("t"), "back": r.with()}
		value, tool, named := strings.Cut(value, ".")
		if named {
			fields["t"] = tool
		}
		if of.field != "" {
			fields[of.field] = value
		}
		n.Undo = &undo{of.undo, fields}
	}
	return n
}

// done sends the browser back to the page that the form came from.
func (r *request) done(what string) error {
	to, err := url.Parse(r.arg("back"))
	if err != nil || !strings.HasPrefix(r.arg("back"), "/ui/") {
		to = &url.URL{Path: "/ui/", RawQuery: url.Values{"w": {r.Workspace}}.Encode()}
	}
	q := to.Query()
	q.Set("said", what)
	to.RawQuery = q.Encode()
	http.Redirect(r.w, r.Request, to.RequestURI(), http.StatusSeeOther)
	return nil
}

// by names who makes a change, for the record.
func (r *request) by() string { return cmp.Or(r.name(), "dashboard") }

// onTool serves requests that are about a tool.
func onTool(serve func(*dashboard, *request, memoryd.ToolRef) error) func(*dashboard, *request) error {
	return func(d *dashboard, r *request) error {
		ref := memoryd.ToolRef{Workspace: r.Workspace, Tool: r.arg("t")}
		if ref.Tool == "" {
			return memoryd.Errorf(memoryd.Invalid, "This address does not contain a tool.")
		}
		return serve(d, r, ref)
	}
}

// onCall serves requests that are about a call.
func onCall(serve func(*dashboard, *request, memoryd.ToolRef, memoryd.CallKey) error) func(*dashboard, *request) error {
	return onTool(func(d *dashboard, r *request, ref memoryd.ToolRef) error {
		key, err := memoryd.ParseCallKey(r.arg("k"))
		if err != nil {
			return memoryd.Wrap(memoryd.Invalid, err, "This address does not contain a call.")
		}
		return serve(d, r, ref, key)
	})
}

// change runs a flow, and sends the browser back with a notice.
func change[In, Out any](r *request, flow ops.Flow[In, Out], in In, said string) error {
	if _, err := flow.Run(r.Context(), in); err != nil {
		return err
	}
	return r.done(said)
}

// scores are the verdicts that a form names.
var scores = map[string]float64{"0": memoryd.ScoreFailure, "0.5": memoryd.ScorePartial, "1": memoryd.ScoreSuccess}

// score is the verdict that a form names.
func (r *request) score() (float64, error) {
	score, known := scores[r.arg("score")]
	if !known {
		return 0, memoryd.Errorf(memoryd.Invalid, "The verdict must be good, partial or failed.")
	}
	return score, nil
}

func (d *dashboard) correct(r *request, ref memoryd.ToolRef, key memoryd.CallKey) error {
	score, err := r.score()
	if err != nil {
		return err
	}
	verdict := ops.Correction{Score: score, Evaluation: r.arg("reason"), By: r.by()}
	return change(r, d.Flows.CorrectCall, ops.CorrectCall{ToolRef: ref, Key: key, Correction: verdict}, "corrected."+key.String()+"."+ref.Tool)
}

func (d *dashboard) withdraw(r *request, ref memoryd.ToolRef, key memoryd.CallKey) error {
	return change(r, d.Flows.WithdrawCorrection, ops.Withdraw{ToolRef: ref, Key: key}, "withdrawn")
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

// settle carries out a decision of the reader's.
func (d *dashboard) settle(r *request, ref memoryd.ToolRef, decision ops.Decision, said string) error {
	decision.By = r.by()
	done, err := d.Flows.Decide.Run(r.Context(), ops.Decide{ToolRef: ref, Decision: decision})
	if err != nil {
		return err
	}
	if said == "edited." {
		said += done.Line
	}
	return r.done(said)
}

// decides serves a form with a decision of one kind, on the version or the line that it names. The notice
// goes on with the value of an argument, where one is named.
func decides(kind, said, arg string) func(d *dashboard, r *request) error {
	return onTool(func(d *dashboard, r *request, ref memoryd.ToolRef) error {
		words := strings.TrimSuffix(said+"."+r.arg(arg), ".")
		return d.settle(r, ref, ops.Decision{Kind: kind, Revision: wholeNumber(r.arg("n")), Line: cmp.Or(r.arg("line"), r.arg("id"))}, words)
	})
}

// rewrite has the guideline of a tool written from what is known now.
func (d *dashboard) rewrite(r *request, ref memoryd.ToolRef) error {
	s, err := d.Flows.SummaryToolMemory.Run(r.Context(), ops.NamesRequest{Workspace: ref.Workspace, Tools: []string{ref.Tool}, Force: true})
	switch {
	case err != nil:
		return err
	case len(s.Failed) > 0:
		return r.done("failed")
	case s.Summarised == 0:
		return r.done("unchanged")
	}
	return r.done("rewritten")
}

// release publishes or refuses a statement that waits.
func (d *dashboard) release(r *request, ref memoryd.ToolRef) error {
	kind, said := "refuse", "refused."
	if r.arg("accept") == "1" {
		kind, said = "accept", "accepted."
	}
	return d.settle(r, ref, ops.Decision{Kind: kind, Line: r.arg("id")}, said+r.arg("id")+"."+ref.Tool)
}

// editLine sets a line of a guideline, adds one, or takes one out.
func (d *dashboard) editLine(r *request, ref memoryd.ToolRef) error {
	kind := "set"
	if r.arg("remove") != "" {
		kind = "remove"
	}
	text := strings.Join(strings.Fields(r.arg("text")), " ") // a line is one
	return d.settle(r, ref, ops.Decision{Kind: kind, Line: r.arg("line"), Section: r.arg("section"), Text: text}, "edited.")
}

// deleteWorkspace deletes what the reader named by typing it.
func (d *dashboard) deleteWorkspace(r *request) error {
	name := r.arg("w")
	if !utf8.ValidString(name) || name == "" || r.arg("typed") != name {
		return memoryd.Errorf(memoryd.Invalid, "Nothing was deleted: the name that you typed is not the workspace's name.")
	}
	if _, err := d.Flows.VectorStore.Run(r.Context(), ops.ManageRequest{Workspace: name, Action: "delete"}); err != nil {
		return err
	}
	http.Redirect(r.w, r.Request, "/ui/workspaces?said=deleted", http.StatusSeeOther)
	return nil
}
