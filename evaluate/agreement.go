package evaluate

import (
	"log/slog"
	"strings"
	"sync"

	"memoryd"
	"memoryd/internal/stats"
)

// Agreement compares a model's scores with what the rules and people said about the same
// calls, since the start. It warns if the newest scores agree less than those before, for
// example because a provider replaced the model or a prompt stopped working. It is safe for
// concurrent use.
type Agreement struct {
	log *slog.Logger

	mu   sync.Mutex
	with map[string]*compared
}

// compared is what another judge said of the model's calls.
type compared struct {
	newest        []bool
	n, agreed     int64
	before, alike int // of what left the newest, and how many of them agreed
	warned        bool
}

// newestCompared are looked at each time that so many came. With intervals of 95 % that do
// not overlap, a steady judge raises about one false alarm in two hundred looks.
const newestCompared = 200

// NewAgreement returns an empty Agreement.
func NewAgreement(log *slog.Logger) *Agreement {
	return &Agreement{log: log, with: map[string]*compared{"rules": {}, "people": {}}}
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
	c, agreed := a.with[with], one.Score == other.Score
	c.n++
	c.newest = append(c.newest, agreed)
	if agreed {
		c.agreed++
	}
	if len(c.newest) < newestCompared {
		return
	}
	now := 0
	for _, same := range c.newest {
		if same {
			now++
		}
	}
	fell := c.before > 0 && stats.Wilson(now, newestCompared)[1] < stats.Wilson(c.alike, c.before)[0]
	if fell && !c.warned {
		a.log.Warn("the judge agrees less than before", "with", with, "before", float64(c.alike)/float64(c.before), "now",
			float64(now)/newestCompared)
	}
	if c.warned = fell; !fell { // a judge that went bad is not measured by itself
		c.before, c.alike = c.before+newestCompared, c.alike+now
	}
	c.newest = c.newest[:0]
}

// Compared counts comparisons, by what the judge was compared with.
type Compared struct {
	Agreed   map[string]int64 `metric:"judge_agreed_total" label:"with" help:"Verdicts of the judge that were compared with rules or people, and had the same score."`
	Differed map[string]int64 `metric:"judge_differed_total" label:"with" help:"Verdicts of the judge that were compared with rules or people, and had another score."`
}

// Counts returns the counts since the server's start.
func (a *Agreement) Counts() Compared {
	a.mu.Lock()
	defer a.mu.Unlock()
	counts := Compared{map[string]int64{}, map[string]int64{}}
	for with, c := range a.with {
		counts.Agreed[with], counts.Differed[with] = c.agreed, c.n-c.agreed
	}
	return counts
}
