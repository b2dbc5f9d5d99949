package ui

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
	"time"

	"memoryd"
	"memoryd/ops"
	"memoryd/ops/survey"
)

// choice is one value of a filter or an order, with its address.
type choice struct {
	Label, Value, URL string
	On                bool
}

// choices are the values of an argument as links, each without the page number.
func (r *request) choices(arg string, values ...string) (out []choice) {
	for i := 0; i+1 < len(values); i += 2 {
		out = append(out, choice{values[i+1], values[i], r.with(arg, values[i], "page", "", "after", ""), r.arg(arg) == values[i]})
	}
	return out
}

type overviewView struct {
	ops.OverviewPage
	Worst   []worst
	Chart   *chart
	Waiting reviewView
	Health  []health
	Judge   string
	Hosts   []Host
}

// worst is one of the mistakes that cost most, and what can be done.
type worst struct {
	ops.Cause
	// Written reports that the tool has a guideline.
	Written bool
	// Told is what agents are told of it; where that is nothing, Waits is a statement of
	// the tool that would be told if somebody accepted it.
	Told  string
	Waits *ops.PendingStatement
}

type health struct{ Name, Fault string }

// The lists of the first page.
const (
	worstShown   = 3
	waitingShown = 3
)

// overview shows what costs most, whether that gets better, and what waits for a person.
func (d *dashboard) overview(r *request) error {
	o, err := d.Flows.GetOverview.Run(r.Context(), ops.GetOverview{Workspace: r.Workspace, By: "cost"})
	if err != nil {
		return err
	}
	v := overviewView{OverviewPage: o, Judge: d.Judge, Hosts: d.Hosts, Chart: chartOf(o.Periods)}
	if !o.Reading {
		if err := d.decide(r, &v); err != nil {
			return err
		}
	}
	for _, c := range d.Checks {
		h := health{Name: c.Name}
		if err := c.Run(r.Context()); err != nil {
			_, h.Fault = memoryd.KindOf(err)
		}
		v.Health = append(v.Health, h)
	}
	return d.show(r, "overview.html", "overview", "Overview", &v)
}

// decide adds to the mistakes that cost most what can be done, and what waits for a
// person.
func (d *dashboard) decide(r *request, v *overviewView) (err error) {
	for _, c := range v.Causes[:min(worstShown, len(v.Causes))] {
		w := worst{Cause: c}
		ref := memoryd.ToolRef{Workspace: r.Workspace, Tool: c.Tool}
		list, err := d.Flows.ListRevisions.Run(r.Context(), ref)
		if err := memoryd.Except(err, memoryd.NotFound); err != nil {
			return err
		}
		if w.Written = len(list.Revisions) > 0; w.Written {
			w.Told = lineAbout(&list.Revisions[0].Revision, c.Some)
		}
		waiting, err := d.Flows.ListPending.Run(r.Context(), ops.ListPending{Workspace: r.Workspace, Tool: c.Tool, Limit: 1})
		if err := memoryd.Except(err, memoryd.NotFound); err != nil {
			return err
		}
		if len(waiting.Statements) > 0 && w.Told == "" {
			w.Waits = &waiting.Statements[0]
		}
		v.Worst = append(v.Worst, w)
	}
	v.Waiting, err = d.waiting(r, waitingShown)
	return err
}

// lineAbout is the first line of a guideline that says what to do and rests on some of
// the calls; "" is none.
func lineAbout(rev *ops.Revision, calls []memoryd.CallKey) string {
	sections, _ := sectionsOf(rev)
	about := map[string]bool{}
	if rev.Document != nil {
		for _, g := range rev.Document.Grounds {
			about[g.ID] = slices.ContainsFunc(calls, func(k memoryd.CallKey) bool { return slices.Contains(g.Calls, k.String()) })
		}
	}
	for _, s := range sections {
		for _, line := range s.Lines {
			if s.Name == "Best Practices" && !line.Removed && slices.ContainsFunc(line.Grounds, func(g ground) bool { return about[g.ID] }) {
				return line.Text
			}
		}
	}
	return ""
}

// pages are the addresses of the pages before and after one of a list of tools or runs.
type pages struct{ Prev, Next string }

func (r *request) pages(page, total int) (p pages) {
	if page > 1 {
		p.Prev = r.with("page", strconv.Itoa(page-1))
	}
	if toolRows*page < total {
		p.Next = r.with("page", strconv.Itoa(page+1))
	}
	return p
}

