package ui

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"memoryd"
	"memoryd/ops"
	"memoryd/ops/survey"
	"memoryd/store"
)

type toolView struct {
	ops.Memory
	// Seen is the tool as views over all tools know it; nil while it was not read.
	Seen       *survey.Tool
	Sections   []section
	Plain      string // a guideline that has no statements
	Revision   *ops.Revision
	Versions   ops.RevisionList
	Outcome    *ops.RevisionOutcome
	Periods    periods
	Sources    []ops.SourceShare // who recorded its calls
	Parameters []parameter
	// Names are the sections that a line can be added to.
	Names []string
	Back  string
}

// section is the statements of a guideline under one heading.
type section struct {
	Name  string
	Lines []statement
}

// statement is a line of a guideline with what it rests on.
type statement struct {
	*ops.GuidelineItem

	Grounds []ground
	// Did is how it did since it was published.
	Did *ops.LineOutcome
}

// ground is a piece of evidence as a page shows it.
type ground struct {
	ops.GuidelineGround

	Rule    *ruleData
	Message *messageData
	Data    *node
}

// ruleData is what speaks for a rule: calls under its condition that went wrong, and good
// ones.
type ruleData struct{ Calls, Runs, Good int }

// messageData is what calls said that no rule explains.
type messageData struct {
	Text        string
	Calls, Runs int
	Sole        bool
}

// parameter is one of the tool's inputs, as the calls showed it.
type parameter struct {
	Path            string
	Types           []string
	Given, Of, Good int
	Distinct        int
	Top             []struct{ Value string }
	Least, Greatest float64
}

// Values summarises which values were given, in a few words.
func (p *parameter) Values() string {
	if slices.Contains(p.Types, "number") || slices.Contains(p.Types, "integer") {
		return fmt.Sprintf("%v to %v", p.Least, p.Greatest)
	}
	var list []string
	for _, v := range p.Top[:min(4, len(p.Top))] {
		list = append(list, shown(v.Value, 40))
	}
	text := strings.Join(list, ", ")
	if p.Distinct > len(list) && text != "" {
		text += fmt.Sprintf(" and %d others", p.Distinct-len(list))
	}
	return text
}

// tool shows one tool: what its agents are told, on what grounds, and how it fails.
func (d *dashboard) tool(r *request, ref memoryd.ToolRef) error {
	m, seen, err := d.lookUp(r, ref)
	if err != nil {
		return err
	}
	v := toolView{Memory: m, Seen: seen, Back: r.with(), Names: ops.GuidelineSections()}
	if v.Versions, err = d.Flows.ListRevisions.Run(r.Context(), ref); err != nil {
		return err
	}
	if len(v.Versions.Revisions) > 0 {
		v.Outcome = &v.Versions.Revisions[0]
		v.Revision = &v.Outcome.Revision
		v.Sections, v.Parameters = sectionsOf(v.Revision)
		if v.Sources, err = d.outcomes(r, ref, v.Sections); err != nil {
			return err
		}
		if len(v.Sections) == 0 {
			v.Plain = v.Revision.Content
		}
	}
	if seen != nil {
		v.Periods = periodsOf(seen)
	}
	return d.show(r, "tool.html", "tools", ref.Tool, v)
}

// outcomes adds to each line how it did since it was published, and gives the shares of sources.
func (d *dashboard) outcomes(r *request, ref memoryd.ToolRef, sections []section) ([]ops.SourceShare, error) {
	found, err := d.Flows.ListLineOutcomes.Run(r.Context(), ref)
	if err != nil {
		return nil, err
	}
	did := map[string]*ops.LineOutcome{}
	for i := range found.Lines {
		did[found.Lines[i].Line] = &found.Lines[i]
	}
	for _, s := range sections {
		for i := range s.Lines {
			s.Lines[i].Did = did[s.Lines[i].ID]
		}
	}
	return found.Sources, nil
}

