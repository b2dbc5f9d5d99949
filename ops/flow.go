// Package ops is what the server does: one file per use case (record, retrieve,
// summarize, preflight, compact, correct, revisions, list, manage, usage). An op
// is a function from a typed request to a typed answer. A Flow is a chain of ops
// that serves one endpoint; Flows lists the endpoints. NewPlan checks, by the
// types alone, that the chains of a configuration fit together and serve their
// endpoints; Plan.Build makes them.
//
// Ops reach the rest of the program through the store contract and the small interfaces in
// Deps.
package ops

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"memoryd/internal/admission"
)

// Scheduler limits how many requests compute at a time.
type Scheduler = admission.Scheduler

// Quota limits the number of current requests and the size of their bodies.
type Quota = admission.Quota

// Lease is a request's share of a Quota.
type Lease = admission.Lease

// Flows has one field per endpoint, tagged with its name in the flow section. An endpoint that the
// section does not list is served by the op of the same name.
type Flows struct {
	AddToolCallResult   Flow[RecordRequest, *Recorded]          `flow:"add_tool_call_result"`
	SummaryToolMemory   Flow[NamesRequest, *Summaries]          `flow:"summary_tool_memory"`
	RetrieveToolMemory  Flow[NamesRequest, *Retrieved]          `flow:"retrieve_tool_memory"`
	PreflightToolCall   Flow[PreflightRequest, *Forecast]       `flow:"preflight_tool_call"`
	CompactConversation Flow[CompactRequest, *Compacted]        `flow:"compact_conversation"`
	VectorStore         Flow[ManageRequest, *Managed]           `flow:"vector_store"`
	Snapshot            Flow[TakeSnapshot, Snapshot]            `flow:"snapshot"`
	ListWorkspaces      Flow[ListWorkspaces, WorkspacePage]     `flow:"list_workspaces"`
	ListTools           Flow[ListTools, ToolPage]               `flow:"list_tools"`
	ListCalls           Flow[ListCalls, CallPage]               `flow:"list_calls"`
	GetCall             Flow[GetCall, StoredCall]               `flow:"get_call"`
	CorrectCall         Flow[CorrectCall, StoredCall]           `flow:"correct_call"`
	WithdrawCorrection  Flow[Withdraw, StoredCall]              `flow:"withdraw_correction"`
	ListCorrections     Flow[ListCorrections, Corrections]      `flow:"list_corrections"`
	ListKinds           Flow[ListKinds, OutputKinds]            `flow:"list_kinds"`
	LabelKind           Flow[LabelKind, LabelledKind]           `flow:"label_kind"`
	ListRevisions       Flow[ListRevisions, RevisionList]       `flow:"list_revisions"`
	GetRevision         Flow[GetRevision, Revision]             `flow:"get_revision"`
	DiffRevisions       Flow[DiffRevisions, RevisionDiff]       `flow:"diff_revisions"`
	PinRevision         Flow[PinRevision, Revision]             `flow:"pin_revision"`
	UnpinRevision       Flow[UnpinRevision, Done]               `flow:"unpin_revision"`
	RollBackRevision    Flow[RollBackRevision, Revision]        `flow:"roll_back_revision"`
	ListPending         Flow[ListPending, PendingPage]          `flow:"list_pending"`
	ReleasePending      Flow[ReleasePending, Revision]          `flow:"release_pending"`
	UndoRelease         Flow[UndoRelease, Revision]             `flow:"undo_release"`
	EditLine            Flow[EditLine, EditedLine]              `flow:"edit_line"`
	UndoEdit            Flow[UndoEdit, Revision]                `flow:"undo_edit"`
	ListLineOutcomes    Flow[ListLineOutcomes, LineOutcomes]    `flow:"list_line_outcomes"`
	GetOriginal         Flow[GetOriginal, Original]             `flow:"get_original"`
	ReadOriginal        Flow[ReadOriginal, OriginalPage]        `flow:"read_original"`
	SearchOriginals     Flow[SearchOriginals, OriginalHits]     `flow:"search_originals"`
	UndoCompaction      Flow[UndoCompaction, Conversation]      `flow:"undo_compaction"`
	ReportUsage         Flow[ReportUsage, UsageReport]          `flow:"report_usage"`
	GetOverview         Flow[GetOverview, OverviewPage]         `flow:"get_overview"`
	RankTools           Flow[RankTools, RankedTools]            `flow:"rank_tools"`
	FindCalls           Flow[FindCalls, FoundCalls]             `flow:"find_calls"`
	ListRun             Flow[ListRun, RunCalls]                 `flow:"list_run"`
	ListRuns            Flow[ListRuns, RunsPage]                `flow:"list_runs"`
	ListSources         Flow[ListSources, SourceCounts]         `flow:"list_sources"`
	ReceiveTelemetry    Flow[TelemetryRequest, *TelemetryTaken] `flow:"receive_telemetry"`
	ReceiveHook         Flow[HookRequest, *HookAnswer]          `flow:"receive_hook"`
}

