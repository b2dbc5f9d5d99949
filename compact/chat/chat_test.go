package chat_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"memoryd/compact/chat"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

func parse(t *testing.T, lines ...string) []chat.Message {
	t.Helper()
	raws := make([]jsontext.Value, len(lines))
	for i, l := range lines {
		raws[i] = jsontext.Value(l)
	}
	ms, err := chat.ParseAll(raws)
	if err != nil {
		t.Fatal(err)
	}
	return ms
}

const (
	ask     = `{"role":"user","content":"go"}`
	callA   = `{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}}]}`
	callAB  = `{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}},{"id":"b","function":{"name":"g","arguments":"{}"}}]}`
	resultA = `{"role":"tool","tool_call_id":"a","content":"ra"}`
	resultB = `{"role":"tool","tool_call_id":"b","content":"rb"}`
)

func TestParseReadsBothStyles(t *testing.T) {
	tests := map[string]struct {
		in   string
		want chat.Message
	}{
		"text":      {ask, chat.Message{Kind: chat.User, Role: "user", Texts: []string{"go"}}},
		"developer": {`{"role":"developer","content":"x"}`, chat.Message{Kind: chat.System, Role: "developer", Texts: []string{"x"}}},
		"parts": {
			`{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{}},"b",{"type":"new","z":1}]}`,
			chat.Message{Kind: chat.User, Role: "user", Texts: []string{"a", "b"}, Media: 1, Other: []string{`{"type":"new","z":1}`}},
		},
		"refusal and reasoning": {
			`{"role":"assistant","content":null,"refusal":"no","reasoning_content":"hm"}`,
			chat.Message{Kind: chat.Assistant, Role: "assistant", Texts: []string{"no"}, Reasoning: []string{"hm"}},
		},
		"unknown role":   {`{"role":"critic","content":"x"}`, chat.Message{Kind: chat.Opaque, Role: "critic", Texts: []string{"x"}}},
		"not an object":  {`[1,2]`, chat.Message{}},
		"odd types":      {`{"role":"assistant","content":7,"tool_calls":"x"}`, chat.Message{Kind: chat.Assistant, Role: "assistant"}},
		"its own pin":    {`{"role":"user","content":"x","memoryd":{"pin":true}}`, chat.Message{Kind: chat.User, Role: "user", Texts: []string{"x"}, Pinned: true}},
		"repeated names": {`{"role":"user","content":"a","content":"b"}`, chat.Message{Kind: chat.User, Role: "user", Texts: []string{"b"}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := parse(t, tc.in)[0]
			if string(got.Raw) != tc.in {
				t.Errorf("bytes changed: %s", got.Raw)
			}
			show := func(m chat.Message) string {
				return fmt.Sprintf("%d %q %q %q %d %q %t", m.Kind, m.Role, m.Texts, m.Reasoning, m.Media, m.Other, m.Pinned)
			}
			if show(got) != show(tc.want) {
				t.Errorf("got  %s\nwant %s", show(got), show(tc.want))
			}
		})
	}
	if _, err := chat.Parse([]byte(`{"role":`)); err == nil {
		t.Error("text that is not JSON was taken")
	}
}