// toolRows is how many tools, and callRows how many calls, a page lists.
const (
	toolRows = 50
	callRows = 40
)

type toolsView struct {
	ops.RankedTools
	Query, State string
	States       []choice
	Columns      []column
	pages
	From, To int
}

// column is a heading that orders.
type column struct {
	Label, URL string
	// Order is "ascending" or "descending" where the list is ordered by it.
	Order string
	Right bool
}

// tools lists the tools of a workspace.
func (d *dashboard) tools(r *request) error {
	page := int(max(1, wholeNumber(r.arg("page"))))
	by, descending := strings.CutPrefix(cmp.Or(r.arg("sort"), "-failed"), "-")
	v := toolsView{Query: r.arg("q"), State: r.arg("state")}
	ask := ops.RankTools{
		Workspace: r.Workspace, Offset: toolRows * (page - 1), Limit: toolRows,
		Ranking: survey.Ranking{Words: v.Query, State: v.State, By: by, Descending: descending},
	}
	var err error
	if v.RankedTools, err = d.Flows.RankTools.Run(r.Context(), ask); err != nil {
		return err
	}
	v.States = r.choices("state", "", "all", "failing", "with failures", "worse", "getting worse", "better", "getting better",
		"pending", "waiting for the judge", "unwritten", "no guideline", "behind", "guideline behind")
	v.Columns = r.columns(by, descending)
	v.From, v.To = min(ask.Offset+1, v.Total), ask.Offset+len(v.Tools)
	v.pages = r.pages(page, v.Total)
	return d.show(r, "tools.html", "tools", "Tools", v)
}

// columns are the headings of the list of tools. A heading orders by what is worst
// or most first, and again the other way round.
func (r *request) columns(by string, descending bool) (out []column) {
	for _, c := range []struct {
		name, label string
		up, right   bool
	}{
		{"name", "Tool", true, false},
		{"calls", "Calls", false, true},
		{"failed", "Went wrong", false, true},
		{"rate", "Judged good", true, true},
		{"", "Trend", false, false},
		{"p50", "p50", false, true},
		{"p95", "p95", false, true},
		{"tokens", "Tokens", false, true},
		{"guideline", "Guideline", true, false},
		{"newest", "Newest call", false, false},
	} {
		col := column{Label: c.label, Right: c.right}
		if c.name != "" {
			down := !c.up
			if c.name == by {
				col.Order, down = "ascending", !descending
				if descending {
					col.Order = "descending"
				}
			}
			sign := ""
			if down {
				sign = "-"
			}
			col.URL = r.with("sort", sign+c.name, "page", "")
		}
		out = append(out, col)
	}
	return out
}

type runsView struct {
	ops.RunsPage
	pages
}

// runs lists the runs of agents.
func (d *dashboard) runs(r *request) (err error) {
	page := int(max(1, wholeNumber(r.arg("page"))))
	var v runsView
	if v.RunsPage, err = d.Flows.ListRuns.Run(r.Context(), ops.ListRuns{
		Workspace: r.Workspace, Offset: toolRows * (page - 1), Limit: toolRows,
	}); err != nil {
		return err
	}
	v.pages = r.pages(page, v.Total)
	return d.show(r, "runs.html", "runs", "Runs", &v)
}

type callsView struct {
	ops.FoundCalls
	Filter   survey.Filter
	Text     string
	Verdicts []string
	Judges   []string
	Next     string
	First    string
	Back     string
	Filtered bool
}

// calls lists calls over all tools.
func (d *dashboard) calls(r *request) error {
	v, err := d.find(r, survey.Filter{
		Tool: r.arg("t"), Verdict: r.arg("verdict"), Judge: r.arg("judge"), Rule: r.arg("rule"), Cause: r.arg("cause"),
		Agent: r.arg("agent"), Run: r.arg("run"),
	})
	if err != nil {
		return err
	}
	return d.show(r, "calls.html", "calls", "Calls", v)
}

func (d *dashboard) find(r *request, f survey.Filter) (v callsView, err error) {
	cursor, err := base64.RawURLEncoding.DecodeString(r.arg("after"))
	after, known := ops.PlaceAt(string(cursor))
	if err != nil || !known {
		return v, memoryd.Errorf(memoryd.Invalid, "The address of this page is not valid.")
	}
	v = callsView{
		Filter: f, Text: r.arg("q"), Verdicts: survey.Verdicts(),
		Judges: []string{"rules", "model", "person", "cache"}, Back: r.with(),
	}
	v.Filtered = f != survey.Filter{} || v.Text != ""
	v.FoundCalls, err = d.Flows.FindCalls.Run(r.Context(), ops.FindCalls{
		Workspace: r.Workspace, Filter: f, Text: v.Text, After: after, Limit: callRows,
	})
	if next := v.FoundCalls.Next.String(); next != "" {
		v.Next = r.with("after", base64.RawURLEncoding.EncodeToString([]byte(next)))
	}
	if !after.Time.IsZero() {
		v.First = r.with("after", "")
	}
	return v, err
}

