package ui

import (
	"strings"
	"testing"
	"time"

	"memoryd/ops"
)

func TestTheChartShowsEachPeriodWithCallsAndWhereGuidelinesWereWritten(t *testing.T) {
	day := func(i, calls, failed, written int) ops.Period {
		return ops.Period{From: time.Date(2026, 11, 1+i, 0, 0, 0, 0, time.UTC), Calls: calls, Failed: failed, Written: written}
	}
	c := chartOf([]ops.Period{day(0, 10, 4, 0), day(1, 0, 0, 2), day(2, 10, 1, 0)})
	if c.Top != "50 %" || c.Line != "0,32 720,128" || len(c.Dots) != 2 || c.Dots[1].Text != "3 Nov 2026: 1 of 10 failed" {
		t.Errorf("%+v", c)
	}
	if len(c.Marks) != 1 || c.Marks[0].X != 360 || !strings.Contains(c.Marks[0].Title, "2 guidelines written") || len(c.Rows) != 3 {
		t.Errorf("%+v", c)
	}
	if chartOf([]ops.Period{day(0, 10, 4, 0)}) != nil {
		t.Error("one moment is no trend")
	}
}
