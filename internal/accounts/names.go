package accounts

import (
	"slices"
	"strings"
	"unicode/utf8"

	"memoryd/internal/textsafe"
)

// Name is a tool's name, split into MCP server and tool as far as the host's spelling shows
// it: tool x of server time is mcp__time__x, mcp_time_x, time_x or x.
type Name struct {
	// Only the first spelling sets Server and Tool.
	Server, Tool string
	// Key is equal for all spellings that name the server.
	Key string
	// MCP reports that the spelling is that of an MCP tool.
	MCP bool
}

// NameOf parses a name.
func NameOf(name string) Name {
	if rest, ok := strings.CutPrefix(name, "mcp__"); ok {
		if server, tool, _ := strings.Cut(rest, "__"); server != "" && tool != "" {
			n := Name{Server: plainName(server), Tool: plainName(tool), MCP: true}
			n.Key = single(n.Server + "_" + n.Tool)
			return n
		}
	}
	key := single(plainName(name))
	rest, mcp := strings.CutPrefix(key, "mcp_")
	return Name{Key: rest, MCP: mcp && strings.Contains(rest, "_")}
}

// Bare returns the names that a tool may have without its server.
func (n Name) Bare() (names []string) {
	switch {
	case n.Tool != "":
		return []string{n.Tool}
	case n.MCP:
		for i := range len(n.Key) - 1 {
			if n.Key[i] == '_' {
				names = append(names, n.Key[i+1:])
			}
		}
	}
	return names
}

// Same reports whether two spellings that name a server mean the same tool. Servers and tools
// whose names run together alike are distinguished if both spellings separate them.
func (n Name) Same(o Name) bool {
	if n.Tool != "" && o.Tool != "" {
		return n.Server == o.Server && n.Tool == o.Tool
	}
	return n.Key == o.Key
}

// inNames are the ASCII characters of names.
var inNames = textsafe.BytesOf("09azAZ", "_-")

// plainName is a name with the characters that hosts leave in it.
func plainName(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf || inNames[r] {
			return r
		}
		return '_'
	}, strings.TrimPrefix(s, "MCP:"))
}

func single(s string) string {
	for strings.Contains(s, "__") {
		s = strings.ReplaceAll(s, "__", "_")
	}
	return s
}

// namesServers are the hosts that put a server before the name of each of its tools: a
// name without one is of a tool of the host itself.
var namesServers = []string{"claude-code", "codex", "gemini", "opencode", "copilot", "cursor"}

// NamesServers reports whether a source of calls is a host that names servers.
func NamesServers(source string) bool {
	return slices.Contains(namesServers, strings.TrimPrefix(strings.TrimPrefix(source, "hook:"), "otlp:"))
}

// The words around a name by which hosts, servers and frameworks say that no tool has it.
var (
	noToolBefore = []string{
		"no such tool", "no such tool available", "unknown tool", "unknown tool name", "unavailable tool", "invalid tool",
		"invalid tool name", "undefined tool",
		"unsupported call", "unsupported custom tool call", "no tool named", "no tool called", "no tool", "tool not found",
		"tool does not exist", "unknown function",
		"function not found", "no function named",
	}
	noToolAfter = []string{
		"not found", "was not found", "is not found", "does not exist", "doesn't exist", "is not a valid tool",
		"is not a known tool", "is not available", "not available",
		"is not registered", "not registered", "is not defined", "is unknown", "is not an available tool",
	}
)

// NotOffered reports whether the answer to a call says that there is no tool of this name:
// then nothing was called.
func NotOffered(tool, output string) bool {
	head := output[:min(len(output), 400)]
	for _, name := range append([]string{tool}, NameOf(tool).Bare()...) {
		before, after, named := strings.Cut(head, name)
		if !named {
			continue
		}
		before, quoted := saidBefore(before)
		after = strings.ToLower(strings.TrimLeft(after, "\"'` "))
		tells := func(s string) bool { return strings.HasPrefix(after, s) }
		switch {
		case slices.ContainsFunc(noToolBefore, func(s string) bool { return strings.HasSuffix(before, s) }):
			return true
		case !strings.HasSuffix(before, "tool") && !strings.HasSuffix(before, "function"):
			if (quoted || before == "" || before == "error") && slices.ContainsFunc(noToolAfter,
				func(s string) bool { return strings.HasSuffix(s, "tool") && tells(s) }) {
				return true
			}
		case slices.ContainsFunc(noToolAfter, tells):
			return true
		}
	}
	return false
}

// saidBefore is the text before a name, in small letters, and whether a quotation mark
// parts the two.
func saidBefore(s string) (text string, quoted bool) {
	text = strings.TrimRight(s, "\"'` :=")
	return strings.ToLower(text), strings.ContainsAny(s[len(text):], "\"'`")
}
