package main

import (
	"context"
	"fmt"
	"sync/atomic"
)

// fill appends calls to tools 0..tools-1 of the workspace until each has had
// perTool, in requests of many calls, so that histories are full and reuse of
// rows is what is measured afterwards.
func fill(ctx context.Context, addr, workspace string, tools, perTool int) error {
	const perRequest = 100
	n := min(perRequest, perTool)
	t := addTemplate(workspace, n, callBytes)
	rounds := (perTool + n - 1) / n
	var next atomic.Uint64
	total := uint64(tools * rounds)
	l := &load{addr: addr, conns: 8}
	l.request = func(i uint64, buf []byte) []byte { return t.fill(buf, i%uint64(tools), i*perRequest) }
	_, err := l.run(ctx, counted(&next, total))
	if err != nil {
		return fmt.Errorf("fill %d tools with %d calls: %w", tools, perTool, err)
	}
	return nil
}

// summarise writes the guidelines of tools 0..tools-1.
func summarise(ctx context.Context, addr, workspace string, tools int) error {
	t := newTemplate(post("/summary_tool_memory", `{"workspace_id":"`+workspace+`","tool_names":"tool-`+toolMark+`"}`))
	var next atomic.Uint64
	l := &load{addr: addr, conns: 4}
	l.request = func(i uint64, buf []byte) []byte { return t.fill(buf, i, 0) }
	if _, err := l.run(ctx, counted(&next, uint64(tools))); err != nil {
		return fmt.Errorf("summarise %d tools: %w", tools, err)
	}
	return nil
}
