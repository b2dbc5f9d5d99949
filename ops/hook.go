package ops

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"memoryd"
	"memoryd/guidelines/preflight"
	"memoryd/ingest"
)

// HookRequest is the event that a host sent to a hook.
type HookRequest struct {
	Workspace, Host string
	Body            []byte
	// Record and Preflight are the flows that record a call and forecast a planned one.
	Record    func(ctx context.Context, r RecordRequest) (*Recorded, error)
	Preflight func(ctx context.Context, r PreflightRequest) (*Forecast, error)
}

// HookAnswer is what the host reads; nil means no answer.
type HookAnswer struct{ Body []byte }

// HookParams are the settings of receive_hook_op.
type HookParams struct {
	// AtCall is what to do about a call that breaks a rule or repeats a failure: tell the model,
	// ask a person, deny the call, or repair its input where the repair is certain.
	AtCall string `yaml:"at_call"`
}

// Validate returns the first invalid setting.
func (p HookParams) Validate() error {
	if !slices.Contains([]string{"tell", "ask", "deny", "repair"}, p.AtCall) {
		return fmt.Errorf("at_call: must be tell, ask, deny or repair, got %q", p.AtCall)
	}
	return nil
}

func (library) ReceiveHook() Definition {
	return defineWith("receive_hook_op", func(d Deps, p HookParams) func(context.Context, HookRequest) (*HookAnswer, error) {
		return (&hooks{Deps: d, params: p, told: map[toldOf]bool{}}).run
	})
}

// maxTold bounds the sessions that are remembered to have been told.
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
	of := toldOf{workspace: r.Workspace, session: h.Call.Conversation}
	switch h.Moment {
	case ingest.Begins:
		if h.Forgot {
			o.mark(of, false)
		}
		return o.begin(ctx, h, of)
	case ingest.BeforeCall:
		return o.before(ctx, &r, h)
	case ingest.AfterCall:
		return o.after(ctx, &r, h)
	case ingest.Forgets:
		o.mark(of, false)
	case ingest.Ends:
	}
	return &HookAnswer{}, nil
}

// mark notes whether a session was told, and reports whether it had been.
func (o *hooks) mark(of toldOf, told bool) (before bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	before = o.told[of]
	if len(o.told) >= maxTold {
		clear(o.told)
	}
	if o.told[of] = told; !told {
		delete(o.told, of)
	}
	return before
}

// Limits of what a session is told when it begins.
const (
	maxBlock     = 800 // characters
	blockHead    = "From failed calls in this project:"
	maxToolsRead = 64
	projectCalls = 100 // the newest calls of a tool that are asked for their project
)

// begin tells a session of the mistakes that are made most in its project, once.
func (o *hooks) begin(ctx context.Context, h *ingest.Hook, of toldOf) (*HookAnswer, error) {
	if o.mark(of, true) {
		return &HookAnswer{}, nil
	}
	block, err := o.block(ctx, of.workspace, of.session, h.Call.Project)
	if err != nil || block == "" {
		o.mark(of, false) // there may be more to say at the next prompt
		return &HookAnswer{}, err
	}
	return &HookAnswer{h.Answer(ingest.HookReply{Context: block})}, nil
}

// block lists the rules of a project's tools, those that most calls broke first, one a line.
func (o *hooks) block(ctx context.Context, workspace, session, project string) (string, error) {
	if o.Revisions != nil && o.Revisions.Untold(workspace, session) {
		return "", nil
	}
	tools, err := o.Store.ListTools(ctx, workspace, "", maxToolsRead)
	if err != nil {
		return "", err
	}
	type line struct {
		text  string
		calls int
		tool  memoryd.ToolRef
	}
	var lines []line
	for i := range tools {
		rules, err := o.Forecasts.RulesOf(ctx, tools[i].ToolRef)
		if err != nil {
			return "", err
		}
		if len(rules) == 0 {
			continue
		}
		if used, err := o.usedIn(ctx, tools[i].ToolRef, project); err != nil || !used {
			if err != nil {
				return "", err
			}
			continue
		}
		for k := range rules {
			lines = append(lines, line{fmt.Sprintf("\n- `%s`: %s.", tools[i].Tool, rules[k].Line), rules[k].Calls, tools[i].ToolRef})
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(b.calls, a.calls) })
	block := blockHead
	for _, l := range lines {
		if utf8.RuneCountInString(block+l.text) <= maxBlock {
			block += l.text
			o.Told.note(l.tool, session, 0, false)
		}
	}
	if block == blockHead {
		return "", nil
	}
	return block, nil
}