// lookUp finds a tool in the store and, where it was read, in the survey.
func (d *dashboard) lookUp(r *request, ref memoryd.ToolRef) (m ops.Memory, seen *survey.Tool, err error) {
	found, err := d.Flows.ListTools.Run(r.Context(), ops.ListTools{Workspace: ref.Workspace, Name: ref.Tool, Limit: 1})
	if err != nil {
		return m, nil, err
	}
	if len(found.Tools) == 0 {
		return m, nil, memoryd.Errorf(memoryd.NotFound, "The workspace has no tool with this name.")
	}
	ranked, err := d.Flows.RankTools.Run(r.Context(), ops.RankTools{
		Workspace: ref.Workspace, Ranking: survey.Ranking{Names: []string{ref.Tool}}, Limit: 1,
	})
	if len(ranked.Tools) > 0 {
		seen = ranked.Tools[0]
	}
	return found.Tools[0], seen, err
}

// mostShownCalls bounds the calls that are linked behind a statement.
const mostShownCalls = 12

func sectionsOf(rev *ops.Revision) (out []section, parameters []parameter) {
	if rev.Document == nil {
		return nil, nil
	}
	grounds := map[string]ground{}
	for _, g := range rev.Document.Grounds {
		shown := ground{GuidelineGround: g}
		shown.Calls = slices.Clone(g.Calls)
		slices.Reverse(shown.Calls) // the newest first
		shown.Calls = shown.Calls[:min(mostShownCalls, len(shown.Calls))]
		switch g.Kind {
		case "parameters":
			_ = json.Unmarshal(g.Data, &parameters) // of an older version: there are none to show
		case "rule":
			shown.Rule = decoded[ruleData](g.Data)
		case "message":
			shown.Message = decoded[messageData](g.Data)
		}
		if shown.Rule == nil && shown.Message == nil && g.Kind != "parameters" {
			shown.Data = tree(g.Data)
		}
		grounds[g.ID] = shown
	}
	for _, item := range rev.Document.Items {
		line := statement{GuidelineItem: &item}
		for _, id := range item.Evidence {
			if g, known := grounds[id]; known {
				line.Grounds = append(line.Grounds, g)
			}
		}
		if len(out) == 0 || out[len(out)-1].Name != item.Section {
			out = append(out, section{Name: item.Section})
		}
		at := &out[len(out)-1]
		at.Lines = append(at.Lines, line)
	}
	return out, parameters
}

func decoded[T any](data []byte) *T {
	v := new(T)
	if json.Unmarshal(data, v) != nil {
		return nil
	}
	return v
}

// periods counts causes of failures in groups of calls, the oldest first.
type periods struct {
	Heads []time.Time // when each group begins
	Sizes []int
	Rows  []periodRow
	Most  int
}

type periodRow struct {
	Cause  string
	Counts []int
	Total  int
}

// mostPeriods and mostCauses bound the table of failures over time.
const (
	mostPeriods = 8
	mostCauses  = 8
)

func periodsOf(t *survey.Tool) (p periods) {
	groups := min(mostPeriods, len(t.Calls)/5)
	if groups < 2 {
		groups = min(1, len(t.Calls))
	}
	for _, c := range t.Causes[:min(mostCauses, len(t.Causes))] {
		p.Rows = append(p.Rows, periodRow{Cause: c.Text, Counts: make([]int, groups)})
	}
	calls := slices.Clone(t.Calls)
	slices.Reverse(calls)
	for g := range groups {
		part := calls[g*len(calls)/groups : (g+1)*len(calls)/groups]
		p.Heads, p.Sizes = append(p.Heads, part[0].Time), append(p.Sizes, len(part))
		for i := range part {
			k := slices.IndexFunc(p.Rows, func(row periodRow) bool { return row.Cause == part[i].Cause })
			if part[i].Cause == "" || k < 0 {
				continue
			}
			row := &p.Rows[k]
			row.Counts[g]++
			row.Total++
			p.Most = max(p.Most, row.Counts[g])
		}
	}
	p.Rows = slices.DeleteFunc(p.Rows, func(row periodRow) bool { return row.Total == 0 })
	return p
}

type versionsView struct {
	ops.RevisionList
	Tool     string
	Current  int64
	A, B     int64
	Changes  []ops.GuidelineChange
	Compared bool
	Back     string
}

