package evaluate

import (
	"maps"
	"sync"

	"memoryd"
)

// Stats counts what an evaluator did since it was made.
type Stats struct {
	// RuleVerdicts counts calls that the rules decided, by the rule's name, and
	// CacheHits those that took an earlier evaluation, Joined among them those that
	// waited for an equal call in hand.
	RuleVerdicts map[string]int64
	CacheHits    int64
	Joined       int64
	// Requests counts requests to the model that ended, re-asked ones included,
	// and BatchRequests those among them for several calls. ModelVerdicts counts
	// calls that the model decided, Bounded those whose score the rules lowered.
	Requests      int64
	BatchRequests int64
	ModelVerdicts int64
	Bounded       int64
	// PromptTokens and CompletionTokens are as the model's server counted them.
	PromptTokens     int64
	CompletionTokens int64
	// Repaired counts answers that had to be repaired, by the kind of repair,
	// and Reasked requests that were repeated because the answer was of no use.
	Repaired map[string]int64
	Reasked  int64
	// Failures counts failed tries by reason, GivenUp the calls that ended as
	// failed, and LedgerErrors the times when the store could not be used.
	Failures     map[string]int64
	GivenUp      int64
	LedgerErrors int64
	// Queued is how many calls wait now, InHand these and those being judged.
	Queued, InHand int
}

// counters is the running count. The zero value is ready.
type counters struct {
	mu sync.Mutex
	s  Stats
}

func (t *counters) count(change func(*Stats)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.s.RuleVerdicts == nil {
		t.s.RuleVerdicts, t.s.Repaired, t.s.Failures = map[string]int64{}, map[string]int64{}, map[string]int64{}
	}
	change(&t.s)
}

func (t *counters) snapshot() Stats {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.s
	s.RuleVerdicts, s.Repaired, s.Failures = maps.Clone(s.RuleVerdicts), maps.Clone(s.Repaired), maps.Clone(s.Failures)
	return s
}

// request counts a request that ended, with what the server reported; negative
// counts are nonsense and add nothing.
func (t *counters) request(batch bool, u memoryd.Usage) {
	t.count(func(s *Stats) {
		s.Requests++
		if batch {
			s.BatchRequests++
		}
		s.PromptTokens += int64(min(max(0, u.PromptTokens), maxTokens))
		s.CompletionTokens += int64(min(max(0, u.CompletionTokens), maxTokens))
	})
}

func (t *counters) repaired(used repairs) {
	if len(used) == 0 {
		return
	}
	t.count(func(s *Stats) {
		for _, r := range used {
			s.Repaired[r]++
		}
	})
}

// Stats gives the counters.
func (d *Evaluator) Stats() Stats {
	s := d.counters.snapshot()
	s.Queued, s.InHand = d.queue.depth()
	return s
}
