package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"memoryd/integrations/mcp"
)

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
	program, err := os.Executable()
	if err != nil {
		return err
	}
	args := []string{"mcp"}
	if c.Wrap != "" {
		args = append([]string{"mcp-wrap"}, flags("--name", c.Wrap, "--enrich", c.Enrich)...)
	}
	if c.Warn {
		args = append(args, "--warn")
	}
	entry := mcp.Entry{Command: program, Args: append(args, flags("--url", c.URL, "--workspace", c.Workspace)...)}
	return showOrMake(std, c.Client, c.Yes, func(home string) (mcp.Change, error) { return mcp.Install(c.Client, home, c.Wrap, entry) })
}

// Run shows or makes the change.
func (c *mcpUninstallCmd) Run(std streams) error {
	return showOrMake(std, c.Client, c.Yes, func(home string) (mcp.Change, error) { return mcp.Uninstall(c.Client, home, c.Wrap) })
}

// showOrMake shows a change of a program's configuration, or makes it.
func showOrMake(std streams, program string, yes bool, plan func(home string) (mcp.Change, error)) error {
	home, err := os.UserHomeDir()
	if err != nil {
		return err
	}
	change, err := plan(home)
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
	_, err = fmt.Fprintf(std.out, "Changed %s. Restart %s.%s\n", change.Path, program, backup)
	return err
}
