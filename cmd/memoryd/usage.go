package main

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"memoryd/integrations/mcp"
	"memoryd/internal/client"
	"memoryd/internal/local"
	"memoryd/internal/suggest"

	"github.com/alecthomas/kong"
)

// usageFault says what is wrong with a command line, and which help tells more.
func usageFault(app *kong.Application, args []string, err error) error {
	names := commandNames(app.Node)
	if word := args[0]; !strings.HasPrefix(word, "-") && !slices.Contains(names, word) {
		return unknownCommand(word, names)
	}
	help := "help"
	if e, ok := errors.AsType[*kong.ParseError](err); ok && e.Context != nil && e.Context.Selected() != nil {
		help += " " + e.Context.Selected().Path()
	}
	return fmt.Errorf("%w (memoryd %s shows the usage)", err, help)
}

func commandNames(node *kong.Node) (names []string) {
	for _, n := range node.Children {
		names = append(names, n.Name)
	}
	return names
}

func unknownCommand(word string, names []string) error {
	if near := suggest.Nearest(word, names); near != "" {
		return fmt.Errorf("there is no command %q, did you mean %q? (memoryd help lists them)", word, near)
	}
	return fmt.Errorf("there is no command %q (memoryd help lists them)", word)
}

// checkTopic finds words after help that are no command.
func checkTopic(app *kong.Application, words []string) error {
	node := app.Node
	for _, word := range words {
		if strings.HasPrefix(word, "-") {
			continue
		}
		at := slices.IndexFunc(node.Children, func(n *kong.Node) bool { return n.Name == word })
		if at < 0 {
			return unknownCommand(word, commandNames(node))
		}
		node = node.Children[at]
	}
	return nil
}

// forms are flags whose text has a form, whatever command has them.
var forms = map[string]func(string) error{"url": checkURL, "remote": checkURL, "listen": checkHostPort}

// mayBeEmpty are flags whose empty text means something. Any other that is given an
// empty text comes from a variable of a shell that is not set.
var mayBeEmpty = []string{"input", "output", "why", "enrich"}

// AfterApply rejects values that no command could use, before anything is opened or
// requested. Package kong calls it when it has parsed the command line.
func (*cli) AfterApply(parsed *kong.Context) error {
	node := parsed.Selected()
	if node == nil {
		return nil
	}
	for _, flag := range flagsOf(node) {
		if err := checkFlag(flag, parsed.Args); err != nil {
			return fmt.Errorf("--%s: %w", flag.Name, err)
		}
	}
	for _, value := range node.Positional {
		words, many := reflect.TypeAssert[[]string](value.Target)
		if word, one := reflect.TypeAssert[string](value.Target); one && value.Required {
			words = []string{word}
		}
		if slices.Contains(words, "") && (value.Required || many) {
			return fmt.Errorf("<%s>: must not be empty", value.Name)
		}
	}
	return nil
}

// checkFlag refuses the value of a flag that no command could use.
func checkFlag(flag *kong.Flag, args []string) error {
	empty := errors.New("must not be empty")
	if words, many := reflect.TypeAssert[[]string](flag.Target); many && (slices.Contains(words, "") || flag.Required && len(words) == 0) {
		return empty
	}
	if flag.Target.Kind() != reflect.String {
		return checkNumber(flag.Target, flag.Default)
	}
	text, check := flag.Target.String(), forms[flag.Name]
	switch {
	case !slices.Contains(mayBeEmpty, flag.Name) && givenEmpty(args, "--"+flag.Name), flag.Required && text == "":
		return empty
	case check != nil && text != "":
		return check(text)
	}
	return nil
}

// givenEmpty reports whether a command line gives a flag an empty text. The flag's value
// does not tell: an empty path becomes that of the working folder.
func givenEmpty(args []string, flag string) bool {
	for i, word := range args {
		if word == "--" {
			break
		}
		if word == flag+"=" || word == flag && i+1 < len(args) && args[i+1] == "" {
			return true
		}
	}
	return false
}

// checkNumber refuses numbers below zero, but for a default that stands for unknown.
func checkNumber(v reflect.Value, unset string) error {
	text, negative := "", false
	switch {
	case v.Type() == reflect.TypeFor[time.Duration]():
		text, negative = time.Duration(v.Int()).String(), v.Int() < 0
	case v.CanInt():
		text, negative = strconv.FormatInt(v.Int(), 10), v.Int() < 0
	case v.CanFloat():
		text, negative = strconv.FormatFloat(v.Float(), 'g', -1, 64), !(v.Float() >= 0) || math.IsInf(v.Float(), 0)
	}
	if negative && text != unset {
		return fmt.Errorf("must be 0 or more, not %s", text)
	}
	return nil
}

// checkURL wants the address of a server; the scheme may be left out.
func checkURL(text string) error {
	address := text
	if socket, local := strings.CutPrefix(text, "unix:"); local {
		if !strings.HasPrefix(socket, "/") {
			return fmt.Errorf("must be an absolute path after unix:, not %q", socket)
		}
		return nil
	}
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || checkPort(u.Port()) != nil {
		return fmt.Errorf("must be an address such as %s, not %q", local.DefaultURL, text)
	}
	return nil
}

func checkHostPort(text string) error {
	_, port, err := net.SplitHostPort(text)
	if err != nil || port == "" || checkPort(port) != nil {
		return fmt.Errorf("must be HOST:PORT such as 127.0.0.1:8002, not %q", text)
	}
	return nil
}

func checkPort(port string) error {
	if port == "" {
		return nil
	}
	_, err := strconv.ParseUint(port, 10, 16)
	return err
}

// checkInput refuses an input that starts like JSON and is none: it is no text that
// anybody meant.
func checkInput(text string) error {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") {
		return nil
	}
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return fmt.Errorf("the input starts like JSON and is not valid JSON: %w (quote it for the shell: '{\"q\": 1}')", err)
	}
	return nil
}

// checkFormat finds the name of a format that is none.
func checkFormat(name string, known []string) error {
	if slices.Contains(known, name) {
		return nil
	}
	if near := suggest.Nearest(name, known); near != "" {
		return fmt.Errorf("--format: there is no format %q, did you mean %q?", name, near)
	}
	return fmt.Errorf("--format: there is no format %q", name)
}

// next adds to an error what the reader can do about it.
func next(err error) error {
	e, ok := errors.AsType[*client.Error](err)
	switch {
	case !ok:
		return err
	case errors.Is(e.Err, syscall.ECONNREFUSED):
		return fmt.Errorf("%w; start a server with memoryd, or name another with --url", err)
	case e.Status == http.StatusUnauthorized:
		return fmt.Errorf("%w; give an API key with --key or MEMORYD_KEY", err)
	}
	return err
}

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
	script, _ := scripts.ReadFile("completion/" + c.Shell) // the enum names them
	_, err := std.out.Write(script)
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
func flagsOf(node *kong.Node) []*kong.Flag { return slices.Concat(node.AllFlags(true)...) }

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
