package ops

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"memoryd"
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
	if text == "" {
		return true
	}
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
