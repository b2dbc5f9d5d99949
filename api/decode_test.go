package api

import (
	"context"
	"errors"
	"strings"
	"testing"

	"memoryd"
	"memoryd/api/wire"
	"memoryd/ops"

	"github.com/go-json-experiment/json/jsontext"
)

// reader reads bodies as the endpoints do.
func reader() *server {
	return &server{cfg: Config{MaxItems: 1000}, reading: reading(1000)}
}

func decodeAdd(body string) (req wire.AddRequest[items], fault *memoryd.Fault) {
	err := reader().decode([]byte(body), &req)
	if err == nil {
		err = checkAdd(&req)
	}
	fault, _ = errors.AsType[*memoryd.Fault](err)
	return req, fault
}

func TestRequestsThatDoNotFitNameTheField(t *testing.T) {
	tests := map[string]struct {
		body, code string
		loc        string // the last part of the path
	}{
		"not JSON":                    {`{`, "json_invalid", "body"},
		"empty":                       {``, "missing", "body"},
		"white space":                 {" \n", "missing", "body"},
		"null":                        {`null`, "model_attributes_type", "body"},
		"array":                       {`[]`, "model_attributes_type", "body"},
		"text":                        {`"x"`, "model_attributes_type", "body"},
		"trailing":                    {`{"tool_call_results":[]} {}`, "json_invalid", "body"},
		"trailing comma":              {`{"tool_call_results":[],}`, "json_invalid", "body"},
		"single quotes":               {`{'tool_call_results':[]}`, "json_invalid", "body"},
		"NaN":                         {`{"tool_call_results":[{"time_cost":NaN}]}`, "json_invalid", "body"},
		"infinity":                    {`{"tool_call_results":[{"time_cost":Infinity}]}`, "json_invalid", "body"},
		"raw control byte":            {"{\"tool_name\":\"a\nb\",\"tool_call_results\":[]}", "json_invalid", "body"},
		"byte order mark":             {"\ufeff{}", "json_invalid", "body"},
		"invalid UTF-8":               {"{\"tool_call_results\":[{\"output\":\"\xff\"}]}", "json_invalid", "body"},
		"10,000 deep":                 {`{"tool_call_results":` + strings.Repeat("[", 10001) + strings.Repeat("]", 10001) + `}`, "json_invalid", "body"},
		"missing items":               {`{"tool_name":"t"}`, "missing", "tool_call_results"},
		"items of the wrong type":     {`{"tool_call_results":{}}`, "list_type", "tool_call_results"},
		"items null":                  {`{"tool_call_results":null}`, "list_type", "tool_call_results"},
		"workspace a number":          {`{"workspace_id":5,"tool_call_results":[]}`, "string_type", "workspace_id"},
		"workspace null":              {`{"workspace_id":null,"tool_call_results":[]}`, "string_type", "workspace_id"},
		"workspace too long":          {`{"workspace_id":"` + strings.Repeat("w", 1025) + `","tool_call_results":[]}`, "string_too_long", "workspace_id"},
		"tool name a list":            {`{"tool_name":["t"],"tool_call_results":[]}`, "string_type", "tool_name"},
		"async a number":              {`{"async":1,"tool_call_results":[]}`, "bool_type", "async"},
		"field twice":                 {`{"tool_name":"a","tool_call_results":[],"tool_name":"b"}`, "duplicate_key", "tool_name"},
		"field twice, escaped":        {`{"tool_name":"a","tool_call_results":[],"tool\u005fname":"b"}`, "duplicate_key", "tool_name"},
		"more than a request's items": {`{"tool_call_results":[` + strings.Repeat("{},", 1000) + `{}]}`, "too_long", "tool_call_results"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, fault := decodeAdd(tc.body)
			if fault == nil {
				t.Fatal("accepted")
			}
			if fault.Code != tc.code {
				t.Errorf("type is %q (%s), want %q", fault.Code, fault.Msg, tc.code)
			}
			if fault.Loc[0] != "body" {
				t.Errorf("loc starts with %v", fault.Loc[0])
			}
			if last := fault.Loc[len(fault.Loc)-1]; last != tc.loc {
				t.Errorf("loc is %v, want %s", fault.Loc, tc.loc)
			}
		})
	}
}

