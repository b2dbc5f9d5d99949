package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strings"

	"memoryd/api/wire"
	"memoryd/internal/client"
	"memoryd/internal/stats"
	"memoryd/internal/suggest"
	"memoryd/ops"
)

type workspacesCmd struct {
	remote
	jsonOutput
}

// Run prints the names of all workspaces.
func (c workspacesCmd) Run(ctx context.Context, std streams) error {
	c.Workspace = ""
	names, err := c.workspaces(ctx)
	for _, name := range names {
		if c.JSON {
			err = errors.Join(err, printJSON(std.out, map[string]string{"workspace_id": name}))
		} else {
			fmt.Fprintln(std.out, onTerminal(name, 200))
		}
	}
	return err
}

type toolsCmd struct {
	remote
	jsonOutput
	Query string `arg:"" optional:"" help:"Words to search for in names and guidelines. Without them, every tool is listed."`
}

// Run prints one line per tool.
func (c toolsCmd) Run(ctx context.Context, std streams) error {
	workspaces, err := c.workspaces(ctx)
	if err != nil {
		return err
	}
	if c.Workspace != "" {
		if err := c.get(ctx, "/v1/workspaces/"+url.PathEscape(c.Workspace)+"/tools?limit=1", nil); err != nil {
			return c.noWorkspace(ctx, err)
		}
	}
	var all []wire.ToolInfo
	for _, workspace := range workspaces {
		tools, err := c.found(ctx, workspace)
		if err != nil {
			return err
		}
		all = append(all, tools...)
	}
	return printTable(std, c.JSON, "WORKSPACE, TOOL, CALLS, SCORE, REPORTED, PENDING, GUIDELINE", all, func(t wire.ToolInfo) []any {
		s, score, guideline := t.Statistics, "-", "-"
		if s.JudgedCalls > 0 {
			score = fmt.Sprintf("%.2f", s.AvgScore)
		}
		if t.GuidelineRevision > 0 {
			guideline = fmt.Sprintf("version %d", t.GuidelineRevision)
		}
		reported := fmt.Sprintf("%.0f %%", 100*s.SuccessRate)
		return []any{onTerminal(t.WorkspaceID, 60), onTerminal(t.ToolName, 60), s.TotalCalls, score, reported, s.PendingCalls, guideline}
	})
}

// noWorkspace is the error of a command that was given an unknown workspace.
func (r remote) noWorkspace(ctx context.Context, err error) error {
	if !isUnknown(err) {
		return err
	}
	name := r.Workspace
	r.Workspace = ""
	names, err := r.workspaces(ctx)
	if near := suggest.Nearest(name, names); err == nil && near != "" {
		err = fmt.Errorf("no workspace %q; did you mean %q?", name, onTerminal(near, 200))
	} else if err == nil {
		err = fmt.Errorf("no workspace %q; run memoryd workspaces to list them", name)
	}
	return err
}

func (c toolsCmd) found(ctx context.Context, workspace string) ([]wire.ToolInfo, error) {
	if c.Query == "" {
		return c.tools(ctx, workspace, "")
	}
	var list wire.ToolList
	err := c.get(ctx, "/v1/workspaces/"+url.PathEscape(workspace)+"/tools?query="+url.QueryEscape(c.Query), &list)
	return list.Tools, err
}

type callsCmd struct {
	remote
	jsonOutput
	Tool   string `arg:"" help:"The tool's name."`
	Limit  int    `default:"20" help:"Number of calls to show; 0 shows all that are kept."`
	Failed bool   `help:"Show only calls that scored less than 1."`
}

// Run prints the newest calls of a tool, with the ids for memoryd correct.
func (c callsCmd) Run(ctx context.Context, std streams) error {
	workspaces, err := c.workspaces(ctx)
	if err != nil {
		return err
	}
	if c.Limit == 0 {
		c.Limit = math.MaxInt
	}
	found, shown := false, 0
	for _, workspace := range workspaces {
		for cursor := ""; shown < c.Limit; {
			var page wire.CallList
			err := c.get(ctx, toolPath(workspace, c.Tool)+"/calls?cursor="+cursor, &page)
			if isUnknown(err) {
				break
			}
			if err != nil {
				return err
			}
			found = true
			for _, call := range page.Calls {
				if c.Failed && (call.Score == 1 || call.Judgement.State != "judged") || shown == c.Limit {
					continue
				}
				shown++
				if !c.JSON {
					printCall(std, call.ID, call.Call)
				} else if err := printJSON(std.out, call); err != nil {
					return err
				}
			}
			if cursor = page.NextCursor; cursor == "" {
				break
			}
		}
	}
	if !found {
		return c.noTool(ctx, c.Tool)
	}
	return nil
}

