package ops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"memoryd"
	"memoryd/evaluate/kinds"
	"memoryd/internal/access"
	"memoryd/internal/accounts"
	"memoryd/internal/admission"
	"memoryd/internal/lifecycle"
	"memoryd/internal/origin"
	"memoryd/store"
)

// Judge scores calls.
type Judge interface {
	// Prejudge fills in the evaluations that need no model; the others stay pending.
	Prejudge(ctx context.Context, calls []memoryd.Call)
	// Await passes stored pending calls to the background, and waits until all are judged or ctx
	// ends. It fills in the evaluations that it has by then.
	Await(ctx context.Context, calls []memoryd.Call)
	// Under returns the verdict on a call by the rules and a book of kinds, and whether the judge
	// is sure. It changes nothing.
	Under(ctx context.Context, c *memoryd.Call, book *kinds.Book) (e memoryd.Evaluation, sure bool)
	// Relabelled is called when the labels of a tool's kinds changed, Moved when tools of a workspace
	// were removed or replaced, and Withdrawn when a person takes a verdict on a call back.
	Relabelled(ref memoryd.ToolRef)
	Moved(workspace string)
	Withdrawn(ctx context.Context, c memoryd.Call) error
}

// ParseParams are the settings of parse_tool_call_result_op.
type ParseParams struct {
	// MaxHistory is the number of calls in a tool's history (first in, first out).
	MaxHistory int `yaml:"max_history_tool_call_cnt" must:"1 to 100000"`
	// EvaluationSleepInterval is the time in seconds between the starts of this op's model
	// requests; 0 means no spacing.
	EvaluationSleepInterval float64 `yaml:"evaluation_sleep_interval" must:"0 or more (seconds)"`
}

// ParseToolCallResult judges and records the valid calls of a request, and
// answers with the memories that they belong to.
//
// The order makes "acknowledged means durable" cheap. Verdicts that need no model come first,
// so that a call and its verdict are one write. The rest is written as pending before any
// model is asked.
type ParseToolCallResult struct {
	Deps
	Params ParseParams

	sources  *sourceLimits
	amending *sync.Mutex
}

// Recorded is the result of a recording request: its calls are saved to disk.
type Recorded struct {
	Answer string
	// Memories are the tools of the calls, in order of first appearance. Existed are those that
	// were known before.
	Memories []Memory
	Existed  []memoryd.ToolRef
	// Sent is the number of items in the request, Valid of those that are calls, and Added of those
	// that were new. Rejected are the invalid ones.
	Sent, Valid, Added int
	Rejected           []Rejection
	// Calls are the valid items, in order, with the verdicts known so far.
	Calls []memoryd.Call
}

// Run records and judges calls.
func (o *ParseToolCallResult) Run(ctx context.Context, r *validCalls) (*Recorded, error) {
	o.Judge.Prejudge(ctx, r.Calls)
	var appended []store.Appended
	var err error
	begun := time.Now()
	again := admission.Blocking(ctx, func() {
		appended, err = o.append(store.Since(ctx, begun), r)
		for i := 0; i < len(appended) && err == nil; i++ {
			if !appended[i].New {
				err = o.amend(ctx, &r.Calls[i])
			}
		}
	})
	if err = errors.Join(err, again); err != nil {
		return nil, fmt.Errorf("record %d calls: %w", len(r.Calls), err)
	}
	for i := range r.Calls {
		r.Calls[i].Seq = appended[i].Seq
	}
	stored := time.Now()
	if err := o.await(ctx, r, appended); err != nil {
		return nil, err
	}
	return o.answer(store.Since(ctx, begun.Add(time.Since(stored))), r, appended)
}

// sourceOf is the id of the key that a request came with, "" where keys are not asked for.
func sourceOf(ctx context.Context) string {
	if source := access.Of(ctx).Source; source != access.Local {
		return source
	}
	return ""
}

