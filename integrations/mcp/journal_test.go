package mcp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"memoryd/integrations/mcp"
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

// secretOf is one of 27 forms of secrets, with characters that look drawn at random.
func secretOf(form int, r *rand.Rand) string {
	tail := func(alphabet string, n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = alphabet[r.IntN(len(alphabet))]
		}
		return string(b)
	}
	word := func(n int) string { return tail("abcdefghjkmnpqrsABCDEFGHJKMNPQRS23456789", n-3) + "a7Z" }
	hex := func(n int) string { return tail("0123456789abcdef", n-2) + "a7" }
	upper := func(n int) string { return tail("ABCDEFGHIJKLMNOP234567", n) }
	forms := []string{
		"AKIA" + upper(16), "ASIA" + upper(16), "ghp_" + word(36), "gho_" + word(36), "ghs_" + word(36), "github_pat_" + word(22) + "_" + word(59),
		"glpat-" + word(20), "sk-" + word(48), "sk-proj-" + word(40), "sk-ant-api03-" + word(40), "sk_live_" + word(24), "rk_live_" + word(24),
		"whsec_" + word(32), "xoxb-123456789012-" + word(24), "AIza" + word(35), "ya29." + word(40), "hf_" + word(34), "npm_" + word(36),
		"SG." + word(22) + "." + word(43), "dop_v1_" + hex(64), "dckr_pat_" + word(27), "hvs." + word(90), "shpat_" + hex(32), "lin_api_" + word(40),
		"glsa_" + word(32) + "_" + hex(8), "gsk_" + word(52), "eyJhbGciOiJIUzI1NiJ9." + word(60) + "." + word(43),
	}
	return forms[form%len(forms)]
}

// 200 journals that were made for others, many of them on the same server, are not
// delivered with one's own, and none holds a secret. What must be found is planted: a
// journal of one's own, and a secret that nobody masked.
func TestNoneOfTwoHundredForeignJournalsGoesAstrayOrHoldsASecret(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 36)) //nolint:gosec // draws cases
	ours, dir := newMemory(t), t.TempDir()
	ours.away = true
	own := mcp.Memory{URL: ours.URL, HTTP: ours.Client(), Workspace: "w1", Key: "key-1"}
	leave := func(m mcp.Memory, calls ...string) {
		o := mcp.NewOutbox(m, dir, slog.New(slog.DiscardHandler))
		o.Start(t.Context())
		for _, c := range calls {
			o.Put(json.RawMessage(c))
		}
		o.Stop()
	}
	var secrets []string
	for n := range 200 {
		other := own
		for other.URL == own.URL && other.Workspace == own.Workspace && other.Key == own.Key {
			if r.IntN(3) == 0 {
				other.URL = fmt.Sprintf("http://127.0.0.1:%d", 1+r.IntN(5))
			}
			other.Workspace, other.Key = fmt.Sprintf("w%d", r.IntN(12)), []string{"", "key-1", "key-12", "KEY-1", "key-1 "}[r.IntN(5)]
		}
		secret := secretOf(n, r)
		secrets = append(secrets, secret)
		where := []string{`"input":{"q":%q},"output":"ok"`, `"input":"run %s","output":"ok"`, `"input":{},"output":"it said %s today"`, `"input":{"a":[{"token":%q}]},"output":""`}[r.IntN(4)]
		leave(other, fmt.Sprintf(`{"tool_name":"foreign",`+where+`,"metadata":{"tool_call_id":"f%d"}}`, secret, n))
	}
	leave(own, `{"tool_name":"own","input":{},"output":"ok","metadata":{"tool_call_id":"control"}}`)
	if err := os.WriteFile(filepath.Join(dir, "planted.txt"), []byte("x "+secrets[7]), 0o600); err != nil {
		t.Fatal(err)
	}
	open := func() (found []string) {
		files, _ := filepath.Glob(filepath.Join(dir, "*"))
		for _, file := range files {
			text, _ := os.ReadFile(file)
			for _, s := range secrets {
				if strings.Contains(string(text), s) {
					found = append(found, filepath.Base(file)+": "+s)
				}
			}
		}
		return found
	}
	if found := open(); len(found) != 1 || !strings.HasPrefix(found[0], "planted.txt") {
		t.Errorf("secrets in the open: %q", found)
	}
	before := 0
	for _, j := range mcp.Journals(dir) {
		before += j.Calls
	}
	if before != 201 {
		t.Fatalf("%d calls are kept", before)
	}
	ours.mu.Lock()
	ours.away = false
	ours.mu.Unlock()
	leave(own)
	if got := ours.recorded(); len(got) != 1 || got[0]["tool_name"] != "own" {
		t.Errorf("delivered: %v", got)
	}
	after := 0
	for _, j := range mcp.Journals(dir) {
		after += j.Calls
	}
	if after != 200 {
		t.Errorf("%d calls of others are left", after)
	}
}
