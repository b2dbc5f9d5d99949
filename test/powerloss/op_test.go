package powerloss

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"memoryd"
	"memoryd/store"
	"memoryd/store/storetest"
)

// op is one call of the store. It gives the answer as text, also when that is a
// refusal; an error says that the store did not answer.
type op func(ctx context.Context, s store.Store) (string, error)

// answer tells refusals, which are answers, from failures.
func answer(v any, err error) (string, error) {
	for _, refusal := range []memoryd.Kind{memoryd.NotFound, memoryd.Conflict} {
		if memoryd.IsKind(err, refusal) {
			return string(refusal), nil
		}
	}
	return fmt.Sprintf("%+v", v), err
}

// maker makes the operations of one client, who has a workspace of its own.
type maker struct {
	rng       *rand.Rand
	workspace string
	made      int // calls
	calls     []memoryd.Call
	revision  map[string]int64
}

func newMaker(rng *rand.Rand, workspace string) *maker {
	return &maker{rng: rng, workspace: workspace, revision: map[string]int64{}}
}

func (m *maker) ref(tool string) memoryd.ToolRef {
	return memoryd.ToolRef{Workspace: m.workspace, Tool: tool}
}

// next makes one more operation.
func (m *maker) next() op {
	switch n := m.rng.IntN(24); {
	case n < 11 || len(m.calls) == 0:
		return m.append()
	case n < 14:
		return m.settle()
	case n < 16:
		return m.guideline()
	case n < 17:
		return m.cache()
	case n < 18:
		return m.repeat()
	case n < 20:
		return m.record()
	case n < 22:
		return m.override()
	case n < 23:
		return m.restore()
	}
	ref := m.ref("short-lived")
	return func(ctx context.Context, s store.Store) (string, error) { return answer("", s.DeleteTool(ctx, ref)) }
}

// call makes a call that no other is like, but for its content now and then.
func (m *maker) call(tool string) memoryd.Call {
	m.made++
	c := memoryd.Call{
		ToolRef: m.ref(tool), Input: json.RawMessage(fmt.Sprintf(`{"n": %d}`, m.made/2)), Success: m.rng.IntN(2) == 0,
		Output: storetest.Noise([]int{0, 30, 2000, 9000}[m.rng.IntN(4)]), TokenCost: -1,
		Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: 0.5, JudgedBy: memoryd.JudgedByRules},
	}
	if m.rng.IntN(2) == 0 {
		c.Evaluation = memoryd.PendingEvaluation()
	}
	copy(c.Key[:], fmt.Sprintf("%s/%d", m.workspace, m.made))
	m.calls = append(m.calls, c)
	return c
}

func (m *maker) append() op {
	b := store.Batch{Workspace: m.workspace, Keep: 1000}
	tools := []string{"wide", "other", "short-lived"}
	if m.rng.IntN(2) == 0 {
		b.Keep, tools = 1+m.rng.IntN(4), []string{"ring", "small ring"}
	}
	for range 1 + m.rng.IntN(5) {
		b.Calls = append(b.Calls, m.call(tools[m.rng.IntN(len(tools))]))
	}
	return func(ctx context.Context, s store.Store) (string, error) { return answer(s.Append(ctx, b)) }
}

// repeat sends old calls again.
func (m *maker) repeat() op {
	b := store.Batch{Workspace: m.workspace, Keep: 1000}
	for range 3 {
		b.Calls = append(b.Calls, m.calls[m.rng.IntN(len(m.calls))])
	}
	return func(ctx context.Context, s store.Store) (string, error) { return answer(s.Append(ctx, b)) }
}

func (m *maker) settle() op {
	var vs []store.Verdict
	for range 1 + m.rng.IntN(4) {
		c := m.calls[max(0, len(m.calls)-1-m.rng.IntN(12))]
		e := memoryd.Evaluation{State: memoryd.Judged, Score: 1, Summary: fmt.Sprint("verdict ", m.rng.IntN(1000))}
		if m.rng.IntN(4) == 0 {
			e = memoryd.Evaluation{State: memoryd.Pending, Attempts: 1 + m.rng.IntN(9), LastError: "model away"}
		}
		vs = append(vs, store.Verdict{ToolRef: c.ToolRef, Key: c.Key, Evaluation: e})
	}
	return func(ctx context.Context, s store.Store) (string, error) { return answer(s.Settle(ctx, vs)) }
}

