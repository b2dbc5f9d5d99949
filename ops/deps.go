package ops

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"memoryd"
	"memoryd/guidelines/preflight"
	"memoryd/guidelines/revisions"
	"memoryd/internal/access"
	"memoryd/internal/accounts"
	"memoryd/llm/usage"
	"memoryd/ops/survey"
	"memoryd/store"
	"memoryd/store/backup"
)

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
	// SummaryFailed is called with the reason when a guideline was not written, and Corrected with
	// each evaluation by a person.
	SummaryFailed func(ctx context.Context, ref memoryd.ToolRef, err error)
	Corrected     func(ctx context.Context, before memoryd.Call, after memoryd.Evaluation)
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
