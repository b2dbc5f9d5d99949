package ops

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"memoryd"
	"memoryd/guidelines/revisions"
	"memoryd/internal/lifecycle"
	"memoryd/internal/origin"
)

// SummaryParams are the settings of summary_tool_memory_op.
type SummaryParams struct {
	// RecentCallCount is the number of calls in the recent statistics.
	RecentCallCount int `yaml:"recent_call_count"`
	// SummarySleepInterval is the time in seconds between the starts of this op's model requests; 0
	// means no spacing.
	SummarySleepInterval float64 `yaml:"summary_sleep_interval"`
}

// Validate returns the first invalid setting.
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

// Summaries are the results of updating guidelines.
type Summaries struct {
	Answer string
	// Success is false if no requested tool has a guideline.
	Success bool
	// Memories are the updated tools, then the skipped ones; Summarised and Skipped count them.
	Memories            []Memory
	Summarised, Skipped int
	// Failed are the tools that keep their old guideline after a failure.
	Failed []Failure
	// Unknown are requested names without a memory.
	Unknown []string

	request NamesRequest
}

// Failure is a tool whose update failed, with the reason for the client.
type Failure struct {
	Tool   string
	Reason string
}

// loaded are the tools as they are now, but those that failed.
func (s *Summaries) loaded() *loadedTools {
	return &loadedTools{NamesRequest: s.request, Unknown: s.Unknown, Memories: s.Memories}
}

// SummaryToolMemory updates the guidelines of the loaded tools. It skips tools without new calls. A
// tool keeps its guideline if the update fails.
type SummaryToolMemory struct {
	Deps
	Params SummaryParams
}

// Run updates guidelines and returns the tools.
func (o *SummaryToolMemory) Run(ctx context.Context, named namedTools) (*Summaries, error) {
	t := named.loaded()
	outcomes := make([]outcome, len(t.Memories))
	// A failure does not end the others: their guidelines are paid for.
	g, _ := lifecycle.NewGroup(ctx, o.Logger, "summarising", parallelSummaries)
	for i := range outcomes {
		g.Go(func() error {
			outcomes[i] = o.summarise(ctx, t.Memories[i].Tool.ToolRef, t.occasion())
			return outcomes[i].fatal
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return o.collect(ctx, t, outcomes)
}

// outcome is what became of one tool.
type outcome struct {
	ref     memoryd.ToolRef
	skipped bool
	reason  string // why the synthesis failed; "" when it did not
	fatal   error  // the store failed
	calls   []memoryd.Call
}

func (o *SummaryToolMemory) summarise(ctx context.Context, ref memoryd.ToolRef, when revisions.When) outcome {
	done, err := o.Revisions.Refresh(ctx, ref, when)
	out := outcome{ref: ref, calls: slices.Clone(newest(done.Calls, o.Params.RecentCallCount))} // the others may go
	switch {
	case err != nil:
		out.fatal = fmt.Errorf("guideline of %q: %w", ref.Tool, err)
	case done.Failed != nil:
		o.SummaryFailed(ctx, ref, done.Failed)
		out.reason = reasonOf(done.Failed)
	default:
		out.skipped = !done.Written && (when != revisions.Always || done.Skipped != revisions.SameText)
	}
	return out
}

// occasion is what a request asks for.
func (n NamesRequest) occasion() revisions.When {
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
	return "the model returned no usable guideline"
}

// collect answers with the summarised tools, then the skipped ones.
func (o *SummaryToolMemory) collect(ctx context.Context, t *loadedTools, outcomes []outcome) (*Summaries, error) {
	res := &Summaries{Unknown: t.Unknown, request: t.NamesRequest}
	for _, skipped := range []bool{false, true} {
		for _, out := range outcomes {
			if out.reason != "" || out.skipped != skipped {
				continue
			}
			n := o.Params.RecentCallCount
			if out.calls != nil {
				n = noCalls
			}
			m, err := o.Reader.Read(ctx, out.ref, n)
			if err != nil {
				return nil, fmt.Errorf("read back %q: %w", out.ref.Tool, err)
			}
			if out.calls != nil {
				m.Calls = out.calls
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
	return res, nil
}

// summaryAnswer holds the guidelines that were written, in the words of the
// documented server.
func summaryAnswer(res *Summaries) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Processed %d tool(s): %d summarized, %d skipped\n", res.Summarised+res.Skipped, res.Summarised, res.Skipped)
	for i := range res.Memories[:res.Summarised] {
		if i > 0 {
			b.WriteString("\n\n---\n")
		}
		fmt.Fprintf(&b, "\nTool: %s\n%s", origin.Title(res.Memories[i].Tool.Tool), res.Memories[i].Tool.Guideline.Content)
	}
	for _, f := range res.Failed {
		fmt.Fprintf(&b, "\nTool: %s failed and keeps its old guideline: %s", origin.Title(f.Tool), f.Reason)
	}
	return b.String()
}
