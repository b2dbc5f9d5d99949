package ops

import (
	"context"
	"maps"
	"slices"
	"time"

	"memoryd/evaluate/monitor"
	"memoryd/llm/usage"
)

// Ledger is what judging and writing cost; *usage.Ledger is one.
type Ledger interface {
	Report(ctx context.Context, workspace string, from, to time.Time) ([]usage.Row, error)
	Budgets() []usage.Budget
	// Forget drops what is kept of a workspace that is gone.
	Forget(workspace string)
}

// Monitor is what is known of how judges judge; *monitor.Monitor is one.
type Monitor interface{ Report() []monitor.Judge }

// ReportUsage asks for the newest hours of a workspace, or, without a name, of the
// whole server.
type ReportUsage struct {
	Workspace string
	Hours     int
}

// UsageReport is what models were asked, and what they may still be asked.
type UsageReport struct {
	Rows    []usage.Row
	Budgets []usage.Budget
}

func (library) ReportUsage() Definition {
	return define("report_usage_op", func(d Deps, ctx context.Context, r ReportUsage) (out UsageReport, err error) {
		to := d.Now()
		out.Rows, err = d.Ledger.Report(ctx, r.Workspace, to.Add(-time.Duration(r.Hours-1)*time.Hour), to)
		out.Budgets = d.Ledger.Budgets()
		return out, err
	})
}

// ListJudges asks how the judges judge.
type ListJudges struct{}

// JudgeReports has an entry for each judge.
type JudgeReports struct{ Judges []monitor.Judge }

func (library) ListJudges() Definition {
	return define("list_judges_op", func(d Deps, _ context.Context, _ ListJudges) (JudgeReports, error) {
		return JudgeReports{d.Monitor.Report()}, nil
	})
}

// ListSources asks where calls come from.
type ListSources struct{}

// SourceCounts are the ways in, by name.
type SourceCounts struct{ Sources []SourceCount }

// SourceCount is what came by one way since the server started.
type SourceCount struct {
	Name string
	Last time.Time
	// New calls were recorded, Known ones had come already, Dropped ones were left
	// out for one of Reasons.
	New, Known, Dropped int64
	Reasons             map[string]int64
}

func (library) ListSources() Definition {
	return define("list_sources_op", func(d Deps, _ context.Context, _ ListSources) (out SourceCounts, err error) {
		counts, last := d.Intake.Counts(), d.Intake.LastSeen()
		for _, name := range slices.Sorted(maps.Keys(counts)) {
			c := SourceCount{Name: name, Last: last[name], Reasons: map[string]int64{}}
			for outcome, n := range counts[name] {
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
	})
}