// amend adds to a call that is recorded what a further account of it, c, knows better, of
// the same writer; then it is judged anew, unless a person judged it. While a remote
// store is away it is left.
func (o *ParseToolCallResult) amend(ctx context.Context, c *memoryd.Call) error {
	account, told := accounts.FromRecord(c)
	if !told {
		return nil
	}
	o.amending.Lock() // one reads, joins and writes at a time
	defer o.amending.Unlock()
	kept, err := o.Store.Call(ctx, c.ToolRef, c.Key)
	if memoryd.IsKind(err, memoryd.NotFound) || err == nil && kept.Source() != c.Source() {
		return nil
	} else if err != nil {
		return err
	}
	amended, changed := accounts.Amended(&kept, &account)
	if !changed {
		return nil
	}
	amended.ToolRef = c.ToolRef
	if !strings.HasPrefix(kept.Evaluation.JudgedBy, memoryd.PersonPrefix) {
		judged := []memoryd.Call{amended}
		judged[0].Evaluation = memoryd.PendingEvaluation()
		o.Judge.Prejudge(ctx, judged)
		amended.Evaluation = judged[0].Evaluation
	}
	_, err = o.Store.Override(ctx, store.Verdict{
		ToolRef: amended.ToolRef, Key: amended.Key, Evaluation: amended.Evaluation, Amendment: memoryd.AmendmentOf(&amended),
	})
	if err := memoryd.Except(err, memoryd.NotFound, memoryd.Unavailable); err != nil {
		return err
	}
	o.Survey.Changed(amended.ToolRef)
	return nil
}

// append records the calls, within the share of their source.
func (o *ParseToolCallResult) append(ctx context.Context, r *validCalls) ([]store.Appended, error) {
	source := cmp.Or(sourceOf(ctx), memoryd.LocalSource)
	keep, over := o.sources.admit(ctx, source, r.Calls, o.Params.MaxHistory)
	appended, err := o.Store.Append(ctx, store.Batch{Workspace: r.Workspace, Calls: r.Calls, Keep: keep})
	if err == nil && o.sources.watches(o.Params.MaxHistory) {
		o.sources.added(ctx, source, r.Calls, appended, o.Params.MaxHistory, over)
	}
	return appended, err
}

// await hands the new pending calls over and, unless the request is
// asynchronous, waits for their verdicts.
func (o *ParseToolCallResult) await(ctx context.Context, r *validCalls, appended []store.Appended) error {
	var places []int
	var pending []memoryd.Call
	for i, a := range appended {
		if a.New && r.Calls[i].Evaluation.State == memoryd.Pending {
			places = append(places, i)
			pending = append(pending, r.Calls[i])
		}
	}
	if len(pending) == 0 {
		return nil
	}
	wait := o.Wait
	if r.Async {
		wait = 0
	}
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	err := admission.Blocking(ctx, func() { o.Judge.Await(waiting, pending) })
	for j, i := range places {
		r.Calls[i].Evaluation = pending[j].Evaluation
	}
	return err
}

// counters count what became of one tool's calls.
type counters struct {
	ref                    memoryd.ToolRef
	added, pending, failed int
	firstOfTool            bool
}

func (o *ParseToolCallResult) answer(ctx context.Context, r *validCalls, appended []store.Appended) (*Recorded, error) {
	out := &Recorded{Sent: len(r.Items), Valid: len(r.Calls), Rejected: r.Rejected, Calls: r.Calls}
	counted := countersOf(r.Calls, appended)
	var err error
	if out.Memories, err = o.memories(ctx, r, appended, counted); err != nil {
		return nil, err
	}
	for _, t := range counted {
		out.Added += t.added
		if !t.firstOfTool {
			out.Existed = append(out.Existed, t.ref)
		}
	}
	out.Answer = recordedAnswer(out, counted)
	o.Intake.Came(r.Calls[0].Metadata, out.Added, out.Valid-out.Added, len(out.Rejected))
	return out, nil
}

// recordedAnswer says in the words of the documented server what became of a
// request.
func recordedAnswer(r *Recorded, counted []*counters) string {
	n := len(r.Memories)
	text := fmt.Appendf(make([]byte, 0, 256), "Processed %d tool(s): %d updated, %d newly created\n", n,
		len(r.Existed), n-len(r.Existed))
	for i, t := range counted {
		text = t.show(text, &r.Memories[i])
	}
	if n := len(r.Rejected); n > 0 {
		text = fmt.Appendf(text, "\nValidation Summary:\n  Total input: %d\n  Valid: %d\n  Filtered (invalid): %d\n", r.Sent, r.Valid, n)
	}
	text = fmt.Appendf(text, "\nDeduplication Summary:\n  Total new calls: %d\n  Added: %d\n  Deduplicated: %d", r.Valid,
		r.Added, r.Valid-r.Added)
	return string(text)
}

// parallelReads is how many tools of a request are read beside each other: in a remote
// store, each costs a round of questions.
const parallelReads = 16

