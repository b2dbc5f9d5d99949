package ops

import (
	"context"
	"slices"
	"strings"
	"sync"

	"memoryd"
	"memoryd/guidelines/preflight"
	"memoryd/internal/accounts"

	lru "github.com/hashicorp/golang-lru/v2"
)

// HookRequest is the event that a host sent to a hook.
type HookRequest struct {
	Workspace, Host string
	Body            []byte
}

// HookAnswer is what the host reads; nil means no answer.
type HookAnswer struct{ Body []byte }

// HookParams are the settings of receive_hook_op.
type HookParams struct {
	// AtCall is what to do about a call that breaks a rule or repeats a failure: tell the model,
	// ask a person, deny the call, or repair its input where the repair is certain.
	AtCall string `yaml:"at_call" must:"tell, ask, deny or repair"`
}

// maxTold bounds the sessions of which is remembered what they were told.
const maxTold = 1 << 14

type sessionOf struct{ workspace, session string }

// hooks serves the hooks of agents' hosts.
type hooks struct {
	Deps
	params HookParams
	told   *lru.Cache[sessionOf, *sync.Map] // what sessions know
}

func newHooks(d Deps, p HookParams) *hooks {
	told, _ := lru.New[sessionOf, *sync.Map](maxTold) // it fails for no size
	return &hooks{Deps: d, params: p, told: told}
}

func (o *hooks) run(ctx context.Context, r HookRequest) (*HookAnswer, error) {
	h, err := o.Readers.Hook(r.Host, r.Body, o.Now())
	if err != nil {
		return nil, err
	}
	of := sessionOf{r.Workspace, h.Call.Conversation}
	switch h.Moment {
	case accounts.Begins:
		if h.Forgot {
			o.told.Remove(of)
		}
		return o.begin(ctx, h, of)
	case accounts.BeforeCall:
		return o.before(ctx, &r, h)
	case accounts.AfterCall:
		return o.after(ctx, &r, h)
	case accounts.Forgets:
		o.told.Remove(of)
	case accounts.Ends:
	}
	return &HookAnswer{}, nil
}

// tell notes that a session knows something, and reports whether it did not.
func (o *hooks) tell(of sessionOf, what string) (isNew bool) {
	all := &sync.Map{}
	if known, is, _ := o.told.PeekOrAdd(of, all); is {
		all = known
	}
	_, known := all.LoadOrStore(what, true)
	return !known
}

// before says which rules a planned call breaks, and does about it what the operator
// allows.
func (o *hooks) before(ctx context.Context, r *HookRequest, h *accounts.Hook) (*HookAnswer, error) {
	f, lines, err := o.broken(ctx, r, h)
	if err != nil || len(lines) == 0 {
		return &HookAnswer{}, err
	}
	a := &f.Assessment
	reply, why, did := accounts.HookReply{Context: o.news(r, h, f.Tool, lines)}, "memoryd:", ""
	for _, l := range lines {
		why += " " + l.text
	}
	denies := slices.ContainsFunc(a.Warnings, func(w preflight.Warning) bool { return w.Severity == preflight.Stop })
	switch {
	case o.params.AtCall == "repair" && len(a.Suggestion) > 0 && h.Repairs:
		reply.Input, did = o.Readers.Spoken(h, a.Suggestion), "repaired"
	case o.params.AtCall == "deny" && denies:
		reply = accounts.HookReply{Deny: why}
		did = "denied"
	case o.params.AtCall != "tell" && h.Asks:
		reply.Ask, did = why, "asked about"
	}
	if did != "" {
		o.Logger.InfoContext(ctx, "a hook "+did+" a call that breaks a rule", "tool", h.Call.Tool, "workspace", r.Workspace,
			"session", h.Call.Conversation, "at_call", o.params.AtCall)
	}
	return &HookAnswer{o.Readers.Answer(h, reply)}, nil
}

// line is what is said of a call; a session is told each once, by its key.
type line struct{ key, text string }

// broken are the rules that a call breaks, a line each with what is known to work instead.
// What its run's last calls say is said of a call that failed for no reason that is known.
func (o *hooks) broken(ctx context.Context, r *HookRequest, h *accounts.Hook) (*Forecast, []line, error) {
	call := h.Call.Record()
	f, err := o.flows.PreflightToolCall.Run(ctx, PreflightRequest{
		ToolRef: memoryd.ToolRef{Workspace: r.Workspace, Tool: call.Tool}, Input: call.Input,
		By: Caller{Run: h.Call.Conversation, Session: h.Call.Conversation}, Host: accounts.NamesServers(h.Host),
	})
	if err != nil {
		return nil, nil, err
	}
	a := &f.Assessment
	var lines []line
	for _, w := range a.Warnings {
		switch {
		case w.Line != "":
			lines = append(lines, line{w.Line, "`" + call.Tool + "`: " + w.Line + "."})
		case w.Rule == preflight.LoopRule:
			lines = append(lines, line{w.Rule + string(call.Input), "`" + call.Tool + "`: " + w.Text})
		case w.Rule == preflight.ThrashRule && h.Moment == accounts.AfterCall && len(a.Warnings) == 1:
			lines = append(lines, line{w.Rule, w.Text})
		}
	}
	if s := a.Suggestion; len(lines) > 0 && len(s) > 0 {
		lines[len(lines)-1].text += " Instead: " + string(o.Readers.Spoken(h, s))
	}
	return f, lines, nil
}

// news are the lines that the session was not told at a call yet. The tool is that which the
// host's name for it means, under which the call will be recorded.
func (o *hooks) news(r *HookRequest, h *accounts.Hook, tool string, lines []line) string {
	of := sessionOf{r.Workspace, h.Call.Conversation}
	var fresh []string
	for _, l := range lines {
		if o.tell(of, h.Call.Tool+" "+l.key) {
			fresh = append(fresh, l.text)
		}
	}
	if len(fresh) > 0 {
		o.Told.note(memoryd.ToolRef{Workspace: r.Workspace, Tool: tool}, h.Call.Conversation, 0, false)
	}
	return strings.Join(fresh, "\n")
}

// after records the call. Of one that failed a model is told what its host did not show it
// before.
func (o *hooks) after(ctx context.Context, r *HookRequest, h *accounts.Hook) (*HookAnswer, error) {
	reply := accounts.HookReply{}
	if h.Reaches && h.Call.Outcome != accounts.Succeeded {
		f, lines, err := o.broken(ctx, r, h)
		if err != nil {
			return nil, err
		}
		reply.Context = o.news(r, h, f.Tool, lines)
	}
	if !h.Elsewhere {
		calls := o.Intake.Join(r.Workspace, []accounts.Call{h.Call})
		if err := o.recordAccounts(ctx, r.Workspace, calls, &TelemetryTaken{}); err != nil {
			return nil, err
		}
	}
	return &HookAnswer{o.Readers.Answer(h, reply)}, nil
}
