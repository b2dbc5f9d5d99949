package revisions

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"memoryd"
	"memoryd/internal/stats"
)

// Staleness is when a guideline counts as stale.
type Staleness struct {
	// FirstAfter is the number of judged calls that a tool without a guideline needs. After
	// is the number of new calls that always makes one stale.
	FirstAfter int `yaml:"first_after" must:"at least 1"`
	After      int `yaml:"after"`
}

const (
	// maxAge is the age at which a guideline with new calls is stale.
	maxAge = 30 * 24 * time.Hour
	// falseAlarms limits the probability that a guideline is ever called stale for a change
	// although nothing changed.
	falseAlarms = 0.05
)

// Validate returns the first invalid setting.
func (c Staleness) Validate() error {
	if c.After < checkEvery {
		return fmt.Errorf("after: must be at least %d, got %d", checkEvery, c.After)
	}
	return nil
}

// Change is what made a guideline stale.
type Change string

// The changes that make a guideline stale.
const (
	NoGuideline   Change = "first"  // there is none yet, and there are enough calls
	NewCalls      Change = "count"  // enough new calls
	SchemaChanged Change = "schema" // the parameters changed
	TooOld        Change = "age"    // it is old, and there are new calls
	// OutcomesChanged is that the share of calls that scored 1, or of a kind of error, changed.
	OutcomesChanged Change = "outcomes"
)

// Reason is one cause of staleness.
type Reason struct {
	Change Change
	// Text is the reason as a sentence. P is the p value of a test; 0 if there was none.
	Text string
	P    float64
}

// StaleReasons returns why the guideline of that time is stale; an empty result means that it
// is not. before are the calls that it was written from, since those after it, both oldest
// first; without a guideline the time is zero, and all calls are after it.
func StaleReasons(cfg Staleness, written time.Time, before, since []memoryd.Call, now time.Time) []Reason {
	if written.IsZero() {
		judged, _ := outcomes(since)
		if judged >= cfg.FirstAfter {
			return []Reason{{Change: NoGuideline, Text: fmt.Sprintf("there is none, and %d judged calls", judged)}}
		}
		return nil
	}
	var reasons []Reason
	if old, now := schemaOf(before), schemaOf(since); old != "" && now != "" && old != now {
		reasons = append(reasons, Reason{Change: SchemaChanged, Text: "the tool's parameters changed"})
	}
	if len(since) == 0 {
		return reasons
	}
	if len(since) >= cfg.After {
		reasons = append(reasons, Reason{Change: NewCalls, Text: fmt.Sprintf("%d calls since it was written", len(since))})
	}
	if age := now.Sub(written); age > maxAge {
		reasons = append(reasons, Reason{
			Change: TooOld,
			Text:   fmt.Sprintf("it is %d days old, and %d calls came since", int(age.Hours()/24), len(since)),
		})
	}
	return append(reasons, changes(cfg, before, since)...)
}

// Stale returns why the tool's guideline is stale; an empty result means that it is not.
func (m *Manager) Stale(ctx context.Context, ref memoryd.ToolRef) ([]Reason, error) {
	tool, err := m.Store.Tool(ctx, ref)
	if err != nil || !changed(tool) {
		return nil, err
	}
	calls, err := m.Store.History(ctx, ref, 0)
	if err != nil {
		return nil, err
	}
	return m.reasons(tool.Guideline, calls), nil
}

func (m *Manager) reasons(g memoryd.Guideline, calls []memoryd.Call) []Reason {
	at := 0
	for at < len(calls) && calls[at].Seq <= g.ThroughSeq {
		at++
	}
	return StaleReasons(m.Config.Staleness, g.Written, calls[:at], calls[at:], m.Now())
}

// schemaOf is the tool's parameters as the newest call that carries metadata.tool_schema
// describes them; "" when none does.
func schemaOf(calls []memoryd.Call) string {
	for _, call := range slices.Backward(calls) {
		var m struct {
			Schema json.RawMessage `json:"tool_schema"`
		}
		if bytes.Contains(call.Metadata, []byte("tool_schema")) && json.Unmarshal(call.Metadata, &m) == nil && len(m.Schema) > 0 {
			return string(memoryd.InputText(m.Schema))
		}
	}
	return ""
}

// A test is made after checkEvery new calls, over all of them and over the newest
// checkRecent. leastObserved is how many calls both sides need, outcomeKinds how
// many kinds of outcome, the most frequent ones, are tested.
const (
	checkEvery    = 5
	checkRecent   = 20
	leastObserved = 5
	outcomeKinds  = 3
)

// changes tests the calls since against those before at the newest checkpoint: whether the share of
// an outcome has changed.
func changes(cfg Staleness, before, since []memoryd.Call) []Reason {
	since = since[:min(len(since), cfg.After)/checkEvery*checkEvery]
	surest := Reason{Change: OutcomesChanged, P: 1}
	was, old := outcomes(before)
	for _, calls := range [][]memoryd.Call{since, since[max(0, len(since)-checkRecent):]} {
		are, now := outcomes(calls)
		if min(was, are) < leastObserved {
			continue
		}
		for _, kind := range frequent(old, now) {
			p := stats.FisherExact(stats.Table{With: are, WithBad: now[kind], Without: was, WithoutBad: old[kind]})
			if p < surest.P {
				surest.P, surest.Text = p, fmt.Sprintf("%d of %d calls %s, before %d of %d", now[kind], are, kind, old[kind], was)
			}
		}
	}
	surest.P *= 2 * outcomeKinds * (4 + math.Log2(float64(cfg.After)/checkEvery)) // so many tests
	if surest.P > falseAlarms {
		return nil
	}
	return []Reason{surest}
}

// outcomes counts the judged calls, and those that came out in the same way: well, or with which kind
// of error.
func outcomes(calls []memoryd.Call) (judged int, of map[string]int) {
	of = map[string]int{}
	for i := range calls {
		e := &calls[i].Evaluation
		if e.State != memoryd.Judged {
			continue
		}
		judged++
		if e.Good() {
			of["scored 1"]++
		} else {
			of["had the error "+e.Rule]++
		}
	}
	return judged, of
}

// frequent lists the outcomes that occur most in both together.
func frequent(old, now map[string]int) []string {
	all := maps.Clone(old)
	for kind, n := range now {
		all[kind] += n
	}
	kinds := slices.Collect(maps.Keys(all))
	slices.SortFunc(kinds, func(a, b string) int { return cmp.Or(cmp.Compare(all[b], all[a]), cmp.Compare(a, b)) })
	return kinds[:min(len(kinds), outcomeKinds)]
}
