package main

import (
	"bytes"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Of 1,000 hooks that are called while the server is stopped, silent, slow or broken none
// makes its host wait longer than a hook may, and none says anything: a host would take
// that for a refusal.
func TestNoHookDelaysOrDeniesACallWhateverTheServerDoes(t *testing.T) {
	t.Parallel()
	rounds := 1000
	if testing.Short() {
		rounds = 50
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and never answers
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	ended := make(chan struct{})
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Header.Get("Authorization") {
		case "Bearer slow":
			w.WriteHeader(http.StatusOK)
			_, _ = w.Write([]byte(`{"hookSpecificOutput":`))
			w.(http.Flusher).Flush()
			select {
			case <-ended:
			case <-r.Context().Done():
			}
		case "Bearer full":
			http.Error(w, "disk full", http.StatusInternalServerError)
		case "Bearer refuses":
			http.Error(w, `{"title":"no"}`, http.StatusForbidden)
		case "Bearer breaks":
			panic(http.ErrAbortHandler)
		}
	}))
	defer broken.Close()
	defer close(ended)
	servers := []reach{
		{URL: "http://127.0.0.1:1"},
		{URL: "http://" + silent.Addr().String()},
		{URL: broken.URL, Key: "slow"},
		{URL: broken.URL, Key: "full"},
		{URL: broken.URL, Key: "refuses"},
		{URL: broken.URL, Key: "breaks"},
	}
	bodies := []string{
		`{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"t","tool_input":{}}`,
		`{"hook_event_name":"PostToolUse","session_id":"s","tool_name":"t","tool_input":{},"tool_response":"x","tool_use_id":"toolu_1"}`,
		`{"hook_event_name":"PreCompact","session_id":"s"}`, `{"hook_event_name":`, ``,
	}
	var all sync.WaitGroup
	room := make(chan struct{}, 250) // at once
	for i := range rounds {
		room <- struct{}{}
		all.Go(func() {
			defer func() { <-room }()
			var out, errs bytes.Buffer
			cmd := hookCmd{remote: remote{reach: servers[i%len(servers)]}, Host: "claude-code"}
			began := time.Now()
			err := cmd.Run(t.Context(), streams{in: strings.NewReader(bodies[i/len(servers)%len(bodies)]), out: &out, err: &errs})
			// What is added is for a machine that has more to do: a server that is silent is silent for ever.
			if took := time.Since(began); err != nil || out.Len() > 0 || took > hookPatience+20*time.Second {
				t.Errorf("round %d, %s %s: %v after %v, %q", i, cmd.URL, cmd.Key, err, took, out.String())
			}
		})
	}
	all.Wait()
}

// W23: a server that hangs costs a hook half a second once, and nothing for a minute.
func TestAServerThatHangsCostsAHookOnce(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	var asked atomic.Int64
	hang := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	}))
	defer s.Close()
	defer close(hang)
	hook := func() time.Duration {
		var out, errs bytes.Buffer
		cmd := hookCmd{remote: remote{reach: reach{URL: s.URL}}, Host: "claude-code"}
		began := time.Now()
		if err := cmd.Run(t.Context(), streams{in: strings.NewReader(`{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"t","tool_input":{}}`), out: &out, err: &errs}); err != nil || out.Len() > 0 {
			t.Fatal(err, out.String())
		}
		return time.Since(began)
	}
	if took := hook(); asked.Load() == 0 || took < signOfLife || took > hookPatience {
		t.Errorf("the first hook took %v, and asked %d times", took, asked.Load())
	}
	before := asked.Load()
	for range 20 {
		hook()
	}
	if asked.Load() != before {
		t.Errorf("%d hooks asked again", asked.Load()-before)
	}
}