// override corrects a verdict. What it answers is the call as it was.
func (m *maker) override() op {
	c := m.calls[max(0, len(m.calls)-1-m.rng.IntN(12))]
	v := store.Verdict{ToolRef: c.ToolRef, Key: c.Key, Evaluation: memoryd.Evaluation{
		State: memoryd.Judged, Score: 1, JudgedBy: memoryd.PersonPrefix + "ann", Summary: fmt.Sprint("corrected ", m.rng.IntN(1000)),
		Overruled: &memoryd.Overruled{State: memoryd.Judged, Score: 0.5, JudgedBy: memoryd.JudgedByRules},
	}}
	return func(ctx context.Context, s store.Store) (string, error) {
		was, err := s.Override(ctx, v)
		return answer(was.Evaluation.Summary, err)
	}
}

// restore brings a tool of another store, once: after that it is a conflict.
func (m *maker) restore() op {
	t := memoryd.Tool{ToolRef: m.ref("restored"), Counters: memoryd.Counters{Lifetime: 9, Duplicates: 1}, Revision: 12}
	t.Guideline = memoryd.Guideline{Revision: 3, Content: "from elsewhere", Author: "rules"}
	var calls []memoryd.Call
	for n := range 1 + m.rng.IntN(4) {
		c := m.call("restored")
		c.Seq = int64(4 + n)
		calls = append(calls, c)
	}
	calls[len(calls)-1].Seq = t.Lifetime
	return func(ctx context.Context, s store.Store) (string, error) {
		return answer("", s.RestoreTool(ctx, t, calls))
	}
}

func (m *maker) guideline() op {
	ref := m.ref([]string{"wide", "ring"}[m.rng.IntN(2)])
	g := memoryd.Guideline{Content: fmt.Sprint("guideline ", m.rng.Uint32()), Author: "rules"}
	expect := m.revision[ref.Tool]
	if m.rng.IntN(4) > 0 {
		m.revision[ref.Tool]++ // right for as long as the tool was there
	}
	return func(ctx context.Context, s store.Store) (string, error) {
		return answer("", s.PutGuideline(ctx, ref, g, expect))
	}
}

func (m *maker) cache() op {
	key := m.cacheKey(m.rng.IntN(3))
	e := memoryd.Evaluation{State: memoryd.Judged, Score: 0.5, Summary: fmt.Sprint("cached ", m.rng.IntN(1000))}
	return func(ctx context.Context, s store.Store) (string, error) {
		return answer("", s.CacheVerdict(ctx, key, e))
	}
}

func (m *maker) cacheKey(n int) (key [16]byte) {
	copy(key[:], fmt.Sprintf("%s/%d", m.workspace, n))
	return key
}

func (m *maker) recordKey(n int) store.RecordKey {
	return store.RecordKey{ToolRef: m.ref([]string{"", "wide"}[n%2]), Kind: "note", ID: fmt.Sprint(n)}
}

func (m *maker) record() op {
	key := m.recordKey(m.rng.IntN(4))
	if m.rng.IntN(4) == 0 {
		return func(ctx context.Context, s store.Store) (string, error) { return answer("", s.DeleteRecord(ctx, key)) }
	}
	if m.rng.IntN(3) == 0 {
		rs := []store.Record{
			{RecordKey: m.recordKey(0), Data: []byte(fmt.Sprint("both ", m.rng.Uint32()))},
			{RecordKey: m.recordKey(2), Data: []byte(fmt.Sprint("both ", m.rng.Uint32()))},
		}
		return func(ctx context.Context, s store.Store) (string, error) { return answer("", s.PutRecords(ctx, rs)) }
	}
	r := store.Record{RecordKey: key, Revision: store.AnyRevision, Data: []byte(fmt.Sprint("data ", m.rng.Uint32()))}
	return func(ctx context.Context, s store.Store) (string, error) { return answer(s.PutRecord(ctx, r)) }
}
