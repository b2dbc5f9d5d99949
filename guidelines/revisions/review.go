package revisions

import (
	"context"
	"fmt"
	"math"
	"slices"

	"memoryd"
	"memoryd/guidelines"
	"memoryd/guidelines/effect"
)

// Outcomes counts, by version, the judged calls in the history whose agent saw it.
func Outcomes(calls []memoryd.Call) map[int64]Counts {
	found := map[int64]Counts{}
	for i := range calls {
		c := &calls[i]
		v := effect.Shown(c.Metadata)
		if c.Evaluation.State != memoryd.Judged || v <= 0 {
			continue
		}
		o := found[v]
		o.Calls++
		if c.Evaluation.Bad() {
			o.Bad++
		}
		found[v] = o
	}
	return found
}

// Review compares the tool's guideline with the previous version, by the calls of agents that
// saw either, and rolls it back if it made things worse and is not pinned. It returns what it
// did; "" means nothing.
func (m *Manager) Review(ctx context.Context, ref memoryd.ToolRef) (string, error) {
	tool, cur, err := m.read(ctx, ref)
	if err != nil || cur.Number < 2 || cur.RolledBackTo > 0 || cur.ByPerson {
		return "", err
	}
	calls, err := m.Store.History(ctx, ref, 0)
	if err != nil {
		return "", err
	}
	outcomes := Outcomes(calls)
	before, now := outcomes[cur.Number-1], outcomes[cur.Number]
	if !Worse(before, now) {
		return "", nil
	}
	if pinned, err := m.PinnedVersion(ctx, ref); err != nil || pinned > 0 {
		return "", err
	}
	why := fmt.Sprintf("version %d did worse: %d of %d calls failed, with version %d %d of %d",
		cur.Number, now.Bad, now.Calls, cur.Number-1, before.Bad, before.Calls)
	_, err = m.rollBack(ctx, tool, cur.Number-1, why)
	if memoryd.IsKind(err, memoryd.NotFound) {
		return "", nil // it is kept no more
	}
	return why, err
}

// rollBack publishes an earlier version again, under a new number and with the lines that people
// set. The replaced version is not written again from the same evidence.
func (m *Manager) rollBack(ctx context.Context, tool memoryd.Tool, number int64, why string) (Revision, error) {
	if number == tool.Guideline.Revision {
		return Revision{}, memoryd.Errorf(memoryd.Conflict, "version %d is the guideline already", number)
	}
	e, err := m.Revision(ctx, tool.ToolRef, number)
	if err != nil {
		return e, err
	}
	cur, err := m.current(ctx, tool)
	if err != nil {
		return e, err
	}
	if d := cur.Document; d != nil && cur.RolledBackTo == 0 {
		err = m.decide(ctx, tool.ToolRef, func(st *Status) {
			if !slices.Contains(st.Rejected, d.Fingerprint) {
				st.Rejected = append(st.Rejected, d.Fingerprint)
			}
		})
		if err != nil {
			return e, err
		}
	}
	e.RolledBackTo, e.Why, e.Reasons, e.ByPerson, e.BasedOn = number, why, nil, false, tool.Revision
	_, err = m.publish(ctx, tool, &e)
	return e, err
}

// pin keeps a version until it is unpinned: no refresh replaces it. An older version is
// published again first. It returns the pinned version.
func (m *Manager) pin(ctx context.Context, tool memoryd.Tool, revision int64, by string) (e Revision, err error) {
	switch tool.Guideline.Revision {
	case 0:
		return e, memoryd.Errorf(memoryd.NotFound, "the tool has no guideline yet")
	case revision:
		e, err = m.current(ctx, tool)
	default:
		e, err = m.rollBack(ctx, tool, revision, "rolled back by "+by)
	}
	if err != nil {
		return Revision{}, err
	}
	return e, m.decide(ctx, tool.ToolRef, func(st *Status) { st.Pinned = e.Number })
}

// PinnedVersion returns the pinned version; 0 means none.
func (m *Manager) PinnedVersion(ctx context.Context, ref memoryd.ToolRef) (int64, error) {
	st, _, err := m.status(ctx, ref)
	return st.Pinned, err
}

// LineOutcomes compares, for each line of the tool's guideline, the stored calls before it
// was published with those since, and lists the sources that the guideline is
// learned from.
func (m *Manager) LineOutcomes(ctx context.Context, ref memoryd.ToolRef) ([]guidelines.LineOutcome, []guidelines.SourceShare, error) {
	versions, err := m.List(ctx, ref)
	if err != nil {
		return nil, nil, err
	}
	calls, err := m.Store.History(ctx, ref, 0)
	if err != nil {
		return nil, nil, err
	}
	var beyond []memoryd.Call
	if m.Sourced != nil {
		if beyond, err = m.Sourced(ctx, ref); err != nil {
			return nil, nil, err
		}
	}
	all := slices.Concat(calls, beyond)
	if len(versions) == 0 || versions[0].Document == nil {
		return nil, (&guidelines.Document{}).Shares(all), nil
	}
	published := map[string]guidelines.Published{}
	current := versions[0].Document
	for _, it := range current.Items {
		for _, v := range versions {
			if !v.Document.Says(&it) {
				break
			}
			published[it.ID] = guidelines.Published{Version: v.Number, Through: v.ThroughSeq}
		}
	}
	return current.Outcomes(published, calls, func(c *memoryd.Call) int64 {
		if effect.SideOf(c.Metadata) == effect.Untold {
			return -1
		}
		return effect.Shown(c.Metadata)
	}), current.Shares(all), nil
}

// Counts counts the judged calls of agents that saw a version, and those of them that scored
// 0.
type Counts struct {
	Calls int `json:"calls"`
	Bad   int `json:"bad"`
}

// errorRate limits the probability that a version is ever called worse if the two versions are equally
// good, however often it is checked while calls arrive.
const errorRate = 0.05

// leastCompared is how many calls of each version a decision needs.
const leastCompared = 10

// Worse reports whether the version cur does harm, compared with the one before it, prev.
//
// It is a sequential test: the Bayes factor of "the shares of bad calls differ" (independent
// uniform priors) against "they are equal" (one uniform prior), which under the latter exceeds
// 1/(2 errorRate) at any time with probability at most 2 errorRate (Ville's inequality; Robbins,
// "Statistical methods related to the law of the iterated logarithm", Annals of Mathematical
// Statistics 41, 1970), on average over the prior of the common share, and then as often for a
// lower share as for a higher one. How often it errs at given shares is simulated in the tests.
func Worse(prev, cur Counts) bool {
	if min(prev.Calls, cur.Calls) < leastCompared || cur.Bad*prev.Calls <= prev.Bad*cur.Calls {
		return false
	}
	evidence := math.Exp(marginal(prev) + marginal(cur) - marginal(Counts{prev.Calls + cur.Calls, prev.Bad + cur.Bad}))
	return evidence >= 1/(2*errorRate)
}

// marginal is the logarithm of the Beta function B(1+bad, 1+good): the probability
// of the outcomes, in their order, under a uniform prior.
func marginal(o Counts) float64 {
	bad, _ := math.Lgamma(float64(o.Bad + 1))
	good, _ := math.Lgamma(float64(o.Calls - o.Bad + 1))
	all, _ := math.Lgamma(float64(o.Calls + 2))
	return bad + good - all
}