func TestUnknownFieldsAreIgnoredWhateverTheyHold(t *testing.T) {
	req, fault := decodeAdd(`{"x":{"y":[1,{"z":null}]},"TOOL_NAME":"no","tool_call_results":[{"a":1,"b":{"c":[]}}],"lc":1}`)
	if fault != nil {
		t.Fatal(fault)
	}
	if req.ToolName != nil || len(req.Items.list) != 1 || req.Items.list[0].Reason != "" {
		t.Errorf("got %+v", req)
	}
}

func TestOneBadItemDoesNotSpoilTheOthers(t *testing.T) {
	bad := map[string]string{
		`5`:                          "Input should be a valid dictionary or object to extract fields from",
		`null`:                       "Input should be a valid dictionary or object to extract fields from",
		`{"tool_name":5}`:            "tool_name: Input should be a valid string",
		`{"input":[1]}`:              "input: Input should be a valid object or string",
		`{"input":null}`:             "input: Input should be a valid object or string",
		`{"input":{"a":1,"a":2}}`:    `input: the name at "/a" occurs twice`,
		`{"output":7}`:               "output: Input should be a valid string",
		`{"output":"a","output":""}`: `output: Field given twice`,
		`{"success":"perhaps"}`:      "success: Input should be a valid boolean",
		`{"time_cost":"soon"}`:       "time_cost: Input should be a valid number",
		`{"time_cost":1e999}`:        "time_cost: Input should be a finite number",
		`{"token_cost":1.5}`:         "token_cost: Input should be a valid integer",
		`{"token_cost":1e30}`:        "token_cost: Input should be a valid integer",
		`{"create_time":1700000000}`: "create_time: Input should be a valid string",
		`{"metadata":[]}`:            "metadata: Input should be a valid object",
		`{"score":"high"}`:           "score: Input should be a valid number",
		`{"call_hash":1}`:            "call_hash: Input should be a valid string",
		`{"is_summarized":0}`:        "is_summarized: Input should be a valid boolean",
		`{"input":{"a":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}}`: "input: nested deeper than 512 levels",
	}
	for item, reason := range bad {
		req, fault := decodeAdd(`{"tool_call_results":[{"output":"good"},` + item + `,{"input":"also good"}]}`)
		if fault != nil {
			t.Errorf("%.60s: the request was refused: %v", item, fault)
			continue
		}
		if req.Items.list[0].Reason != "" || req.Items.list[2].Reason != "" {
			t.Errorf("%.60s: spoiled the others", item)
		}
		if req.Items.list[1].Reason != reason {
			t.Errorf("%.60s: reason is %q, want %q", item, req.Items.list[1].Reason, reason)
		}
	}
}

func TestItemsKeepWhatWasSent(t *testing.T) {
	req, fault := decodeAdd(`{"tool_call_results":[{"tool_name":"t","input":{"b":9007199254740993,"a":1.0},"output":"\u0000é",` +
		`"token_cost":7.0,"time_cost":2.5,"success":false,"create_time":"2025-01-01 00:00:00","metadata":{"tool_call_id":"c1","x":1},"score":1,"summary":"mine"}]}`)
	if fault != nil || req.Items.list[0].Reason != "" {
		t.Fatal(fault, req.Items.list)
	}
	c := req.Items.list[0].Call
	if string(c.Input) != `{"b":9007199254740993,"a":1.0}` || c.Output != "\x00é" || c.TokenCost != 7 || c.TimeCost != 2.5 || c.Success {
		t.Errorf("got %+v", c)
	}
	if id := memoryd.ToolCallID(c.Metadata); id != "c1" || string(c.Metadata) != `{"tool_call_id":"c1","x":1}` {
		t.Errorf("metadata %s, id %q", c.Metadata, id)
	}
	if c.Evaluation.Score != 0 || c.Evaluation.Summary != "" {
		t.Error("a client's verdict was taken")
	}
}

