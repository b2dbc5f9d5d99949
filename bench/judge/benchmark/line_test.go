package benchmark

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"memoryd"
)

func TestALineIsReadAsTheServerReadsACall(t *testing.T) {
	c, err := ParseLine([]byte(`{"tool_name":"fetch","output":"x\u0000y","token_cost":3.0,"score":1,"evaluation":"perfect",
		"create_time":"2025-01-01 00:00:20","metadata":{"gold":"partial","gold_from":"body","tool_call_id":"a"}}`), "f", 1)
	if err != nil {
		t.Fatal(err)
	}
	want := memoryd.ToolRef{Workspace: memoryd.DefaultWorkspace, Tool: "fetch"}
	if c.Call.ToolRef != want || !c.Call.Success || c.Call.TokenCost != 3 || c.Call.Output != "x\x00y" || string(c.Call.Input) != `""` {
		t.Errorf("read %+v", c.Call)
	}
	if c.Call.Evaluation != memoryd.PendingEvaluation() {
		t.Errorf("a verdict was taken from the line: %+v", c.Call.Evaluation)
	}
	if !c.Labelled || c.Gold != Partial || c.GoldFrom != "body" {
		t.Errorf("label %v %v from %q", c.Labelled, c.Gold, c.GoldFrom)
	}
}

func TestALineThatCannotBeReadSaysWhy(t *testing.T) {
	for line, want := range map[string]string{
		`{"tool_name":`:                                        "not valid JSON",
		`[1]`:                                                  "not a JSON object",
		"{\"tool_name\":\"\xff\"}":                             "not valid UTF-8",
		`{"output":"x"}`:                                       "tool_name: missing",
		`{"tool_name":"t","output":3}`:                         "output: ",
		`{"tool_name":"t","input":[1]}`:                        "input: ",
		`{"tool_name":"t","input":null}`:                       "input: ",
		`{"tool_name":"t","time_cost":-1}`:                     "time_cost: ",
		`{"tool_name":"t","token_cost":1.5}`:                   "token_cost: ",
		`{"tool_name":"t","create_time":"yesterday"}`:          "create_time: ",
		`{"tool_name":"t","metadata":7}`:                       "metadata: ",
		`{"tool_name":"t","metadata":{"gold":"good"}}`:         `metadata.gold: "good"`,
		`{"tool_name":"t","metadata":{"gold":1}}`:              "metadata.gold: ",
		`{"tool_name":"` + strings.Repeat("x", 2000) + `"}`:    "tool_name",
		`{"tool_name":"t","workspace_id":{"deep":["a","b"]}} `: "workspace_id: ",
	} {
		if _, err := ParseLine([]byte(line), "f", 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: error %v, want one with %q", line, err, want)
		}
	}
}

func TestALineWithoutLabelIsNoFault(t *testing.T) {
	for _, metadata := range []string{"null", "{}", `{"gold":null}`, `{"gold":""}`} {
		if c, err := ParseLine([]byte(`{"tool_name":"t","metadata":`+metadata+`}`), "f", 1); err != nil || c.Labelled {
			t.Errorf("metadata %s: labelled %v, %v", metadata, c.Labelled, err)
		}
	}
}

func TestOnlyWhatAnExitCodeAloneSaysIsLeftOut(t *testing.T) {
	for name, tc := range map[string]struct {
		line string
		want bool
	}{
		"an exit code":         {`"metadata":{"gold":"error","gold_from":"valid_action flag"}`, true},
		"another exit code":    {`"output":" \n","metadata":{"gold":"error","gold_from":"process exit status"}`, true},
		"no origin told":       {`"metadata":{"gold":"error"}`, true},
		"a protocol's flag":    {`"metadata":{"gold":"error","gold_from":"inner isError"}`, false},
		"there is output":      {`"output":"no","metadata":{"gold":"error","gold_from":"exit code"}`, false},
		"the caller saw it":    {`"success":false,"metadata":{"gold":"error","gold_from":"exit code"}`, false},
		"it did not fail":      {`"metadata":{"gold":"ok","gold_from":"exit code"}`, false},
		"nothing is known":     {`"metadata":{"gold_from":"exit code"}`, false},
		"a null as its origin": {`"metadata":{"gold":"error","gold_from":null}`, true},
	} {
		c, err := ParseLine([]byte(`{"tool_name":"t",`+tc.line+`}`), "f", 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.OnlyExitCode(); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

func FuzzParseLine(f *testing.F) {
	f.Add([]byte(`{"tool_name":"t","input":{"a":1},"output":"x","metadata":{"gold":"ok","gold_from":"y","GOLD2":1,"step":3}}`))
	f.Add([]byte(`{"tool_name":"t","metadata":{"\u0067old":"error"}}`))
	f.Add([]byte(`{"tool_name":"t","metadata":{"gold":{"gold":"ok"}},"create_time":"2025-01-01T00:00:00Z"}`))
	f.Add([]byte("{}\x00"))
	f.Fuzz(func(t *testing.T, line []byte) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			return
		}
		c, err := ParseLine(line, "f", 1)
		if err != nil {
			if !utf8.ValidString(err.Error()) {
				t.Errorf("an error that is no text: %q", err)
			}
			return
		}
		seesNoLabel(t, &c.Call)
	})
}
