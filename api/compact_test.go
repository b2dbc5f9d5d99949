package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"memoryd/api/wire"
	"memoryd/compact"
	"memoryd/ops"
	"memoryd/store/mem"
)

// conversationBody is a request with 30 calls and their results, written in
// more ways than one.
func conversationBody(more string) string {
	var b strings.Builder
	b.WriteString(`{"messages":[{"role":"system","content":"be brief"}, {"role" : "user","content":"find caf\u00e9s", "x": 1.0}`)
	for i := range 30 {
		fmt.Fprintf(&b, `,
 {"role":"assistant","content":null,"tool_calls":[{"id":"c%d","type":"function","function":{"name":"find","arguments":"{\"page\":%d}"}}]},
 {"role":"tool","tool_call_id":"c%d","content":"result %d: %s"}`, i, i, i, i, strings.Repeat("word ", 60))
	}
	b.WriteString(`,{"role":"user","content":"go on"}]` + more + `}`)
	return b.String()
}

func messagesOf(t *testing.T, body []byte) []json.RawMessage {
	t.Helper()
	var held struct{ Messages []json.RawMessage }
	if err := json.Unmarshal(body, &held); err != nil {
		t.Fatalf("%v: %.300s", err, body)
	}
	return held.Messages
}

func TestACompactionKeepsBytesAndCanBeTakenBack(t *testing.T) {
	h := newHandler(t, mem.New())
	body := conversationBody(`,"force":true,"target_tokens":1200,"workspace_id":"w"`)
	rec := ask(h, "POST", "/compact_conversation", body)
	var res compact.Result
	if err := json.Unmarshal(rec.Body.Bytes(), &res); err != nil || !res.Compacted || res.Report.TokensAfter >= res.Report.TokensBefore {
		t.Fatalf("%d %v %.500s", rec.Code, err, rec.Body)
	}
	sent, got := messagesOf(t, []byte(body)), messagesOf(t, rec.Body.Bytes())
	for _, m := range res.Report.Messages {
		if m.Disposition == compact.Kept && !bytes.Equal(sent[m.Index], got[m.Output]) {
			t.Errorf("message %d changed from %s to %s", m.Index, sent[m.Index], got[m.Output])
		}
	}
	undone := messagesOf(t, ask(h, "POST", "/v1/workspaces/w/originals/"+res.Report.ID+"/undo", "").Body.Bytes())
	if len(undone) != len(sent) {
		t.Fatalf("undo gave %d of %d messages", len(undone), len(sent))
	}
	for i := range sent {
		if !bytes.Equal(undone[i], sent[i]) {
			t.Errorf("undo changed message %d from %s to %s", i, sent[i], undone[i])
		}
	}
	gone := res.Report.Messages[3]
	path := "/v1/workspaces/w/originals/" + gone.Original
	if rec := ask(h, "GET", path, ""); !bytes.Equal(rec.Body.Bytes(), sent[3]) {
		t.Errorf("the original is %s, was %s", rec.Body, sent[3])
	}
	if p := decode[compact.Page](t, ask(h, "GET", path+"?offset=3&limit=5", "").Body.String()); len(p.Text) != 5 || p.Next != 8 {
		t.Errorf("got the page %+v", p)
	}
	hits := decode[ops.OriginalHits](t, ask(h, "GET", "/v1/workspaces/w/originals/"+res.Report.ID+"?query=result+7:", "").Body.String())
	if len(hits.Hits) == 0 || hits.Hits[0].Message != 17 {
		t.Errorf("found %+v", hits)
	}
	if rec := ask(h, "GET", strings.Replace(path, "/w/", "/other/", 1), ""); rec.Code != 404 {
		t.Errorf("another workspace reads it: %d", rec.Code)
	}
}

func TestSettingsOfAProfileMayStandBesideTheRequest(t *testing.T) {
	h := newHandler(t, mem.New())
	for more, want := range map[string]bool{
		`,"profile":"forge","messages_old_threshold":200,"max_tool_call_distance":400`:               false,
		`,"profile":"forge","messages_old_threshold":2,"min_tool_calls_to_summarize":2`:              true,
		`,"profile":"forge","overrides":{"messages_old_threshold":200,"max_tool_call_distance":400}`: false,
		`,"profile":"deerflow","trigger":{"type":"messages","value":100}`:                            false,
		`,"profile":"deerflow","trigger":{"type":"messages","value":10},"unknown_field":true`:        true,
	} {
		rec := ask(h, "POST", "/compact_conversation", conversationBody(more))
		if got := decode[compact.Result](t, rec.Body.String()); got.Compacted != want {
			t.Errorf("%s: compacted %v (%s %s)", more, got.Compacted, got.Reason, got.Detail)
		}
	}
}

// events splits a stream into names and data.
func events(t *testing.T, stream string) (names, data []string) {
	t.Helper()
	for block := range strings.SplitSeq(strings.TrimSuffix(stream, "\n\n"), "\n\n") {
		name, rest, ok := strings.Cut(block, "\n")
		if !ok {
			t.Fatalf("not an event: %q", block)
		}
		names = append(names, strings.TrimPrefix(name, "event: "))
		data = append(data, strings.ReplaceAll(strings.TrimPrefix(rest, "data: "), "\ndata: ", "\n"))
	}
	return names, data
}

func TestACompactionCanBeFollowed(t *testing.T) {
	h := newHandler(t, mem.New())
	follow := func(body string) (names, data []string) {
		req := httptest.NewRequest("POST", "/compact_conversation", strings.NewReader(body))
		req.Header.Set("Accept", "text/event-stream")
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, req)
		if got := rec.Header().Get("Content-Type"); got != "text/event-stream" {
			t.Fatalf("content type %q: %s", got, rec.Body)
		}
		return events(t, rec.Body.String())
	}
	names, data := follow(conversationBody(`,"force":true,"target_tokens":1200`))
	last := len(names) - 1
	if last < 2 || names[0] != "start" || names[last] != "result" {
		t.Fatalf("got the events %v", names)
	}
	done := 0
	for i := 1; i < last; i++ {
		e := decode[compact.Event](t, data[i])
		if names[i] != "progress" || e.Done <= done || e.Done > e.Total {
			t.Errorf("event %d: %s %s", i, names[i], data[i])
		}
		done = e.Done
	}
	if res := decode[compact.Result](t, data[last]); !res.Compacted || len(res.Messages) == 0 {
		t.Errorf("got %.300s", data[last])
	}
	names, data = follow(conversationBody(`,"overrides":{"no_such":1}`))
	if p := decode[wire.Problem](t, data[len(data)-1]); names[len(names)-1] != "error" || p.Status != 422 {
		t.Errorf("got %v %v", names, data)
	}
}
