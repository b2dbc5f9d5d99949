package ops

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"memoryd"
	"memoryd/internal/admission"
	"memoryd/store"
)

// Judge scores calls.
type Judge interface {
	// Prejudge fills in the evaluations that need no waiting; the others stay
	// pending.
	Prejudge(ctx context.Context, calls []memoryd.Call)
	// Await hands stored pending calls to the background and waits until each
	// is settled or ctx ends. It fills in the evaluations that arrived.
	Await(ctx context.Context, calls []memoryd.Call)
}

// ParseParams are the settings of parse_tool_call_result_op.
type ParseParams struct {
	// MaxHistory is how many calls a tool's history keeps (first in, first out).
	MaxHistory int `yaml:"max_history_tool_call_cnt"`
	// EvaluationSleepInterval is the spacing, in seconds, between the starts of
	// model requests of this op; 0 means none.
	EvaluationSleepInterval float64 `yaml:"evaluation_sleep_interval"`
}

// MaxHistoryLimit bounds MaxHistory.
const MaxHistoryLimit = 100_000

// Validate names the setting that is wrong.
func (p ParseParams) Validate() error {
	if p.MaxHistory < 1 || p.MaxHistory > MaxHistoryLimit {
		return fmt.Errorf("max_history_tool_call_cnt: must be 1 to %d, got %d", MaxHistoryLimit, p.MaxHistory)
	}
	if p.EvaluationSleepInterval < 0 {
		return fmt.Errorf("evaluation_sleep_interval: must be 0 or more (seconds), got %v", p.EvaluationSleepInterval)
	}
	return nil
}

// ParseToolCallResult judges and records the valid calls of a request, and
// answers with the memories that they belong to.
//
// The order is what makes "acknowledged is durable" cheap: verdicts that need
// no model are reached first, so that a call and its verdict are one write;
// what is left is written as pending before any model is asked.
type ParseToolCallResult struct {
	Params ParseParams
	// Wait bounds how long a request waits for verdicts.
	Wait   time.Duration
	Judge  Judge
	Store  store.Calls
	Reader MemoryReader
}

// Name implements Op.
func (ParseToolCallResult) Name() string { return "parse_tool_call_result_op" }

// Run implements Op.
func (o ParseToolCallResult) Run(ctx context.Context, st *State) error {
	r := &st.Record
	o.Judge.Prejudge(ctx, r.Calls)
	var appended []store.Appended
	var err error
	again := admission.Blocking(ctx, func() {
		appended, err = o.Store.Append(ctx, store.Batch{Workspace: st.Workspace, Calls: r.Calls, Keep: o.Params.MaxHistory})
	})
	if err = errors.Join(err, again); err != nil {
		return fmt.Errorf("append %d calls: %w", len(r.Calls), err)
	}
	r.Appended = appended
	for i := range r.Calls {
		r.Calls[i].Seq = appended[i].Seq
	}
	if err := o.await(ctx, st); err != nil {
		return err
	}
	return o.answer(ctx, st)
}

// await hands the new pending calls over and, unless the request is
// asynchronous, waits for their verdicts.
func (o ParseToolCallResult) await(ctx context.Context, st *State) error {
	r := &st.Record
	var places []int
	var pending []memoryd.Call
	for i, a := range r.Appended {
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

// tally counts what became of one tool's calls.
type tally struct {
	ref                         memoryd.ToolRef
	added, known, pending, fail int
	firstOfTool                 bool
}

func (o ParseToolCallResult) answer(ctx context.Context, st *State) error {
	r := &st.Record
	var parts []string
	for _, t := range tallies(r) {
		m, err := o.memory(ctx, st, t)
		if err != nil {
			return fmt.Errorf("read back %q: %w", t.ref.Tool, err)
		}
		st.Result.Memories = append(st.Result.Memories, m)
		if t.added > 0 {
			st.Result.Changed++
			if !t.firstOfTool {
				st.Result.Existed = append(st.Result.Existed, t.ref)
			}
		}
		parts = append(parts, t.String())
	}
	st.Result.Success = true
	st.Result.Answer = fmt.Sprintf("Processed %d tool(s): %s", len(parts), strings.Join(parts, "; "))
	if n := len(r.Rejected); n > 0 {
		st.Result.Answer += fmt.Sprintf(". %d item(s) rejected, see metadata.rejected", n)
	}
	return nil
}

// memory shows the tool of t: its whole history, or only the calls that this
// request sent and that are still kept.
func (o ParseToolCallResult) memory(ctx context.Context, st *State, t *tally) (Memory, error) {
	if st.Record.WholeHistory {
		return o.Reader.Read(ctx, t.ref, 0)
	}
	m, err := o.Reader.Read(ctx, t.ref, NoCalls)
	if err != nil {
		return m, err
	}
	if t.known > 0 { // calls sent again: their verdicts are in the history
		m.Calls, err = o.sentAgain(ctx, st, t.ref)
		return m, err
	}
	m.Calls = make([]memoryd.Call, 0, t.added)
	for i := range st.Record.Calls {
		if c := &st.Record.Calls[i]; c.Tool == t.ref.Tool {
			m.Calls = append(m.Calls, *c)
		}
	}
	return m, nil
}

func (o ParseToolCallResult) sentAgain(ctx context.Context, st *State, ref memoryd.ToolRef) ([]memoryd.Call, error) {
	sent := map[memoryd.CallKey]bool{}
	for i := range st.Record.Calls {
		sent[st.Record.Calls[i].Key] = true
	}
	history, err := o.Store.History(ctx, ref, 0)
	var calls []memoryd.Call
	for _, c := range history {
		if sent[c.Key] {
			calls = append(calls, c)
		}
	}
	return calls, err
}

// tallies groups the calls by tool in order of first appearance.
func tallies(r *Record) []*tally {
	var order []*tally
	byTool := map[string]*tally{}
	for i := range r.Calls {
		c := &r.Calls[i]
		t := byTool[c.Tool]
		if t == nil {
			t = &tally{ref: c.ToolRef}
			byTool[c.Tool] = t
			order = append(order, t)
		}
		if !r.Appended[i].New {
			t.known++
			continue
		}
		t.added++
		t.firstOfTool = t.firstOfTool || r.Appended[i].FirstOfTool
		switch c.Evaluation.State {
		case memoryd.Pending:
			t.pending++
		case memoryd.Failed:
			t.fail++
		case memoryd.Judged:
		}
	}
	return order
}

// String says it in plain text.
func (t *tally) String() string {
	s := fmt.Sprintf("%s: %d call(s) added, %d judged", t.ref.Tool, t.added, t.added-t.pending-t.fail)
	if t.pending > 0 {
		s += fmt.Sprintf(", %d pending", t.pending)
	}
	if t.fail > 0 {
		s += fmt.Sprintf(", %d could not be judged", t.fail)
	}
	if t.known > 0 {
		s += fmt.Sprintf(", %d known already", t.known)
	}
	return s
}
