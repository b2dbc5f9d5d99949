package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// baselineHere serves a baseline in this process and gives its address.
func baselineHere(t *testing.T, kind baselineKind, dir string) string {
	t.Helper()
	answer := filepath.Join(t.TempDir(), "answer")
	if err := os.WriteFile(answer, []byte(`{"success":true}`), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	read, write := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- serveBaseline(ctx, []string{string(kind), dir, answer}, write) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	line := make([]byte, 100)
	n, err := read.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	return readyAddress.FindStringSubmatch(string(line[:n]))[1]
}

func TestEachBaselineAnswersTheSameBytes(t *testing.T) {
	tpl := addTemplate("w", 2, 300)
	for _, kind := range []baselineKind{bareEcho, decodeEcho, rawLog, rewriteAll} {
		t.Run(string(kind), func(t *testing.T) {
			addr := baselineHere(t, kind, t.TempDir())
			for i := range 5 {
				a, _, err := once(addr, string(tpl.fill(nil, uint64(i%2), uint64(i))))
				if err != nil || a.status != 200 || string(a.body) != `{"success":true}` {
					t.Fatalf("got %d %s, %v", a.status, a.body, err)
				}
			}
			a, _, err := once(addr, post("/add_tool_call_result", `{"tool_call_results":"x"`))
			if want := map[bool]int{true: 200, false: 422}[kind == bareEcho]; err != nil || a.status != want {
				t.Errorf("of broken JSON: %d, %v", a.status, err)
			}
		})
	}
}

func TestAnUnknownBaselineIsRefused(t *testing.T) {
	for _, args := range [][]string{nil, {"echo"}, {"nonsense", t.TempDir(), os.DevNull}, {"echo", t.TempDir(), "missing"}} {
		if err := serveBaseline(t.Context(), args, io.Discard); err == nil {
			t.Errorf("%v was accepted", args)
		}
	}
}

func TestTheRewritingBaselineKeepsTheNewestCalls(t *testing.T) {
	dir := t.TempDir()
	take, end, err := openRewrite(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range keptCalls + 20 {
		r := &wireRequest{Workspace: "w", ToolName: "t", Calls: []wireCall{{Output: fmt.Sprint(i), Input: json.RawMessage(`"x"`)}}}
		if err := take(nil, r); err != nil {
			t.Fatal(err)
		}
	}
	if err := end(); err != nil {
		t.Fatal(err)
	}
	db, err := openDatabase(dir, `SELECT 1`)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var record []byte
	if err := db.QueryRow(`SELECT record FROM memory WHERE workspace = 'w' AND tool = 't'`).Scan(&record); err != nil {
		t.Fatal(err)
	}
	var calls []wireCall
	if err := json.Unmarshal(record, &calls); err != nil || len(calls) != keptCalls || calls[0].Output != "20" || calls[99].Output != "119" {
		t.Errorf("%d calls, %v", len(calls), err)
	}
}

func TestTheLogHoldsWhatWasTaken(t *testing.T) {
	dir := t.TempDir()
	take, end, err := openLog(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"one ", "two ", "three"} {
		if err := take([]byte(text), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := end(); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	head := make([]byte, 13)
	if _, err := io.ReadFull(f, head); err != nil || string(head) != "one two three" {
		t.Errorf("got %q, %v", head, err)
	}
}

func TestTheRawRowsAreARing(t *testing.T) {
	r, err := openRawRows(filepath.Join(t.TempDir(), "raw"), 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.fill(); err != nil {
		t.Fatal(err)
	}
	if err := r.add(1, 7); err != nil {
		t.Fatal(err)
	}
	var rows, newest int
	if err := r.db.QueryRow(`SELECT count(*), max(seq) FROM call WHERE tool = 1`).Scan(&rows, &newest); err != nil || rows != keptCalls || newest != keptCalls+6 {
		t.Errorf("%d rows up to %d, %v", rows, newest, err)
	}
	if rate, err := r.rate(t.Context(), 2, 5, 10*time.Millisecond); err != nil || rate <= 0 {
		t.Errorf("%v rows/s, %v", rate, err)
	}
	if err := r.close(); err != nil {
		t.Fatal(err)
	}
}

func TestWhoWaitsSharesACommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var groups []int
		hold := make(chan struct{})
		c := newCommitter(func(items []int) error {
			groups = append(groups, len(items))
			switch items[0] {
			case 0:
				<-hold
			case 99:
				return errors.New("full")
			}
			return nil
		})
		var wg sync.WaitGroup
		wg.Go(func() { _ = c.add(0) })
		synctest.Wait() // the first commit is under way
		for i := range 10 {
			wg.Go(func() {
				if err := c.add(i + 1); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait() // all wait
		close(hold)
		wg.Wait()
		if err := c.add(99); err == nil || !strings.Contains(err.Error(), "full") {
			t.Errorf("got %v", err)
		}
		c.close()
		if !slices.Equal(groups, []int{1, 10, 1}) {
			t.Errorf("commits of %v", groups)
		}
	})
}
