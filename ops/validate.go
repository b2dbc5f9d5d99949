package ops

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"memoryd"
	"memoryd/internal/accounts"
	"memoryd/internal/textsafe"
)

// Limits are the limits of one call.
type Limits struct {
	// MaxTextBytes is the length at which inputs and outputs are cut.
	MaxTextBytes int `yaml:"max_text_bytes" must:"at least 1024"`
}

// RecordRequest is a request to add calls.
type RecordRequest struct {
	Workspace string
	// ToolName is the tool of items that name none; "" means none.
	ToolName string
	// RequestKey is the client's Idempotency-Key; without one, the server generates a key.
	RequestKey string
	Items      []Item
	// Async answers as soon as the calls are saved, without the memories of their tools unless
	// WholeHistory is set.
	Async bool
	// WholeHistory answers with all stored calls, not only those of the request.
	WholeHistory bool
}

// subject names the only tool of the items; several are not counted, which would
// not be worth the time.
func (r RecordRequest) subject() memoryd.Subject {
	s := memoryd.Subject{Workspace: r.Workspace, Tool: r.ToolName, Calls: len(r.Items)}
	for i := range r.Items {
		switch name := r.Items[i].Call.Tool; {
		case r.ToolName != "" || name == "" || name == s.Tool:
		case s.Tool == "":
			s.Tool = name
		default:
			s.Tool = ""
			return s
		}
	}
	if s.Tool != "" {
		s.Tools = 1
	}
	return s
}

// Item is a call as it was sent: decoded, but not validated.
type Item struct {
	Call memoryd.Call
	// Reason is why the item could not be decoded; "" if it could.
	Reason string
}

// Rejection is a rejected item, by its index in the request.
type Rejection struct {
	Index  int
	Reason string
}

// validCalls are the valid items of a request, as calls. There is at least one.
type validCalls struct {
	RecordRequest

	Calls    []memoryd.Call
	Rejected []Rejection
}

// ValidateToolCallResult turns items into calls as they are stored. It fills in tool names, times,
// hashes, identities and who sent them, removes secrets, cuts long texts, and rejects what cannot be
// recorded, naming the field.
type ValidateToolCallResult struct {
	Deps
	Limits Limits
}

// Run returns the valid items, or refuses a request without any.
func (o *ValidateToolCallResult) Run(ctx context.Context, r RecordRequest) (*validCalls, error) {
	if len(r.Items) == 0 {
		return nil, refuse("No valid tool_call_results")
	}
	if r.ToolName == "" && !anyNamesATool(r.Items) {
		return nil, refuse("tool_name is required")
	}
	for i := range r.Items {
		if c := &r.Items[i].Call; strings.TrimSpace(c.Tool) == "" {
			c.Tool = r.ToolName
		}
	}
	v := &validCalls{RecordRequest: r, Calls: make([]memoryd.Call, 0, len(r.Items))}
	for i := range r.Items {
		if i > 0 {
			runtime.Gosched() // small requests need not wait for a whole batch
		}
		call, reason, err := o.accept(ctx, &r, i)
		if err != nil {
			return nil, fmt.Errorf("the name of a tool: %w", err)
		}
		if reason != "" {
			v.Rejected = append(v.Rejected, Rejection{Index: i, Reason: reason})
			continue
		}
		v.Calls = append(v.Calls, call)
	}
	if len(v.Calls) == 0 {
		if fault := allMisnamed(v); fault != nil {
			return nil, fault
		}
		return nil, &Refusal{
			Answer: fmt.Sprintf("All %d tool_call_results were invalid and filtered out", len(r.Items)), Rejected: v.Rejected,
		}
	}
	o.Told.mark(v.Calls)
	return v, nil
}

func anyNamesATool(items []Item) bool {
	return slices.ContainsFunc(items, func(it Item) bool { return strings.TrimSpace(it.Call.Tool) != "" })
}

// allMisnamed is the fault of a request none of whose items names a tool that there can
// be; nil where an item has another.
func allMisnamed(v *validCalls) *memoryd.Fault {
	var first *memoryd.Fault
	for i := range v.Items {
		why := memoryd.ToolNameFault(v.Items[i].Call.Tool)
		if v.Items[i].Reason != "" || why == "" {
			return nil
		}
		if first == nil {
			first = memoryd.NewFault("value_error", "the name "+why, nil, "body", "tool_call_results", i, "tool_name")
		}
	}
	return first
}

