package ops

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"memoryd"
	"memoryd/internal/origin"
	"memoryd/llm/usage"
	"memoryd/ops/survey"
	"memoryd/store"
)

// Seen says when a view was read, and whether it is complete.
type Seen = survey.Seen

// GetOverview requests what goes wrong most in a workspace, by calls, time or tokens.
type GetOverview struct{ Workspace, By string }

// OverviewPage is what goes wrong most in a workspace, and what changed.
type OverviewPage struct {
	Seen
	survey.Overview
}

func (d *Deps) getOverview(ctx context.Context, r GetOverview) (OverviewPage, error) {
	s := d.Survey.Of(ctx, r.Workspace)
	return OverviewPage{s.Seen, s.Overview(r.By)}, nil
}

// What answers about workspaces are made of.
type (
	// Cause is a group of failed calls of a tool with the same message.
	Cause = survey.Cause
	// Period is a period with its judged calls.
	Period = survey.Period
	// Filter selects calls.
	Filter = survey.Filter
	// RunCall is a call of a run.
	RunCall = store.RunCall
)

// RankTools requests up to Limit tools from Offset, in an order.
type RankTools struct {
	Workspace string
	survey.Ranking

	Offset, Limit int
}

// RankedTools is a page of tools.
type RankedTools struct {
	Seen
	Tools []*survey.Tool
	// Total is the number of tools on all pages.
	Total int
}

func (d *Deps) rankTools(ctx context.Context, r RankTools) (RankedTools, error) {
	s := d.Survey.Of(ctx, r.Workspace)
	all := s.Rank(r.Ranking)
	from := min(max(0, r.Offset), len(all))
	return RankedTools{Seen: s.Seen, Tools: all[from:min(len(all), from+r.Limit)], Total: len(all)}, nil
}

// FindCalls requests up to Limit calls of all tools of a workspace, newest first.
type FindCalls struct {
	Workspace string
	survey.Filter

	// Text must occur in the input, the output or the verdict; case does not matter.
	Text  string
	After survey.Place
	Limit int
}

// PlaceAt reads the cursor of a page of calls.
func PlaceAt(cursor string) (after survey.Place, known bool) { return survey.PlaceAt(cursor) }

// FoundCalls is a page of calls.
type FoundCalls struct {
	Seen
	Calls []memoryd.Call
	// Total is the number of calls that match the filter, whatever their text.
	Total int
	// Searched is the number of calls whose text was searched. Next is where to continue; the zero
	// Place at the end.
	Searched int
	Next     survey.Place
}

// searchTime is how long one page looks through texts, once it has looked through leastSearched:
// on a busy machine as well, a page finds what is among the newest calls.
const (
	searchTime    = 25 * time.Millisecond
	leastSearched = 100
)

func (d *Deps) findCalls(ctx context.Context, r FindCalls) (out FoundCalls, err error) {
	s := d.Survey.Of(ctx, r.Workspace)
	out.Seen = s.Seen
	began, after := d.Now(), r.After
	for {
		page, total := s.Find(r.Filter, after, r.Limit)
		if out.Total = max(out.Total, total); len(page) == 0 {
			return out, nil
		}
		for i := range page {
			line := &page[i]
			after = survey.Place{Time: line.Time, Key: line.Key}
			call, err := d.Store.Call(ctx, memoryd.ToolRef{Workspace: r.Workspace, Tool: line.ToolName()}, line.Key)
			if memoryd.IsKind(err, memoryd.NotFound) {
				continue // the history let it go since
			}
			if err != nil {
				return out, err
			}
			out.Searched++
			if holds(&call, r.Text) {
				out.Calls = append(out.Calls, call)
			}
			more := i+1 < len(page) || len(page) == r.Limit
			late := r.Text != "" && out.Searched >= leastSearched && d.Now().Sub(began) > searchTime
			if (late || len(out.Calls) == r.Limit) && more {
				out.Next = after
				return out, nil
			}
		}
		if len(page) < r.Limit {
			return out, nil
		}
	}
}

// holds reports whether a text stands in a call.
func holds(c *memoryd.Call, text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc([]string{string(c.Input), c.Output, c.Evaluation.Summary, c.Evaluation.Evaluation, string(c.Metadata)},
		func(s string) bool { return strings.Contains(strings.ToLower(s), text) })
}

// ListRun requests the calls of one run.
type ListRun struct{ Workspace, Run string }

// listRun lists them, oldest first.
func (d *Deps) listRun(ctx context.Context, r ListRun) ([]RunCall, error) {
	calls, err := d.Store.RunCalls(ctx, r.Workspace, r.Run, store.MaxRunCalls)
	slices.Reverse(calls)
	return calls, err
}

// ReportUsage requests the newest hours of a workspace, or of the whole server if it is unnamed.
type ReportUsage struct {
	Workspace string
	Hours     int
}

// UsageReport is what models cost, and what the budgets still allow.
type UsageReport struct {
	Hours   int            `json:"hours"`
	Rows    []usage.Row    `json:"rows"`
	Budgets []usage.Budget `json:"budgets"`
}

func (d *Deps) reportUsage(ctx context.Context, r ReportUsage) (out UsageReport, err error) {
	to := d.Now()
	out.Hours = r.Hours
	out.Rows, err = d.Ledger.Report(ctx, r.Workspace, to.Add(-time.Duration(r.Hours-1)*time.Hour), to)
	out.Budgets = d.Ledger.Budgets()
	return out, err
}

