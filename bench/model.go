package main

import (
	"context"
	"encoding/json"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// standIn is an OpenAI-compatible model with the limits of a real one: requests
// and tokens per second as token buckets, requests at once as a count. What is
// beyond them it refuses with 429, and a refused request uses quota, as OpenAI's
// rate-limit guide says.
type standIn struct {
	limits modelLimits
	server *http.Server
	addr   string

	mu       sync.Mutex
	requests bucket
	tokens   bucket
	inFlight int
	counts   modelCounts
	// served is told of each verdict when it leaves.
	served func(prompt string)
}

// modelLimits are the limits of a stand-in; 0 means none.
type modelLimits struct {
	requestsPerSecond, tokensPerSecond float64
	// credit is for how long either may be used at once.
	credit      time.Duration
	concurrency int
	// headers says whether the answers tell the limits.
	headers bool
	// mean is the mean time of an answer; times are lognormal around it.
	mean time.Duration
}

type modelCounts struct {
	served, refused int
	tokens          float64
	first, last     time.Time // arrival of the first request, end of the last answer
	waits           time.Duration
	longest         time.Duration
}

// bucket is a token bucket; rate 0 has no limit.
type bucket struct {
	rate, burst, level float64
	at                 time.Time
}

func newBucket(rate float64, credit time.Duration, now time.Time) bucket {
	burst := math.Max(1, rate*credit.Seconds())
	return bucket{rate: rate, burst: burst, level: burst, at: now}
}

// take takes n if they are there, and says how long to wait if not.
func (b *bucket) take(now time.Time, n float64) (time.Duration, bool) {
	if b.rate == 0 {
		return 0, true
	}
	b.level = math.Min(b.burst, b.level+now.Sub(b.at).Seconds()*b.rate)
	b.at = now
	if b.level >= n {
		b.level -= n
		return 0, true
	}
	return time.Duration((n - b.level) / b.rate * float64(time.Second)), false
}

// startModel starts a stand-in on a free port.
func startModel(limits modelLimits, served func(prompt string)) (*standIn, error) {
	now := time.Now()
	m := &standIn{
		limits: limits, served: served,
		requests: newBucket(limits.requestsPerSecond, limits.credit, now),
		tokens:   newBucket(limits.tokensPerSecond, limits.credit, now),
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	m.addr = listener.Addr().String()
	m.server = &http.Server{Handler: http.HandlerFunc(m.serve), ReadHeaderTimeout: time.Minute}
	go func() { _ = m.server.Serve(listener) }() // ends with close
	return m, nil
}

func (m *standIn) close() error { return m.server.Close() }

func (m *standIn) look() modelCounts {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.counts
}

// charsPerToken is the usual estimate for English text.
const charsPerToken = 4

// answerTokens is what an answer of the stand-in counts.
const answerTokens = 40

// verdict is what it always answers.
const verdict = `{"evaluation": "The output answers the query.", "failed_checks": [], "score": 1.0, "summary": "Results were returned."}`

func (m *standIn) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil || !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		http.NotFound(w, r)
		return
	}
	used := float64(len(body)/charsPerToken + answerTokens)
	wait, ok := m.admit(w.Header(), used)
	w.Header().Set("Content-Type", "application/json")
	if !ok {
		w.Header().Set("Retry-After-Ms", strconv.Itoa(int(wait.Milliseconds())+1))
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, `{"error":{"message":"Rate limit reached","type":"requests","code":"rate_limit_exceeded"}}`)
		return
	}
	took := m.answerTime()
	if err := sleep(r.Context(), took); err == nil {
		_ = json.NewEncoder(w).Encode(completion(len(body) / charsPerToken))
	}
	m.end(string(body), used, took)
}

// completion is an answer of the chat completions endpoint.
func completion(promptTokens int) map[string]any {
	return map[string]any{
		"id": "bench", "object": "chat.completion", "model": "stand-in",
		"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": verdict}}},
		"usage":   map[string]any{"prompt_tokens": promptTokens, "completion_tokens": answerTokens, "total_tokens": promptTokens + answerTokens},
	}
}

func (m *standIn) admit(h http.Header, used float64) (time.Duration, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	if m.counts.first.IsZero() {
		m.counts.first = now
	}
	wait, ok := m.requests.take(now, 1)
	if ok {
		wait, ok = m.tokens.take(now, used)
	}
	if ok && m.limits.concurrency > 0 && m.inFlight >= m.limits.concurrency {
		wait, ok = m.limits.mean, false
	}
	if m.limits.headers {
		m.tell(h)
	}
	if !ok {
		m.counts.refused++
		return wait, false
	}
	m.inFlight++
	return 0, true
}

// tell writes the headers that OpenAI's servers send; their limits are for a
// minute.
func (m *standIn) tell(h http.Header) {
	for name, b := range map[string]bucket{"requests": m.requests, "tokens": m.tokens} {
		if b.rate > 0 {
			h.Set("x-ratelimit-limit-"+name, strconv.Itoa(int(b.rate*60)))
			h.Set("x-ratelimit-remaining-"+name, strconv.Itoa(int(b.level)))
			h.Set("x-ratelimit-reset-"+name, time.Duration((b.burst-b.level)/b.rate*float64(time.Second)).String())
		}
	}
}

func (m *standIn) end(prompt string, used float64, took time.Duration) {
	m.mu.Lock()
	m.inFlight--
	m.counts.served++
	m.counts.tokens += used
	m.counts.waits += took
	m.counts.longest = max(m.counts.longest, took)
	m.counts.last = time.Now()
	m.mu.Unlock()
	if m.served != nil {
		m.served(prompt)
	}
}

// spreadOfTimes is the sigma of the lognormal times: a 95th percentile of about
// twice the median.
const spreadOfTimes = 0.4

func (m *standIn) answerTime() time.Duration {
	return time.Duration(float64(m.limits.mean) * math.Exp(rand.NormFloat64()*spreadOfTimes-spreadOfTimes*spreadOfTimes/2))
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// bound is the shortest time in which limits allow what was served: the largest
// of what requests, tokens and concurrency need, and the last answer.
func (l modelLimits) bound(c modelCounts) time.Duration {
	need := 0.0
	if l.requestsPerSecond > 0 {
		b := newBucket(l.requestsPerSecond, l.credit, time.Time{})
		need = math.Max(need, (float64(c.served)-b.burst)/b.rate)
	}
	if l.tokensPerSecond > 0 {
		b := newBucket(l.tokensPerSecond, l.credit, time.Time{})
		need = math.Max(need, (c.tokens-b.burst)/b.rate)
	}
	if l.concurrency > 0 {
		need = math.Max(need, c.waits.Seconds()/float64(l.concurrency)-l.mean.Seconds())
	}
	return max(time.Duration(need*float64(time.Second))+l.mean, c.longest)
}
