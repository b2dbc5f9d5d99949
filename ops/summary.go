package ops

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"memoryd"
	"memoryd/guidelines/revisions"
	"memoryd/internal/lifecycle"
)

// Curator has guidelines written and keeps them.
type Curator interface {
	// Refresh writes the guideline of a tool if the occasion asks for it. An error
	// is the store's; a failed writing is in the outcome.
	Refresh(ctx context.Context, ref memoryd.ToolRef, when revisions.When) (revisions.Result, error)
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
	Params  SummaryParams
	Curator Curator
	Reader  MemoryReader
	// Note is told the cause of each failure, which the client must not see.
	Note func(ctx context.Context, ref memoryd.ToolRef, err error)
	// Logger is told of panics.
	Logger *slog.Logger
}

// Name implements Op.
func (SummaryToolMemory) Name() string { return "summary_tool_memory_op" }

// Run implements Op.
func (o SummaryToolMemory) Run(ctx context.Context, st *State) error {
	outcomes := make([]outcome, len(st.Result.Memories))
	// A failure does not end the others: their guidelines are paid for.
	g, _ := lifecycle.NewGroup(ctx, o.Logger, "summarising", parallelSummaries)
	for i := range outcomes {
		t := &st.Result.Memories[i].Tool
		g.Go(func() error {
			outcomes[i] = o.summarise(ctx, t.ToolRef, st.Names.occasion())
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

func (o SummaryToolMemory) summarise(ctx context.Context, ref memoryd.ToolRef, when revisions.When) outcome {
	out := outcome{ref: ref}
	done, err := o.Curator.Refresh(ctx, ref, when)
	switch {
	case err != nil:
		out.fatal = fmt.Errorf("guideline of %q: %w", ref.Tool, err)
	case done.Failed != nil:
		o.Note(ctx, ref, done.Failed)
		out.reason = reasonOf(done.Failed)
	default:
		out.skipped = !done.Written && (when != revisions.Always || done.Skipped != revisions.SameText)
	}
	return out
}

// occasion is what a request asks for.
func (n Names) occasion() revisions.When {
	switch {
	case n.Force:
		return revisions.Always
	case n.Stale:
		return revisions.IfStale
	}
	return revisions.IfNew
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
