package ops

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"memoryd"
	"memoryd/guidelines/preflight"
	"memoryd/ingest"
)

// HookRequest is what a host gave a hook, as it was sent.
type HookRequest struct {
	Workspace, Host string
	Body            []byte
	// Record, Retrieve and Preflight are the flows that record a call, and that say
	// what is known of a tool and of a planned call.
	Record    func(ctx context.Context, r RecordRequest) (*Recorded, error)
	Retrieve  func(ctx context.Context, r NamesRequest) (*Retrieved, error)
	Preflight func(ctx context.Context, r PreflightRequest) (*Forecast, error)
}

// HookAnswer is what the host reads; nil is nothing to say.
type HookAnswer struct{ Body []byte }

// HookParams are the settings of receive_hook_op.
type HookParams struct {
	// Deny lets a warning of the highest severity keep a host from making a call;
	// without it warnings are only shown.
	Deny bool `yaml:"deny"`
	// MaxTokens bounds the guideline that a session is told of a tool; 0: none is.
	MaxTokens int `yaml:"max_tokens"`
}

// Validate names the setting that is wrong.
func (p HookParams) Validate() error {
	if p.MaxTokens < 0 {
		return fmt.Errorf("max_tokens: must be 0 or more, got %d", p.MaxTokens)
	}
	return nil
}

func (library) ReceiveHook() Definition {
	return defineWith("receive_hook_op", func(d Deps, p HookParams) func(context.Context, HookRequest) (*HookAnswer, error) {
		return (&hooks{Deps: d, params: p, told: map[toldOf]bool{}}).run
	})
}

// maxTold bounds the tools of sessions that are remembered to have been told of.
const maxTold = 1 << 16

type toldOf struct{ workspace, session, tool string }

// hooks serves the hooks of agents' hosts.
type hooks struct {
	Deps
	params HookParams
	mu     sync.Mutex
	told   map[toldOf]bool
}

func (o *hooks) run(ctx context.Context, r HookRequest) (*HookAnswer, error) {
	h, err := ingest.ReadHook(r.Host, r.Body, o.Now())
	if err != nil {
		return nil, err
	}
	switch h.Moment {
	case ingest.BeforeCall:
		return o.before(ctx, &r, h)
	case ingest.AfterCall:
		return o.after(ctx, &r, h)
	case ingest.Forgets:
		o.forget(r.Workspace, h.Call.Conversation)
	case ingest.Ends:
	}
	return &HookAnswer{}, nil
}

// before says what is known of the call, and of its tool to a session that was not
// told yet.
func (o *hooks) before(ctx context.Context, r *HookRequest, h *ingest.Hook) (*HookAnswer, error) {
	call := h.Call.Record()
	forecast, err := r.Preflight(ctx, PreflightRequest{
		ToolRef: memoryd.ToolRef{Workspace: r.Workspace, Tool: call.Tool}, Input: call.Input,
		By: Caller{Run: h.Call.Conversation, Session: h.Call.Conversation, Agent: h.Call.Agent},
	})
	if err != nil {
		return nil, err
	}
	var lines []string
	deny := ""
	for _, w := range forecast.Assessment.Warnings {
		lines = append(lines, w.Text)
		if w.Severity == preflight.Stop && o.params.Deny && deny == "" {
			deny = "memoryd: " + w.Text
		}
	}
	if s := forecast.Assessment.Suggestion; len(lines) > 0 && len(s) > 0 {
		said := "An input to try instead: "
		if forecast.Assessment.SuggestionWorked > 0 {
			said = "This input worked: "
		}
		lines = append(lines, said+string(s))
	}
	if len(lines) > 0 {
		lines = append([]string{"memoryd, from the recorded calls of " + call.Tool + ":"}, lines...)
	}
	if h.Reaches() {
		lines = append(lines, o.guideline(ctx, r, h)...)
	}
	return &HookAnswer{h.Answer(strings.Join(lines, "\n"), deny)}, nil
}

// after records the call.
func (o *hooks) after(ctx context.Context, r *HookRequest, h *ingest.Hook) (*HookAnswer, error) {
	if !h.Elsewhere {
		calls := o.Intake.Join(r.Workspace, []ingest.Call{h.Call})
		if err := o.recordAccounts(ctx, TelemetryRequest{Workspace: r.Workspace, Record: r.Record}, calls, &TelemetryTaken{}); err != nil {
			return nil, err
		}
	}
	if !h.Reaches() {
		return &HookAnswer{}, nil
	}
	return &HookAnswer{h.Answer(strings.Join(o.guideline(ctx, r, h), "\n"), "")}, nil
}

// guideline is what is known of the call's tool, once in a session.
func (o *hooks) guideline(ctx context.Context, r *HookRequest, h *ingest.Hook) []string {
	of := toldOf{r.Workspace, h.Call.Conversation, h.Call.Tool}
	o.mu.Lock()
	known := o.told[of]
	o.mu.Unlock()
	if known || o.params.MaxTokens == 0 {
		return nil
	}
	got, err := r.Retrieve(ctx, NamesRequest{Workspace: r.Workspace, Tools: []string{h.Call.Tool}, Session: h.Call.Conversation, MaxTokens: o.params.MaxTokens})
	if err != nil || len(got.Memories) == 0 || got.Memories[0].Tool.Guideline.Content == "" {
		return nil // there will be a next call
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.told) >= maxTold {
		clear(o.told)
	}
	o.told[of] = true
	return []string{"What memoryd learned from earlier calls of this tool:", got.Answer}
}

// forget makes a session be told again of the tools that it was told of.
func (o *hooks) forget(workspace, session string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for of := range o.told {
		if of.workspace == workspace && of.session == session {
			delete(o.told, of)
		}
	}
}
