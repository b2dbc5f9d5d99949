package main

import (
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestTheBoundIsTheTightestLimit(t *testing.T) {
	for name, tc := range map[string]struct {
		l    modelLimits
		c    modelCounts
		want time.Duration
	}{
		"requests":    {modelLimits{requestsPerSecond: 20, credit: 500 * time.Millisecond, mean: time.Second}, modelCounts{served: 610}, 31 * time.Second},
		"tokens":      {modelLimits{tokensPerSecond: 1000, credit: time.Second, mean: time.Second}, modelCounts{served: 10, tokens: 11_000}, 11 * time.Second},
		"concurrency": {modelLimits{concurrency: 8, mean: time.Second}, modelCounts{served: 80, waits: 80 * time.Second}, 10 * time.Second},
		"one long":    {modelLimits{mean: time.Second}, modelCounts{served: 1, longest: 7 * time.Second}, 7 * time.Second},
	} {
		if got := tc.l.bound(tc.c); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

func TestTheStandInKeepsItsLimits(t *testing.T) {
	served := make(chan string, 3)
	m, err := startModel(modelLimits{requestsPerSecond: 0.1, credit: 20 * time.Second, headers: true, mean: time.Microsecond},
		func(p string) { served <- p })
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	var statuses []int
	for range 3 {
		resp, err := http.Post(m.URL+"/chat/completions", "application/json", strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"hello"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		if resp.Header.Get("x-ratelimit-limit-requests") == "" {
			t.Error("the limits are not told")
		}
		if resp.StatusCode == http.StatusTooManyRequests && resp.Header.Get("Retry-After-Ms") == "" {
			t.Error("a refusal without advice")
		}
		statuses = append(statuses, resp.StatusCode)
		resp.Body.Close()
	}
	for range 2 {
		if p := <-served; !strings.Contains(p, "hello") {
			t.Errorf("told of %s", p)
		}
	}
	for end := time.Now().Add(10 * time.Second); m.look().served < 2 && time.Now().Before(end); { // the answer is sent before it is counted
		runtime.Gosched()
	}
	if c := m.look(); statuses[0] != 200 || statuses[1] != 200 || statuses[2] != 429 || c.served != 2 || c.refused != 1 || c.tokens < 80 {
		t.Errorf("statuses %v, %+v", statuses, c)
	}
}
