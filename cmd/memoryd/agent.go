package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"memoryd"
	"memoryd/api/wire"
	"memoryd/internal/client"
	"memoryd/internal/textsafe"
)

// inputOf is a call's input as it is written on a command line: a JSON object, or
// any other text.
func inputOf(text string) any {
	if trimmed := strings.TrimSpace(text); strings.HasPrefix(trimmed, "{") && json.Valid([]byte(trimmed)) {
		return json.RawMessage(trimmed)
	}
	return text
}

type addCmd struct {
	remote
	jsonOutput
	Tool   string  `arg:"" help:"The tool's name."`
	Input  string  `help:"What it was called with: a JSON object, or text."`
	Output string  `help:"What it returned; - reads it from standard input."`
	Failed bool    `help:"The call failed as its caller saw it."`
	Time   float64 `placeholder:"SECONDS" help:"How long it took."`
	Tokens int64   `default:"-1" placeholder:"N" help:"How many tokens it cost; -1: unknown."`
}

// Run records one call and prints its verdict.
func (c addCmd) Run(ctx context.Context, std streams) error {
	if c.Output == "-" {
		text, err := io.ReadAll(std.in)
		if err != nil {
			return err
		}
		c.Output = string(text)
	}
	var got answer[wire.AddMetadata]
	if err := c.post(ctx, "/add_tool_call_result", map[string]any{
		"workspace_id": c.here(), "include_history": false, "tool_call_results": []map[string]any{{
			"tool_name": c.Tool, "input": inputOf(c.Input), "output": c.Output, "success": !c.Failed, "time_cost": c.Time, "token_cost": c.Tokens,
		}},
	}, &got); err != nil {
		for _, r := range got.Metadata.Rejected {
			return errors.New(r.Reason)
		}
		return err
	}
	if c.JSON {
		return printJSON(std.out, got)
	}
	fmt.Fprintln(std.out, textsafe.Clean(got.Answer))
	for _, m := range got.Metadata.MemoryList {
		for _, call := range m.ToolCallResults {
			fmt.Fprintf(std.out, "%s %s\n", verdict(std, call), textsafe.Line(call.Summary, 300))
		}
	}
	return nil
}

// here is the workspace of the commands that are about one.
func (r remote) here() string { return cmp.Or(r.Workspace, memoryd.DefaultWorkspace) }

type retrieveCmd struct {
	remote
	jsonOutput
	Tools     []string `arg:"" name:"tool" help:"The tools, by name."`
	MaxTokens int      `placeholder:"N" help:"How long the answer may be; 0: as long as it is."`
}

// Run prints what agents are told of tools.
func (c retrieveCmd) Run(ctx context.Context, std streams) error {
	body := map[string]any{"workspace_id": c.here(), "tool_names": c.Tools, "include_history": false}
	if c.MaxTokens > 0 {
		body["max_tokens"] = c.MaxTokens
	}
	var got answer[wire.NamesMetadata]
	err := c.post(ctx, "/retrieve_tool_memory", body, &got)
	if refused(err) {
		c.Workspace = c.here()
		return c.noTool(ctx, c.Tools[0])
	}
	if err != nil {
		return err
	}
	if !c.JSON {
		fmt.Fprintln(std.out, textsafe.Clean(got.Answer))
	} else {
		for _, m := range got.Metadata.MemoryList {
			if err := printJSON(std.out, m); err != nil {
				return err
			}
		}
	}
	for _, name := range got.Metadata.UnknownToolNames {
		fmt.Fprintln(std.err, "memoryd:", c.noTool(ctx, name))
	}
	return nil
}

type preflightCmd struct {
	remote
	jsonOutput
	Tool  string `arg:"" help:"The tool's name."`
	Input string `arg:"" optional:"" help:"What it is to be called with: a JSON object, or text."`
}

// Run prints what the history says of a call before it is made.
func (c preflightCmd) Run(ctx context.Context, std streams) error {
	var got wire.PreflightResponse
	body := map[string]any{"workspace_id": c.here(), "tool_name": c.Tool, "input": inputOf(c.Input)}
	if err := c.post(ctx, "/preflight_tool_call", body, &got); err != nil {
		return err
	}
	if c.JSON {
		return printJSON(std.out, got.Forecast)
	}
	fmt.Fprintln(std.out, textsafe.Clean(got.Answer))
	for _, w := range got.Warnings {
		colour := yellow
		if w.Severity == "stop" {
			colour = red
		}
		fmt.Fprintf(std.out, "%s %s\n", std.paint(colour, w.Severity+":"), textsafe.Clean(w.Text))
	}
	if got.Suggestion != nil && string(got.Suggestion) != "null" {
		fmt.Fprintf(std.out, "suggestion: %s\n", textsafe.Clean(string(got.Suggestion)))
	}
	return nil
}

type correctCmd struct {
	remote
	Tool  string  `arg:"" help:"The tool's name."`
	Call  string  `arg:"" help:"The call's id, as memoryd calls shows it."`
	Score float64 `arg:"" help:"0, 0.5 or 1."`
	Why   string  `help:"A sentence that explains the score."`
	By    string  `help:"Who says so."`
}

// Run replaces the verdict on a call.
func (c correctCmd) Run(ctx context.Context, std streams) error {
	var call wire.StoredCall
	req := client.Request{Method: http.MethodPut, Path: toolPath(c.here(), c.Tool) + "/calls/" + c.Call + "/evaluation", Body: map[string]any{
		"score": c.Score, "evaluation": c.Why, "by": c.By,
	}}
	if err := c.do(ctx, req, &call); err != nil {
		return err
	}
	printCall(std, call.ID, call.Call)
	return nil
}

type deleteCmd struct {
	remote
	Tools []string `arg:"" optional:"" name:"tool" help:"The tools, by name."`
	All   bool     `help:"The whole workspace."`
	Yes   bool     `help:"Do it; without it the command only says what it would delete."`
}

// Validate finds arguments that do not go together; that is a fault of usage.
func (c deleteCmd) Validate() error {
	if (len(c.Tools) > 0) == c.All {
		return errors.New("name the tools, or say --all for the whole workspace")
	}
	return nil
}

// Run deletes tools with all that is known of them.
func (c deleteCmd) Run(ctx context.Context, std streams) error {
	c.Workspace = c.here()
	known, err := c.tools(ctx, c.Workspace, "")
	if err != nil {
		return err
	}
	calls, body := 0, map[string]any{"workspace_id": c.Workspace, "action": "delete"}
	var ids []string
	for _, t := range known {
		if i := slices.Index(c.Tools, t.ToolName); i >= 0 {
			c.Tools = append(c.Tools[:i:i], c.Tools[i+1:]...)
		} else if !c.All {
			continue
		}
		ids = append(ids, t.MemoryID)
		calls += t.Statistics.TotalCalls
	}
	if len(c.Tools) > 0 {
		return c.noTool(ctx, c.Tools[0])
	}
	if !c.All {
		body["action"], body["memory_ids"] = "delete_ids", ids
	}
	if !c.Yes {
		fmt.Fprintf(std.out, "This deletes %d tools with %d calls of workspace %q for good; --yes does it.\n", len(ids), calls, c.Workspace)
		return nil
	}
	if err := c.post(ctx, "/vector_store", body, nil); err != nil {
		return err
	}
	fmt.Fprintf(std.out, "%d tools with %d calls are deleted\n", len(ids), calls)
	return nil
}
