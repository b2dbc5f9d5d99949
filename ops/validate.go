package ops

import (
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
	// ToolCallID is metadata.tool_call_id, part of the call's identity.
	ToolCallID string
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

// ValidateToolCallResult turns items into calls. It fills in tool names, times, hashes and
// identities, removes secrets, cuts long texts, and rejects what cannot be recorded, naming the
// field.
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
	v := &validCalls{RecordRequest: r, Calls: make([]memoryd.Call, 0, len(r.Items))}
	for i, item := range r.Items {
		if i > 0 {
			runtime.Gosched() // small requests need not wait for a whole batch
		}
		call, reason := o.accept(ctx, &r, item, i)
		if reason == "" {
			var err error
			if reason, err = o.name(ctx, &call); err != nil {
				return nil, fmt.Errorf("the name of a tool: %w", err)
			}
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
		name := v.Items[i].Call.Tool
		if strings.TrimSpace(name) == "" {
			name = v.ToolName
		}
		why := memoryd.ToolNameFault(name)
		if v.Items[i].Reason != "" || why == "" {
			return nil
		}
		if first == nil {
			first = memoryd.NewFault("value_error", "the name "+why, nil, "body", "tool_call_results", i, "tool_name")
		}
	}
	return first
}

// accept completes one item, or says why it is rejected.
func (o *ValidateToolCallResult) accept(ctx context.Context, r *RecordRequest, item Item, index int) (memoryd.Call, string) {
	call := item.Call
	if item.Reason != "" {
		return call, item.Reason
	}
	call.Workspace = r.Workspace
	if strings.TrimSpace(call.Tool) == "" {
		call.Tool = r.ToolName
	}
	if reason := badCall(&call); reason != "" {
		return call, reason
	}
	// Before its identity, which follows from what is kept: the same call sent again
	// has the same placeholders.
	o.Redaction.call(ctx, &call)
	source := sourceOf(ctx)
	if account, told := accounts.FromRecord(&call); told {
		account.Owner = source
		if o.Intake.Recognise(r.Workspace, &account); account.As != "" {
			call.Tool, item.ToolCallID, source = account.Tool, memoryd.RefID(account.As), account.Owner
		}
	}
	var hash string
	call.Key, hash = memoryd.Identity{
		ToolRef: call.ToolRef, Input: call.Input, Output: call.Output, CreateTime: call.CreateTime,
		ToolCallID: item.ToolCallID, Source: source, RequestKey: r.RequestKey, Index: index,
	}.KeyAndHash()
	if call.Hash == "" {
		call.Hash = hash
	}
	if reason := o.setTime(&call); reason != "" {
		return call, reason
	}
	call.Evaluation = memoryd.PendingEvaluation()
	o.cut(&call)
	return call, ""
}

// name gives a call the name under which its tool is stored, or says that no host offered
// such a tool: that is a mistake of the caller, and nothing was called.
func (o *ValidateToolCallResult) name(ctx context.Context, c *memoryd.Call) (reason string, err error) {
	a := asked{ToolRef: c.ToolRef, input: c.Input, write: !accounts.NotOffered(c.Tool, c.Output)}
	account, told := accounts.FromRecord(c)
	if told {
		a.host = slices.ContainsFunc(account.Sources, accounts.NamesServers)
	}
	meant, known, err := o.Names.Of(ctx, a)
	if err != nil || known || a.write {
		c.ToolRef = meant
		return "", err
	}
	reason = "tool_name: no tool has this name, as the answer says"
	if like := nearest(ctx, o.Names.store, c.ToolRef); len(like) > 0 {
		reason += "; known tools of similar names: " + strings.Join(like, ", ")
	}
	o.Intake.NoSuchTool(c.Metadata, &account)
	o.Logger.InfoContext(ctx, "a call named a tool that there is not", "tool", c.Tool, "workspace", c.Workspace, "run",
		c.Run(), "why", reason)
	return reason, nil
}

// badCall checks what needs no other data.
func badCall(c *memoryd.Call) string {
	switch {
	case strings.TrimSpace(c.Tool) == "":
		return "tool_name: missing, and the request names none"
	case memoryd.ToolNameFault(c.Tool) != "":
		return "tool_name: " + memoryd.ToolNameFault(c.Tool)
	case !(c.TimeCost >= 0 && c.TimeCost <= memoryd.MaxCost):
		return "time_cost: must be 0 to 1e9 (seconds)"
	case c.TokenCost < -1 || c.TokenCost > memoryd.MaxCost:
		return "token_cost: must be 0 to 1e9, or -1 for unknown"
	}
	return ""
}

// setTime reads create_time; without a zone it is in the server's.
func (o *ValidateToolCallResult) setTime(c *memoryd.Call) string {
	if c.CreateTime == "" {
		c.Time = o.Now()
		c.CreateTime = c.Time.Format(memoryd.TimeLayout)
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
