package revisions

import (
	"context"
	"fmt"
	"slices"

	"memoryd"
	"memoryd/guidelines/versions"
)

// Outcomes counts, by version, the judged calls of the kept history whose agent
// was shown it.
func Outcomes(calls []memoryd.Call) map[int64]versions.Outcomes {
	found := map[int64]versions.Outcomes{}
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
func (c *Curator) Review(ctx context.Context, ref memoryd.ToolRef) (string, error) {
	tool, err := c.Store.Tool(ctx, ref)
	if err != nil || tool.Guideline.Revision < 2 {
		return "", err
	}
	cur, err := c.current(ctx, tool)
	if err != nil || cur.RolledBackTo > 0 {
		return "", err
	}
	prev, err := c.Edition(ctx, ref, cur.Revision-1)
	if memoryd.IsKind(err, memoryd.NotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	calls, err := c.Store.History(ctx, ref, 0)
	if err != nil {
		return "", err
	}
	outcomes := Outcomes(calls)
	before, now := outcomes[prev.Revision], outcomes[cur.Revision]
	decision := versions.Worse(before, now)
	if decision.Better && c.Config.ABShare < 1 {
		return "", c.decide(ctx, ref, func(st *standing) { st.Proven = cur.Revision })
	}
	if !decision.Worse {
		return "", nil
	}
	why := fmt.Sprintf("version %d did worse: %d of %d calls failed, with version %d %d of %d",
		cur.Revision, now.Bad, now.Calls, prev.Revision, before.Bad, before.Calls)
	if cur.Document != nil {
		err := c.decide(ctx, ref, func(st *standing) { st.Rejected = append(st.Rejected, cur.Document.Fingerprint) })
		if err != nil {
			return "", err
		}
	}
	_, err = c.again(ctx, tool, prev, why)
	return why, err
}

// again makes an earlier version the newest one.
func (c *Curator) again(ctx context.Context, tool memoryd.Tool, old Edition, why string) (Edition, error) {
	e := old
	e.RolledBackTo, e.Why, e.Reasons = old.Revision, why, nil
	e.BasedOn = tool.Revision
	e.Revision = tool.Guideline.Revision + 1
	_, err := c.publish(ctx, tool, e)
	return e, err
}

// RollBack makes an earlier version the guideline again, under a new number. The
// version that it replaces is not written again from the same evidence.
func (c *Curator) RollBack(ctx context.Context, ref memoryd.ToolRef, revision int64, by string) (Edition, error) {
	tool, err := c.Store.Tool(ctx, ref)
	if err != nil {
		return Edition{}, err
	}
	if revision == tool.Guideline.Revision {
		return Edition{}, memoryd.Errorf(memoryd.Conflict, "version %d is the guideline already", revision)
	}
	old, err := c.Edition(ctx, ref, revision)
	if err != nil {
		return Edition{}, err
	}
	cur, err := c.current(ctx, tool)
	if err != nil {
		return Edition{}, err
	}
	if cur.Document != nil && cur.RolledBackTo == 0 {
		err := c.decide(ctx, ref, func(st *standing) {
			if !slices.Contains(st.Rejected, cur.Document.Fingerprint) {
				st.Rejected = append(st.Rejected, cur.Document.Fingerprint)
			}
		})
		if err != nil {
			return Edition{}, err
		}
	}
	return c.again(ctx, tool, old, "rolled back by "+by)
}

// Pin keeps a version until it is unpinned: no refresh replaces it. An older
// version becomes the guideline again first. The answer is the version that is
// pinned.
func (c *Curator) Pin(ctx context.Context, ref memoryd.ToolRef, revision int64, by string) (Edition, error) {
	tool, err := c.Store.Tool(ctx, ref)
	if err != nil {
		return Edition{}, err
	}
	e, err := c.current(ctx, tool)
	if err != nil {
		return Edition{}, err
	}
	if tool.Guideline.Revision == 0 {
		return Edition{}, memoryd.Errorf(memoryd.NotFound, "the tool has no guideline yet")
	}
	if revision != tool.Guideline.Revision {
		if e, err = c.RollBack(ctx, ref, revision, by); err != nil {
			return Edition{}, err
		}
	}
	return e, c.decide(ctx, ref, func(st *standing) { st.Pinned = e.Revision })
}

// Unpin lets refreshes replace the guideline again.
func (c *Curator) Unpin(ctx context.Context, ref memoryd.ToolRef) error {
	if _, err := c.Store.Tool(ctx, ref); err != nil {
		return err
	}
	return c.decide(ctx, ref, func(st *standing) { st.Pinned = 0 })
}

// PinnedVersion is the version that is pinned, 0 for none.
func (c *Curator) PinnedVersion(ctx context.Context, ref memoryd.ToolRef) (int64, error) {
	st, _, err := c.standing(ctx, ref)
	return st.Pinned, err
}
