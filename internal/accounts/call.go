// Package accounts joins what several sources (a transcript, a hook, a trace, a wrapper) tell of
// one call, and knows the names by which hosts call one tool.
package accounts

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"memoryd"
	"memoryd/internal/loosejson"
	"memoryd/internal/textsafe"
)

// Outcome is how a call ended, as far as a source can tell. If reports differ, the greater
// outcome wins: a source that saw a failure knows more than one that only saw no failure.
type Outcome int

// The outcomes.
const (
	// Unknown: the source shows no outcome. The judge decides by the output.
	Unknown Outcome = iota
	// Claimed: a flag reports success, but the flag also does so for some failures (a shell
	// command that exits with 3).
	Claimed
	// Succeeded: the exit code is 0, or isError or is_error is false.
	Succeeded
	// Failed: an exit code, an error member, an error status.
	Failed
	// Cancelled: a person or a policy stopped the call, or it was never made. Such a call
	// says nothing about the tool and is not recorded.
	Cancelled
)

// Call is one tool call as one source reports it, or merged from several sources. A zero
// field means that no source reported it.
type Call struct {
	// Source is the source of the report: a format of Readers ("claude-code"), "hook:" and a
	// host, "otlp:" and a dialect, or "mcp-wrap".
	Source string
	// Sources are all sources of a merged call, in order.
	Sources []string
	// Conversation is the session, thread or run in which the agent made the call.
	Conversation string
	// Project is the folder in which the agent worked.
	Project string
	// Agent is the sub-agent that made the call, Model the model that it ran on.
	Agent, Model string
	// ID is the call's id within the conversation (toolu_..., call_...).
	ID string
	// Local reports that the ID is unique only within its conversation: benchmarks replay a
	// model's answers with their ids, and some programs number their steps. Other long ids
	// are unique, so they identify the same call in a forked conversation.
	Local bool
	// As is the Ref under which the call is recorded if another source reported it first; ""
	// otherwise.
	As string
	// Owner is the API key that recorded the call; "" without keys.
	Owner string
	// Trace and Span are the ids of a trace's span.
	Trace, Span string
	// Parent is the id of the parent span.
	Parent string

	// Line is the call's line in its file; 0 if the file does not consist of lines.
	Line int
	// Tool is the tool's name in the source.
	Tool string
	// Input is a JSON object or string.
	Input json.RawMessage
	// Output is the text that the tool returned, without the host's wrapping. Ended reports
	// that there is an output, which may be empty.
	Output string
	Ended  bool
	// Truncated reports that the source keeps only part of the output.
	Truncated bool

	Outcome Outcome
	// ExitCode is the exit code of a command.
	ExitCode *int
	// ErrorType is the kind of failure as the source names it ("timeout").
	ErrorType string

	// Begun and Done are the times at which the call began and its result arrived.
	Begun, Done time.Time
	// Duration is the duration that the source measured. Without one, the difference of the
	// times is used, which includes waiting for approval.
	Duration time.Duration

	by [fields]int // how much who gave each field is trusted, 0: see trusted
}

// Duration given by the times of a call is not believed beyond this: somebody went
// home before they approved.
const longestWait = 24 * time.Hour

// UniqueID is how many letters and digits without a break make an id that no other
// conversation has.
const UniqueID = 16

// inIDs are what such a run consists of.
var inIDs = textsafe.BytesOf("09azAZ", "-")

// Ref identifies the call across sources: its id if that is unique (toolu_01AbC...),
// otherwise the conversation and the id. It is "" if the source gives no id.
func (c *Call) Ref() string {
	if c.As != "" {
		return c.As
	}
	if c.ID == "" {
		return ""
	}
	if c.Local {
		return c.Conversation + "/" + c.ID
	}
	for run := range strings.FieldsFuncSeq(c.ID, func(r rune) bool { return r >= utf8.RuneSelf || !inIDs[r] }) {
		if len(run) >= UniqueID && strings.ContainsAny(run, "0123456789") {
			return c.ID
		}
	}
	return c.Conversation + "/" + c.ID
}

