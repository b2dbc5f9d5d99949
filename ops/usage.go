package ops

import (
	"context"
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

// SourceCounts are what the ways in beside the API took since the server started: by
// source, what became of the calls and how many.
type SourceCounts struct{ Counts map[string]map[string]int64 }

func (library) ListSources() Definition {
	return define("list_sources_op", func(d Deps, _ context.Context, _ ListSources) (SourceCounts, error) {
		return SourceCounts{d.Intake.Counts()}, nil
	})
}
