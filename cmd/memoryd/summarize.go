package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"memoryd/api/wire"
)

type summarizeCmd struct {
	remote
	Tools []string `arg:"" optional:"" name:"tool" help:"The tools, by name."`
	All   bool     `help:"Update all tools."`
	Stale bool     `help:"Update tools with enough new calls."`
	Force bool     `help:"Update tools without new calls too."`
}

// summarizeBatch is how many tools one request names: few enough that progress
// shows and no request lasts for ever.
const summarizeBatch = 20

// Validate rejects arguments that contradict each other. That is wrong usage.
func (c summarizeCmd) Validate() error {
	if named := len(c.Tools) > 0; named == (c.All || c.Stale && !named) {
		return errors.New("name the tools, or say --all or --stale")
	}
	return nil
}

// Run updates guidelines and prints one line per updated tool.
func (c summarizeCmd) Run(ctx context.Context, std streams) error {
	c.All = c.All || c.Stale && len(c.Tools) == 0
	workspaces, err := c.workspaces(ctx)
	if err != nil {
		return err
	}
	total := wire.NamesMetadata{}
	for _, workspace := range workspaces {
		names, err := c.named(ctx, workspace)
		if err != nil {
			return err
		}
		for batch := range slices.Chunk(names, summarizeBatch) {
			if err := c.batch(ctx, std, workspace, batch, &total); err != nil {
				return err
			}
		}
	}
	if !c.All && total.Summarised+total.Skipped+len(total.Failed) == 0 {
		return c.noTool(ctx, c.Tools[0])
	}
	fmt.Fprintf(std.out, "%d summarised, %d with nothing new, %d failed\n", total.Summarised, total.Skipped, len(total.Failed))
	if len(total.Failed) > 0 {
		return exitCode(exitFailed)
	}
	return nil
}

// named lists the tools of a workspace that the command is about.
func (c summarizeCmd) named(ctx context.Context, workspace string) ([]string, error) {
	var names []string
	wanted := c.Tools
	if c.All {
		wanted = []string{""}
	}
	for _, name := range wanted {
		tools, err := c.tools(ctx, workspace, name)
		if err != nil {
			return nil, err
		}
		for _, t := range tools {
			names = append(names, t.ToolName)
		}
	}
	return names, nil
}

func (c summarizeCmd) batch(ctx context.Context, std streams, workspace string, names []string, total *wire.NamesMetadata) error {
	var got answer[wire.NamesMetadata]
	body := map[string]any{"workspace_id": workspace, "tool_names": names, "force": c.Force, "stale": c.Stale}
	if err := c.post(ctx, "/summary_tool_memory", body, &got); err != nil && !refused(err) {
		return err
	}
	for i, m := range got.Metadata.MemoryList {
		if i < got.Metadata.Summarised {
			fmt.Fprintf(std.out, "%s/%s: revision %d by %s\n", onTerminal(workspace, 200), onTerminal(m.WhenToUse, 200),
				m.Metadata.GuidelineRevision, onTerminal(m.Author, 80))
		}
	}
	for _, f := range got.Metadata.Failed {
		fmt.Fprintf(std.err, "%s/%s: failed: %s\n", onTerminal(workspace, 200), onTerminal(f.ToolName, 200), onTerminal(f.Reason, 300))
	}
	total.Summarised += got.Metadata.Summarised
	total.Skipped += got.Metadata.Skipped
	total.Failed = append(total.Failed, got.Metadata.Failed...)
	return nil
}
