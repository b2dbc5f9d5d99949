package ops

import (
	"fmt"
	"testing"

	"memoryd"
	"memoryd/internal/stats"
)

func TestStatisticsAreRememberedForOneStateOfATool(t *testing.T) {
	c := NewStatisticsCache(4)
	tool := memoryd.Tool{ToolRef: memoryd.ToolRef{Workspace: "w", Tool: "t"}, Revision: 1}
	want := stats.Statistics{TotalCalls: 7}
	c.keep(tool, want)
	if got, ok := c.find(tool); !ok || got.TotalCalls != 7 {
		t.Errorf("got %+v, %v", got, ok)
	}
	tool.Revision = 2
	if _, ok := c.find(tool); ok {
		t.Error("old statistics for a tool that has changed")
	}
	for i := range 20 {
		tool.Tool = fmt.Sprint(i)
		c.keep(tool, want)
	}
	if c.byTool.Len() > 4 {
		t.Errorf("%d tools are remembered", c.byTool.Len())
	}
}
