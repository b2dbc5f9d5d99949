package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"memoryd"
	"memoryd/api/wire"
	"memoryd/evaluate/monitor"
	"memoryd/llm/usage"

	"github.com/labstack/echo/v4"
)

// Ledger is what judging and writing cost.
type Ledger interface {
	Report(ctx context.Context, workspace string, from, to time.Time) ([]usage.Row, error)
	Budgets() []usage.Budget
}

// Judges is what is known of how judges judge.
type Judges interface {
	Report() []monitor.Judge
}

// The hours of a report on costs: a day unless asked, at most a leap year.
const (
	defaultHours = 24
	maxHours     = 366 * 24
)

// getSpend reports on the newest hours of a workspace, or of the whole server.
func (s *server) getSpend(c echo.Context) error {
	workspace := ""
	if c.Param("workspace") != "" {
		var err error
		if workspace, err = pathParam(c, "workspace"); err != nil {
			return err
		}
	}
	hours := defaultHours
	if text := c.QueryParam("hours"); text != "" {
		var err error
		if hours, err = strconv.Atoi(text); err != nil || hours < 1 || hours > maxHours {
			return memoryd.Errorf(memoryd.Invalid, "hours: must be 1 to %d", maxHours)
		}
	}
	to := time.Now()
	from := to.Add(-time.Duration(hours-1) * time.Hour)
	rows, err := s.Ledger.Report(c.Request().Context(), workspace, from, to)
	if err != nil {
		return err
	}
	report := wire.Spend{Hours: hours, Rows: rows, Budgets: []wire.Budget{}}
	for _, b := range s.Ledger.Budgets() {
		report.Budgets = append(report.Budgets, wire.Budget{
			Window: b.Window, Unit: b.Unit, Limit: b.Limit, Used: b.Used, Resets: b.Resets.Format(time.RFC3339),
		})
	}
	return writeJSON(c, http.StatusOK, jsonType, report)
}

func (s *server) listJudges(c echo.Context) error {
	return writeJSON(c, http.StatusOK, jsonType, wire.JudgeList{Judges: s.Judges.Report()})
}