// Whole reports whether enough is known to record the call: its tool, and that it ended.
func (c *Call) Whole() bool { return c.Named() && c.Ended && c.Outcome != Cancelled }

// Named reports whether anything is left of the tool's name when it is recorded: blanks
// and control characters are not.
func (c *Call) Named() bool {
	return strings.TrimSpace(textsafe.Line(c.Tool, memoryd.MaxNameBytes)) != ""
}

// took is the duration, and whether it comes from times only.
func (c *Call) took() (d time.Duration, fromTimes bool) {
	if c.Duration > 0 {
		return c.Duration, false
	}
	if c.Begun.IsZero() || c.Done.IsZero() {
		return 0, false
	}
	if d = c.Done.Sub(c.Begun); d < 0 || d > longestWait {
		return 0, false
	}
	return d, d > 0
}

// notes are the members of a call's metadata that tell where it comes from.
type notes struct {
	CallRef   string   `json:"call_ref,omitempty"`
	CallID    string   `json:"tool_call_id,omitempty"`
	Session   string   `json:"session_id,omitempty"`
	Agent     string   `json:"agent_id,omitempty"`
	Project   string   `json:"project,omitempty"`
	Model     string   `json:"model,omitempty"`
	Sources   []string `json:"sources"`
	ExitCode  *int     `json:"exit_code,omitempty"`
	ErrorType string   `json:"error_type,omitempty"`
	TimeFrom  string   `json:"time_from,omitempty"`
	Truncated bool     `json:"output_truncated,omitempty"`
	Trace     string   `json:"trace_id,omitempty"`
	Span      string   `json:"span_id,omitempty"`
	Parent    string   `json:"parent_span_id,omitempty"`
}

// Record returns the call as it is recorded, without a workspace. Its metadata name the
// conversation (session_id), the sources and, if there is an id, a call_ref, by which another
// report of the same call is recognised later.
func (c *Call) Record() memoryd.Call {
	d, fromTimes := c.took()
	n := notes{
		CallRef: name(cmp.Or(c.Ref(), c.moment())), CallID: name(c.ID), Session: name(c.Conversation), Agent: name(c.Agent),
		Project: name(c.Project), Model: name(c.Model),
		Sources: c.Sources, ExitCode: c.ExitCode, ErrorType: name(c.ErrorType), Truncated: c.Truncated, Trace: name(c.Trace),
		Span: name(c.Span), Parent: name(c.Parent),
	}
	if len(n.Sources) == 0 {
		n.Sources = []string{c.Source}
	}
	if fromTimes {
		n.TimeFrom = "timestamps"
	}
	metadata, err := json.Marshal(n)
	if err != nil { // texts and numbers: it cannot fail
		metadata = nil
	}
	out := memoryd.Call{
		ToolRef: memoryd.ToolRef{Tool: textsafe.Line(c.Tool, memoryd.MaxNameBytes)}, Input: c.Input,
		Output:  strings.ToValidUTF8(c.Output, "\uFFFD"),
		Success: c.Outcome != Failed, TimeCost: d.Seconds(), TokenCost: -1, Metadata: metadata,
	}
	if len(out.Input) == 0 {
		out.Input = json.RawMessage(`{}`)
	}
	if out.Output == "" && c.Outcome == Failed {
		out.Output = c.failure()
	}
	if at := c.at(); !at.IsZero() {
		out.CreateTime = at.UTC().Format(time.RFC3339Nano)
	}
	return out
}

// moment names a call that no source gives an id by what it is and when it was made.
func (c *Call) moment() string {
	if c.at().IsZero() {
		return ""
	}
	return "at-" + Digest(fmt.Appendf(nil, "%q %q %s %d", c.Conversation, c.Tool, c.Input, c.at().UnixNano()))
}

