package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"memoryd/api/wire"
	"memoryd/integrations/mcp"
	"memoryd/internal/client"
	"memoryd/internal/local"
	"memoryd/internal/suggest"
)

// reach is how a command reaches a server.
type reach struct {
	URL      string `name:"url" env:"MEMORYD_URL" placeholder:"URL" help:"Address of the server, http://HOST:PORT or unix:SOCKET (default: your server on this machine, started if none runs)."`
	Key      string `env:"MEMORYD_KEY" placeholder:"KEY" help:"API key of the server."`
	NoDaemon bool   `env:"MEMORYD_NO_DAEMON" help:"Start no server in the background."`
}

// way is how to ask the server of a store, or the user's own for "".
func (r reach) way(store string, std io.Writer) local.Way {
	m := &local.Memory{Store: store, NoDaemon: r.NoDaemon, Started: func(store string) {
		fmt.Fprintf(std, "memoryd: started a server in the background, with its store in %s (memoryd stop stops it)\n", onTerminal(store, 300))
	}}
	return m.To(r.URL, r.Key != "")
}

// remote is what the commands that talk to a server have in common.
type remote struct {
	reach
	Workspace string `env:"MEMORYD_WORKSPACE" placeholder:"NAME" help:"The workspace."`
}

// jsonOutput is what the commands that read have in common.
type jsonOutput struct {
	JSON bool `name:"json" help:"Print JSON, one document per line."`
}

// hint is a command line that does something with the same server and workspace.
func (r remote) hint(args ...string) string {
	words := slices.Concat([]string{"memoryd"}, args, flags("--workspace", r.Workspace, "--url", r.URL))
	for i, word := range words {
		words[i] = mcp.ShellWord(word)
	}
	return strings.Join(words, " ")
}

// flags are the words that give flags of a command line their values, but for those that are "".
func flags(pairs ...string) (words []string) {
	for pair := range slices.Chunk(pairs, 2) {
		if pair[1] != "" {
			words = append(words, pair...)
		}
	}
	return words
}

// The bounds of a request: how often it is sent again to a server that is busy, and
// how long it may take, since it may wait for many answers of a model.
const (
	tries           = 5
	exchangeTimeout = 15 * time.Minute
)

// answer is a response of the tool-memory endpoints whose metadata is an M.
type answer[M any] struct {
	Answer   string `json:"answer"`
	Metadata M      `json:"metadata"`
}

func (r reach) post(ctx context.Context, path string, body, out any) error {
	return r.do(ctx, client.Request{Method: http.MethodPost, Path: path, Body: body}, out)
}

func (r reach) get(ctx context.Context, path string, out any) error {
	return r.do(ctx, client.Request{Method: http.MethodGet, Path: path}, out)
}

func (r reach) do(ctx context.Context, req client.Request, out any) error {
	way := r.way("", os.Stderr)
	defer way.HTTP.CloseIdleConnections()
	return r.ask(way)(ctx, req, out)
}

// asker asks a server.
type asker func(ctx context.Context, req client.Request, out any) error

// ask asks the server at the end of a way.
func (r reach) ask(way local.Way) asker {
	server := client.Server{URL: way.URL, HTTP: way.HTTP, Key: r.Key, Tries: tries}
	return func(ctx context.Context, req client.Request, out any) error {
		ctx, cancel := context.WithTimeout(ctx, exchangeTimeout)
		defer cancel()
		return server.Do(ctx, req, out)
	}
}

// statusOf is the status that a server answered with an error; 0 is none.
func statusOf(err error) int {
	if e, ok := errors.AsType[*client.Error](err); ok {
		return e.Status
	}
	return 0
}

// refused reports whether the server understood the request and will not serve it.
func refused(err error) bool { return statusOf(err) == http.StatusOK }

// isUnknown reports whether a server answered that it does not know what was asked for.
func isUnknown(err error) bool { return statusOf(err) == http.StatusNotFound }

// printTable prints a list: its head and a line for each row, or the rows as JSON.
func printTable[Row any](std streams, asJSON bool, head string, rows []Row, cells func(Row) []any) error {
	if asJSON {
		for _, row := range rows {
			if err := printJSON(std.out, row); err != nil {
				return err
			}
		}
		return nil
	}
	table := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', 0)
	if len(rows) > 0 {
		fmt.Fprintln(table, strings.ReplaceAll(head, ", ", "\t"))
	}
	for _, row := range rows {
		for i, cell := range cells(row) {
			if i > 0 {
				fmt.Fprint(table, "\t")
			}
			if text, ok := cell.(string); ok {
				cell = onTerminal(text, 200)
			}
			fmt.Fprint(table, cell)
		}
		fmt.Fprintln(table)
	}
	return table.Flush()
}

