// Command memoryd is the server and its command line. It is the only place
// that wires the packages together: see app.go.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

// The exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// cli is the command line.
type cli struct {
	Demo        demoCmd        `cmd:"" help:"Show a guideline, a warning and a compaction from recorded calls."`
	Serve       serveCmd       `cmd:"" default:"withargs" help:"Run the server (the default command)."`
	Import      importCmd      `cmd:"" help:"Send JSON-lines of calls to a server."`
	Summarize   summarizeCmd   `cmd:"" help:"Refresh guidelines."`
	Evaluate    evaluateCmd    `cmd:"" help:"Measure a judge on labelled JSON-lines of calls."`
	Show        showCmd        `cmd:"" help:"Show a tool's guideline, statistics and recent calls."`
	Compact     compactCmd     `cmd:"" help:"Make conversations smaller."`
	Export      exportCmd      `cmd:"" help:"Write a workspace or a whole store to a file."`
	Restore     restoreCmd     `cmd:"" help:"Bring back what export wrote."`
	Health      healthCmd      `cmd:"" help:"Ask a server whether it can work; exit code 0 or 1."`
	CheckConfig checkConfigCmd `cmd:"" help:"Check a configuration file."`
	MCP         mcpCmds        `cmd:"" name:"mcp" help:"Serve memoryd as an MCP server over stdio; install it in a client."`
	MCPWrap     mcpWrapCmd     `cmd:"" name:"mcp-wrap" help:"Stand between an MCP client and a server, and learn from its calls."`
	Version     versionCmd     `cmd:"" help:"Print version, commit and Go version."`
}

// streams are where a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// silentError ends a command with exit code 1 after it has said why itself.
type silentError struct{}

func (silentError) Error() string { return "failed" }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(run(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}))
}

// run executes one command line and gives the exit code.
func run(ctx context.Context, args []string, std streams) int {
	exited := -1
	parser, err := kong.New(&cli{}, kong.Name("memoryd"),
		kong.Description("Records the tool calls of agents, judges them, and tells agents how to use each tool."),
		kong.Writers(std.out, std.err), kong.Exit(func(code int) { exited = code }),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(std))
	if err != nil {
		fmt.Fprintln(std.err, "memoryd:", err)
		return exitFailed
	}
	parsed, err := parser.Parse(args)
	if exited >= 0 { // --help was served
		return exited
	}
	if err != nil {
		fmt.Fprintf(std.err, "memoryd: %v (memoryd --help shows the usage)\n", err)
		return exitUsage
	}
	err = parsed.Run()
	if err == nil {
		return exitDone
	}
	if code, ok := errors.AsType[exitCode](err); ok {
		return int(code)
	}
	if _, silent := errors.AsType[silentError](err); !silent {
		fmt.Fprintln(std.err, "memoryd:", err)
	}
	return exitFailed
}
