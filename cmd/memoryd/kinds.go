package main

import (
	"context"
	"fmt"
	"net/http"

	"memoryd/api"
	"memoryd/internal/client"
	"memoryd/ops"
)

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
