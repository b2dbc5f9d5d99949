package ops

import (
	"context"
	"fmt"
	"strings"

	"memoryd"
	"memoryd/store"

	"golang.org/x/sync/errgroup"
)

// Author writes guidelines.
type Author interface {
	// Write composes the guideline of a tool from its kept calls, oldest first;
	// the newest recent of them are the recent window. It also says who wrote
	// it.
	Write(ctx context.Context, tool memoryd.Tool, calls []memoryd.Call, recent int) (content, author string, err error)
}

// SummaryParams are the settings of summary_tool_memory_op.
type SummaryParams struct {
	// RecentCallCount is the size of the recent window.
	RecentCallCount int `yaml:"recent_call_count"`
	// SummarySleepInterval is the spacing, in seconds, between the starts of
	// model requests of this op; 0 means none.
	SummarySleepInterval float64 `yaml:"summary_sleep_interval"`
}

// Validate names the setting that is wrong.
func (p SummaryParams) Validate() error {
	if p.RecentCallCount < 1 {
		return fmt.Errorf("recent_call_count: must be at least 1, got %d", p.RecentCallCount)
	}
	if p.SummarySleepInterval < 0 {
		return fmt.Errorf("summary_sleep_interval: must be 0 or more (seconds), got %v", p.SummarySleepInterval)
	}
	return nil
}

// parallelSummaries bounds how many tools of one request are summarised at a
// time; the spacing between model requests is the model's own affair.
const parallelSummaries = 8

// SummaryToolMemory writes the guidelines of the loaded tools. A tool to which
// nothing happened since its guideline is skipped; one whose synthesis fails
// keeps the guideline it has.
type SummaryToolMemory struct {
	Params SummaryParams
	Author Author
	Store  interface {
		store.Calls
		store.Tools
	}
	Reader MemoryReader
	// Note is told the cause of each failure, which the client must not see.
	Note func(ctx context.Context, ref memoryd.ToolRef, err error)
}

// Name implements Op.
func (SummaryToolMemory) Name() string { return "summary_tool_memory_op" }

// Run implements Op.
func (o SummaryToolMemory) Run(ctx context.Context, st *State) error {
	loaded := st.Result.Memories
	outcomes := make([]outcome, len(loaded))
	var g errgroup.Group
	g.SetLimit(parallelSummaries)
	for i := range loaded {
		g.Go(func() error {
			outcomes[i] = o.summarise(ctx, loaded[i].Tool, st.Names.Force)
			return outcomes[i].fatal
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return o.collect(ctx, st, outcomes)
}

// outcome is what became of one tool.
type outcome struct {
	ref     memoryd.ToolRef
	skipped bool
	reason  string // why the synthesis failed; "" when it did not
	fatal   error  // the store failed
}

func (o SummaryToolMemory) summarise(ctx context.Context, tool memoryd.Tool, force bool) outcome {
	out := outcome{ref: tool.ToolRef}
	if g := tool.Guideline; g.Revision > 0 && g.BasedOn == tool.Revision && !force {
		out.skipped = true
		return out
	}
	calls, err := o.Store.History(ctx, tool.ToolRef, 0)
	if err != nil {
		out.fatal = fmt.Errorf("history of %q: %w", tool.Tool, err)
		return out
	}
	content, author, err := o.Author.Write(ctx, tool, calls, o.Params.RecentCallCount)
	if err != nil {
		o.Note(ctx, tool.ToolRef, err)
		out.reason = reasonOf(err)
		return out
	}
	out.fatal = o.put(ctx, tool, memoryd.Guideline{
		Content: content, Author: author, BasedOn: tool.Revision, ThroughSeq: newest(calls),
	})
	return out
}

// put stores g unless a guideline written from newer history has come first.
func (o SummaryToolMemory) put(ctx context.Context, tool memoryd.Tool, g memoryd.Guideline) error {
	for {
		err := o.Store.PutGuideline(ctx, tool.ToolRef, g, tool.Guideline.Revision)
		if !memoryd.IsKind(err, memoryd.Conflict) {
			return err
		}
		if tool, err = o.Store.Tool(ctx, tool.ToolRef); err != nil {
			return err
		}
		if tool.Guideline.BasedOn > g.BasedOn {
			return nil
		}
	}
}

func newest(calls []memoryd.Call) int64 {
	if len(calls) == 0 {
		return 0
	}
	return calls[len(calls)-1].Seq
}

// reasonOf is what a client may know of a failed synthesis.
func reasonOf(err error) string {
	if kind, msg := memoryd.KindOf(err); kind != memoryd.Internal {
		return msg
	}
	return "the model gave no usable guideline"
}

// collect answers with the summarised tools, then the skipped ones.
func (o SummaryToolMemory) collect(ctx context.Context, st *State, outcomes []outcome) error {
	res := &st.Result
	res.Memories = nil
	for _, skipped := range []bool{false, true} {
		for _, out := range outcomes {
			if out.reason != "" || out.skipped != skipped {
				continue
			}
			m, err := o.Reader.Read(ctx, out.ref, o.Params.RecentCallCount)
			if err != nil {
				return fmt.Errorf("read back %q: %w", out.ref.Tool, err)
			}
			res.Memories = append(res.Memories, m)
			if skipped {
				res.Skipped++
			} else {
				res.Summarised++
			}
		}
	}
	for _, out := range outcomes {
		if out.reason != "" {
			res.Failed = append(res.Failed, Failure{Tool: out.ref.Tool, Reason: out.reason})
		}
	}
	res.Success = len(res.Memories) > 0
	res.Answer = summaryAnswer(res)
	return nil
}

func summaryAnswer(res *Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Summarised %d tool(s)", res.Summarised)
	if res.Skipped > 0 {
		fmt.Fprintf(&b, ", skipped %d with nothing new", res.Skipped)
	}
	for _, f := range res.Failed {
		fmt.Fprintf(&b, "; %s failed and keeps the guideline it had: %s", f.Tool, f.Reason)
	}
	if len(res.Unknown) > 0 {
		fmt.Fprintf(&b, "; unknown: %s", strings.Join(res.Unknown, ", "))
	}
	return b.String()
}
