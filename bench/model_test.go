package main

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestABucketGivesItsRate(t *testing.T) {
	now := time.Unix(1000, 0)
	b := newBucket(10, 500*time.Millisecond, now)
	for i := range 5 {
		if _, ok := b.take(now, 1); !ok {
			t.Fatalf("the credit ended after %d", i)
		}
	}
	wait, ok := b.take(now, 1)
	if ok || wait != 100*time.Millisecond {
		t.Errorf("got %v, %v", wait, ok)
	}
	if _, ok := b.take(now.Add(wait), 1); !ok {
		t.Error("refused after the wait that it named")
	}
	if _, ok := b.take(now.Add(time.Hour), 5.5); ok {
		t.Error("it gathered more than its credit")
	}
	if free := newBucket(0, 0, now); free.rate == 0 {
		if _, ok := free.take(now, 1e9); !ok {
			t.Error("no limit refused")
		}
	}
}

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
	var served []string
	m, err := startModel(modelLimits{requestsPerSecond: 0.001, credit: 2000 * time.Second, headers: true, mean: time.Microsecond},
		func(p string) { served = append(served, p) })
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	var statuses []int
	for range 3 {
		resp, err := http.Post("http://"+m.addr+"/v1/chat/completions", "application/json", strings.NewReader(`{"messages":[]}`))
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
	if c := m.look(); statuses[0] != 200 || statuses[1] != 200 || statuses[2] != 429 || c.served != 2 || c.refused != 1 || len(served) != 2 || c.tokens < 80 {
		t.Errorf("statuses %v, %+v", statuses, c)
	}
	resp, err := http.Get("http://" + m.addr + "/v1/models")
	if err != nil || resp.StatusCode != http.StatusNotFound {
		t.Errorf("got %v, %v", resp, err)
	}
	resp.Body.Close()
}
