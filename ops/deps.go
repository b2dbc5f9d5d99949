package ops

import (
	"context"
	"log/slog"
	"time"

	"memoryd"
	"memoryd/compact"
	"memoryd/guidelines/preflight"
	"memoryd/ingest"
	"memoryd/store"
)

// Deps is what ops are made from; each takes what it uses.
type Deps struct {
	Store     store.Store
	Names     *Names // nil: a tool has the one name
	Reader    MemoryReader
	Judge     Judge
	Wait      time.Duration // how long a recording request waits for its verdicts
	Revisions Revisions
	Told      *Told // which runs asked what
	Forecasts *preflight.Cache
	Compactor Compactor
	Originals compact.Originals
	Mover     Mover
	Ledger    Ledger
	Monitor   Monitor
	Audit     Auditor // of decisions; nil: nobody is told
	Survey    Surveyor
	// Intake knows the calls that came by telemetry and hooks lately.
	Intake *ingest.Intake
	// Keyed reports whether there are keys, which calls are told apart by; nil: there are.
	Keyed func() bool
	// SummaryFailed is told why a guideline was not written, Corrected of each
	// evaluation that a person gave.
	SummaryFailed func(ctx context.Context, ref memoryd.ToolRef, err error)
	Corrected     func(ctx context.Context, before memoryd.Call, after memoryd.Evaluation)
	// Forget drops what was learned of a tool beside its history, ForgetSource what says
	// that somebody recorded calls in a workspace; nil: nothing was.
	Forget       func(ctx context.Context, ref memoryd.ToolRef) error
	ForgetSource func(ctx context.Context, workspace, source string) error
	// Redaction takes secrets out of what is stored; nil takes out none.
	Redaction *Redaction
	Logger    *slog.Logger
	Now       func() time.Time
}
