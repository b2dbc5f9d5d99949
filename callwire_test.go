package memoryd

import (
	"fmt"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// TestMisnamedFieldsAreUnderstood reads the names and types that other protocols
// give to a call (defect U1: they became empty successes).
func TestMisnamedFieldsAreUnderstood(t *testing.T) {
	tests := map[string]struct{ line, want string }{
		"other names":             {`{"tool_name":"s","arguments":{"q":1},"result":"Error: boom"}`, `s {"q":1} "Error: boom" true`},
		"arguments as text":       {`{"arguments":"{\"q\": \"é\"}"}`, ` {"q": "é"} "" true`},
		"arguments of plain text": {`{"arguments":"ls -l"}`, ` "ls -l" "" true`},
		"exact names win":         {`{"tool_input":{"b":2},"input":{"a":1},"tool_output":"x","output":"y"}`, ` {"a":1} "y" true`},
		"the first name wins":     {`{"args":{"c":3},"tool_input":{"b":2}}`, ` {"b":2} "" true`},
		"null is as if left out":  {`{"arguments":null,"args":{"c":3},"result":null,"tool_output":"o"}`, ` {"c":3} "o" true`},
		"a result of any type":    {`{"result":{"content":[{"type":"text"}]}}`, ` "" "{\"content\":[{\"type\":\"text\"}]}" true`},
		"is_error":                {`{"is_error":true,"tool_output":"no"}`, ` "" "no" false`},
		"is_error false":          {`{"is_error":false,"error":"a warning"}`, ` "" "a warning" true`},
		"error is the output":     {`{"error":"timed out"}`, ` "" "timed out" false`},
		"no error":                {`{"error":"","output":"fine"}`, ` "" "fine" true`},
		"error as a flag":         {`{"error":true,"result":"no"}`, ` "" "no" false`},
		"error as an object":      {`{"error":{"code":7}}`, ` "" "{\"code\":7}" false`},
		"success wins":            {`{"success":true,"is_error":true,"error":"x"}`, ` "" "x" true`},
		"texts of booleans":       {`{"success":"false"}`, ` "" "" false`},
		"in the words of others":  {`{"success":" No "}`, ` "" "" false`},
		"texts of numbers":        {`{"time_cost":"1.2","token_cost":" 150 "}`, ` "" "" true 1.2s 150`},
	}
	for name, tc := range tests {
		l, err := ParseCall([]byte(tc.line))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := fmt.Sprintf("%s %s %q %v", l.ToolName, l.Input, l.Output, l.Success)
		if l.TimeCost != 0 {
			got += fmt.Sprintf(" %gs %d", l.TimeCost, l.TokenCost)
		}
		if got != tc.want || len(l.Ignored) > 0 {
			t.Errorf("%s: got %s, ignored %v, want %s", name, got, l.Ignored, tc.want)
		}
	}
}

func TestUnknownFieldsOfACallAreNamed(t *testing.T) {
	l, err := ParseCall([]byte(`{"tool":"t","duration":{"a":[1]},"Output":"x","workspace_id":"w"}`))
	if err != nil || strings.Join(l.Ignored, " ") != "Output duration tool" || l.Workspace != "w" {
		t.Errorf("ignored %v, workspace %q, %v", l.Ignored, l.Workspace, err)
	}
}

func TestValuesThatStandForNothingAreRefused(t *testing.T) {
	for line, want := range map[string]string{
		`{"success":1}`:            "success: Input should be a valid boolean",
		`{"success":"maybe"}`:      "success: Input should be a valid boolean",
		`{"time_cost":"Infinity"}`: "time_cost: Input should be a valid number",
		`{"time_cost":"0x10"}`:     "time_cost: Input should be a valid number",
		`{"time_cost":true}`:       "time_cost: Input should be a valid number",
		`{"token_cost":"1.5"}`:     "token_cost: Input should be a valid integer",
		`{"token_cost":"1_000"}`:   "token_cost: Input should be a valid integer",
		`{"output":null}`:          "output: Input should be a valid string",
		`{"args":[1]}`:             "args: Input should be a valid object or string",
		`{"is_error":"sometimes"}`: "is_error: Input should be a valid boolean",
		`[]`:                       "Input should be a valid dictionary or object to extract fields from",
		`{"output":""} {}`:         "JSON decode error: there is text after the object",
	} {
		if _, err := ParseCall([]byte(line)); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", line, err, want)
		}
	}
}

// FuzzParseCall: what is read of a call can be shown and read again.
func FuzzParseCall(f *testing.F) {
	f.Add([]byte(`{"tool_name":"t","arguments":"{\"a\":1}","error":{"x":[]},"metadata":{"tool_call_id":"c"},"time_cost":"1e3","x":null}`))
	f.Add([]byte(`{"input":{"k":"x\udc80y"},"output":"\ud800"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		l, err := ParseCall(line)
		if err != nil {
			return
		}
		c := l.Call()
		if in := jsontext.Value(c.Input); !in.IsValid() || in.Kind() != '"' && in.Kind() != '{' {
			t.Fatalf("input %q", in)
		}
		text, err := jsonv2.Marshal(JSONOf(&c, 0), callText)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseCall(text)
		if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		if d := again.Call(); d.Output != c.Output || d.Success != c.Success || d.TimeCost != c.TimeCost || d.TokenCost != c.TokenCost ||
			string(InputText(d.Input)) != string(InputText(c.Input)) {
			t.Fatalf("got %+v\nof %s", d, text)
		}
	})
}