// Flow serves one endpoint. Its ops turn a request into an answer; each takes what the one before
// it returned.
type Flow[In, Out any] struct {
	name   string
	steps  []step
	tracer Tracer
}

// step is an op as a flow runs it.
type step struct {
	name string
	run  func(ctx context.Context, in any) (any, error)
}

// FlowOf returns a flow of a single function, for tests.
func FlowOf[In, Out any](name string, run func(ctx context.Context, in In) (Out, error)) Flow[In, Out] {
	return Flow[In, Out]{name: name, steps: []step{{name, untyped(run)}}}
}

// Done is the answer of endpoints that return nothing.
type Done struct{}

// untyped forgets the types of an op, which NewPlan has compared.
func untyped[In, Out any](run func(context.Context, In) (Out, error)) func(context.Context, any) (any, error) {
	return func(ctx context.Context, in any) (any, error) {
		typed, ok := in.(In)
		if !ok {
			return nil, fmt.Errorf("the op takes %T, but got %T", *new(In), in)
		}
		return run(ctx, typed)
	}
}

// Run runs the ops in order and stops at the first error. If ctx ends, the flow stops between two
// ops, never within one.
func (f *Flow[In, Out]) Run(ctx context.Context, in In) (Out, error) {
	var none Out
	var request any = in
	value := request
	for _, s := range f.steps {
		if ctx.Err() != nil {
			return none, fmt.Errorf("%s: before %s: %w", f.name, s.name, context.Cause(ctx))
		}
		next, err := traced(ctx, f.tracer, f.name, s, request, value)
		if err != nil {
			return none, fmt.Errorf("%s: %s: %w", f.name, s.name, err)
		}
		value = next
	}
	out, ok := value.(Out)
	if !ok {
		return none, fmt.Errorf("%s: returned %T instead of %T", f.name, value, none)
	}
	return out, nil
}

// endpoint is what the fields of Flows have in common.
type endpoint interface {
	types() (in, out reflect.Type)
	assemble(name string, steps []step, tracer Tracer)
}

func (f *Flow[In, Out]) types() (in, out reflect.Type) {
	return reflect.TypeFor[In](), reflect.TypeFor[Out]()
}

func (f *Flow[In, Out]) assemble(name string, steps []step, tracer Tracer) {
	f.name, f.steps, f.tracer = name, steps, tracer
}

// Tracer traces the ops of a flow. Op is called before an op and returns the context to run it in;
// end is called with its error.
type Tracer interface {
	Op(ctx context.Context, flow, op string, about Subject) (within context.Context, end func(error))
}

// Subject says what a request is about, for traces.
type Subject struct {
	Workspace string
	// Tool is the tool of the request; "" if there are none or several. Tools is their number; 0 if
	// unknown.
	Tool  string
	Tools int
	// Calls is the number of calls in a recording request.
	Calls int
}

// traced runs one op under the eyes of a tracer, if there is one. An op that
// panics is ended all the same.
func traced(ctx context.Context, t Tracer, flow string, s step, request, value any) (next any, err error) {
	if t == nil {
		return s.run(ctx, value)
	}
	ctx, end := t.Op(ctx, flow, s.name, subjectOf(request))
	err = errPanicked
	defer func() { end(err) }()
	next, err = s.run(ctx, value)
	return next, err
}

// errPanicked is what the tracer is told of an op that panicked.
var errPanicked = errors.New("the op panicked")

// subjectOf asks a request what it is about, or reads its fields Workspace and
// Tool.
func subjectOf(request any) (s Subject) {
	if r, ok := request.(interface{ subject() Subject }); ok {
		return r.subject()
	}
	v := reflect.ValueOf(request)
	if f := v.FieldByName("Workspace"); f.IsValid() {
		s.Workspace = f.String()
	}
	if f := v.FieldByName("Tool"); f.IsValid() {
		s.Tool, s.Tools = f.String(), 1
	}
	return s
}

// Refusal ends a flow with an answer that clients read as an application failure ("success":
// false), not as an error of the service.
type Refusal struct {
	Answer string
	// Rejected are the rejected items of a recording request.
	Rejected []Rejection
}

// Error returns the answer.
func (r *Refusal) Error() string { return r.Answer }

func refuse(format string, args ...any) error {
	return &Refusal{Answer: fmt.Sprintf(format, args...)}
}

// NewQuota returns a Quota for the given number of concurrent requests and the bytes of their
// bodies.
func NewQuota(requests, bytes int64) *Quota { return admission.NewQuota(requests, bytes) }