// usedIn reports whether a tool was called in a project. Calls that name no project may
// have been.
func (o *hooks) usedIn(ctx context.Context, tool memoryd.ToolRef, project string) (bool, error) {
	if project == "" {
		return true, nil
	}
	calls, err := o.Store.History(ctx, tool, projectCalls)
	return len(calls) == 0 || slices.ContainsFunc(calls, func(c memoryd.Call) bool {
		var m struct{ Project string }
		return json.Unmarshal(c.Metadata, &m) != nil || m.Project == "" || m.Project == project
	}), err
}

// before says which rules a planned call breaks, and does about it what the operator
// allows.
func (o *hooks) before(ctx context.Context, r *HookRequest, h *ingest.Hook) (*HookAnswer, error) {
	a, lines, err := o.broken(ctx, r, h)
	if err != nil || len(lines) == 0 {
		return &HookAnswer{}, err
	}
	reply := ingest.HookReply{Context: strings.Join(lines, "\n")}
	why, did := "memoryd: "+strings.Join(lines, " "), ""
	denies := slices.ContainsFunc(a.Warnings, func(w preflight.Warning) bool { return w.Severity == preflight.Stop })
	switch {
	case o.params.AtCall == "repair" && len(a.Suggestion) > 0 && h.Repairs():
		reply.Input, did = h.Spoken(a.Suggestion), "repaired"
	case o.params.AtCall == "deny" && denies:
		reply = ingest.HookReply{Deny: why}
		did = "denied"
	case o.params.AtCall != "tell" && h.Asks():
		reply.Ask, did = why, "asked about"
	}
	if did != "" {
		o.Logger.InfoContext(ctx, "a hook "+did+" a call that breaks a rule", "tool", h.Call.Tool, "workspace", r.Workspace, "session", h.Call.Conversation, "at_call", o.params.AtCall)
	}
	return &HookAnswer{h.Answer(reply)}, nil
}

// broken are the rules that a call breaks, a line each, and what is known to work instead.
func (o *hooks) broken(ctx context.Context, r *HookRequest, h *ingest.Hook) (*Assessment, []string, error) {
	call := h.Call.Record()
	f, err := r.Preflight(ctx, PreflightRequest{
		ToolRef: memoryd.ToolRef{Workspace: r.Workspace, Tool: call.Tool}, Input: call.Input,
		By: Caller{Run: h.Call.Conversation, Session: h.Call.Conversation, Agent: h.Call.Agent}, Host: ingest.NamesServers(h.Host),
	})
	if err != nil {
		return nil, nil, err
	}
	a := &f.Assessment
	a.Warnings = slices.DeleteFunc(a.Warnings, func(w preflight.Warning) bool { return !w.IsTested() && w.Rule != loopRule })
	var lines []string
	for _, w := range a.Warnings {
		lines = append(lines, "`"+call.Tool+"`: "+w.Text)
	}
	if s := a.Suggestion; len(lines) > 0 && len(s) > 0 {
		lines = append(lines, "Instead: "+string(h.Spoken(s)))
	}
	return a, lines, nil
}

// after records the call. A host that shows the model nothing before a call is told of a
// broken rule now.
func (o *hooks) after(ctx context.Context, r *HookRequest, h *ingest.Hook) (*HookAnswer, error) {
	reply := ingest.HookReply{}
	if !h.ToldBefore() && h.Call.Outcome != ingest.Succeeded {
		_, lines, err := o.broken(ctx, r, h)
		if err != nil {
			return nil, err
		}
		reply.Context = strings.Join(lines, "\n")
	}
	if !h.Elsewhere {
		calls := o.Intake.Join(r.Workspace, []ingest.Call{h.Call})
		if err := o.recordAccounts(ctx, TelemetryRequest{Workspace: r.Workspace, Record: r.Record}, calls, &TelemetryTaken{}); err != nil {
			return nil, err
		}
	}
	return &HookAnswer{h.Answer(reply)}, nil
}
