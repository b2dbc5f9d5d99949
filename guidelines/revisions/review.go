package revisions

import (
	"context"
	"fmt"
	"slices"

	"memoryd"
	"memoryd/guidelines"
)

// Outcomes counts, by version, the judged calls of the kept history whose agent
// was shown it.
func Outcomes(calls []memoryd.Call) map[int64]Counts {
	found := map[int64]Counts{}
	for i := range calls {
		c := &calls[i]
		if c.Evaluation.State != memoryd.Judged {
			continue
		}
		v := shownVersion(c.Metadata)
		if v <= 0 {
			continue
		}
		o := found[v]
		o.Calls++
		if c.Evaluation.Score <= memoryd.ScoreFailure {
			o.Bad++
		}
		found[v] = o
	}
	return found
}

// Review compares the tool's guideline with the version before it by the calls
// of agents that were shown either, and takes it back if it made things worse.
// It reports what it did; "" is nothing.
func (m *Manager) Review(ctx context.Context, ref memoryd.ToolRef) (string, error) {
	tool, err := m.Store.Tool(ctx, ref)
	if err != nil || tool.Guideline.Revision < 2 {
		return "", err
	}
	cur, err := m.current(ctx, tool)
	if err != nil || cur.RolledBackTo > 0 || cur.ByPerson {
		return "", err
	}
	prev, err := m.Revision(ctx, ref, cur.Number-1)
	if memoryd.IsKind(err, memoryd.NotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	calls, err := m.Store.History(ctx, ref, 0)
	if err != nil {
		return "", err
	}
	outcomes := Outcomes(calls)
	before, now := outcomes[prev.Number], outcomes[cur.Number]
	decision := Compare(before, now)
	if decision.Better && m.Config.ABShare < 1 {
		return "", m.decide(ctx, ref, func(st *Status) { st.Proven = cur.Number })
	}
	if !decision.Worse {
		return "", nil
	}
	why := fmt.Sprintf("version %d did worse: %d of %d calls failed, with version %d %d of %d",
		cur.Number, now.Bad, now.Calls, prev.Number, before.Bad, before.Calls)
	if cur.Document != nil {
		err := m.decide(ctx, ref, func(st *Status) { st.Rejected = append(st.Rejected, cur.Document.Fingerprint) })
		if err != nil {
			return "", err
		}
	}
	_, err = m.again(ctx, tool, prev, why)
	return why, err
}

// again makes an earlier version the newest one, with the lines that people set.
func (m *Manager) again(ctx context.Context, tool memoryd.Tool, old Revision, why string) (Revision, error) {
	e := old
	e.RolledBackTo, e.Why, e.Reasons, e.ByPerson = old.Number, why, nil, false
	e.BasedOn = tool.Revision
	if err := m.reapply(ctx, tool.ToolRef, &e); err != nil {
		return e, err
	}
	e.Number = tool.Guideline.Revision + 1
	_, err := m.publish(ctx, tool, e)
	return e, err
}

// RollBack makes an earlier version the guideline again, under a new number. The
// version that it replaces is not written again from the same evidence.
func (m *Manager) RollBack(ctx context.Context, ref memoryd.ToolRef, revision int64, by string) (Revision, error) {
	tool, err := m.Store.Tool(ctx, ref)
	if err != nil {
		return Revision{}, err
	}
	if revision == tool.Guideline.Revision {
		return Revision{}, memoryd.Errorf(memoryd.Conflict, "version %d is the guideline already", revision)
	}
	old, err := m.Revision(ctx, ref, revision)
	if err != nil {
		return Revision{}, err
	}
	cur, err := m.current(ctx, tool)
	if err != nil {
		return Revision{}, err
	}
	if cur.Document != nil && cur.RolledBackTo == 0 {
		err := m.decide(ctx, ref, func(st *Status) {
			if !slices.Contains(st.Rejected, cur.Document.Fingerprint) {
				st.Rejected = append(st.Rejected, cur.Document.Fingerprint)
			}
		})
		if err != nil {
			return Revision{}, err
		}
	}
	return m.again(ctx, tool, old, "rolled back by "+by)
}

// Pin keeps a version until it is unpinned: no refresh replaces it. An older
// version becomes the guideline again first. The answer is the version that is
// pinned.
func (m *Manager) Pin(ctx context.Context, ref memoryd.ToolRef, revision int64, by string) (Revision, error) {
	tool, err := m.Store.Tool(ctx, ref)
	if err != nil {
		return Revision{}, err
	}
	e, err := m.current(ctx, tool)
	if err != nil {
		return Revision{}, err
	}
	if tool.Guideline.Revision == 0 {
		return Revision{}, memoryd.Errorf(memoryd.NotFound, "the tool has no guideline yet")
	}
	if revision != tool.Guideline.Revision {
		if e, err = m.RollBack(ctx, ref, revision, by); err != nil {
			return Revision{}, err
		}
	}
	return e, m.decide(ctx, ref, func(st *Status) { st.Pinned = e.Number })
}

// Unpin lets refreshes replace the guideline again.
func (m *Manager) Unpin(ctx context.Context, ref memoryd.ToolRef) error {
	if _, err := m.Store.Tool(ctx, ref); err != nil {
		return err
	}
	return m.decide(ctx, ref, func(st *Status) { st.Pinned = 0 })
}

// PinnedVersion is the version that is pinned, 0 for none.
func (m *Manager) PinnedVersion(ctx context.Context, ref memoryd.ToolRef) (int64, error) {
	st, _, err := m.status(ctx, ref)
	return st.Pinned, err
}

// LineOutcomes says how the lines of the tool's guideline did before they were
// published and since, by its kept calls.
func (m *Manager) LineOutcomes(ctx context.Context, ref memoryd.ToolRef) ([]guidelines.LineOutcome, error) {
	versions, err := m.List(ctx, ref)
	if err != nil || len(versions) == 0 || versions[0].Document == nil {
		return nil, err
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
	calls, err := m.Store.History(ctx, ref, 0)
	if err != nil {
		return nil, err
	}
	return current.Outcomes(published, calls, func(c *memoryd.Call) int64 { return shownVersion(c.Metadata) }), nil
}
