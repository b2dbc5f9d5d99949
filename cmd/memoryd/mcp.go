package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"memoryd/api"
	"memoryd/api/ui"
	"memoryd/guidelines"
	"memoryd/integrations/mcp"
	"memoryd/internal/access"
	"memoryd/internal/local"
	"memoryd/ops"
)

// memory is how mcp and mcp-wrap reach a memory.
type memory struct {
	reach
	Workspace string `default:"default" env:"MEMORYD_WORKSPACE" help:"The workspace."`
	Data      string `type:"path" placeholder:"DIR" help:"Use the server of the store in this folder, instead of your local server."`
}

func (m memory) open(log *slog.Logger) mcp.Memory {
	l := &local.Memory{
		Store: m.Data, NoDaemon: m.NoDaemon,
		Started: func(store string) { log.Info("a server was started in the background", "store", store) },
	}
	way := l.To(m.URL, m.Key != "")
	http := *way.HTTP
	http.Timeout = mcp.Patience
	return mcp.Memory{URL: way.URL, Key: m.Key, Workspace: m.Workspace, HTTP: &http, Name: way.Name}
}

// mcpCmd serves memoryd as an MCP server over stdio.
type mcpCmd struct{ memory }

// Run serves until the client disconnects.
func (c *mcpCmd) Run(ctx context.Context, std streams) error {
	log := slog.New(slog.NewTextHandler(std.err, nil)).With("part", "memoryd mcp")
	return mcp.Stdio(ctx, mcp.NewServer(c.open(log), version), io.NopCloser(std.in), nopWriteCloser{std.out})
}

type nopWriteCloser struct{ io.Writer }

func (nopWriteCloser) Close() error { return nil }

// mounts are the parts of the server that bring their own handlers: memoryd as an
// MCP server, which asks the API in the same process with the key of its caller, and
// the dashboard.
func (a *app) mounts() []api.Mount {
	memory := mcp.Memory{URL: "http://localhost", HTTP: mcp.InProcess(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.handler.ServeHTTP(w, r)
	}))}
	mounts := []api.Mount{{Path: "/mcp", Role: access.Known, Handler: mcp.Handler(mcp.NewServer(memory, version), a.log)}}
	if !a.cfg.UI {
		return mounts
	}
	pages := ui.New(ui.Deps{
		Flows: a.face.Flows, Checks: a.face.Checks, Logger: a.log, Now: time.Now, Store: a.storeName, Judge: a.judge.Describe(),
		Retention: a.retention(), Hosts: hostsHere(os.UserHomeDir),
	})
	for _, path := range []string{"/ui", "/ui/*"} {
		mounts = append(mounts, api.Mount{
			Path: path, Role: access.Read, Login: "/ui/login", Handler: pages, Bounds: ui.Bounds, Workspace: ui.WorkspaceOf,
		})
	}
	return mounts
}

// hostsHere are the coding agents whose files are on this machine, with the commands that
// take in what they did, and let memoryd listen.
func hostsHere(home func() (string, error)) (found []ui.Host) {
	dir, err := home()
	if err != nil {
		return nil
	}
	for _, h := range []struct{ name, folder, hook string }{
		{"Claude Code", ".claude/projects", "claude-code"},
		{"Codex CLI", ".codex/sessions", "codex"},
		{"Gemini CLI", ".gemini/tmp", "gemini"},
		{"opencode", ".local/share/opencode", ""},
		{"Goose", ".local/share/goose/sessions", ""},
		{"Copilot CLI", ".copilot/session-state", ""},
		{"Pi", ".pi/agent/sessions", ""},
		{"Cline", ".cline/data/tasks", ""},
	} {
		if info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(h.folder))); err != nil || !info.IsDir() {
			continue
		}
		host := ui.Host{Name: h.name, Commands: []string{"memoryd learn ~/" + h.folder}}
		if h.hook != "" {
			host.Commands = append(host.Commands, "memoryd hook install "+h.hook+" --yes")
		}
		found = append(found, host)
	}
	return found
}

