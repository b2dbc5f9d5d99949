package main

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"memoryd/test/llmtest"
)

// standIn is an OpenAI-compatible model with the limits of a real one. What is
// beyond them it refuses with 429.
type standIn struct {
	*llmtest.Server
	*llmtest.Listener
	limits modelLimits
	served func(prompt string) // told of each verdict when it is due; nil: nobody

	mu     sync.Mutex
	counts modelCounts
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

// burst is what may be used at once of so much a second.
func (l modelLimits) burst(perSecond float64) int {
	return int(math.Max(1, perSecond*l.credit.Seconds()))
}

// startModel starts a stand-in on a free port.
func startModel(limits modelLimits, served func(prompt string)) (m *standIn, err error) {
	m = &standIn{limits: limits, served: served}
	m.Server = llmtest.New(m.answer).Limit(llmtest.Limits{
		RequestsPerMinute: int(limits.requestsPerSecond * 60), RequestBurst: limits.burst(limits.requestsPerSecond),
		TokensPerMinute: int(limits.tokensPerSecond * 60), TokenBurst: limits.burst(limits.tokensPerSecond),
		Concurrency: limits.concurrency, Headers: limits.headers, RetryAfter: llmtest.Millis,
	})
	m.Listener, err = llmtest.Listen("127.0.0.1:0", m.Server)
	return m, err
}

// spreadOfTimes is the sigma of the lognormal times: a 95th percentile of about
// twice the median.
const spreadOfTimes = 0.4

// charsPerToken is the usual estimate for English text.
const charsPerToken = 4

// answer is a verdict after a while.
func (m *standIn) answer(r llmtest.Request) llmtest.Reply {
	took := time.Duration(float64(m.limits.mean) * math.Exp(rand.NormFloat64()*spreadOfTimes-spreadOfTimes*spreadOfTimes/2))
	const answerTokens = 40
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	if m.counts.first.IsZero() {
		m.counts.first = now
	}
	if ends := now.Add(took); ends.After(m.counts.last) {
		m.counts.last = ends
	}
	m.counts.tokens += float64(r.PromptTokens + answerTokens)
	m.counts.waits += took
	m.counts.longest = max(m.counts.longest, took)
	if m.served != nil {
		time.AfterFunc(took, func() { m.served(string(r.Body)) })
	}
	reply := llmtest.Answer(`{"evaluation": "The output answers the query.", "failed_checks": [], "score": 1.0, "summary": "Results were returned."}`).After(took)
	reply.AnswerTokens = answerTokens
	return reply
}

func (m *standIn) look() modelCounts {
	seen := m.Counts()
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.counts
	c.served, c.refused = seen.Requests-seen.Refused-seen.InFlight, seen.Refused
	return c
}

// sleep waits, or gives the cause of ctx's end.
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
		need = math.Max(need, (float64(c.served)-math.Max(1, l.requestsPerSecond*l.credit.Seconds()))/l.requestsPerSecond)
	}
	if l.tokensPerSecond > 0 {
		need = math.Max(need, (c.tokens-math.Max(1, l.tokensPerSecond*l.credit.Seconds()))/l.tokensPerSecond)
	}
	if l.concurrency > 0 {
		need = math.Max(need, c.waits.Seconds()/float64(l.concurrency)-l.mean.Seconds())
	}
	return max(time.Duration(need*float64(time.Second))+l.mean, c.longest)
}