// accept makes an item the call that is stored, or says why it is rejected. The call's identity
// follows from what is kept of it without secrets: the same call sent again has the same
// placeholders.
func (o *ValidateToolCallResult) accept(ctx context.Context, r *RecordRequest, index int) (call memoryd.Call, reason string, err error) {
	item := &r.Items[index]
	if call = item.Call; item.Reason != "" {
		return call, item.Reason, nil
	}
	call.Workspace = r.Workspace
	if reason = o.check(&call); reason != "" {
		return call, reason, nil
	}
	id, source := call.Identity(), sourceOf(ctx)
	id.Source, id.RequestKey, id.Index = source, r.RequestKey, index
	o.Redaction.call(ctx, &call)
	account := o.Intake.Recognise(&call, source)
	if account != nil && account.As != "" {
		call.Tool, id.ToolCallID, id.Source = account.Tool, memoryd.RefID(account.As), account.Owner
	}
	id.ToolRef, id.Input, id.Output = call.ToolRef, call.Input, call.Output
	key, hash := id.KeyAndHash()
	call.Key, call.Hash, call.Evaluation = key, cmp.Or(call.Hash, hash), memoryd.PendingEvaluation()
	if call.CreateTime == "" {
		call.CreateTime = call.Time.Format(memoryd.TimeLayout)
	}
	o.cut(&call)
	call.Metadata = memoryd.WithSource(call.Metadata, source)
	reason, err = o.name(ctx, &call, account)
	return call, reason, err
}

// name gives a call the name under which its tool is stored, or says that no host offered
// such a tool: that is a mistake of the caller, and nothing was called.
func (o *ValidateToolCallResult) name(ctx context.Context, c *memoryd.Call, account *accounts.Call) (reason string, err error) {
	a := asked{ToolRef: c.ToolRef, input: c.Input, write: !accounts.NotOffered(c.Tool, c.Output)}
	a.host = account != nil && slices.ContainsFunc(account.Sources, accounts.NamesServers)
	meant, known, err := o.Names.Of(ctx, a)
	if err != nil || known || a.write {
		c.ToolRef = meant
		return "", err
	}
	reason = "tool_name: no tool has this name, as the answer says"
	if like := nearest(ctx, o.Names.store, c.ToolRef); len(like) > 0 {
		reason += "; known tools of similar names: " + strings.Join(like, ", ")
	}
	o.Intake.NoSuchTool(c.Metadata, account)
	o.Logger.InfoContext(ctx, "a call named a tool that there is not", "tool", c.Tool, "workspace", c.Workspace, "run",
		c.Run(), "why", reason)
	return reason, nil
}

// check says what is wrong with a call by itself, and reads its time: without one it is now, and
// without a zone in the server's.
func (o *ValidateToolCallResult) check(c *memoryd.Call) string {
	switch {
	case strings.TrimSpace(c.Tool) == "":
		return "tool_name: missing, and the request names none"
	case memoryd.ToolNameFault(c.Tool) != "":
		return "tool_name: " + memoryd.ToolNameFault(c.Tool)
	case !(c.TimeCost >= 0 && c.TimeCost <= memoryd.MaxCost):
		return "time_cost: must be 0 to 1e9 (seconds)"
	case c.TokenCost < -1 || c.TokenCost > memoryd.MaxCost:
		return "token_cost: must be 0 to 1e9, or -1 for unknown"
	case c.CreateTime == "":
		c.Time = o.Now()
		return ""
	}
	var err error
	if c.Time, err = memoryd.ParseTime(c.CreateTime, time.Local); err != nil {
		return "create_time: " + err.Error()
	}
	return ""
}

// cut shortens texts beyond the limit and marks the call's metadata with the
// original length in bytes. An input stays valid JSON: a long one becomes the
// string of its beginning.
func (o *ValidateToolCallResult) cut(c *memoryd.Call) {
	limit := o.Limits.MaxTextBytes
	if n := len(c.Output); n > limit {
		c.Output = textsafe.Head(c.Output, limit)
		c.Metadata = memoryd.WithMembers(c.Metadata, map[string]any{"output_cut_from": n})
	}
	if n := len(c.Input); n > limit {
		text := string(c.Input)
		if c.Input[0] == '"' {
			text = string(memoryd.InputText(c.Input))
		}
		c.Input, _ = json.Marshal(textsafe.Head(text, limit)) // a text can always be written
		c.Metadata = memoryd.WithMembers(c.Metadata, map[string]any{"input_cut_from": n})
	}
}
