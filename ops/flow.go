// Package ops is what the server does: one file per use case (record, retrieve,
// summarize, preflight, compact, correct, revisions, list, manage, views). An op
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
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"time"

	"memoryd"
	"memoryd/compact"
	"memoryd/guidelines/preflight"
	"memoryd/guidelines/revisions"
	"memoryd/internal/access"
	"memoryd/internal/accounts"
	"memoryd/llm/usage"
	"memoryd/ops/survey"
	"memoryd/store"
	"memoryd/store/backup"

	"github.com/go-json-experiment/json/jsontext"
)

// Flows has one field per endpoint. Those that the flow section may compose have a tag with their
// name in it; one that the section does not list is served by the op of the same name. The others
// are functions.
type Flows struct {
	AddToolCallResult   Flow[RecordRequest, *Recorded]    `flow:"add_tool_call_result"`
	SummaryToolMemory   Flow[NamesRequest, *Summaries]    `flow:"summary_tool_memory"`
	RetrieveToolMemory  Flow[NamesRequest, *Retrieved]    `flow:"retrieve_tool_memory"`
	PreflightToolCall   Flow[PreflightRequest, *Forecast] `flow:"preflight_tool_call"`
	CompactConversation Flow[CompactRequest, *Compacted]  `flow:"compact_conversation"`
	VectorStore         Flow[ManageRequest, *Managed]     `flow:"vector_store"`
	ReceiveHook         Flow[HookRequest, *HookAnswer]    `flow:"receive_hook"`

	Snapshot           Flow[TakeSnapshot, Snapshot]
	ListWorkspaces     Flow[ListWorkspaces, WorkspacePage]
	ListTools          Flow[ListTools, ToolPage]
	ListCalls          Flow[ListCalls, CallPage]
	GetCall            Flow[GetCall, StoredCall]
	CorrectCall        Flow[CorrectCall, StoredCall]
	WithdrawCorrection Flow[Withdraw, StoredCall]
	ListCorrections    Flow[ListCorrections, Corrections]
	ListKinds          Flow[memoryd.ToolRef, []OutputKind]
	LabelKind          Flow[LabelKind, LabelledKind]
	ListRevisions      Flow[memoryd.ToolRef, RevisionList]
	GetRevision        Flow[GetRevision, Revision]
	DiffRevisions      Flow[DiffRevisions, []GuidelineChange]
	ListPending        Flow[ListPending, PendingPage]
	Decide             Flow[Decide, Decided]
	ListLineOutcomes   Flow[memoryd.ToolRef, LineOutcomes]
	GetOriginal        Flow[GetOriginal, compact.Original]
	ReadOriginal       Flow[ReadOriginal, compact.Page]
	SearchOriginals    Flow[SearchOriginals, OriginalHits]
	UndoCompaction     Flow[UndoCompaction, []jsontext.Value]
	ReportUsage        Flow[ReportUsage, UsageReport]
	GetOverview        Flow[GetOverview, OverviewPage]
	RankTools          Flow[RankTools, RankedTools]
	FindCalls          Flow[FindCalls, FoundCalls]
	ListRun            Flow[ListRun, []RunCall]
	ListRuns           Flow[ListRuns, RunsPage]
	ListSources        Flow[ListSources, SourceCounts]
	ReceiveTelemetry   Flow[TelemetryRequest, *TelemetryTaken]
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

// untyped forgets the types of an op, which NewPlan has compared.
func untyped[In, Out any](run func(context.Context, In) (Out, error)) func(context.Context, any) (any, error) {
	return func(ctx context.Context, in any) (any, error) {
		return run(ctx, in.(In)) //nolint:forcetypeassert // compared
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
	return value.(Out), nil //nolint:forcetypeassert // compared by NewPlan
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
// end is called with its error; a Refusal is an answer, not an error.
type Tracer interface {
	Op(ctx context.Context, flow, op string, about memoryd.Subject) (within context.Context, end func(error))
}

// traced runs one op under the eyes of a tracer, if there is one. An op that
// panics is ended all the same.
func traced(ctx context.Context, t Tracer, flow string, s step, request, value any) (next any, err error) {
	if t == nil {
		return s.run(ctx, value)
	}
	ctx, end := t.Op(ctx, flow, s.name, subjectOf(request))
	told := errPanicked
	defer func() { end(told) }()
	next, err = s.run(ctx, value)
	if told = err; errors.As(err, new(*Refusal)) {
		told = nil
	}
	return next, err
}

// errPanicked is what the tracer is told of an op that panicked.
var errPanicked = errors.New("the op panicked")

// subjectOf asks a request what it is about, or reads its fields Workspace and
// Tool.
func subjectOf(request any) (s memoryd.Subject) {
	if r, ok := request.(interface{ subject() memoryd.Subject }); ok {
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

// Readers read what other programs send to the server, and answer them in their own words.
type Readers interface {
	// Hook reads an event that a host sent to a hook at the given time.
	Hook(host string, body []byte, now time.Time) (*accounts.Hook, error)
	// Answer returns the JSON for the host; nil if there is nothing to say.
	Answer(h *accounts.Hook, r accounts.HookReply) []byte
	// Spoken returns an input with the host's own parameter names.
	Spoken(h *accounts.Hook, input json.RawMessage) json.RawMessage
	// Telemetry decodes an export request of spans, or of log records.
	Telemetry(body []byte, logs, isJSON bool) (accounts.Batch, error)
	// Accepted returns the body of a successful response to such a request, of which rejected calls
	// were not recorded.
	Accepted(isJSON bool, rejected int, why string) []byte
}

// Deps are the dependencies of ops; each op uses some of them.
type Deps struct {
	Store     store.Store
	Names     *Names
	Reader    MemoryReader
	Judge     Judge
	Wait      time.Duration // how long a recording request waits for verdicts
	Revisions *revisions.Manager
	Told      *Told // which runs asked for advice
	Forecasts *preflight.Cache
	Compactor Compactor
	Mover     *backup.Actions
	Ledger    *usage.Ledger
	Audit     *access.Audit // logs decisions
	Survey    *survey.Survey
	// Intake remembers calls that telemetry and hooks reported recently.
	Intake  *accounts.Intake
	Readers Readers
	// Keyed reports whether API keys exist, by which calls are told apart.
	Keyed func() bool
	// Corrected is called with each evaluation by a person.
	Corrected func(ctx context.Context, before memoryd.Call, after memoryd.Evaluation)
	// Forget drops what a source recorded of a tool beside its history. ForgetSource drops the list
	// entry of a source in a workspace.
	Forget       func(ctx context.Context, ref memoryd.ToolRef, source string) error
	ForgetSource func(ctx context.Context, workspace, source string) error
	// Redaction removes secrets from what is stored.
	Redaction *Redaction
	Logger    *slog.Logger
	Now       func() time.Time

	flows *Flows // that Plan.Build makes: hooks and telemetry record and forecast by them
}

// Check is one check of the server's health.
type Check struct {
	Name string
	// Vital makes the server unready, not only degraded, while Run fails.
	Vital bool
	// Run returns nil, or an error whose text callers may see.
	Run func(ctx context.Context) error
}
