package ops

import (
	"context"
	"maps"
	"slices"
	"time"

	"memoryd/llm/usage"
)

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
