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
	"memoryd/api"
	"memoryd/api/wire"
	"memoryd/internal/client"
	"memoryd/ops"
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
	Input  *string `placeholder:"JSON" help:"Input of the call: a JSON object, or text."`
	Output *string `placeholder:"TEXT" help:"Output of the call; - reads it from standard input."`
	Failed bool    `help:"Report the call as failed."`
	Time   float64 `placeholder:"SECONDS" help:"Duration of the call."`
	Tokens int64   `default:"-1" placeholder:"N" help:"Tokens the call cost; -1 means unknown."`
}

// Validate rejects a call without any content. That is wrong usage.
func (c addCmd) Validate() error {
	if c.Input == nil && c.Output == nil {
		return errors.New("name the output of the call with --output, or its input with --input")
	}
	return checkInput(given(c.Input))
}

// given is the text of a flag, "" where it was left out.
func given(flag *string) string {
	if flag == nil {
		return ""
	}
	return *flag
}

// Run records one call and prints its verdict.
func (c addCmd) Run(ctx context.Context, std streams) error {
	output := given(c.Output)
	if output == "-" {
		text, err := io.ReadAll(std.in)
		if err != nil {
			return err
		}
		output = string(text)
	}
	var got answer[wire.AddMetadata]
	if err := c.post(ctx, "/add_tool_call_result", map[string]any{
		"workspace_id": c.here(), "include_history": false, "tool_call_results": []map[string]any{{
			"tool_name": c.Tool, "input": inputOf(given(c.Input)), "output": output, "success": !c.Failed, "time_cost": c.Time,
			"token_cost": c.Tokens,
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
	fmt.Fprintln(std.out, onTerminal(got.Answer, 0))
	for _, m := range got.Metadata.MemoryList {
		for _, call := range m.ToolCallResults {
			fmt.Fprintf(std.out, "%s %s\n", verdict(std, call), onTerminal(call.Summary, 300))
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
	MaxTokens int      `placeholder:"N" help:"Limit the answer to N tokens; 0 means no limit."`
}

// Run prints the guidelines of tools as agents get them.
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
		fmt.Fprintln(std.out, onTerminal(got.Answer, 0))
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
	Input string `arg:"" optional:"" help:"Input of the planned call: a JSON object, or text."`
}

// Validate rejects input that is broken JSON. That is wrong usage.
func (c preflightCmd) Validate() error { return checkInput(c.Input) }

// Run prints the forecast for a planned call.
func (c preflightCmd) Run(ctx context.Context, std streams) error {
	var got wire.PreflightResponse
	body := map[string]any{"workspace_id": c.here(), "tool_name": c.Tool, "input": inputOf(c.Input)}
	if err := c.post(ctx, "/preflight_tool_call", body, &got); err != nil {
		return err
	}
	if c.JSON {
		return printJSON(std.out, got.Forecast)
	}
	fmt.Fprintln(std.out, onTerminal(got.Answer, 0))
	for _, w := range got.Warnings {
		colour := yellow
		if w.Severity == "stop" {
			colour = red
		}
		fmt.Fprintf(std.out, "%s %s\n", std.paint(colour, w.Severity+":"), onTerminal(w.Text, 0))
	}
	if string(got.Suggestion) != "null" {
		fmt.Fprintf(std.out, "suggestion: %s\n", onTerminal(string(got.Suggestion), 0))
	}
	return nil
}

type correctCmd struct {
	remote
	Tool  string  `arg:"" help:"The tool's name."`
	Call  string  `arg:"" help:"The id that memoryd calls shows."`
	Score float64 `arg:"" help:"0, 0.5 or 1."`
	Why   string  `help:"Reason for the score, in one sentence."`
	By    string  `help:"Your name."`
}

// Validate rejects scores other than the three. That is wrong usage.
func (c correctCmd) Validate() error { return checkScore(c.Score) }

func checkScore(score float64) error {
	if !slices.Contains([]float64{0, 0.5, 1}, score) {
		return fmt.Errorf("<score> must be 0, 0.5 or 1, not %g", score)
	}
	return nil
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
	All   bool     `help:"Delete the whole workspace."`
	Yes   bool     `help:"Delete; without it the command only says what it would delete, and exits with 1."`
}

// Validate rejects arguments that contradict each other. That is wrong usage.
func (c deleteCmd) Validate() error {
	if (len(c.Tools) > 0) == c.All {
		return errors.New("name the tools, or say --all for the whole workspace")
	}
	return nil
}

// Run deletes tools and everything known about them.
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
		return fmt.Errorf("this permanently deletes %s with %s from workspace %q; nothing is deleted without --yes",
			counted(len(ids), "tool"), counted(calls, "call"), c.Workspace)
	}
	if err := c.post(ctx, "/vector_store", body, nil); err != nil {
		return err
	}
	fmt.Fprintf(std.out, "Deleted %s with %s.\n", counted(len(ids), "tool"), counted(calls, "call"))
	return nil
}

type kindsCmd struct {
	remote
	jsonOutput
	Tool string `arg:"" help:"The tool's name."`
}

// Run prints the kinds of a tool's outputs, those without a sure verdict first.
func (c kindsCmd) Run(ctx context.Context, std streams) error {
	var list api.KindList
	if err := c.get(ctx, toolPath(c.here(), c.Tool)+"/kinds", &list); err != nil {
		return err
	}
	return printTable(std, c.JSON, "KIND, CALLS, SCORE, SURE, BY, OUTPUT", list.Kinds, func(k api.OutputKind) []any {
		sure := "yes"
		if !k.Sure {
			sure = "no"
		}
		return []any{k.ID, k.Calls, k.Score, sure, onTerminal(k.By, 30), onTerminal(k.Template, 100)}
	})
}

type labelCmd struct {
	remote
	Tool    string   `arg:"" help:"The tool's name."`
	Kind    string   `arg:"" help:"The id that memoryd kinds shows."`
	Score   *float64 `arg:"" optional:"" help:"0, 0.5 or 1."`
	Undo    bool     `help:"Remove your score from the kind."`
	Preview bool     `help:"Show which calls would change, and change nothing."`
	Why     string   `help:"Reason for the score, in one sentence."`
	By      string   `help:"Your name."`
}

// Validate rejects scores other than the three. That is wrong usage.
func (c labelCmd) Validate() error {
	switch s := c.Score; {
	case (s != nil) == c.Undo:
		return fmt.Errorf("give a score, or --undo")
	case s != nil:
		return checkScore(*s)
	}
	return nil
}

// Run gives one score to all outputs of a kind.
func (c labelCmd) Run(ctx context.Context, std streams) error {
	body := map[string]any{"evaluation": c.Why, "by": c.By, "preview": c.Preview, "withdraw": c.Undo}
	if c.Score != nil {
		body["score"] = *c.Score
	}
	var done ops.LabelledKind
	req := client.Request{Method: http.MethodPut, Path: toolPath(c.here(), c.Tool) + "/kinds/" + c.Kind, Body: body}
	if err := c.do(ctx, req, &done); err != nil {
		return err
	}
	verb := "changed"
	if c.Preview {
		verb = "would change"
	}
	fmt.Fprintf(std.out, "%s of %s %s\n", counted(done.Changes, "score"), counted(done.Calls, "call"), verb)
	for _, e := range done.Examples {
		fmt.Fprintf(std.out, "%s  %g -> %g  %s\n", e.ID, e.Before, e.After, onTerminal(e.Output, 100))
	}
	return nil
}