func TestUnits(t *testing.T) {
	const (
		use     = `{"role":"assistant","content":[{"type":"thinking","thinking":"t"},{"type":"tool_use","id":"u1","name":"f","input":{}},{"type":"tool_use","id":"u2","name":"g","input":{}}]}`
		answers = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"u1","content":"x"},{"type":"tool_result","tool_use_id":"u2","content":[{"type":"text","text":"y"}]}]}`
		think   = `{"role":"assistant","content":"","reasoning_content":"hm"}`
		legacy  = `{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}}`
		answerF = `{"role":"function","name":"f","content":"x"}`
	)
	tests := map[string]struct {
		in   []string
		want string
	}{
		"plain messages":             {[]string{ask, ask}, "[0] [1]"},
		"a group":                    {[]string{ask, callA, resultA, ask}, "[0] [1 2] [3]"},
		"parallel calls":             {[]string{callAB, resultB, resultA}, "[0 1 2]"},
		"pending":                    {[]string{callAB, resultA, ask}, "[0 1]pending [2]"},
		"orphan":                     {[]string{resultA, ask}, "[0]orphan [1]"},
		"result before its call":     {[]string{resultA, callA}, "[0]orphan [1]pending"},
		"an id used twice":           {[]string{callA, resultA, callA, resultA}, "[0 1] [2 3]"},
		"a second result":            {[]string{callA, resultA, resultA}, "[0 1 2]"},
		"a late result":              {[]string{callA, ask, resultA}, "[0 2] [1]"},
		"two open calls of one id":   {[]string{callA, callA, resultA}, "[0 1 2]pending"},
		"two owners in one run":      {[]string{callA, callAB, resultA, resultB, resultA}, "[0 4] [1 2 3]"},
		"content blocks":             {[]string{ask, use, answers}, "[0] [1 2]"},
		"thinking before its call":   {[]string{think, callA, resultA}, "[0 1 2]"},
		"legacy function call":       {[]string{legacy, answerF, answerF}, "[0 1 2]"},
		"legacy result without call": {[]string{answerF}, "[0]orphan"},
		"empty ids":                  {[]string{`{"role":"assistant","tool_calls":[{"id":"","function":{"name":"f"}}]}`, `{"role":"tool","content":"x"}`}, "[0 1]"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			for i, u := range chat.Units(parse(t, tc.in...)) {
				if i > 0 {
					got += " "
				}
				got += fmt.Sprint(u.Index)
				if u.Pending {
					got += "pending"
				}
				if u.Orphan {
					got += "orphan"
				}
			}
			if got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	tests := map[string]struct {
		in   []string
		want []chat.Fault
	}{
		"valid":                  {[]string{ask, callAB, resultA, resultB, ask}, nil},
		"waits at the end":       {[]string{ask, callA}, nil},
		"orphan":                 {[]string{ask, resultA}, []chat.Fault{chat.OrphanResult}},
		"unanswered":             {[]string{ask, callAB, resultA, ask}, []chat.Fault{chat.Unanswered}},
		"something in between":   {[]string{ask, callA, ask, resultA}, []chat.Fault{chat.Unanswered, chat.Detached}},
		"assistant first":        {[]string{`{"role":"system","content":""}`, callA, resultA}, []chat.Fault{chat.NotUserFirst}},
		"waits before more text": {[]string{ask, callA, ask}, []chat.Fault{chat.Unanswered}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []chat.Fault
			for _, p := range chat.Check(parse(t, tc.in...)) {
				got = append(got, p.Fault)
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

func TestIntroducedNeverForgivesAnOrphan(t *testing.T) {
	broken, open := parse(t, ask, resultA), parse(t, ask, callA, ask)
	if ps := chat.Introduced(broken, broken); len(ps) != 1 {
		t.Errorf("an orphan that was there before counts %d times, want 1", len(ps))
	}
	if ps := chat.Introduced(open, open); len(ps) != 0 {
		t.Errorf("a call that waited before is held against the result: %v", ps)
	}
}

func TestAPartChangesOnlyTheContent(t *testing.T) {
	m := parse(t, `{ "role" : "user", "content": "q" ,"x":[1, 2] }`)[0]
	got, ok := m.WithPart("s\"h\n", true, false)
	if !ok || string(got.Raw) != `{ "role" : "user", "content": "q\n\ns\"h\n" ,"x":[1, 2] }` {
		t.Errorf("got %s", got.Raw)
	}
	if back, ok := got.Without("s\"h\n"); !ok || string(back.Raw) != string(m.Raw) {
		t.Errorf("without it: %s", back.Raw)
	}
}

func TestAnyJSONIsTaken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.MapOf(rapid.SampledFrom([]string{"role", "content", "tool_calls", "function_call", "tool_call_id", "name", "memoryd", "x"}),
			rapid.SampledFrom([]any{nil, true, 1.5, "assistant", "tool", "user", "x", []any{}, []any{map[string]any{"type": "tool_use", "id": 3}}, map[string]any{"name": 1}})).Draw(t, "v")
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		m, err := chat.Parse(raw)
		if err != nil || string(m.Raw) != string(raw) {
			t.Fatalf("%v: %s", err, m.Raw)
		}
		us := chat.Units([]chat.Message{m, m, m})
		n := 0
		for _, u := range us {
			n += len(u.Index)
		}
		if n != 3 {
			t.Fatalf("%d of 3 messages are in a unit", n)
		}
	})
}

func TestOnlyWhatIsNoJSONIsAnError(t *testing.T) {
	for raw, wrong := range map[string]bool{
		`{"role":"user","content":"hi"}`: false, `{"role":"user","role":"tool"}`: false, `{"role":7,"content":{"a":1}}`: false, "[1]": false, "null": false, " {} ": false,
		"{\"role\":\"user\",\"content\":\"\xff\"}": false, `{"role":"user"} x`: true, `{"role":"user"`: true, `{"role":user}`: true, "": true, "{\"a\":\"\n\"}": true,
	} {
		if _, err := chat.Parse([]byte(raw)); errors.Is(err, chat.ErrSyntax) != wrong {
			t.Errorf("%q: got %v", raw, err)
		}
	}
}

func TestTextsKeepTheirCharacters(t *testing.T) {
	for raw, want := range map[string]string{
		`{"role":"user","content":"plain é"}`: "plain é", `{"role":"user","content":"a\n\"b\" \u00e9"}`: "a\n\"b\" é",
		"{\"role\":\"user\",\"content\":\"a\xffb\"}": "a\ufffdb", `{"role":"user","content":""}`: "",
	} {
		if m, err := chat.Parse([]byte(raw)); err != nil || m.Text() != want {
			t.Errorf("%q: got %q, %v", raw, m.Text(), err)
		}
	}
}
