package errortext_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"memoryd/internal/errortext"
	"memoryd/internal/textsafe"
)

func TestTheMessageIsTheLineThatSaysWhatWentWrong(t *testing.T) {
	for name, c := range map[string]struct{ output, want string }{
		"a heading":           {"Error: no such branch: main2\nusage: git switch <branch>", "Error: no such branch: main2"},
		"a traceback":         {"Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    f()\nValueError: bad day\n", "ValueError: bad day"},
		"one after output":    {"loading\n3 rows\nTraceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'x'", "KeyError: 'x'"},
		"a member":            {`{"ok": true, "error": "rate limit exceeded"}`, "rate limit exceeded"},
		"a nested member":     {`{"error": {"code": 404, "message": "Repo not found"}}`, "Repo not found"},
		"JSON in JSON":        {`{"result": "{\"error\": \"bad cursor\"}"}`, "bad cursor"},
		"a Python dict":       {`{'status': 400, 'message': 'Unknown field: colour'}`, "Unknown field: colour"},
		"a flag and a text":   {`{"isError": true, "content": [{"type": "text", "text": "Failed to fetch"}]}`, "Failed to fetch"},
		"an exit status":      {`{"exit_code": 2, "stdout": "", "stderr": "cat: x: No such file or directory\n"}`, "cat: x: No such file or directory"},
		"a build":             {"[1/3] compiling\nmain.c:3:5: error: expected ';'\nninja: build stopped", "main.c:3:5: error: expected ';'"},
		"Java":                {"java.lang.NullPointerException: x was null\n\tat A.b(A.java:3)", "java.lang.NullPointerException: x was null"},
		"a refused request":   {"The file could not be saved.\nPermission denied", "Permission denied"},
		"colours":             {"\x1b[31mError\x1b[0m: gone", "Error: gone"},
		"a false success":     {`{"success": false, "message": "Card declined"}`, "Card declined"},
		"problems":            {"MCP error -32602: Invalid arguments for tool x: [{\"path\": [\"q\"], \"message\": \"Required\"}]", "q: Required"},
		"a field":             {`{"message": "Validation error", "errors": [{"field": "price", "message": "must be a number"}]}`, "price: must be a number"},
		"an MCP content list": {`[{"type": "text", "text": "Error: invalid sheet id"}]`, "Error: invalid sheet id"},
	} {
		if got := errortext.Message(c.output); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestMessageOfAFailedCall(t *testing.T) {
	for output, want := range map[string]string{
		"Card declined":                "Card declined",
		`{"message": "Card declined"}`: "Card declined",
		`{"detail": [{"msg": "field required", "loc": ["body", "q"]}]}`: "body.q: field required",
		"":                        "",
		"first line\nsecond line": "",
		strings.Repeat("x", 500):  "",
	} {
		if got := errortext.Message(output); got != want {
			t.Errorf("%q: got %q, want %q", output, got, want)
		}
	}
}

func TestUnwrapTakesWhatDescribesTheError(t *testing.T) {
	for name, c := range map[string]struct{ output, want string }{
		"plain":              {" Error: x \n", "Error: x"},
		"a wrapper":          {"Error executing tool search: Field required", "Field required"},
		"a protocol's code":  {"MCP error -32602: Input validation error: Invalid arguments for tool x", "Invalid arguments for tool x"},
		"a wrapped reply":    {`Error calling tool 'x': {"error": {"message": "bad id"}}`, "bad id"},
		"members":            {`{"error": "Bad Request", "message": "q is required", "statusCode": 400}`, "Bad Request\nq is required\nstatus: 400"},
		"JSON in JSON":       {`{"error": "{\"message\": \"Unknown unit: k\"}"}`, "Unknown unit: k"},
		"a Python dict":      {`{'status': 400, 'reason': 'bad symbol'}`, "bad symbol\nstatus: 400"},
		"fields of a form":   {`{"title": "One or more validation errors", "status": 400, "errors": {"Age": ["The Age field is required."]}}`, "Age: The Age field is required.\nOne or more validation errors\nstatus: 400"},
		"an empty error":     {`{"error": "", "response": "{\"status\": 404, \"message\": \"no such page\"}"}`, "no such page\nstatus: 404"},
		"a process":          {`{"returncode": 1, "stderr": "boom"}`, "boom"},
		"a list of problems": {`[{"loc": ["a"], "msg": "too long"}, {"loc": ["b"], "msg": "too short"}]`, "a: too long\nb: too short"},
		"problems behind a heading": {
			"MCP error -32602: Invalid arguments for tool x: [\n  {\n    \"code\": \"invalid_type\",\n    \"path\": [\n      \"cells\",\n      0,\n      \"ref\"\n    ],\n" +
				"    \"message\": \"Expected string, received null\"\n  }\n]",
			"Invalid arguments for tool x:\ncells.ref: Expected string, received null",
		},
		"advice behind problems": {
			"Error occurred: Invalid arguments for tool x: [\n  {\n    \"message\": \"Required\",\n    \"path\": [\n      \"q\"\n    ]\n  }\n] \n Please try again",
			"Error occurred: Invalid arguments for tool x:\nq: Required",
		},
		"a list that goes on": {"Invalid values: [{\"message\": \"x\"}] and more", "Invalid values: [{\"message\": \"x\"}] and more"},
		"a list of names":     {"Unknown fields: [\"a\", \"b\"]", "Unknown fields: [\"a\", \"b\"]"},
		"what a file holds":   {`{"reason": "Overlapping patches", "content": "a = 1\nb = 2\n"}`, "Overlapping patches"},
		"what a shell said":   {`{"message": "Command failed", "output": "bash: foo: command not found"}`, "Command failed\nbash: foo: command not found"},
		"results by name":     {`{"a.txt": {"result": "error", "reason": "File not found"}, "b": {"n": 1}}`, "a.txt: File not found"},
		"records by name":     {`{"a": {"id": 3}, "b": {"content": "x"}}`, `{"a": {"id": 3}, "b": {"content": "x"}}`},
		"a good record":       {`{"id": 3, "name": "x"}`, `{"id": 3, "name": "x"}`},
	} {
		if got := errortext.Unwrap(c.output); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestAMessageIsToldWithTheFieldThatItIsAbout(t *testing.T) {
	for name, c := range map[string]struct{ output, want string }{
		"lists by field":       {`{"title": ["This field is required."], "price": ["A valid number is required."]}`, "title: This field is required.\nprice: A valid number is required."},
		"sentences by field":   {`{"errorMessages": [], "errors": {"summary": "You must specify a summary."}}`, "summary: You must specify a summary."},
		"problems by field":    {`{"data": {"status": {"code": "invalid", "message": "Invalid value A."}}, "message": "Failed to create."}`, "Failed to create.\nstatus: Invalid value A."},
		"a list with fields":   {`{"error": "Bad Request", "errors": [{"field": "name", "message": "must not be blank", "rejectedValue": ""}]}`, "Bad Request\nname: must not be blank"},
		"a pointer":            {`{"errors": [{"source": {"pointer": "/data/attributes/name"}, "detail": "can't be blank"}]}`, "data.attributes.name: can't be blank"},
		"a code of a field":    {`{"message": "Validation Failed", "errors": [{"resource": "Issue", "field": "title", "code": "missing_field"}]}`, "title: missing_field\nValidation Failed"},
		"a list of its own":    {`{"error": "Invalid", "violations": [{"path": ["a", 0, "b"], "message": "too long"}]}`, "Invalid\na.b: too long"},
		"an element's number":  {`{"errors": {"0": {"message": "No such row"}}}`, "No such row"},
		"the path of a route":  {`{"status": 404, "error": "Not Found", "path": "/v1/x"}`, "Not Found\nstatus: 404"},
		"a list of messages":   {`{"message": ["name must be a string"], "statusCode": 400}`, "name must be a string\nstatus: 400"},
		"causes":               {`{"error": {"root_cause": [{"type": "parse", "reason": "bad date"}], "type": "parse", "reason": "bad date"}, "status": 400}`, "bad date\nstatus: 400"},
		"what was sent":        {`{"error": "Invalid", "input": {"price": "ten euros"}}`, "Invalid"},
		"a path and a value":   {`{"errors": [{"type": "field", "value": "a few", "msg": "Invalid value", "path": "price", "location": "body"}]}`, "price: Invalid value"},
		"an extension":         {`{"errors": [{"message": "Value is required.", "extensions": {"code": "FAILED", "field": "title"}}]}`, "title: Value is required."},
		"names above":          {"2 validation errors for Args\nprice\n  Field required [type=missing]\nitems[0].sku\n  Too long", "2 validation errors for Args\nprice: Field required [type=missing]\nitems[0].sku: Too long"},
		"a heading in words":   {"Could not run:\n  no such file\nTry this\n  one", "Could not run:\n  no such file\nTry this\n  one"},
		"names of two words":   {`{"exception_message": "Invalid request.", "exceptionDetail": [{"loc": ["body", "n"], "msg": "too small"}], "error_rate": "0.1 of all"}`, "Invalid request.\nbody.n: too small"},
		"words, not fields":    {`{"error": {"kind": "timeout", "phase": "read"}}`, "timeout"},
		"a field and an issue": {`{"error": {"field": "amount", "issue": "must be positive"}}`, "amount: must be positive"},
		"a field and a word":   {`{"errors": [{"field": "amount", "problem": "missing"}]}`, "amount: missing"},
		"a result in lists":    {`{"items": ["no such page here"]}`, "no such page here"},
		"an exception's type":  {`{"exception_type": "ValueError", "at": 1}`, "ValueError"},
		"a type alone":         {`{"error": {"type": "rate_limit", "id": 3}}`, "rate_limit"},
		"deep problems": {
			`{"error": {"code": 3, "message": "bad", "details": [{"@type": "rpc.BadRequest", "fieldViolations": [{"field": "size", "description": "must be at most 9"}]}]}}`,
			"bad\nsize: must be at most 9",
		},
		"a message and a type": {`{"error": {"message": "No such model", "type": "request", "param": "model", "code": "gone"}}`, "model: No such model"},
	} {
		if got := errortext.Unwrap(c.output); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestTheFieldThatAnOutputIsAbout(t *testing.T) {
	for output, want := range map[string]string{
		`{"message": "Validation error", "errors": [{"field": "price", "message": "must be a number"}]}`: "price: must be a number",
		"Error calling tool: 1 validation error for Args\nprice\n  Field required":                       "price: Field required",
		`{"message": "No such page"}`: "",
		"usage: x\nx: error: no":      "",
	} {
		if got := errortext.Field(output); got != want {
			t.Errorf("%q: got %q, want %q", output, got, want)
		}
	}
}

func FuzzMessage(f *testing.F) {
	for _, s := range []string{
		"Traceback (most recent call last):\nx\nValueError: y", `{"error": {"message": "x"}}`, "[{'a': \"b\"}]", "\xff\x00", `{"a":"{\"b\":\"{}\"}"}`,
		"Error executing tool x: Error executing tool x: y", `"quoted"`, "MCP error -32602:", `{"exit_code": 1}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if line := errortext.Message(s); utf8.RuneCountInString(line) > 300 || textsafe.Clean(line) != line {
			t.Fatalf("Message(%q) = %q", s, line)
		}
		errortext.Unwrap(s)
	})
}
