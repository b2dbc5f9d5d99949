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
	RecentCallCount int `yaml:"recent_call_count" must:"at least 1"`
	// SummarySleepInterval is the time in seconds between the starts of this op's model requests; 0
	// means no spacing.
	SummarySleepInterval float64 `yaml:"summary_sleep_interval" must:"0 or more (seconds)"`
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
	done := make([]revisions.Result, len(t.Memories))
	// A failure does not end the others: their guidelines are paid for.
	g, _ := lifecycle.NewGroup(ctx, o.Logger, "summarising", parallelSummaries)
	for i := range done {
		g.Go(func() (err error) {
			ref := t.Memories[i].Tool.ToolRef
			if done[i], err = o.Revisions.Refresh(ctx, ref, t.occasion()); err != nil {
				return fmt.Errorf("guideline of %q: %w", ref.Tool, err)
			}
			done[i].Calls = slices.Clone(newest(done[i].Calls, o.Params.RecentCallCount)) // the others may go
			if done[i].Failed != nil {
				o.Logger.WarnContext(ctx, "cannot write a guideline", "workspace", ref.Workspace, "tool", ref.Tool, "err", done[i].Failed)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return o.collect(ctx, t, done)
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

// collect answers with the summarised tools, then the skipped ones.
func (o *SummaryToolMemory) collect(ctx context.Context, t *loadedTools, done []revisions.Result) (*Summaries, error) {
	res := &Summaries{Unknown: t.Unknown, request: t.NamesRequest}
	var skipped []Memory
	for i, d := range done {
		ref := t.Memories[i].Tool.ToolRef
		if d.Failed != nil {
			kind, reason := memoryd.KindOf(d.Failed)
			if kind == memoryd.Internal { // what a client may know of it
				reason = "the model returned no usable guideline"
			}
			res.Failed = append(res.Failed, Failure{Tool: ref.Tool, Reason: reason})
			continue
		}
		n := noCalls
		if d.Calls == nil { // it needed none
			n = o.Params.RecentCallCount
		}
		m, err := o.Reader.Read(ctx, ref, n)
		if err != nil {
			return nil, fmt.Errorf("read back %q: %w", ref.Tool, err)
		}
		if d.Calls != nil {
			m.Calls = d.Calls
		}
		if d.Written || t.Force && d.Skipped == revisions.SameText {
			res.Memories = append(res.Memories, m)
		} else {
			skipped = append(skipped, m)
		}
	}
	res.Summarised, res.Skipped = len(res.Memories), len(skipped)
	res.Memories = append(res.Memories, skipped...)
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