// retention says what a workspace keeps, and for how long.
func (a *app) retention() []ui.Retention {
	_, params := ops.Settings[ops.ParseParams](a.cfg.Plan)
	days := func(d time.Duration) string {
		if d == 0 {
			return "for ever"
		}
		return fmt.Sprintf("%.0f days", d.Hours()/24)
	}
	return []ui.Retention{
		{
			What: "Calls", Kept: fmt.Sprintf("the newest %d per tool, with verdicts", params.MaxHistory),
			Setting: "op.parse_tool_call_result_op.params.max_history_tool_call_cnt",
		},
		{
			What: "Observations for guidelines", Kept: fmt.Sprintf("the newest %d calls per tool, shortened", guidelines.MineCalls),
			Setting: "–",
		},
		{What: "Versions of guidelines", Kept: fmt.Sprintf("the newest %d per tool", a.cfg.Revisions.Versions), Setting: "revisions.versions"},
		{What: "Originals of compacted messages", Kept: days(a.cfg.Compact.KeepOriginals), Setting: "compact.keep_originals"},
		{What: "Corrections and decisions", Kept: "as long as the tool", Setting: "–"},
		{What: "What models cost", Kept: days(a.cfg.Usage.Keep), Setting: "–"},
	}
}

// mcpWrapCmd stands between an MCP client and a server.
type mcpWrapCmd struct {
	memory
	Name        string   `help:"Name of the server in memoryd (default: its own)."`
	RunID       string   `name:"run-id" help:"Id of the run that the calls belong to (default: a new one)."`
	Enrich      string   `enum:"off,meta,description" default:"off" help:"Add guidelines to lists of tools: off, meta or description."`
	Warn        bool     `help:"Append warnings to results."`
	StopRepeats bool     `help:"Answer exact repeats of failed calls without making them."`
	Journal     string   `env:"MEMORYD_JOURNAL" help:"Folder for calls that cannot be delivered yet (default: memoryd in the user's cache folder; - for none)."`
	Remote      string   `placeholder:"URL" help:"Wrap a server at this address (streamable HTTP) instead of a command. MEMORYD_REMOTE_TOKEN is sent as its bearer token."`
	Was         string   `hidden:"" help:"The client's entry that the wrapper replaced, for uninstall."`
	Command     []string `arg:"" optional:"" passthrough:"" help:"The server: its program and arguments, after --."`
}

// Validate rejects a command line with no server, or with two. That is wrong usage.
func (c *mcpWrapCmd) Validate() error {
	if (len(c.command()) == 0) == (c.Remote == "") {
		return errors.New("name one server: memoryd mcp-wrap -- COMMAND [ARGUMENT...], or memoryd mcp-wrap --remote URL")
	}
	return nil
}

// command is the program to wrap and its arguments.
func (c *mcpWrapCmd) command() []string {
	if len(c.Command) > 0 && c.Command[0] == "--" {
		return c.Command[1:]
	}
	return c.Command
}

// Run wraps the server until either side ends.
func (c *mcpWrapCmd) Run(ctx context.Context, std streams) error {
	log := slog.New(slog.NewTextHandler(std.err, &slog.HandlerOptions{Level: slog.LevelWarn})).With("part", "memoryd mcp-wrap")
	memory, journal := c.open(log), cmp.Or(c.Journal, journalDir())
	if journal == "-" { // none
		journal = ""
	}
	outbox := mcp.NewOutbox(memory, journal, log)
	outbox.Start(context.WithoutCancel(ctx))
	w := mcp.NewWrapper(mcp.Options{
		Name: c.Name, Run: c.RunID, Enrich: c.Enrich, Warn: c.Warn, StopRepeats: c.StopRepeats,
		Memory: memory, Outbox: outbox, Log: log,
	})
	code, err := 0, error(nil)
	if c.Remote != "" {
		err = w.Bridge(ctx, mcp.Remote{URL: c.Remote, Token: os.Getenv("MEMORYD_REMOTE_TOKEN")}, std.in, std.out)
	} else {
		code, err = w.Serve(ctx, c.command(), std.in, std.out, std.err)
	}
	outbox.Stop()
	if n := outbox.Dropped(); n > 0 {
		log.WarnContext(ctx, "calls were lost", "calls", n)
	}
	if err == nil && code != 0 {
		return exitCode(code)
	}
	return err
}