// FromRecord reverses Record, as far as a record holds what a source reported. ok is false
// for a call without sources: it was not merged from reports.
func FromRecord(m *memoryd.Call) (c Call, ok bool) {
	if !bytes.Contains(m.Metadata, []byte(`"sources"`)) {
		return c, false
	}
	var n notes
	_ = loosejson.Decode(m.Metadata, &n) // metadata of another shape say nothing here
	if len(n.Sources) == 0 {
		return c, false
	}
	c = Call{
		Sources: n.Sources, Conversation: m.Run(), Agent: n.Agent, Project: n.Project, Model: n.Model, ID: n.CallID, As: n.CallRef,
		Trace: n.Trace, Span: n.Span, Parent: n.Parent,
		Tool: m.Tool, Input: m.Input, Output: m.Output, Ended: true, Truncated: n.Truncated,
		Outcome: Succeeded, ExitCode: n.ExitCode, ErrorType: n.ErrorType, Begun: loosejson.TimeOf(m.CreateTime),
	}
	for _, s := range n.Sources {
		if c.Source == "" || trustIn(s, named) > trustIn(c.Source, named) {
			c.Source = s
		}
	}
	if kind, _, _ := strings.Cut(c.Source, ":"); strings.HasPrefix(n.CallRef, kind+"/") { // its id is its own, nobody else's
		c.ID = ""
	}
	if !m.Success {
		c.Outcome = Failed
	}
	if d := loosejson.Seconds(m.TimeCost); n.TimeFrom != "" {
		c.Done = c.Begun.Add(d)
	} else {
		c.Duration = d
	}
	return c, true
}

// Amended returns a recorded call with what a further report knows better. changed is false
// if that is nothing. Everything else in the record stays.
func Amended(recorded *memoryd.Call, account *Call) (out memoryd.Call, changed bool) {
	out = *recorded
	a, told := FromRecord(recorded)
	if !told {
		return out, false
	}
	run := a.Conversation
	merge(&a, account)
	if run != "" { // it is found by its run
		a.Conversation = run
	}
	now := a.Record()
	if bytes.Contains(recorded.Metadata, []byte(`"input_cut_from"`)) {
		now.Input = recorded.Input
	}
	var err error
	if out.Metadata, err = joinMembers(recorded.Metadata, now.Metadata); err != nil {
		return out, false
	}
	out.Input, out.Output, out.Success, out.TimeCost = now.Input, now.Output, now.Success, now.TimeCost
	out.Hash = memoryd.HashOf(out.Input, out.Output)
	return out, out.Output != recorded.Output || out.Success != recorded.Success || out.TimeCost != recorded.TimeCost ||
		!bytes.Equal(out.Input, recorded.Input) || !bytes.Equal(out.Metadata, recorded.Metadata)
}

// joinMembers puts the members of b over those of a; both are objects.
func joinMembers(a, b json.RawMessage) (json.RawMessage, error) {
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(a, &members); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(b, &members); err != nil {
		return nil, err
	}
	joined, err := json.Marshal(members)
	if bytes.Equal(joined, a) {
		return a, err
	}
	return joined, err
}

// failure is what there is to say of a call that failed without a word.
func (c *Call) failure() string {
	switch {
	case c.ExitCode != nil:
		return fmt.Sprintf("exit code %d", *c.ExitCode)
	case c.ErrorType != "":
		return "error: " + c.ErrorType
	}
	return "error"
}

// at is when the call was made.
func (c *Call) at() time.Time {
	if c.Begun.IsZero() {
		return c.Done
	}
	return c.Begun
}

// name keeps a foreign name within what names may be.
func name(s string) string {
	return textsafe.Head(strings.ToValidUTF8(s, "\uFFFD"), memoryd.MaxNameBytes)
}

// Digest names what has no id by what it holds.
func Digest(doc []byte) string {
	sum := sha256.Sum256(doc)
	return hex.EncodeToString(sum[:8])
}
