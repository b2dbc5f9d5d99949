package evaluate

import (
	"maps"
	"strings"
	"sync"

	"memoryd"
)

// Agreement counts how often a model's scores equal what the rules and people said about the same
// calls, since the start. It is safe for concurrent use.
type Agreement struct {
	mu               sync.Mutex
	agreed, differed map[string]int64
}

// NewAgreement returns an Agreement that has counted nothing.
func NewAgreement() *Agreement {
	return &Agreement{agreed: map[string]int64{"rules": 0, "people": 0}, differed: map[string]int64{"rules": 0, "people": 0}}
}

// Judged records the judge's score before any limit, and the rules' score.
func (a *Agreement) Judged(said, ruled memoryd.Evaluation) {
	if strings.HasPrefix(said.JudgedBy, "llm:") {
		a.compare("rules", said, ruled)
	}
}

// Overruled records that a person who saw an evaluation replaced or confirmed it.
func (a *Agreement) Overruled(before, after memoryd.Evaluation) {
	if !strings.HasPrefix(before.JudgedBy, memoryd.PersonPrefix) {
		a.compare("people", before, after)
	}
}

func (a *Agreement) compare(with string, one, other memoryd.Evaluation) {
	if one.State != memoryd.Judged || other.State != memoryd.Judged {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if one.Score == other.Score {
		a.agreed[with]++
		return
	}
	a.differed[with]++
}

// Counts returns the comparisons that agreed and that differed, by what the judge was compared
// with.
func (a *Agreement) Counts() (agreed, differed map[string]int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.agreed), maps.Clone(a.differed)
}
