package api

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"memoryd/api/wire"
	"memoryd/store/mem"
)

func decode[T any](t *testing.T, text string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

func TestCallsArePagedNewestFirst(t *testing.T) {
	h := newHandler(t, mem.New())
	for i := range 5 {
		ask(h, "POST", "/add_tool_call_result", fmt.Sprintf(`{"tool_name":"a/b c","tool_call_results":[{"output":"%d"}]}`, i))
	}
	path := "/v1/workspaces/default/tools/" + url.PathEscape("a/b c") + "/calls"
	var seen []string
	for cursor := ""; ; {
		list := decode[wire.CallList](t, ask(h, "GET", path+"?limit=2&cursor="+cursor, "").Body.String())
		for _, c := range list.Calls {
			seen = append(seen, c.Output)
			one := decode[wire.StoredCall](t, ask(h, "GET", path+"/"+c.ID, "").Body.String())
			if one.Output != c.Output || one.Number != c.Number {
				t.Errorf("by id: %+v, in the list: %+v", one, c)
			}
		}
		if cursor = list.NextCursor; cursor == "" {
			break
		}
	}
	if got := strings.Join(seen, ""); got != "43210" {
		t.Errorf("got the calls in the order %s", got)
	}
	if rec := ask(h, "GET", path+"?cursor=eA", ""); rec.Code != 404 {
		t.Errorf("a foreign cursor: %d", rec.Code)
	}
}

func TestAPersonBeatsTheJudge(t *testing.T) {
	s := mem.New()
	h := newHandler(t, s)
	ask(h, "POST", "/add_tool_call_result", `{"tool_name":"t","tool_call_results":[{"output":"fine","input":{"q":1}},{"output":"later"}]}`)
	calls := decode[wire.CallList](t, ask(h, "GET", "/v1/workspaces/default/tools/t/calls", "").Body.String()).Calls
	pending, judged := calls[0], calls[1]
	for _, c := range []wire.StoredCall{judged, pending, judged} {
		rec := ask(h, "PUT", "/v1/workspaces/default/tools/t/calls/"+c.ID+"/evaluation", `{"score":0,"by":"ann","evaluation":"it is the wrong page"}`)
		got := decode[wire.StoredCall](t, rec.Body.String())
		if rec.Code != 200 || got.Score != 0 || got.Judgement.By != "person:ann" || got.Judgement.State != "judged" {
			t.Fatalf("%d %+v", rec.Code, got)
		}
		want := wire.Overruled{State: c.Judgement.State, Score: float64(c.Score), By: c.Judgement.By, Rule: c.Judgement.Rule}
		if got.Judgement.Overruled == nil || *got.Judgement.Overruled != want {
			t.Errorf("overruled %+v, want %+v", got.Judgement.Overruled, want)
		}
	}
	info := decode[wire.ToolList](t, ask(h, "GET", "/v1/workspaces/default/tools?name=t", "").Body.String()).Tools[0]
	if info.Statistics.AvgScore != 0 || info.Statistics.PendingCalls != 0 {
		t.Errorf("the statistics do not know: %+v", info.Statistics)
	}
	lines := strings.Split(strings.TrimSpace(ask(h, "GET", "/v1/workspaces/default/corrections", "").Body.String()), "\n")
	if len(lines) != 2 {
		t.Fatalf("got %d corrections", len(lines))
	}
	example := decode[struct {
		Tool     string `json:"tool_name"`
		Metadata struct{ Gold string }
	}](t, lines[0])
	if example.Tool != "t" || example.Metadata.Gold != "error" {
		t.Errorf("got %s", lines[0])
	}
	// What has a verdict of a person is not judged again.
	if got, err := s.Claim(t.Context(), now().AddDate(50, 0, 0), 1, 9); len(got) != 0 || err != nil {
		t.Errorf("claimed %v, %v", got, err)
	}
}

// What is told of a corrected call is what is told of it afterwards.
func TestACorrectedCallIsShownAsItIsStored(t *testing.T) {
	h := newHandler(t, mem.New())
	ask(h, "POST", "/add_tool_call_result", `{"tool_name":"t","tool_call_results":[{"output":"1"}]}`)
	ask(h, "POST", "/summary_tool_memory", `{"tool_names":"t"}`)
	path := "/v1/workspaces/default/tools/t/calls/"
	c := decode[wire.CallList](t, ask(h, "GET", strings.TrimSuffix(path, "/"), "").Body.String()).Calls[0]
	for _, method := range []string{"PUT", "DELETE"} {
		said := ask(h, method, path+c.ID+"/evaluation", `{"score":0,"by":"ann"}`).Body.String()
		if kept := ask(h, "GET", path+c.ID, "").Body.String(); said != kept || !strings.Contains(said, `"is_summarized":true`) {
			t.Errorf("%s: got\n%s, and then\n%s", method, said, kept)
		}
	}
}

func TestAKnownAnswerIsNotSentAgain(t *testing.T) {
	h := newHandler(t, mem.New())
	body := `{"tool_names":"t","include_history":false}`
	ask(h, "POST", "/add_tool_call_result", `{"tool_name":"t","tool_call_results":[{"output":"1"}]}`)
	get := func(tag string) *httptest.ResponseRecorder {
		req := httptest.NewRequest("POST", "/retrieve_tool_memory", strings.NewReader(body))
		req.Header.Set("If-None-Match", tag)
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, req)
		return rec
	}
	first := get("")
	tag := first.Header().Get("ETag")
	if first.Code != 200 || tag == "" {
		t.Fatalf("%d, tag %q", first.Code, tag)
	}
	for _, known := range []string{tag, "W/" + tag, `"x", ` + tag} {
		if rec := get(known); rec.Code != 304 || rec.Body.Len() > 0 || rec.Header().Get("ETag") != tag {
			t.Errorf("%s: %d %s", known, rec.Code, rec.Body)
		}
	}
	ask(h, "POST", "/add_tool_call_result", `{"tool_name":"t","tool_call_results":[{"output":"2"}]}`)
	if rec := get(tag); rec.Code != 200 || rec.Header().Get("ETag") == tag {
		t.Errorf("a new answer was kept back: %d", rec.Code)
	}
}
