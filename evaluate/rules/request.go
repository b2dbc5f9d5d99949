package rules

import (
	"strings"

	"memoryd/internal/loosejson"
	"memoryd/internal/phrases"
	"memoryd/internal/reading"
)

// request is what the rules understand of a call's input and tool name.
type request struct {
	purposes
	text    string // the strings of the input, decoded, one a line
	command string // the shell command, or "" for a tool that runs none
	shell   *shellProgram
}

// read fills in an empty request.
func (r *request) read(in *reading.Reading, t tool, shell *shellProgram) {
	r.purposes, r.shell = t.fors, shell
	if s := strings.TrimSpace(in.In); strings.HasPrefix(s, "\"") {
		r.text, _ = loosejson.Unquote(strings.Trim(s, `"`), len(s))
	} else {
		r.text = in.Input.Strings()
		r.command = commandOf(&in.Input, t.words)
	}
	reads := r.is(reader)
	if r.command == "" && r.is(runner) {
		r.command = r.text
	}
	if r.command != "" {
		r.purposes |= commanding
		r.shell.read(r.command)
		reads = r.shell.viewed
	}
	if reads {
		r.purposes |= content
	}
}

// commandOf finds the member of an input object that holds a shell command.
func commandOf(d *loosejson.Doc, words []string) string {
	for i := d.Child(0); i != 0; i = d.Nodes[i].Next {
		n := &d.Nodes[i]
		switch strings.ToLower(n.Key) {
		case "command", "cmd", "bash", "shell", "shell_command", "command_line", "commandline", "bash_command":
			return commandText(d, i)
		}
	}
	return wrappedCommand(d, words)
}

// wrappedCommand is the command line of a tool that is one program: its name, without "run"
// and "cli", and what its only member gives as arguments.
func wrappedCommand(d *loosejson.Doc, words []string) string {
	program := strings.TrimSuffix(strings.TrimPrefix(strings.Join(words, " "), "run "), " cli")
	i := d.Child(0)
	if i == 0 || d.Nodes[i].Next != 0 || strings.Contains(program, " ") {
		return ""
	}
	switch strings.ToLower(d.Nodes[i].Key) {
	case "args", "arguments", "argv":
		return program + " " + commandText(d, i)
	}
	return ""
}

// commandText is the text of a string member, or the words of a list such as
// ["bash", "-lc", "ls"]: there the last one is the command.
func commandText(d *loosejson.Doc, i int32) string {
	n := &d.Nodes[i]
	if n.Kind != loosejson.Array {
		return d.Str(i)
	}
	var parts []string
	for c := n.Child; c != 0; c = d.Nodes[c].Next {
		parts = append(parts, d.Str(c))
	}
	if len(parts) == 3 && runsNext[parts[1]] {
		return parts[2]
	}
	return strings.Join(parts, " ")
}

// runsNext are the options by which a shell takes its next word for the command.
var runsNext = phrases.Words("-c", "-lc", "-ic", "-ec", "-xc", "-lic", "-ilc", "-euc", "-exc", "-euxc")
