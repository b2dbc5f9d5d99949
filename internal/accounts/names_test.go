package accounts

import "testing"

func TestSpellingsOfOneToolAreKnownAsOne(t *testing.T) {
	t.Parallel()
	same := func(a, b string) bool { return NameOf(a).Same(NameOf(b)) }
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"mcp__time__x", "mcp_time_x", true},
		{"mcp__time__x", "time_x", true},
		{"mcp_time_x", "time_x", true},
		{"mcp__my server__x", "mcp__my_server__x", true},
		{"mcp__time__x", "mcp__weather__x", false},
		{"mcp__time__x", "x", false},
		{"mcp__a__b_c", "mcp__a_b__c", false},
		{"time.x", "mcp__time__x", true},
		{"read", "write", false},
	} {
		if got := same(c.a, c.b); got != c.want {
			t.Errorf("%s and %s: %v", c.a, c.b, got)
		}
	}
}

// W21: a name that no host offered is a mistake of the caller.
func TestWhatNoHostOfferedIsKnownByTheAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tool, output string
		want         bool
	}{
		{"mcp__time__nope", "Error: No such tool available: mcp__time__nope", true},
		{"mcp__time__nope", "Unknown tool: nope", true},
		{"mcp__time__nope", "MCP error -32602: Tool nope not found", true},
		{"mcp__time__nope", "unsupported call: mcp__time__nope", true},
		{"nope", `Tool "nope" not found in registry. Tools must use the exact names that are registered.`, true},
		{"nope", "Error: nope is not a valid tool, try one of [add, multiply].", true},
		{"nope", "Unknown tool name: 'nope'. Available tools: 'add'", true},
		{"time_nope", "Model tried to call unavailable tool 'time_nope'. Available tools: bash, edit.", true},
		{"nope", `unknown tool "nope"`, true},
		{"search", "File search.txt not found", false},
		{"search", "No results: search not found in the index", false},
		{"get_tool", "Tool hammer not found", false},
		{"read", "Error: the file that you read does not exist", false},
	} {
		if got := NotOffered(c.tool, c.output); got != c.want {
			t.Errorf("%s, %q: %v", c.tool, c.output, got)
		}
	}
}