func itemOf(t *testing.T, text []byte) (item ops.Item) {
	t.Helper()
	req, fault := decodeAdd(`{"tool_call_results":[` + string(text) + `]}`)
	if fault != nil {
		t.Fatal(fault)
	}
	return req.Items.list[0]
}

func TestDefaultsOfAnItem(t *testing.T) {
	item := itemOf(t, []byte(`{}`))
	if c := item.Call; string(c.Input) != `""` || c.Output != "" || !c.Success || c.TokenCost != -1 || c.TimeCost != 0 {
		t.Errorf("got %+v", c)
	}
}

func TestEscapedLoneSurrogatesBecomeReplacementCharacters(t *testing.T) {
	item := itemOf(t, []byte(`{"input":{"k":"x\udc80y"},"output":"\ud800"}`))
	if item.Reason != "" {
		t.Fatal(item.Reason)
	}
	if item.Call.Output != "\ufffd" {
		t.Errorf("output %q", item.Call.Output)
	}
	if in := jsontext.Value(item.Call.Input); !in.IsValid() || !strings.Contains(string(in), "\ufffd") {
		t.Errorf("input %s", in)
	}
}

func TestToolNamesComeAsTextOrAsAnArray(t *testing.T) {
	tests := map[string][]string{
		`"a, b ,c"`:                   {"a", "b", "c"},
		`"a"`:                         {"a"},
		`["a,b"," c ","d"]`:           {"a,b", " c ", "d"},
		`""`:                          {""},
		`[]`:                          nil,
		`"Straße,\u0442\u043e\u0442"`: {"Straße", "тот"},
	}
	for body, want := range tests {
		names, err := decodeNames(body)
		if err != nil {
			t.Errorf("%s: %v", body, err)
		}
		if strings.Join(names, "|") != strings.Join(want, "|") {
			t.Errorf("%s: got %q", body, names)
		}
	}
	for _, body := range []string{`5`, `null`, `{}`, `[1]`, `[null]`, `"` + strings.Repeat("n,", 10000) + `"`} {
		if _, err := decodeNames(body); err == nil {
			t.Errorf("%.40s was accepted", body)
		}
	}
}

func decodeNames(names string) ([]string, error) {
	var req wire.RetrieveRequest
	s := reader()
	if err := s.decode([]byte(`{"tool_names":`+names+`}`), &req); err != nil {
		return nil, err
	}
	n, err := s.namesOf(context.Background(), &req)
	return n.Tools, err
}

func FuzzRequestBodies(f *testing.F) {
	f.Add([]byte(`{"tool_name":"t","tool_call_results":[{"input":{"a":[1,2,{"b":null}]},"output":"o","metadata":{"tool_call_id":"x"}}]}`))
	f.Add([]byte(`{"tool_call_results":[{"input":{"k":"x\udc80y"}},5,{"input":{"a":1,"a":2}}]}`))
	f.Add([]byte(`{"tool_names":["a",1]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		req, fault := decodeAdd(string(body))
		if fault != nil {
			return
		}
		for _, item := range req.Items.list {
			checkDecoded(t, item)
		}
	})
}

// checkDecoded holds an accepted item to what the rest of the program relies on.
func checkDecoded(t *testing.T, item ops.Item) {
	if item.Reason != "" {
		return
	}
	in := jsontext.Value(item.Call.Input)
	if !in.IsValid() || (in.Kind() != '"' && in.Kind() != '{') {
		t.Fatalf("input %q", in)
	}
	if m := jsontext.Value(item.Call.Metadata); m != nil && (!m.IsValid() || m.Kind() != '{') {
		t.Fatalf("metadata %q", m)
	}
}
