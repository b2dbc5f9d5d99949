package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"memoryd/api/wire"
	"memoryd/internal/client"
	"memoryd/internal/textsafe"
)

type forgetCmd struct {
	remote
	Source string `required:"" placeholder:"KEY-ID" help:"Who wrote the calls: the id of an API key; local for calls without one."`
	Yes    bool   `help:"Do it; without it the command only says what it would do."`
}

// Run cuts a source out of a workspace.
func (c forgetCmd) Run(ctx context.Context, std streams) error {
	c.Workspace = c.here()
	if !c.Yes {
		fmt.Fprintf(std.out, "This deletes all calls of source %q in workspace %q for good and writes the guidelines of their tools anew; --yes does it.\n",
			textsafe.Line(c.Source, 80), textsafe.Line(c.Workspace, 80))
		return nil
	}
	var done wire.Forgotten
	if err := c.do(ctx, client.Request{Method: http.MethodDelete, Path: "/v1/workspaces/" + url.PathEscape(c.Workspace) + "/sources/" + url.PathEscape(c.Source)}, &done); err != nil {
		return err
	}
	fmt.Fprintf(std.out, "%d calls of source %q are deleted\n", done.Calls, textsafe.Line(c.Source, 80))
	return nil
}
