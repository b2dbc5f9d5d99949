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
	FirstAfter int `yaml:"first_after"`
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
	switch {
	case c.FirstAfter < 1:
		return fmt.Errorf("first_after: must be at least 1, got %d", c.FirstAfter)
	case c.After < checkEvery:
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
	ScoreChanged  Change = "score"  // the share of calls that scored 1 changed
	ErrorsChanged Change = "errors" // a kind of error became more or less frequent
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
		judged, _ := judgedThat(since, isJudged)
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
// checkRecent. leastObserved is how many calls both sides need, errorKinds how
// many kinds of error, the most frequent ones, are tested.
const (
	checkEvery    = 5
	checkRecent   = 20
	leastObserved = 5
	errorKinds    = 3
	tests         = 4 // score and errors, over all and the newest
)

// changes tests the calls since against those before at the newest checkpoint.
func changes(cfg Staleness, before, since []memoryd.Call) []Reason {
	since = since[:min(len(since), cfg.After)/checkEvery*checkEvery]
	if len(before) < leastObserved || len(since) < leastObserved {
		return nil
	}
	level := falseAlarms / (tests * (4 + math.Log2(float64(cfg.After)/checkEvery)))
	found := map[Change]Reason{}
	for _, now := range [][]memoryd.Call{since, since[max(0, len(since)-checkRecent):]} {
		test := func(change Change, of float64, what string, is func(*memoryd.Call) bool) {
			p, text := shareChange(what, before, now, is)
			old, known := found[change]
			if p = min(1, p*of); p <= level && (!known || p < old.P) {
				found[change] = Reason{change, text, p}
			}
		}
		test(ScoreChanged, 1, "scored 1", func(c *memoryd.Call) bool { return c.Evaluation.Good() })
		for _, kind := range frequentErrors(before, now) {
			test(ErrorsChanged, errorKinds, "had the error "+kind, func(c *memoryd.Call) bool { return errorOf(c) == kind })
		}
	}
	var reasons []Reason
	for _, k := range []Change{ScoreChanged, ErrorsChanged} {
		if r, ok := found[k]; ok {
			reasons = append(reasons, r)
		}
	}
	return reasons
}

func isJudged(c *memoryd.Call) bool { return c.Evaluation.State == memoryd.Judged }

// errorOf names the kind of error of a call; "" if it succeeded or its kind is unknown.
func errorOf(c *memoryd.Call) string {
	if c.Evaluation.Bad() || c.Evaluation.Partial() {
		return c.Evaluation.Rule
	}
	return ""
}

// shareChange tests a share of the judged calls with Fisher's exact test, and words it.
func shareChange(what string, before, now []memoryd.Call, is func(*memoryd.Call) bool) (p float64, text string) {
	var t stats.Table
	t.With, t.WithBad = judgedThat(now, is)
	t.Without, t.WithoutBad = judgedThat(before, is)
	if t.With < leastObserved || t.Without < leastObserved {
		return 1, ""
	}
	return stats.FisherExact(t), fmt.Sprintf("%d of %d calls %s, before %d of %d", t.WithBad, t.With, what, t.WithoutBad, t.Without)
}

// judgedThat counts the judged calls, and those among them for which is holds.
func judgedThat(calls []memoryd.Call, is func(*memoryd.Call) bool) (n, k int) {
	for i := range calls {
		if c := &calls[i]; isJudged(c) {
			n++
			if is(c) {
				k++
			}
		}
	}
	return n, k
}

// frequentErrors lists the kinds of error that occur most in both together.
func frequentErrors(before, now []memoryd.Call) []string {
	count := map[string]int{}
	for _, calls := range [][]memoryd.Call{before, now} {
		for i := range calls {
			count[errorOf(&calls[i])]++
		}
	}
	delete(count, "")
	kinds := slices.Collect(maps.Keys(count))
	slices.SortFunc(kinds, func(a, b string) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b)) })
	return kinds[:min(len(kinds), errorKinds)]
}
