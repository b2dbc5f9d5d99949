package memoryd_test

import (
	"encoding/json"
	"strings"
	"testing"

	"memoryd"

	"pgregory.net/rapid"
)

func TestHashOfMatchesTheCheckValuesOfTheWireFormat(t *testing.T) {
	tests := map[string]struct{ input, output, want string }{
		"object": {
			`{"query":"Python asyncio tutorial","max_results":10,"language":"en","filter_type":"technical_docs"}`,
			"Found 10 relevant results including official documentation and tutorials",
			"17c0b60d931d86adcbb4f23887cb0b94",
		},
		"types": {`{"b":1.0,"a":"é","n":null,"t":true}`, "ok", "fdf7ea90a3aa2d99bcecc94e2503d8b7"},
		"text":  {`"plain text"`, "ok", "3d3cf3a61c18e9d1926d1d61614e1c3e"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := memoryd.HashOf(json.RawMessage(tc.input), tc.output); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

// The expected texts are what Python 3's json.dumps(v, sort_keys=True) writes.
func TestInputTextIsPythonsSortedDump(t *testing.T) {
	tests := map[string]struct{ in, want string }{
		"nested keys are sorted":   {`{"b":{"z":1,"a":[{"y":2,"x":1}]},"a":0}`, `{"a": 0, "b": {"a": [{"x": 1, "y": 2}], "z": 1}}`},
		"keys sort by code point":  {`{"\uffff":1,"😀":2,"a":3,"B":4}`, `{"B": 4, "a": 3, "\uffff": 1, "\ud83d\ude00": 2}`},
		"floats keep their point":  {`{"a":1.0,"b":-0.0,"c":1e2,"d":0.1,"e":100}`, `{"a": 1.0, "b": -0.0, "c": 100.0, "d": 0.1, "e": 100}`},
		"exponents":                {`{"a":1e16,"b":1e15,"c":0.0001,"d":0.00001,"e":1.5E300}`, `{"a": 1e+16, "b": 1000000000000000.0, "c": 0.0001, "d": 1e-05, "e": 1.5e+300}`},
		"big integers stay":        {`{"a":9007199254740993123456789}`, `{"a": 9007199254740993123456789}`},
		"infinity":                 {`{"a":1e999,"b":-1e999}`, `{"a": Infinity, "b": -Infinity}`},
		"escapes":                  {`{"a":"\u0000\b\f\n\r\t\"\\\/\u007f<>&\u2028"}`, `{"a": "\u0000\b\f\n\r\t\"\\/\u007f<>&\u2028"}`},
		"empty containers":         {`{"a":{},"b":[]}`, `{"a": {}, "b": []}`},
		"white space is not kept":  {" {\n\"a\" : [ 1 ,2 ] } ", `{"a": [1, 2]}`},
		"a string is itself":       {`"a\nb é"`, "a\nb é"},
		"no input is empty":        {``, ``},
		"an empty string is empty": {`""`, ``},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := string(memoryd.InputText(json.RawMessage(tc.in))); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestInputTextDoesNotDependOnKeyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.MapOf(rapid.String(), rapid.Float64Range(-1e9, 1e9)).Draw(t, "m")
		raw, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		once := memoryd.InputText(raw)
		if again := memoryd.InputText(once); string(again) != string(once) {
			t.Fatalf("not a fixed point:\n%s\n%s", once, again)
		}
	})
}

func TestIdentityTellsCallsApart(t *testing.T) {
	base := memoryd.Identity{
		ToolRef: memoryd.ToolRef{Workspace: "w", Tool: "t"}, Input: json.RawMessage(`{"a":1,"b":2}`),
		Output: "o", CreateTime: "2025-01-01 00:00:00",
	}
	same := base
	same.Input = json.RawMessage(`{ "b": 2, "a": 1 }`)
	same.RequestKey, same.Index = "k", 7 // the request does not count beside a time
	if base.Key() != same.Key() {
		t.Error("key order and the request changed the identity of a call that has a time")
	}
	changes := map[string]func(*memoryd.Identity){
		"workspace": func(i *memoryd.Identity) { i.Workspace = "w2" },
		"tool":      func(i *memoryd.Identity) { i.Tool = "T" },
		"input":     func(i *memoryd.Identity) { i.Input = json.RawMessage(`{"a":1}`) },
		"output":    func(i *memoryd.Identity) { i.Output = "o2" },
		"time":      func(i *memoryd.Identity) { i.CreateTime = "2025-01-01 00:00:01" },
		"call id":   func(i *memoryd.Identity) { i.ToolCallID = "c1" },
		"shifted":   func(i *memoryd.Identity) { i.Workspace, i.Tool = "wt", "" },
	}
	for name, change := range changes {
		other := base
		change(&other)
		if other.Key() == base.Key() {
			t.Errorf("%s does not count", name)
		}
	}
	bare := memoryd.Identity{ToolRef: base.ToolRef, Input: base.Input, RequestKey: "k"}
	next := bare
	next.Index = 1
	if bare.Key() == next.Key() {
		t.Error("two items of one request without time and id are the same call")
	}
}

func TestTheRunOfACallIsReadFromItsMetadata(t *testing.T) {
	long := strings.Repeat("x", memoryd.MaxNameBytes+1)
	for metadata, want := range map[string]string{
		``: "", `null`: "", `[]`: "", `{}`: "", `{"tool_call_id":"c1"}`: "",
		`{"trajectory_id":"t1"}`:                               "t1",
		`{"session_id":"s1"}`:                                  "s1",
		`{"session_id":"s1","trajectory_id":"t1"}`:             "t1",
		`{"trajectory_id":"t1","session_id":"s1"}`:             "t1",
		`{"trajectory_id":"","session_id":"s1"}`:               "s1",
		`{"trajectory_id":null,"session_id":17}`:               "17",
		`{"a":{"trajectory_id":"inner"},"session_id":"s1"}`:    "s1",
		`{"trajectory_id":"` + long + `","session_id":"s1"}`:   "s1",
		`{"trajectory_id":"t1","trajectory_id":"t2"}`:          "t1",
		`{"trajectory_id":"\u00e9"}`:                           "é",
		`{"note":"trajectory_id"}`:                             "",
		`{"session_id":"s1","cut":`:                            "s1",
		`{"trajectory_id":["t1"],"session_id":{"id":"inner"}}`: "",
	} {
		if got := memoryd.RunOf(json.RawMessage(metadata)); got != want {
			t.Errorf("%s: got %q, want %q", metadata, got, want)
		}
	}
}

// TestACallTellsWhoWroteIt and takes no client's word for it.
func TestACallTellsWhoWroteIt(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ metadata, source, want string }{
		"none, from here":          {"", "", "local"},
		"none, by a key":           {"", "k1", "k1"},
		"empty":                    {"{ }", "k1", "k1"},
		"others":                   {`{"a":1,"trajectory_id":"r"}`, "k1", "k1"},
		"forged, from here":        {`{"memoryd_source":"k2","a":1}`, "", "local"},
		"forged, by a key":         {`{"memoryd_source":"k2","a":1}`, "k1", "k1"},
		"forged with an escape":    {`{"memory\u0064_source":"k2"}`, "", "local"},
		"the escape, by a key":     {`{"memory\u0064_source":"k2"}`, "k1", "k1"},
		"no object":                {`[1]`, "k1", "k1"},
		"a name in a value is no":  {`{"a":"memoryd_source"}`, "", "local"},
		"at the end of a text":     {`{"a":"b","c":"\\\",\"memoryd_source\":\"k2"}`, "", "local"},
		"the end of a text, a key": {`{"a":"b","c":",\"memoryd_source\":\"k2"}`, "k1", "k1"},
		"within, by a key":         {`{"a":{"memoryd_source":"k2"}}`, "k1", "k1"},
		"a key with an escape":     {`{"a":1}`, `k"1\\`, `k"1\\`},
	} {
		c := memoryd.Call{Metadata: memoryd.WithSource(json.RawMessage(tc.metadata), tc.source)}
		if got := c.Source(); got != tc.want || len(c.Metadata) > 0 && !json.Valid(c.Metadata) {
			t.Errorf("%s: %q of %s, want %q", name, got, c.Metadata, tc.want)
		}
	}
	c := memoryd.Call{Metadata: memoryd.WithSource(json.RawMessage(`{"trajectory_id":"r","tool_call_id":"x"}`), "k1")}
	if c.Run() != "r" || memoryd.ToolCallID(c.Metadata) != "x" {
		t.Errorf("%s", c.Metadata)
	}
}
