package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"memoryd/api/wire"
	"memoryd/internal/stats"
	"memoryd/internal/textsafe"
)

type showCmd struct {
	remote
	jsonOutput
	Tool  string `arg:"" help:"The tool's name."`
	Calls int    `default:"5" help:"How many of the newest calls to show."`
}

// Run shows the tool in every workspace that has it, or in the one named.
func (c showCmd) Run(ctx context.Context, std streams) error {
	workspaces, err := c.workspaces(ctx)
	if err != nil {
		return err
	}
	found := false
	for _, workspace := range workspaces {
		known, err := c.tools(ctx, workspace, c.Tool)
		if err != nil {
			return err
		}
		if len(known) == 0 {
			continue
		}
		m, err := c.memory(ctx, workspace)
		if err != nil {
			return err
		}
		found = true
		if !c.JSON {
			printMemory(std, m, c.remote)
		} else if err := printJSON(std.out, m); err != nil {
			return err
		}
	}
	if !found {
		return c.noTool(ctx, c.Tool)
	}
	return nil
}

func (c showCmd) memory(ctx context.Context, workspace string) (wire.Memory, error) {
	var got answer[wire.NamesMetadata]
	if err := c.post(ctx, "/retrieve_tool_memory", map[string]any{
		"workspace_id": workspace, "tool_names": []string{c.Tool}, "include_history": false, "include_calls": c.Calls,
	}, &got); err != nil {
		return wire.Memory{}, err
	}
	if len(got.Metadata.MemoryList) == 0 {
		return wire.Memory{}, errors.New(got.Answer)
	}
	return got.Metadata.MemoryList[0], nil
}

func printMemory(std streams, m wire.Memory, from remote) {
	s, w := m.Metadata.Statistics, std.out
	fmt.Fprintf(w, "%s (workspace %s)\n\n", std.paint(bold, textsafe.Line(m.WhenToUse, 200)), textsafe.Line(m.WorkspaceID, 200))
	fmt.Fprintf(w, "calls      %d kept of %d ever, %d exact repeats, %d pending\n",
		s.TotalCalls, s.LifetimeCalls, s.DuplicateCalls, s.PendingCalls)
	fmt.Fprintf(w, "success    %s of %d; recently %s of %d\n", rate(s.SuccessRate, s.SuccessRateCI95), s.TotalCalls,
		rate(s.RecentSuccessRate, s.RecentSuccessRateCI95), s.RecentCalls)
	fmt.Fprintf(w, "score      %s over %d judged; recently %s over %d\n", mean(s.AvgScore, s.AvgScoreCI95, s.JudgedCalls), s.JudgedCalls,
		mean(s.RecentAvgScore, s.RecentAvgScoreCI95, s.RecentJudgedCalls), s.RecentJudgedCalls)
	fmt.Fprintf(w, "time       %s s over %d timed calls\n", mean(s.AvgTimeCost, s.AvgTimeCostCI95, s.TimedCalls), s.TimedCalls)
	fmt.Fprintf(w, "tokens     %s over %d calls that report them\n\n", mean(s.AvgTokenCost, s.AvgTokenCostCI95, s.TokenCalls), s.TokenCalls)
	if m.Content == "" {
		fmt.Fprintf(w, "no guideline yet: %s\n", from.hint("summarize", textsafe.Line(m.WhenToUse, 200)))
	} else {
		fmt.Fprintf(w, "guideline %d by %s\n\n%s\n", m.Metadata.GuidelineRevision, m.Author, strings.TrimSpace(textsafe.Clean(m.Content)))
	}
	fmt.Fprintf(w, "\n%s\n", std.paint(bold, "newest calls"))
	for _, c := range m.ToolCallResults {
		printCall(std, "", c)
	}
	fmt.Fprintln(w)
}

// printCall shows a call on two lines; id may be "".
func printCall(std streams, id string, c wire.Call) {
	if id != "" {
		id = "  " + id
	}
	fmt.Fprintf(std.out, "  %s%s  %s  %s\n    -> %s\n", c.CreateTime, id, verdict(std, c), textsafe.Line(string(c.Input), 100), textsafe.Line(c.Output, 100))
}

// verdict is the score of a call, or why it has none.
func verdict(std streams, c wire.Call) string {
	var meta struct {
		State string `json:"evaluation_state"`
	}
	if json.Unmarshal(c.Metadata, &meta) != nil || meta.State != "judged" {
		return "[" + meta.State + "]"
	}
	colour := yellow
	switch c.Score {
	case 0:
		colour = red
	case 1:
		colour = green
	}
	return std.paint(colour, fmt.Sprintf("[%.1f]", c.Score))
}

func rate(v float64, i *stats.Interval) string {
	if i == nil {
		return "unknown"
	}
	return fmt.Sprintf("%.1f %% (95 %%: %.1f to %.1f)", 100*v, 100*i[0], 100*i[1])
}

func mean(v float64, i *stats.Interval, n int) string {
	switch {
	case n == 0:
		return "unknown"
	case i == nil:
		return fmt.Sprintf("%.3f", v)
	}
	return fmt.Sprintf("%.3f (95 %%: %.3f to %.3f)", v, i[0], i[1])
}
