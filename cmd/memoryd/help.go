package main

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"memoryd/integrations/mcp"

	"github.com/alecthomas/kong"
)

// helpTexts are what is said of commands beyond their flags, each under its name.
//
//go:embed help.txt
var helpTexts string

// helpOf is the text of a command.
func helpOf(command string) string {
	_, text, _ := strings.Cut("\n"+helpTexts, "\n== "+command+"\n")
	text, _, _ = strings.Cut(text, "\n== ")
	return strings.Trim(text, "\n")
}

// addExamples puts the texts of commands into their help.
func addExamples(k *kong.Kong) error {
	return kong.Visit(k.Model, func(v kong.Visitable, next kong.Next) error {
		if n, ok := v.(*kong.Node); ok && n.Type == kong.CommandNode {
			n.Detail = helpOf(n.Path())
		}
		return next(nil)
	})
}

// helpCmd is there to be listed; run turns it into --help.
type helpCmd struct {
	Command []string `arg:"" optional:"" help:"The command."`
}

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// completeCommand is what the scripts ask, with the name of the shell and the words
// of the line so far.
const completeCommand = "__complete"

// scripts are what shells need to ask, by their names; where nothing fits they offer files.
//
//go:embed completion
var scripts embed.FS

// Run prints the script.
func (c completionCmd) Run(std streams) error {
	script, err := scripts.ReadFile("completion/" + c.Shell)
	if err == nil {
		_, err = std.out.Write(script)
	}
	return err
}

// complete prints what may follow the words of a command line, the last of which
// is being written: commands, flags, their values, names of tools.
func complete(ctx context.Context, app *kong.Application, shell string, words []string, std streams) int {
	if len(words) == 0 {
		words = []string{""}
	}
	node, last, r := app.Node, words[len(words)-1], remote{reach: reach{NoDaemon: true}}
	var before *kong.Flag // which takes the last word
	for _, word := range words[:len(words)-1] {
		flags := flagsOf(node)
		at := slices.IndexFunc(flags, func(f *kong.Flag) bool { return "--"+f.Name == word })
		child := slices.IndexFunc(node.Children, func(n *kong.Node) bool { return n.Name == word })
		switch {
		case before != nil:
			switch before.Name {
			case "url":
				r.URL = word
			case "workspace":
				r.Workspace = word
			}
			before = nil
		case at >= 0 && !flags[at].IsBool():
			before = flags[at]
		case child >= 0:
			node = node.Children[child]
		}
	}
	for _, candidate := range candidates(ctx, node, before, r, last) {
		if candidate != "" && strings.HasPrefix(candidate, last) {
			if shell != "fish" {
				candidate = mcp.ShellWord(candidate)
			}
			fmt.Fprintln(std.out, candidate)
		}
	}
	return exitDone
}

func candidates(ctx context.Context, node *kong.Node, before *kong.Flag, r remote, last string) (found []string) {
	switch {
	case before != nil:
		return before.EnumSlice()
	case strings.HasPrefix(last, "-"):
		for _, f := range flagsOf(node) {
			found = append(found, "--"+f.Name)
		}
		return found
	}
	for _, n := range node.Children {
		if !n.Hidden {
			found = append(found, n.Name)
		}
	}
	for _, p := range node.Positional {
		found = append(found, p.EnumSlice()...)
		if p.Name != "tool" {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, time.Second) // a shell waits
		defer cancel()
		workspaces, _ := r.workspaces(ctx)
		for _, workspace := range workspaces {
			tools, _ := r.tools(ctx, workspace, "")
			for _, t := range tools {
				found = append(found, t.ToolName)
			}
		}
	}
	return found
}

// flagsOf are the flags that a command takes.
func flagsOf(node *kong.Node) (all []*kong.Flag) {
	for _, group := range node.AllFlags(true) {
		all = append(all, group...)
	}
	return all
}

type manCmd struct{}

// Run prints the man page: the table of commands in the format of man.
func (manCmd) Run(std streams, k *kong.Kong) error {
	var page strings.Builder
	text := func(s string) string {
		s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
		return strings.ReplaceAll("\n"+s, "\n.", "\n\\&.")[1:]
	}
	fmt.Fprintf(&page, ".TH MEMORYD 1 \"\" \"memoryd %s\"\n.SH NAME\nmemoryd \\- tool memory for agents\n.SH DESCRIPTION\n.nf\n%s\n.fi\n.SH COMMANDS\n", version, text(helpOf("memoryd")))
	for _, n := range k.Model.Leaves(true) {
		fmt.Fprintf(&page, ".SS %s\n%s\n", text("memoryd "+n.Summary()), text(n.Help))
		for _, v := range n.Positional {
			fmt.Fprintf(&page, ".TP\n.I %s\n%s\n", text(v.Summary()), text(v.Help))
		}
		for _, f := range n.Flags {
			fmt.Fprintf(&page, ".TP\n.B %s\n%s\n", text("--"+f.Name), text(kong.DefaultHelpValueFormatter(f.Value)))
		}
		if n.Detail != "" {
			fmt.Fprintf(&page, ".PP\n.nf\n%s\n.fi\n", text(n.Detail))
		}
	}
	_, err := fmt.Fprint(std.out, page.String())
	return err
}