// versions shows what became of each version of a guideline, and what changed.
func (d *dashboard) versions(r *request, ref memoryd.ToolRef) (err error) {
	v := versionsView{Tool: ref.Tool, Back: r.with()}
	if v.RevisionList, err = d.Flows.ListRevisions.Run(r.Context(), ref); err != nil {
		return err
	}
	if len(v.Revisions) > 0 {
		v.Current = v.Revisions[0].Number
	}
	v.A, v.B = wholeNumber(r.arg("a")), wholeNumber(r.arg("b"))
	if v.B == 0 && len(v.Revisions) > 1 {
		v.A, v.B = v.Revisions[1].Number, v.Revisions[0].Number
	}
	if v.B > 0 {
		v.Changes, err = d.Flows.DiffRevisions.Run(r.Context(), ops.DiffRevisions{ToolRef: ref, Number: v.B, With: v.A})
		v.Compared = true
	}
	if err != nil {
		return err
	}
	return d.show(r, "versions.html", "tools", "Versions of the guideline of "+ref.Tool, v)
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
	var rows []kindRow
	for _, k := range found {
		rows = append(rows, kindRow{ref.Tool, k})
	}
	return d.show(r, "kinds.html", "tools", "Kinds of output of "+ref.Tool, map[string]any{"Tool": ref.Tool, "Kinds": rows, "Back": r.with()})
}

func wholeNumber(text string) (n int64) {
	if _, err := fmt.Sscanf(text, "%d", &n); err != nil || n < 0 {
		return 0
	}
	return n
}

type callView struct {
	memoryd.Call
	Run     string
	Agent   string
	InAPI   string
	Back    string
	Similar ops.Assessment
}

// call shows one call: what went in, what came out, and why it has its score.
func (d *dashboard) call(r *request, ref memoryd.ToolRef, key memoryd.CallKey) error {
	kept, err := d.Flows.GetCall.Run(r.Context(), ops.GetCall{ToolRef: ref, Key: key})
	if err != nil {
		return err
	}
	c := kept.Call
	v := callView{
		Call: c, Run: c.Run(), Agent: memoryd.NamesOf(c.Metadata).Agent, Back: r.with(),
		InAPI: "/v1/workspaces/" + url.PathEscape(ref.Workspace) + "/tools/" + url.PathEscape(ref.Tool) + "/calls/" + key.String(),
	}
	forecast, err := d.Flows.PreflightToolCall.Run(r.Context(), ops.PreflightRequest{ToolRef: ref, Input: c.Input})
	if err != nil {
		return err
	}
	v.Similar = forecast.Assessment
	itself := func(s ops.SimilarCall) bool { return s.Call == key }
	v.Similar.SimilarGood = slices.DeleteFunc(slices.Clone(v.Similar.SimilarGood), itself)
	v.Similar.SimilarBad = slices.DeleteFunc(slices.Clone(v.Similar.SimilarBad), itself)
	return d.show(r, "call.html", "calls", "Call of "+ref.Tool, v)
}

// plain is the text of an input: a string without its quotes.
func plain(input []byte) string {
	var text string
	if json.Unmarshal(input, &text) == nil {
		return text
	}
	return string(input)
}

type runView struct {
	Run   string
	Steps []step
	// Whole is false where the run had more calls than are kept of one.
	Whole bool
}

// step is a call of a run with what is forecast of it.
type step struct {
	store.RunCall
	Number   int
	Summary  string
	Forecast *ops.Assessment
}

// forecastTime is how long a page computes forecasts; later steps have none.
const forecastTime = 50 * time.Millisecond

// run shows the calls of one run in order.
func (d *dashboard) run(r *request) error {
	v := runView{Run: r.arg("run")}
	if v.Run == "" {
		return memoryd.Errorf(memoryd.Invalid, "This address does not contain a run.")
	}
	calls, err := d.Flows.ListRun.Run(r.Context(), ops.ListRun{Workspace: r.Workspace, Run: v.Run})
	if err != nil {
		return err
	}
	v.Whole = len(calls) < store.MaxRunCalls
	began := d.Now()
	for i, c := range calls {
		s := step{RunCall: c, Number: i + 1}
		if d.Now().Sub(began) < forecastTime {
			f, err := d.Flows.PreflightToolCall.Run(r.Context(), ops.PreflightRequest{ToolRef: c.ToolRef, Input: c.Input})
			if err != nil {
				return err
			}
			s.Forecast = &f.Assessment
		}
		v.Steps = append(v.Steps, s)
	}
	return d.show(r, "run.html", "calls", "Run "+v.Run, v)
}