// toolPath is where the native interface has a tool.
func toolPath(workspace, tool string) string {
	return "/v1/workspaces/" + url.PathEscape(workspace) + "/tools/" + url.PathEscape(tool)
}

type showCmd struct {
	remote
	jsonOutput
	Tool  string `arg:"" help:"The tool's name."`
	Calls int    `default:"5" help:"Number of calls to show."`
}

// Run shows the tool in every workspace that has it, or only in the named one.
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
	fmt.Fprintf(w, "%s (workspace %s)\n\n", std.paint(bold, onTerminal(m.WhenToUse, 200)), onTerminal(m.WorkspaceID, 200))
	fmt.Fprintf(w, "calls      %d kept of %d ever, %d exact repeats, %d pending\n",
		s.TotalCalls, s.LifetimeCalls, s.DuplicateCalls, s.PendingCalls)
	fmt.Fprintf(w, "score      %s over %d judged; recently %s over %d\n", mean(s.AvgScore, s.AvgScoreCI95, s.JudgedCalls), s.JudgedCalls,
		mean(s.RecentAvgScore, s.RecentAvgScoreCI95, s.RecentJudgedCalls), s.RecentJudgedCalls)
	fmt.Fprintf(w, "reported   %s of %d as a success; recently %s of %d\n", rate(s.SuccessRate, s.SuccessRateCI95), s.TotalCalls,
		rate(s.RecentSuccessRate, s.RecentSuccessRateCI95), s.RecentCalls)
	fmt.Fprintf(w, "time       %s s over %d timed calls\n", mean(s.AvgTimeCost, s.AvgTimeCostCI95, s.TimedCalls), s.TimedCalls)
	fmt.Fprintf(w, "tokens     %s over %d calls that report them\n\n", mean(s.AvgTokenCost, s.AvgTokenCostCI95, s.TokenCalls), s.TokenCalls)
	if m.Content == "" {
		fmt.Fprintf(w, "no guideline yet: %s\n", from.hint("summarize", onTerminal(m.WhenToUse, 200)))
	} else {
		fmt.Fprintf(w, "guideline %d by %s\n\n%s\n", m.Metadata.GuidelineRevision, onTerminal(m.Author, 80),
			strings.TrimSpace(onTerminal(m.Content, 0)))
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
	fmt.Fprintf(std.out, "  %s%s  %s  %s\n    -> %s\n", c.CreateTime, id, verdict(std, c), onTerminal(string(c.Input), 100),
		onTerminal(c.Output, 100))
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

type sourcesCmd struct {
	remote
	jsonOutput
	Tool string `arg:"" help:"The tool's name."`
}

// Run prints one line per source of a tool, and below them the lines that rest on one source.
func (c sourcesCmd) Run(ctx context.Context, std streams) error {
	c.Workspace = c.here()
	var found ops.LineOutcomes
	if err := c.get(ctx, toolPath(c.Workspace, c.Tool)+"/guidelines/lines", &found); err != nil {
		if isUnknown(err) {
			return c.noTool(ctx, c.Tool)
		}
		return err
	}
	err := printTable(std, c.JSON, "SOURCE, CALLS, FAILED, LINES, ALONE", found.Sources, func(s ops.SourceShare) []any {
		return []any{onTerminal(s.Source, 60), s.Calls, s.Failed, s.Lines, len(s.Alone)}
	})
	for _, s := range found.Sources {
		for _, line := range s.Alone {
			if !c.JSON {
				fmt.Fprintf(std.out, "\nOnly %s: %s\n", onTerminal(s.Source, 60), onTerminal(line.Text, 300))
			}
		}
	}
	return err
}

type forgetCmd struct {
	remote
	Source string `required:"" placeholder:"KEY-ID" help:"The id of an API key; local for calls recorded without a key."`
	Yes    bool   `help:"Delete; without it the command only says what it would delete, and exits with 1."`
}

// Run removes a source from a workspace.
func (c forgetCmd) Run(ctx context.Context, std streams) error {
	c.Workspace = c.here()
	if !c.Yes {
		return fmt.Errorf("this permanently deletes all calls of source %q in workspace %q; nothing is deleted without --yes",
			onTerminal(c.Source, 80), onTerminal(c.Workspace, 80))
	}
	var done wire.Forgotten
	if err := c.do(ctx, client.Request{Method: http.MethodDelete, Path: "/v1/workspaces/" + url.PathEscape(c.Workspace) +
		"/sources/" + url.PathEscape(c.Source)}, &done); err != nil {
		return err
	}
	if done.Calls == 0 {
		return fmt.Errorf("no calls of source %q in workspace %q (memoryd keys list shows the ids of keys)",
			onTerminal(c.Source, 80), onTerminal(c.Workspace, 80))
	}
	fmt.Fprintf(std.out, "Deleted %s of source %q.\n", counted(done.Calls, "call"), onTerminal(c.Source, 80))
	return nil
}
