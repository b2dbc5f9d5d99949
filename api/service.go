package api

import (
	"context"
	"net/http"
	"time"

	"memoryd/api/wire"
	"memoryd/ops"

	"github.com/labstack/echo/v4"
)

// checkTimeout bounds one readiness check.
const checkTimeout = 2 * time.Second

func (s *server) health(echo.Context, []byte) (any, error) {
	return wire.Health{Status: "healthy"}, nil
}

// livez answers while the process runs, whatever else is broken.
func (s *server) livez(echo.Context, []byte) (any, error) { return wire.Health{Status: "alive"}, nil }

func (s *server) metrics(echo.Context, []byte) (any, error) {
	return written(echo.WrapHandler(s.Meter.Handler())), nil
}

// readyz names each check. A failed vital check makes the server unready (503),
// another one only degraded: recording and retrieving go on without a model.
func (s *server) readyz(c echo.Context, _ []byte) (any, error) {
	out := wire.Readiness{Status: "ready"}
	status := http.StatusOK
	for _, check := range s.Checks {
		ctx, cancel := context.WithTimeout(c.Request().Context(), checkTimeout)
		err := check.Run(ctx)
		cancel()
		result := wire.Check{Name: check.Name, Status: "ok"}
		switch {
		case err == nil:
		case check.Vital:
			result.Status, out.Status, status = "failed", "unready", http.StatusServiceUnavailable
		default:
			result.Status = "degraded"
			if out.Status == "ready" {
				out.Status = "degraded"
			}
		}
		if err != nil {
			result.Detail = describe(err).msg
		}
		out.Checks = append(out.Checks, result)
	}
	return written(func(c echo.Context) error { return writeJSON(c, status, jsonType, out) }), nil
}

// The hours of a report on costs: a day unless asked, at most a leap year.
const (
	defaultHours = 24
	maxHours     = 366 * 24
)

// getSpend reports on the newest hours of a workspace, or of the whole server.
func (s *server) getSpend(c echo.Context, _ []byte) (any, error) {
	q := queryOf(c)
	in := ops.ReportUsage{}
	if c.Param("workspace") == "" {
		q.everywhere()
	} else {
		in.Workspace = q.workspace()
	}
	in.Hours = q.number("hours", defaultHours, 1, maxHours)
	return answer(q, s.Flows.ReportUsage, in, func(used ops.UsageReport) any {
		report := wire.Spend{Hours: in.Hours, Rows: make([]wire.SpendRow, len(used.Rows)), Budgets: []wire.Budget{}}
		for i, row := range used.Rows {
			report.Rows[i] = wire.SpendRow(row)
		}
		for _, b := range used.Budgets {
			report.Budgets = append(report.Budgets, wire.Budget{
				Window: b.Window, Unit: b.Unit, Limit: b.Limit, Used: b.Used, Resets: b.Resets.Format(time.RFC3339),
			})
		}
		return report
	})
}

func (s *server) listJudges(c echo.Context, _ []byte) (any, error) {
	q := queryOf(c)
	q.everywhere()
	return answer(q, s.Flows.ListJudges, ops.ListJudges{}, func(all ops.JudgeReports) any {
		list := wire.JudgeList{Judges: []wire.Judge{}}
		for _, j := range all.Judges {
			judge := wire.Judge{
				Version: j.Version, Name: j.Name, Verdicts: j.Verdicts, Scores: j.Scores, Recent: j.Recent, Warnings: j.Warnings,
				AgreementRules: wire.Agreement(j.AgreementRules), AgreementPeople: wire.Agreement(j.AgreementPeople), Tools: []wire.ToolScores{},
			}
			for _, tool := range j.Tools {
				judge.Tools = append(judge.Tools, wire.ToolScores(tool))
			}
			list.Judges = append(list.Judges, judge)
		}
		return list
	})
}
