// Command memoryd is the server and its command line. Only this package connects all others:
// see app.go.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"memoryd/integrations/transcripts"
	"memoryd/internal/origin"

	"github.com/alecthomas/kong"
	"golang.org/x/term"
)

// The exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// cli is the table of the commands: their order, groups and help. Examples stand in
// help.txt.
type cli struct {
	Demo  demoCmd  `cmd:"" group:"start" help:"Show what memoryd does with sample calls."`
	Learn learnCmd `cmd:"" group:"start" help:"Report what your agents keep getting wrong, from their transcripts."`
	Serve serveCmd `cmd:"" group:"start" default:"withargs" help:"Run the server (the default command)."`
	Help  helpCmd  `cmd:"" group:"start" help:"Show the flags and examples of a command."`

	Add       addCmd       `cmd:"" group:"calls" help:"Record one call and show its verdict."`
	Import    importCmd    `cmd:"" group:"calls" help:"Send recorded calls, transcripts or traces to a server."`
	Calls     callsCmd     `cmd:"" group:"calls" help:"List the newest calls of a tool with their ids and verdicts."`
	Runs      runsCmd      `cmd:"" group:"calls" help:"List the runs of agents, those without progress first."`
	Correct   correctCmd   `cmd:"" group:"calls" help:"Correct the verdict on a call."`
	Kinds     kindsCmd     `cmd:"" group:"calls" help:"List the kinds of a tool's outputs, those that the judge is unsure of first."`
	Label     labelCmd     `cmd:"" group:"calls" help:"Score all outputs of one kind."`
	Evaluate  evaluateCmd  `cmd:"" group:"calls" help:"Measure a judge against labelled calls."`
	Preflight preflightCmd `cmd:"" group:"calls" help:"Check a call before you make it."`

	Workspaces workspacesCmd `cmd:"" group:"tools" help:"List the workspaces."`
	Tools      toolsCmd      `cmd:"" group:"tools" help:"List known tools, or search for one."`
	Show       showCmd       `cmd:"" group:"tools" help:"Show a tool's guideline, statistics and recent calls."`
	Retrieve   retrieveCmd   `cmd:"" group:"tools" help:"Print the guidelines of tools, as agents get them."`
	Summarize  summarizeCmd  `cmd:"" group:"tools" help:"Update guidelines."`
	Effect     effectCmd     `cmd:"" group:"tools" help:"Show whether agents fail less with guidelines and warnings."`
	Digest     digestCmd     `cmd:"" group:"tools" help:"Print what happened in the last week, as Markdown."`
	Delete     deleteCmd     `cmd:"" group:"tools" help:"Permanently delete tools, or a whole workspace."`

	Sources sourcesCmd `cmd:"" group:"tools" help:"Show which API key recorded a tool's calls, and which lines rest on it alone."`

	Forget forgetCmd `cmd:"" group:"tools" help:"Permanently delete what one API key recorded."`

	Compact compactCmd `cmd:"" group:"agents" help:"Make conversations smaller."`
	Hook    hookCmds   `cmd:"" group:"agents" help:"Answer the hooks of coding agents, and install them."`
	MCP     mcpCmds    `cmd:"" group:"agents" name:"mcp" help:"Serve memoryd as an MCP server over stdio; install it in a client."`
	MCPWrap mcpWrapCmd `cmd:"" group:"agents" name:"mcp-wrap" help:"Wrap an MCP server and learn from its calls."`

	Export      exportCmd      `cmd:"" group:"server" help:"Back up a workspace or a whole store to a file."`
	Restore     restoreCmd     `cmd:"" group:"server" help:"Restore a backup that export wrote."`
	Check       checkCmd       `cmd:"" group:"server" help:"Check a store for damage, and repair it."`
	Keys        keysCmds       `cmd:"" group:"server" help:"Create, list, rotate and revoke API keys."`
	Audit       auditCmd       `cmd:"" group:"server" help:"Print or verify the audit log."`
	Status      statusCmd      `cmd:"" group:"server" help:"Show the servers on this machine and what waits for them."`
	Journals    journalsCmds   `cmd:"" group:"server" help:"Send or drop calls that could not be delivered."`
	Stop        stopCmd        `cmd:"" group:"server" help:"Stop the server that agents on this machine use."`
	Health      healthCmd      `cmd:"" group:"server" help:"Check that a server is ready; exit code 0 or 1."`
	CheckConfig checkConfigCmd `cmd:"" group:"server" help:"Check a configuration file."`
	Completion  completionCmd  `cmd:"" group:"server" help:"Print the completion script for a shell."`
	Man         manCmd         `cmd:"" group:"server" help:"Print the man page."`
	Version     versionCmd     `cmd:"" group:"server" help:"Print version, commit and Go version."`

	ShowVersion kong.VersionFlag `name:"version" help:"Print version, commit and Go version."`
}

// streams are where a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
	colour   bool // out is a terminal that shows colours
}

// The colours, as codes of ANSI terminals.
const (
	bold   = "1"
	red    = "31"
	green  = "32"
	yellow = "33"
)

// paint is text in a colour where out shows colours.
func (s streams) paint(colour, text string) string {
	if !s.colour {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// onTerminal is a text of anybody as a terminal shows it; with a limit on one line.
func onTerminal(s string, limit int) string {
	s, _ = origin.Show(origin.Terminal, origin.Answer, s, limit)
	return s
}

// exitCode ends the program without a word: whoever returns it has said what there is to say.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	colour := term.IsTerminal(int(os.Stdout.Fd())) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	os.Exit(run(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr, colour}))
}

// newParser reads the table.
func newParser(ctx context.Context, std streams, exit func(int)) (*kong.Kong, error) {
	return kong.New(&cli{}, kong.Name("memoryd"), kong.Description(helpOf("memoryd")),
		kong.Writers(std.out, std.err), kong.Exit(exit),
		kong.Vars{"version": versionLine(), "formats": strings.Join(transcripts.FormatNames(), ", ")},
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true, WrapUpperBound: 80, FlagsLast: true}),
		kong.ExplicitGroups([]kong.Group{
			{Key: "start", Title: "Getting started:"},
			{Key: "calls", Title: "Calls:"},
			{Key: "tools", Title: "Tools:"},
			{Key: "agents", Title: "Agents:"},
			{Key: "server", Title: "Server and store:"},
		}),
		kong.PostBuild(addExamples), kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(std))
}

// run executes one command line and gives the exit code.
func run(ctx context.Context, args []string, std streams) int {
	exited := -1
	parser, err := newParser(ctx, std, func(code int) { exited = code })
	if err != nil {
		complain(std, err)
		return exitFailed
	}
	switch {
	case len(args) > 0 && args[0] == "help":
		if err := checkTopic(parser.Model, args[1:]); err != nil {
			complain(std, err)
			return exitUsage
		}
		args = append(args[1:len(args):len(args)], "--help")
	case len(args) > 1 && args[0] == completeCommand:
		return complete(ctx, parser.Model, args[1], args[2:], std)
	}
	parsed, err := parser.Parse(args)
	if exited >= 0 { // --help was served
		return exited
	}
	if err != nil {
		complain(std, usageFault(parser.Model, args, err))
		if isHook(args) {
			return exitDone
		}
		return exitUsage
	}
	err = parsed.Run()
	if err == nil {
		return exitDone
	}
	if code, ok := errors.AsType[exitCode](err); ok {
		return int(code)
	}
	complain(std, next(err))
	return exitFailed
}

// complain prints an error, which may hold names of files and words of servers.
func complain(std streams, err error) {
	fmt.Fprintln(std.err, "memoryd:", onTerminal(err.Error(), 0))
}
