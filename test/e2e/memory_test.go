package e2e

import (
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"memoryd/test/crash/daemon"
)

// resident is the memory that the server holds now, in MiB.
func resident(t *testing.T, s *daemon.Process) float64 {
	t.Helper()
	m := regexp.MustCompile(`(?m)^process_resident_memory_bytes (\S+)$`).FindSubmatch(s.Get("/metrics").Body)
	if m == nil {
		t.Fatal("/metrics does not tell the resident memory")
	}
	bytes, err := strconv.ParseFloat(string(m[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	return bytes / (1 << 20)
}

// collectOften makes the collector run so often that the resident memory is little more than
// what the server holds. As it is set for a server, memory that waits to be collected decides,
// and that depends on how busy the machine is.
var collectOften = []string{"GOGC=50"}

// TestReadsOfSingleCallsDoNotFillTheMemory has 32 clients read single calls of a
// tool that keeps 100 calls of a megabyte. One call is one row, and only so many
// answers are made at a time: once each read held the whole history, and 160 of
// them drove the server from 143 to 712 MiB.
func TestReadsOfSingleCallsDoNotFillTheMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 100 MB")
	}
	const calls, size, clients, rounds, most = 100, 1_000_000, 32, 5, 100.0
	s := start(t, t.TempDir(), collectOften)
	text := strings.Repeat("all work and no play makes a dull log line\n", size/43)
	for n := range calls {
		a := s.Post("/add_tool_call_result", map[string]any{
			"tool_name": "big", "async": true, "include_history": false, "tool_call_results": []any{
				map[string]any{"input": fmt.Sprint(n), "output": fmt.Sprintf("%d\n%s", n, text)},
			},
		})
		if !a.Success {
			t.Fatalf("call %d: %s", n, a.Answer)
		}
	}
	ids := regexp.MustCompile(`"id":"([0-9a-f]{32})"`)
	tool := "/v1/workspaces/default/tools/big/calls"
	var known []string
	for cursor := ""; len(known) < calls; {
		page := string(s.Get(tool + "?limit=10&cursor=" + url.QueryEscape(cursor)).Body)
		for _, m := range ids.FindAllStringSubmatch(page, -1) {
			known = append(known, m[1])
		}
		next := regexp.MustCompile(`"next_cursor":"([^"]+)"`).FindStringSubmatch(page)
		if next == nil {
			break
		}
		cursor = next[1]
	}
	if len(known) != calls {
		t.Fatalf("%d of %d calls are listed", len(known), calls)
	}
	before, highest := resident(t, s), 0.0
	var all sync.WaitGroup
	for c := range clients {
		all.Go(func() {
			for n := range rounds {
				r := s.Get(tool + "/" + known[(c*rounds+n)%calls])
				for r.Status == 429 { // the machine is busy: whoever waited too long is told to come again
					time.Sleep(time.Second)
					r = s.Get(tool + "/" + known[(c*rounds+n)%calls])
				}
				if r.Status != 200 || len(r.Body) < size {
					t.Errorf("a read was answered %d with %d bytes", r.Status, len(r.Body))
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	for watching := true; watching; {
		select {
		case <-done:
			watching = false
		default:
		}
		highest = max(highest, resident(t, s))
	}
	t.Logf("resident memory %.0f MiB before, %.0f MiB at most during %d reads", before, highest, clients*rounds)
	if highest-before > most {
		t.Errorf("reads made the memory grow from %.0f to %.0f MiB, want less than %.0f more", before, highest, most)
	}
}