// ListSources requests where calls came from.
type ListSources struct{}

// SourceCounts are the ways in, by name.
type SourceCounts struct {
	Sources []SourceCount `json:"sources"`
}

// SourceCount counts what came one way since the server started.
type SourceCount struct {
	Name string    `json:"name"`
	Last time.Time `json:"last_seen"`
	// New is the number of recorded calls, Known of duplicates, and Dropped of calls that were left
	// out for one of Reasons.
	New     int64            `json:"recorded"`
	Known   int64            `json:"known"`
	Dropped int64            `json:"dropped"`
	Reasons map[string]int64 `json:"reasons"`
}

func (d *Deps) listSources(_ context.Context, _ ListSources) (out SourceCounts, err error) {
	counts := d.Intake.Counts()
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		c := SourceCount{Name: name, Last: counts[name].Last, Reasons: map[string]int64{}}
		for outcome, n := range counts[name].Calls {
			switch outcome {
			case "new":
				c.New = n
			case "known":
				c.Known = n
			default:
				c.Dropped += n
				c.Reasons[outcome] = n
			}
		}
		out.Sources = append(out.Sources, c)
	}
	return out, nil
}

// ListRuns requests up to Limit runs of a workspace from Offset, those without progress first.
type ListRuns struct {
	Workspace     string
	Offset, Limit int
}

// RunsPage is a page of runs.
type RunsPage struct {
	Seen
	Runs []RankedRun `json:"runs"`
	// Total is the number of runs on all pages.
	Total int `json:"total"`
	// Thrashing is how many of them make no progress.
	Thrashing int `json:"thrashing"`
}

// RankedRun is a run with figures from its calls.
type RankedRun struct {
	survey.Run
	// Why lists the reasons why the run makes no progress; nil if it does.
	Why []string `json:"why"`
	// Turned is where the longest series of failures began. Ended is the call after it, without a
	// tool if there is none.
	Turned RunStep `json:"turned"`
	Ended  RunStep `json:"ended"`
}

// RunStep is a call of a run.
type RunStep struct {
	Tool string          `json:"tool_name"`
	Key  memoryd.CallKey `json:"id"`
	Time time.Time       `json:"time"`
}

func (d *Deps) listRuns(ctx context.Context, r ListRuns) (out RunsPage, err error) {
	s := d.Survey.Of(ctx, r.Workspace)
	from := min(max(0, r.Offset), len(s.Runs))
	out = RunsPage{Seen: s.Seen, Total: len(s.Runs)}
	for i := range s.Runs {
		if s.Runs[i].Thrashes {
			out.Thrashing++
		}
	}
	for _, run := range s.Runs[from:min(len(s.Runs), from+r.Limit)] {
		ranked := RankedRun{Run: run}
		if run.Failed > 0 {
			calls, err := d.listRun(ctx, ListRun{r.Workspace, run.Name})
			if err != nil {
				return out, err
			}
			ranked.explain(calls)
		}
		out.Runs = append(out.Runs, ranked)
	}
	return out, nil
}

// namesTried is how many forms of an input are tried in turn before that is told.
const namesTried = 3

// explain reads the calls of a run, the oldest first.
func (r *RankedRun) explain(calls []store.RunCall) {
	made, forms := map[string]int{}, map[string]map[string]bool{}
	most, begin := 0, -1
	worst := ""
	for i := range calls {
		c := &calls[i]
		if c.State != memoryd.Judged {
			continue
		}
		if c.Score > memoryd.ScoreFailure {
			begin = -1
			continue
		}
		if begin < 0 {
			begin = i
		}
		if n := i - begin + 1; n > most {
			most = n
			r.Turned, r.Ended = stepOf(&calls[begin]), RunStep{}
			if i+1 < len(calls) {
				r.Ended = stepOf(&calls[i+1])
			}
		}
		key := c.Tool + "\x00" + string(c.Input)
		if made[key]++; made[key] > 1 && len(c.Input) > 0 {
			r.Repeats++
			if made[key] > made[worst] || worst == "" {
				worst = key
			}
		}
		if forms[c.Tool] == nil {
			forms[c.Tool] = map[string]bool{}
		}
		forms[c.Tool][formOf(c.Input)] = true
	}
	if !r.Thrashes {
		return
	}
	if n := made[worst]; n > 1 {
		tool, _, _ := strings.Cut(worst, "\x00")
		r.Why = append(r.Why, fmt.Sprintf("%d times the same failing call of %s", n, origin.Title(tool)))
	}
	for _, tool := range slices.Sorted(maps.Keys(forms)) {
		if n := len(forms[tool]); n >= namesTried {
			r.Why = append(r.Why, fmt.Sprintf("%d sets of parameters tried for %s", n, origin.Title(tool)))
		}
	}
	if r.OfTen >= 8 {
		r.Why = append(r.Why, fmt.Sprintf("%d of 10 calls in a row failed", r.OfTen))
	} else if len(r.Why) == 0 {
		r.Why = append(r.Why, fmt.Sprintf("%d failed calls in a row", r.Streak))
	}
}

// formOf is the names of an input's parameters.
func formOf(input json.RawMessage) string {
	return strings.Join(slices.Sorted(maps.Keys(parameters(input))), " ")
}

func stepOf(c *store.RunCall) RunStep { return RunStep{c.Tool, c.Key, c.Time} }
