package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"text/tabwriter"

	"memoryd/api/wire"
	"memoryd/internal/client"
	"memoryd/internal/suggest"
	"memoryd/internal/textsafe"
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
			fmt.Fprintln(std.out, textsafe.Line(name, 200))
		}
	}
	return err
}

type toolsCmd struct {
	remote
	jsonOutput
	Query string `arg:"" optional:"" help:"Words of names and guidelines to search for; without them all tools are listed."`
}

// Run prints a line for each tool.
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
	table := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', 0)
	for n, workspace := range workspaces {
		tools, err := c.found(ctx, workspace)
		if err != nil {
			return err
		}
		for i, t := range tools {
			if c.JSON {
				if err := printJSON(std.out, t); err != nil {
					return err
				}
				continue
			}
			if n+i == 0 {
				fmt.Fprintln(table, "WORKSPACE\tTOOL\tCALLS\tSUCCEEDED\tSCORE\tPENDING\tGUIDELINE")
			}
			s, score, guideline := t.Statistics, "-", "-"
			if s.JudgedCalls > 0 {
				score = fmt.Sprintf("%.2f", s.AvgScore)
			}
			if t.GuidelineRevision > 0 {
				guideline = fmt.Sprintf("version %d", t.GuidelineRevision)
			}
			fmt.Fprintf(table, "%s\t%s\t%d\t%.0f %%\t%s\t%d\t%s\n", textsafe.Line(workspace, 60), textsafe.Line(t.ToolName, 60),
				s.TotalCalls, 100*s.SuccessRate, score, s.PendingCalls, guideline)
		}
	}
	return table.Flush()
}

// noWorkspace is the error of a command that was given an unknown workspace.
func (r remote) noWorkspace(ctx context.Context, err error) error {
	if !isStatus(err, http.StatusNotFound) {
		return err
	}
	name := r.Workspace
	r.Workspace = ""
	names, err := r.workspaces(ctx)
	if near := suggest.Nearest(name, names); err == nil && near != "" {
		err = fmt.Errorf("no workspace %q; did you mean %q?", name, textsafe.Line(near, 200))
	} else if err == nil {
		err = fmt.Errorf("no workspace %q", name)
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
	Limit  int    `default:"20" help:"How many of the newest calls to show; 0: all that are kept."`
	Failed bool   `help:"Only calls that scored less than 1."`
}

// Run prints the newest calls of a tool, with the ids that correct takes.
func (c callsCmd) Run(ctx context.Context, std streams) error {
	workspaces, err := c.workspaces(ctx)
	if err != nil {
		return err
	}
	found, shown := false, 0
	for _, workspace := range workspaces {
		for cursor := ""; c.Limit == 0 || shown < c.Limit; {
			var page wire.CallList
			err := c.get(ctx, toolPath(workspace, c.Tool)+"/calls?cursor="+cursor, &page)
			if isStatus(err, http.StatusNotFound) {
				break
			}
			if err != nil {
				return err
			}
			found = true
			for _, call := range page.Calls {
				if c.Failed && (call.Score == 1 || call.Judgement.State != "judged") || c.Limit > 0 && shown == c.Limit {
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

func isStatus(err error, status int) bool {
	e, ok := errors.AsType[*client.Error](err)
	return ok && e.Status == status
}