// journalDir is the usual folder of journals; "" is none.
func journalDir() string {
	if dir := os.Getenv("MEMORYD_JOURNAL"); dir != "" && dir != "-" {
		return dir
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(cache, "memoryd", "journal")
}

// mcpCmds are what memoryd does as an MCP server.
type mcpCmds struct {
	Serve     mcpCmd          `cmd:"" default:"withargs" help:"Serve memoryd as an MCP server over stdio (the default)."`
	Install   mcpInstallCmd   `cmd:"" help:"Add memoryd to a client's servers, or wrap one of them."`
	Uninstall mcpUninstallCmd `cmd:"" help:"Undo an install."`
}

// inClient is what install and uninstall have in common.
type inClient struct {
	Client string `required:"" enum:"amp,claude-code,claude-desktop,cline,codex,copilot,cursor,gemini,goose,opencode,vscode,windsurf,zed" help:"The client: amp, claude-code, claude-desktop, cline, codex, copilot, cursor, gemini, goose, opencode, vscode, windsurf or zed."`
	Wrap   string `placeholder:"NAME" help:"Wrap the client's server of this name instead of adding memoryd."`
	Yes    bool   `help:"Make the change; without it, the command only shows it."`
}

type mcpInstallCmd struct {
	inClient
	URL       string `name:"url" placeholder:"URL" help:"Address of memoryd (default: the local server)."`
	Workspace string `help:"The workspace."`
	Enrich    string `enum:",off,meta,description" default:"" help:"With --wrap: add guidelines to lists of tools."`
	Warn      bool   `help:"With --wrap: append warnings to results."`
}

// Validate rejects flags that do not go together. That is wrong usage.
func (c *mcpInstallCmd) Validate() error {
	if c.Wrap == "" && (c.Enrich != "" || c.Warn) {
		return errors.New("--enrich and --warn go with --wrap")
	}
	return nil
}

type mcpUninstallCmd struct{ inClient }

// Run shows or makes the change.
func (c *mcpInstallCmd) Run(std streams) error {
	args := []string{"mcp"}
	if c.Wrap != "" {
		args = append([]string{"mcp-wrap"}, flags("--name", c.Wrap, "--enrich", c.Enrich)...)
	}
	if c.Warn {
		args = append(args, "--warn")
	}
	args = append(args, flags("--url", c.URL, "--workspace", c.Workspace)...)
	return showOrMake(std, c.Client, c.Yes, func(home, program string) (mcp.Change, error) {
		return mcp.Install(c.Client, home, c.Wrap, mcp.Entry{Command: program, Args: args})
	})
}

// Run shows or makes the change.
func (c *mcpUninstallCmd) Run(std streams) error {
	return showOrMake(std, c.Client, c.Yes, func(home, _ string) (mcp.Change, error) { return mcp.Uninstall(c.Client, home, c.Wrap) })
}

// showOrMake shows a change of the configuration of a program, host, or makes it. It is planned of the user's home and this program.
func showOrMake(std streams, host string, yes bool, plan func(home, program string) (mcp.Change, error)) error {
	home, err := os.UserHomeDir()
	program, unknown := os.Executable()
	if err = cmp.Or(err, unknown); err != nil {
		return err
	}
	change, err := plan(home, program)
	if err != nil {
		return err
	}
	if !yes {
		shown := patch(filepath.ToSlash(change.Path), string(change.Before), string(change.After))
		_, err := fmt.Fprintf(std.out, "%s would change as follows. Run it again with --yes to make the change; a copy is kept.\n\n%s",
			change.Path, shown)
		return err
	}
	backup, err := change.Write()
	if err != nil {
		return err
	}
	if backup != "" {
		backup = " Copy of the old file: " + backup
	}
	_, err = fmt.Fprintf(std.out, "Changed %s. Restart %s.%s\n", change.Path, host, backup)
	return err
}