type reviewView struct {
	callsView
	// Statements wait for a person, or for more calls to say the same. Kinds are those of outputs
	// that the judge is unsure of, those with most calls first. After is where the search goes on.
	Statements []ops.PendingStatement
	Kinds      []kindRow
	After      string
}

// reviewTools is how many tools a page looks through, leastReviewed how many failed calls, or
// calls of a kind, are worth a question, and searchTime how long a page looks.
const (
	reviewTools   = 40
	leastReviewed = 3
	searchTime    = 25 * time.Millisecond
)

// review lists what a person's look at is worth most, of the tools that fail most: statements
// that wait, and kinds of outputs that the judge is unsure of. What changes next to nothing is
// not asked.
func (d *dashboard) review(r *request) error {
	found, err := d.find(r, survey.Filter{Verdict: "unsure", Tool: r.arg("t")})
	if err != nil {
		return err
	}
	v := reviewView{callsView: found}
	tools, from, total := []string{r.arg("t")}, 0, 1
	if tools[0] == "" {
		from, _ = strconv.Atoi(r.arg("from"))
		if tools, total, err = d.worstTools(r, max(0, from)); err != nil {
			return err
		}
	}
	began := d.Now()
	for i, tool := range tools {
		if i > 0 && d.Now().Sub(began) > searchTime {
			tools = tools[:i]
			break
		}
		if err := d.ask(r, tool, &v); err != nil {
			return err
		}
	}
	slices.SortStableFunc(v.Kinds, func(a, b kindRow) int { return b.Calls - a.Calls })
	if next := max(0, from) + len(tools); next < total {
		v.After = r.with("from", strconv.Itoa(next))
	}
	return d.show(r, "review.html", "review", "Review", v)
}

// worstTools names the tools with the most calls that went wrong, from one of these on, and says
// how many tools there are.
func (d *dashboard) worstTools(r *request, from int) (names []string, total int, err error) {
	ranked, err := d.Flows.RankTools.Run(r.Context(), ops.RankTools{
		Workspace: r.Workspace, Offset: from, Limit: reviewTools, Ranking: survey.Ranking{By: "failed", Descending: true},
	})
	for _, t := range ranked.Tools {
		names = append(names, t.Name)
	}
	return names, ranked.Total, err
}

// Asked counts what is asked of a person.
func (v *reviewView) Asked() int { return len(v.Statements) + len(v.Kinds) }

// ask adds what one tool has to decide, what changes most first.
func (d *dashboard) ask(r *request, tool string, v *reviewView) error {
	page, err := d.Flows.ListPending.Run(r.Context(), ops.ListPending{Workspace: r.Workspace, Tool: tool, Limit: 1})
	if err := memoryd.Except(err, memoryd.NotFound); err != nil {
		return err
	}
	v.Statements = append(v.Statements, page.Statements...)
	found, err := d.Flows.ListKinds.Run(r.Context(), memoryd.ToolRef{Workspace: r.Workspace, Tool: tool})
	if err := memoryd.Except(err, memoryd.NotFound); err != nil {
		return err
	}
	for _, k := range found {
		if !k.Sure && k.Calls >= leastReviewed {
			v.Kinds = append(v.Kinds, kindRow{tool, k})
		}
	}
	return nil
}

// waiting lists what waits for a person, of the tools with the most failed calls first.
func (d *dashboard) waiting(r *request, most int) (v reviewView, err error) {
	tools, _, err := d.worstTools(r, 0)
	began := d.Now()
	for i := 0; err == nil && i < len(tools) && (i < worstShown || v.Asked() < most) && d.Now().Sub(began) < searchTime/2; i++ {
		err = d.ask(r, tools[i], &v)
	}
	slices.SortStableFunc(v.Kinds, func(a, b kindRow) int { return b.Calls - a.Calls })
	v.Statements = v.Statements[:min(most, len(v.Statements))]
	v.Kinds = v.Kinds[:min(most-len(v.Statements), len(v.Kinds))]
	return v, err
}