// memories shows the tools of a request. One that does not wait reads nothing: it is
// shown its own calls.
func (o *ParseToolCallResult) memories(ctx context.Context, r *validCalls, appended []store.Appended, of []*counters) ([]Memory, error) {
	out := make([]Memory, len(of))
	if len(of) == 1 {
		var err error
		out[0], err = o.memory(ctx, r, of[0], appended)
		return out, err
	}
	g, gctx := lifecycle.NewGroup(ctx, o.Logger, "recording", parallelReads)
	for i, t := range of {
		g.Go(func() (err error) {
			out[i], err = o.memory(gctx, r, t, appended)
			return err
		})
	}
	return out, g.Wait()
}

// memory shows the tool of t: its whole history, or only the calls that this
// request sent and that are still kept.
func (o *ParseToolCallResult) memory(ctx context.Context, r *validCalls, t *counters, appended []store.Appended) (m Memory, err error) {
	m.Tool.ToolRef = t.ref
	switch {
	case r.WholeHistory:
		m, err = o.Reader.Read(ctx, t.ref, 0)
	case !r.Async:
		m, err = o.Reader.Read(ctx, t.ref, noCalls)
	}
	if err == nil && !r.WholeHistory {
		m.Calls, err = o.sent(ctx, r, t, appended)
	}
	if err != nil {
		return m, fmt.Errorf("read back %q: %w", t.ref.Tool, err)
	}
	return m, nil
}

// sent gives the calls of t in a request, each once, oldest first: those sent again as they are
// kept, unless the request does not wait.
func (o *ParseToolCallResult) sent(ctx context.Context, r *validCalls, t *counters, appended []store.Appended) ([]memoryd.Call, error) {
	if t.added == len(r.Calls) {
		return r.Calls, nil
	}
	var calls []memoryd.Call
	seen := map[memoryd.CallKey]bool{}
	for i, c := range r.Calls {
		if c.ToolRef != t.ref || seen[c.Key] || r.Async && !appended[i].New {
			continue
		}
		seen[c.Key] = true
		if !appended[i].New {
			var err error
			if c, err = o.Store.Call(ctx, t.ref, c.Key); memoryd.IsKind(err, memoryd.NotFound) {
				continue
			}
			if err != nil {
				return nil, err
			}
		}
		calls = append(calls, c)
	}
	slices.SortFunc(calls, func(a, b memoryd.Call) int { return cmp.Compare(a.Seq, b.Seq) })
	return calls, nil
}

// countersOf groups the calls by tool in order of first appearance.
func countersOf(calls []memoryd.Call, appended []store.Appended) []*counters {
	var order []*counters
	byTool := map[string]*counters{}
	for i := range calls {
		c := &calls[i]
		t := byTool[c.Tool]
		if t == nil {
			t = &counters{ref: c.ToolRef}
			byTool[c.Tool] = t
			order = append(order, t)
		}
		if !appended[i].New {
			continue
		}
		t.added++
		t.firstOfTool = t.firstOfTool || appended[i].FirstOfTool
		switch c.Evaluation.State {
		case memoryd.Pending:
			t.pending++
		case memoryd.Failed:
			t.failed++
		case memoryd.Judged:
		}
	}
	return order
}

// lastCalls is how many of a tool's newest calls an answer speaks of.
const lastCalls = 3

// show appends in plain text what became of a tool.
func (t *counters) show(text []byte, m *Memory) []byte {
	status := "Updated"
	if t.firstOfTool {
		status = "New"
	}
	text = fmt.Appendf(text, "\n[%s] %s\n", status, origin.Title(t.ref.Tool))
	if n := m.Statistics.TotalCalls; n > 0 {
		text = fmt.Appendf(text, "  Total calls: %d\n", n)
	}
	if last := m.Calls[max(0, len(m.Calls)-lastCalls):]; len(last) > 0 {
		succeeded, judged, scores := 0, 0, 0.0
		for i := range last {
			if last[i].Success {
				succeeded++
			}
			if e := &last[i].Evaluation; e.State == memoryd.Judged {
				judged++
				scores += e.Score
			}
		}
		text = fmt.Appendf(text, "  Recent calls: %d/%d successful", succeeded, len(last))
		if judged > 0 {
			text = strconv.AppendFloat(append(text, ", avg score: "...), scores/float64(judged), 'f', 2, 64)
		}
		text = append(text, '\n')
	}
	if t.pending > 0 {
		text = fmt.Appendf(text, "  Pending: %d call(s) not judged yet\n", t.pending)
	}
	if t.failed > 0 {
		text = fmt.Appendf(text, "  Failed: %d call(s) could not be judged\n", t.failed)
	}
	return text
}
