package rules_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"memoryd/evaluate/rules"
)

// wrappings are what hosts, protocols and terminals put around an output.
var wrappings = map[string]func(string) string{
	"as a JSON text": quoted,
	"in MCP content": func(s string) string {
		return `{"content":[{"type":"text","text":` + quoted(s) + `}],"isError":false}`
	},
	"in a list of MCP content": func(s string) string { return `[{"type": "text", "text": ` + quoted(s) + `}]` },
	"in MCP content with a structure": func(s string) string {
		return `{"content":[{"type":"text","text":` + quoted(s) + `}],"structuredContent":{"result":` + quoted(s) + `},"isError":false}`
	},
	"in a reply":              func(s string) string { return inReply(s, `{"error": null, "result": `, `}`) },
	"in a reply of a program": func(s string) string { return inReply(s, `{"stdout": `, `, "stderr": ""}`) },
	"as Python prints a reply": func(s string) string {
		return "meta=None content=[TextContent(type='text', text=" + quoted(s) + ", annotations=None)] isError=False"
	},
	"in colours": func(s string) string { return "\x1b[1;31m" + s + "\x1b[0m\n" },
	"with a line end of Windows": func(s string) string {
		return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n")
	},
	"in a Markdown fence": func(s string) string {
		fence := "```"
		for strings.Contains(s, fence) {
			fence += "`"
		}
		return fence + "text\n" + s + "\n" + fence + "\n"
	},
	"in colours, as JSON, in MCP content": func(s string) string {
		return `{"content": [{"type": "text", "text": ` + quoted(quoted("\x1b[32m"+s+"\x1b[0m")) + `}]}`
	},
}

// inReply puts a text into a reply that holds nothing else. A structure is a reply itself.
func inReply(s, before, behind string) string {
	if s = strings.TrimSpace(s); s == "" || strings.ContainsAny(s[:1], "{[") {
		return s
	}
	return before + quoted(s) + behind
}

func quoted(s string) string {
	raw, _ := json.Marshal(s)
	return string(raw)
}

// The same output gets the same verdict however it is wrapped.
func TestAVerdictIsTheSameInEveryWrapping(t *testing.T) {
	j := rules.New()
	files, err := os.ReadDir("testdata/outputs")
	if err != nil {
		t.Fatal(err)
	}
	outputs, compared, differ := 0, 0, 0
	for _, file := range files {
		for _, c := range readOutputs(t, file.Name()) {
			outputs++
			plain := j.Judge(&c.Call, nil)
			for name, wrap := range wrappings {
				call := c.Call
				call.Output = wrap(c.Output)
				compared++
				if v := j.Judge(&call, nil); v.Score != plain.Score || v.Sure != plain.Sure || v.Rule != plain.Rule ||
					v.Doubt != plain.Doubt { // a doubt is what later calls are held against
					if differ++; differ <= 20 {
						t.Errorf("%s: %v %s, plain %v %s: %s %s %.200q", name, v.Score, v.Rule, plain.Score, plain.Rule, c.Tool, c.Input, c.Output)
					}
				}
			}
		}
	}
	t.Logf("%d outputs, %d of %d wrapped ones differ", outputs, differ, compared)
}
