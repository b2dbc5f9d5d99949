package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"memoryd/api"
	"memoryd/ops"
)

// kindsOf asks for the kinds of the tool "door".
func kindsOf(p *pages) (list api.KindList) {
	p.Helper()
	if err := json.Unmarshal([]byte(p.api("GET", "/v1/workspaces/w/tools/door/kinds", "", 200)), &list); err != nil {
		p.Fatal(err)
	}
	return list
}

func TestALabelOnAKindHoldsForItsLikeAndCanBeTakenBack(t *testing.T) {
	p := newPages(t, "off")
	add := func(n int, output string, success bool) {
		body, _ := json.Marshal(map[string]any{"workspace_id": "w", "tool_call_results": []any{map[string]any{
			"tool_name": "door", "input": map[string]any{"room": n}, "output": output, "success": success, "time_cost": 1.5,
		}}})
		p.api("POST", "/add_tool_call_result", string(body), 200)
	}
	for n := 1; n <= 6; n++ {
		add(n, fmt.Sprintf("The door of room %d moves slowly today", n), n != 6)
		add(n, fmt.Sprintf(`{"room":%d,"open":true}`, n), true)
	}
	label := func(kind, body string) (done ops.LabelledKind) {
		if err := json.Unmarshal([]byte(p.api("PUT", "/v1/workspaces/w/tools/door/kinds/"+kind, body, 200)), &done); err != nil {
			t.Fatal(err)
		}
		return done
	}
	kinds := kindsOf(p).Kinds
	if len(kinds) != 2 {
		t.Fatalf("%d kinds, want 2: %+v", len(kinds), kinds)
	}
	slow := kinds[0]
	if !strings.Contains(slow.Template, "moves slowly") {
		slow = kinds[1]
	}
	if slow.Calls != 6 || slow.Good != 5 || slow.Failed != 1 || strings.Contains(slow.Template, "6") {
		t.Fatalf("the kind: %+v", slow)
	}
	if done := label(slow.ID, `{"score":0,"by":"ann","preview":true}`); done.Calls != 6 || done.Changes != 5 || len(done.Examples) != 5 {
		t.Errorf("the preview: %+v", done)
	}
	if k := kindsOf(p).Kinds; k[0].Labelled || k[1].Labelled {
		t.Error("a preview labelled")
	}
	if done := label(slow.ID, `{"score":0,"by":"ann","evaluation":"Slow doors are broken."}`); done.Changes != 5 {
		t.Errorf("the label: %+v", done)
	}
	add(7, "The door of room 7 moves slowly today", true)
	for _, k := range kindsOf(p).Kinds {
		if k.ID == slow.ID && (k.Failed != 7 || k.By != "kind:person:ann" || !k.Sure || !k.Labelled) {
			t.Errorf("after the label: %+v", k)
		}
		if k.ID != slow.ID && k.Good != 6 {
			t.Errorf("the other kind: %+v", k)
		}
	}
	page := p.get("/ui/kinds?w=w&t=door", 200)
	if !strings.Contains(page, "moves slowly") || !strings.Contains(page, ">undo<") {
		t.Errorf("the page:\n%.3000s", page)
	}
	if done := label(slow.ID, `{"withdraw":true}`); done.Changes != 6 {
		t.Errorf("taken back: %+v", done)
	}
	if k := kindsOf(p).Kinds; k[0].Good+k[1].Good != 12 || k[0].Failed+k[1].Failed != 1 {
		t.Errorf("after it was taken back: %+v", k)
	}
	form := url.Values{"w": {"w"}, "t": {"door"}, "kind": {slow.ID}, "score": {"0"}, "back": {"/ui/kinds?w=w&t=door"}}
	rec := p.ask("POST", "/ui/label", form.Encode(), "application/x-www-form-urlencoded", "Origin", "http://127.0.0.1:8002", "Sec-Fetch-Site", "same-origin")
	if rec.Code != 303 || !regexp.MustCompile(`said=labelled`).MatchString(rec.Header().Get("Location")) {
		t.Errorf("the form: %d %s %.300s", rec.Code, rec.Header().Get("Location"), rec.Body)
	}
	if k := kindsOf(p).Kinds; k[0].Failed+k[1].Failed != 7 {
		t.Errorf("after the form: %+v", k)
	}
}

func TestALabelShowsTwentyOfTheCallsThatItChanges(t *testing.T) {
	p := newPages(t, "off")
	for n := range 23 {
		p.api("POST", "/add_tool_call_result", fmt.Sprintf(`{"workspace_id":"w","tool_call_results":[{"tool_name":"door","input":{"room":%d},
			"output":"The door of room %d moves slowly today","success":true}]}`, n, n), 200)
	}
	var done ops.LabelledKind
	path := "/v1/workspaces/w/tools/door/kinds/" + kindsOf(p).Kinds[0].ID
	if err := json.Unmarshal([]byte(p.api("PUT", path, `{"score":0,"by":"ann","preview":true}`, 200)), &done); err != nil {
		t.Fatal(err)
	}
	if done.Changes <= 20 || done.Changes != done.Calls || len(done.Examples) != 20 {
		t.Errorf("%d calls, %d changes, %d examples", done.Calls, done.Changes, len(done.Examples))
	}
}

// A tool that is made anew under the name of a deleted one is another tool.
func TestALabelGoesWithItsTool(t *testing.T) {
	p := newPages(t, "off")
	add := func() (score float64, tool string) {
		var answer struct {
			Metadata struct {
				MemoryList []struct {
					MemoryID string                    `json:"memory_id"`
					Calls    []struct{ Score float64 } `json:"tool_call_results"`
				} `json:"memory_list"`
			}
		}
		said := p.api("POST", "/add_tool_call_result", `{"workspace_id":"w","include_history":false,"tool_call_results":[{"tool_name":"door","input":{"room":1},
			"output":"The door of room 1 moves slowly today"}]}`, 200)
		if err := json.Unmarshal([]byte(said), &answer); err != nil {
			t.Fatal(err)
		}
		memory := answer.Metadata.MemoryList[0]
		return memory.Calls[0].Score, memory.MemoryID
	}
	for _, action := range []string{"delete", "delete_ids"} {
		_, tool := add()
		p.api("PUT", "/v1/workspaces/w/tools/door/kinds/"+kindsOf(p).Kinds[0].ID, `{"score":0,"by":"ann"}`, 200)
		if score, _ := add(); score != 0 {
			t.Fatalf("%s: a call of the labelled kind scores %v", action, score)
		}
		p.api("POST", "/vector_store", fmt.Sprintf(`{"workspace_id":"w","action":%q,"memory_ids":[%q]}`, action, tool), 200)
		if score, _ := add(); score != 1 {
			t.Errorf("%s: a call of the new tool scores %v", action, score)
		}
	}
}
