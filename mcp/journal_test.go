package mcp_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"memoryd/mcp"
)

func TestAJournalGoesOnlyToWhomItWasMadeFor(t *testing.T) {
	ours, theirs, dir := newMemory(t), newMemory(t), t.TempDir()
	ours.away = true
	var said bytes.Buffer
	through := func(memory mcp.Memory, calls ...string) {
		t.Helper()
		o := mcp.NewOutbox(memory, dir, slog.New(slog.NewTextHandler(&said, nil)))
		o.Start(t.Context())
		for _, c := range calls {
			o.Put(json.RawMessage(c))
		}
		o.Stop()
	}
	files := func() []string {
		all, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	owner := mcp.Memory{URL: ours.URL, HTTP: ours.Client(), Workspace: "w", Key: "the-key-of-ours"}
	secret := "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	through(owner, `{"tool_name":"t","input":{"password":"hunter2-and-more"},"output":"token `+secret+`","metadata":{"tool_call_id":"1"}}`)
	left := files()
	if len(left) != 1 {
		t.Fatalf("journals %v", left)
	}
	text, err := os.ReadFile(left[0])
	if err != nil || !bytes.Contains(text, []byte("[secret:")) {
		t.Fatalf("%s, %v", text, err)
	}
	for _, open := range []string{secret, "hunter2", owner.Key} {
		if strings.Contains(left[0]+string(text), open) {
			t.Errorf("%s is open in %s: %s", open, left[0], text)
		}
	}
	if info, err := os.Stat(left[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	old := filepath.Join(dir, "0b9a3c1e-8d2f-4c7a-9b1e-2f3a4b5c6d7e.jsonl")
	if err := os.WriteFile(old, []byte(`{"tool_name":"old"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ours.away = false
	for _, other := range []mcp.Memory{
		{URL: theirs.URL, HTTP: theirs.Client(), Workspace: "w", Key: owner.Key},
		{URL: ours.URL, HTTP: ours.Client(), Workspace: "other", Key: owner.Key},
		{URL: ours.URL, HTTP: ours.Client(), Workspace: "w", Key: "another"},
	} {
		through(other)
		if n := len(ours.recorded()) + len(theirs.recorded()); n != 0 {
			t.Fatalf("%d calls went to %s of %s", n, other.Workspace, other.URL)
		}
	}
	owner.URL += "/"
	through(owner)
	if got := files(); len(ours.recorded()) != 1 || len(got) != 1 || got[0] != old {
		t.Errorf("%d recorded, left %v", len(ours.recorded()), got)
	}
	if all := mcp.Journals(dir); len(all) != 1 || all[0].To != "" || all[0].Calls != 1 {
		t.Errorf("the old one is listed as %+v", all)
	}
}

// A kill of the wrapper 50 ms after its calls lost all of them while memoryd was away
// (defect W23).
func TestWhatIsNotDeliveredStandsInTheJournalAfterSixteenCallsOrFiftyMilliseconds(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and never answers
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	dir := t.TempDir()
	o := mcp.NewOutbox(mcp.Memory{URL: "http://" + silent.Addr().String(), HTTP: &http.Client{Timeout: time.Second}}, dir, slog.New(slog.DiscardHandler))
	o.Start(t.Context())
	defer o.Stop()
	kept := func() (n int) {
		for _, j := range mcp.Journals(dir) {
			if n += j.Calls; !j.Held || j.To != "http://"+silent.Addr().String() || j.Workspace != "default" {
				t.Errorf("%+v", j)
			}
		}
		return n
	}
	for i := range 16 {
		o.Put(json.RawMessage(`{"tool_name":"t","input":"` + strconv.Itoa(i) + `"}`))
	}
	if n := kept(); n != 16 {
		t.Errorf("after sixteen calls %d are kept", n)
	}
	o.Put(json.RawMessage(`{"tool_name":"t"}`))
	time.Sleep(50 * time.Millisecond)
	for end := time.Now().Add(10 * time.Second); kept() != 17; { // a busy machine takes longer
		if time.Now().After(end) {
			t.Fatalf("%d are kept", kept())
		}
	}
}

func TestWhatWasDeliveredIsRemovedFromTheJournalAtOnce(t *testing.T) {
	m, dir := newMemory(t), t.TempDir()
	o := mcp.NewOutbox(mcp.Memory{URL: m.URL, HTTP: m.Client()}, dir, slog.New(slog.DiscardHandler))
	o.Start(t.Context())
	for i := range 40 {
		o.Put(json.RawMessage(`{"tool_name":"t","metadata":{"tool_call_id":"` + strconv.Itoa(i) + `"}}`))
	}
	for end := time.Now().Add(10 * time.Second); ; {
		all := mcp.Journals(dir)
		if len(m.recorded()) == 40 && len(all) == 1 && all[0].Calls == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%d recorded, journals %+v", len(m.recorded()), all)
		}
	}
	o.Stop()
	if all := mcp.Journals(dir); len(all) != 0 || o.Dropped() != 0 {
		t.Errorf("left %+v, dropped %d", all, o.Dropped())
	}
}

func TestARefusedRepeatSaysItsTypeWhereTheProtocolAsksForIt(t *testing.T) {
	for protocol, want := range map[string]bool{"": false, "2025-11-25": false, "2026-07-28": true} {
		m := newMemory(t)
		again := strings.Replace(call(2, `{"text":"no","fail":true}`), `"params":{`, `"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"`+protocol+`"},`, 1)
		got, _ := session(t, "tools", m, mcp.Options{StopRepeats: true}, "", inTurns(hello+call(1, `{"text":"no","fail":true}`)+again))
		if !strings.Contains(got, "Not called: ") || strings.Contains(got, `"resultType":"complete"`) != want {
			t.Errorf("%q: %s", protocol, got)
		}
	}
}