// printJSON writes a document on a line.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// noTool is the error of a command that found no tool of a name; it names one that
// may have been meant.
func (r remote) noTool(ctx context.Context, name string) error {
	err := fmt.Errorf("no tool %q", name)
	if r.Workspace != "" {
		err = fmt.Errorf("%w in workspace %q", err, r.Workspace)
	}
	workspaces, fault := r.workspaces(ctx)
	var names []string
	for _, workspace := range workspaces {
		tools, listFault := r.tools(ctx, workspace, "")
		fault = errors.Join(fault, listFault)
		for _, t := range tools {
			names = append(names, t.ToolName)
		}
	}
	near := suggest.Nearest(name, names)
	switch {
	case fault != nil:
		return fault
	case near != "":
		return fmt.Errorf("%w; did you mean %q?", err, onTerminal(near, 200))
	case len(names) == 0:
		return fmt.Errorf("%w; nothing is recorded there yet", err)
	}
	return fmt.Errorf("%w; run %s to list known tools", err, r.hint("tools"))
}

// workspaces are the ones that a command is about: the one named, or all.
func (r remote) workspaces(ctx context.Context) ([]string, error) {
	if r.Workspace != "" {
		return []string{r.Workspace}, nil
	}
	var all []string
	for cursor := ""; ; {
		var list wire.WorkspaceList
		if err := r.get(ctx, "/v1/workspaces?cursor="+cursor, &list); err != nil {
			return nil, err
		}
		all = append(all, list.Workspaces...)
		if cursor = list.NextCursor; cursor == "" {
			return all, nil
		}
	}
}

// tools lists the tools of a workspace; name picks the one of that name.
func (r remote) tools(ctx context.Context, workspace, name string) ([]wire.ToolInfo, error) {
	var all []wire.ToolInfo
	for cursor := ""; ; {
		var list wire.ToolList
		query := url.Values{"name": {name}, "cursor": {cursor}}.Encode()
		if err := r.get(ctx, "/v1/workspaces/"+url.PathEscape(workspace)+"/tools?"+query, &list); err != nil {
			if isUnknown(err) {
				err = nil // nothing is recorded in it
			}
			return nil, err
		}
		all = append(all, list.Tools...)
		if cursor = list.NextCursor; cursor == "" {
			return all, nil
		}
	}
}

// healthCmd is what a container's health check runs: the image holds no other
// program that could ask.
type healthCmd struct {
	URL     string        `name:"url" default:"http://127.0.0.1:8002" env:"MEMORYD_URL" help:"Address of the server."`
	Timeout time.Duration `default:"3s" help:"How long to wait for an answer."`
}

// Run prints one line. The exit code is 0 if the server is at least partly ready.
func (c healthCmd) Run(ctx context.Context, std streams) error {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	var r wire.Readiness
	err := client.Server{URL: c.URL}.Do(ctx, client.Request{Method: http.MethodGet, Path: "/readyz"}, &r)
	failed, unready := errors.AsType[*client.Error](err)
	if unready && failed.Status == http.StatusServiceUnavailable && json.Unmarshal(failed.Body, &r) == nil {
		err = exitCode(exitFailed)
	} else if err != nil {
		return err
	}
	if r.Status == "" {
		return fmt.Errorf("%s answers, but is not memoryd", c.URL)
	}
	_, writeErr := fmt.Fprintln(std.out, readiness(r))
	return errors.Join(err, writeErr)
}

// readiness says in one line how the server is, and which checks fail and why.
func readiness(r wire.Readiness) string {
	var failing []string
	for _, check := range r.Checks {
		if check.Status != "ok" {
			detail := check.Detail
			if detail != "" {
				detail = " (" + detail + ")"
			}
			failing = append(failing, check.Name+" "+check.Status+detail)
		}
	}
	line := r.Status
	if len(failing) > 0 {
		line += ": " + strings.Join(failing, ", ")
	}
	return strings.Join(strings.Fields(line), " ")
}
