package ingest

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// openhandsEvent is an event of OpenHands: of its first versions an action or an
// observation, of later ones a thing of a kind.
type openhandsEvent struct {
	ID          str            `json:"id"`
	Timestamp   jsontext.Value `json:"timestamp"`
	Source      str            `json:"source"`
	Action      jsontext.Value `json:"action"`
	Args        jsontext.Value `json:"args"`
	Cause       str            `json:"cause"`
	Observation jsontext.Value `json:"observation"`
	Content     jsontext.Value `json:"content"`
	Success     jsontext.Value `json:"success"`
	Extras      object[struct {
		ExitCode jsontext.Value `json:"exit_code"`
		ErrorID  str            `json:"error_id"`
		Metadata object[struct {
			ExitCode jsontext.Value `json:"exit_code"`
		}] `json:"metadata"`
	}] `json:"extras"`
	Tool object[openhandsTool] `json:"tool_call_metadata"`

	Kind       str                    `json:"kind"`
	ToolName   str                    `json:"tool_name"`
	ToolCallID str                    `json:"tool_call_id"`
	ToolCall   object[toolCall]       `json:"tool_call"`
	Error      jsontext.Value         `json:"error"`
	History    listOf[jsontext.Value] `json:"history"`
	InstanceID str                    `json:"instance_id"`
	Events     listOf[jsontext.Value] `json:"events"`
	Trajectory listOf[jsontext.Value] `json:"trajectory"`
}

type openhandsTool struct {
	FunctionName str `json:"function_name"`
	ToolCallID   str `json:"tool_call_id"`
	Response     object[struct {
		Model   str `json:"model"`
		Choices listOf[struct {
			Message object[message] `json:"message"`
		}] `json:"choices"`
	}] `json:"model_response"`
}

// notCalls are actions that ask no tool for anything.
var notCalls = map[string]bool{
	"message": true, "system": true, "finish": true, "reject": true, "recall": true, "change_agent_state": true, "null": true,
	"pause": true, "resume": true, "stop": true, "condensation": true, "condensation_request": true, "agent_state_changed": true, "start": true, "loop_recovery": true,
}

// readOpenHands reads runs of OpenHands: a line with a history, or events one by one.
func readOpenHands(f *file) func(doc []byte) error {
	var alone *openhandsRun
	return func(doc []byte) error {
		var d openhandsEvent
		if err := decode(doc, &d); err != nil {
			return err
		}
		events := append(append(d.History, d.Events...), d.Trajectory...)
		began := func(name string) *openhandsRun {
			return &openhandsRun{f: f, base: Call{Source: f.format, Conversation: strings.TrimPrefix(name+"-"+digest(doc), "-"), Local: true}, calls: map[string]string{}}
		}
		if len(events) == 0 {
			if alone == nil {
				alone = began(f.base)
			}
			alone.event(&d)
			return nil
		}
		run := began(string(d.InstanceID))
		for _, v := range events {
			run.take(v)
		}
		return nil
	}
}

type openhandsRun struct {
	f     *file
	base  Call
	calls map[string]string // event id -> the id of its call
}

// take takes an event of a history, or the pair of an action and its observation.
func (r *openhandsRun) take(v jsontext.Value) {
	var pair listOf[openhandsEvent]
	if v.Kind() == '[' && decode(v, &pair) == nil {
		for i := range pair {
			r.event(&pair[i])
		}
		return
	}
	var e openhandsEvent
	if v.Kind() != '{' || decode(v, &e) != nil {
		r.f.broken(0, "an event of another shape")
		return
	}
	r.event(&e)
}

func (r *openhandsRun) event(e *openhandsEvent) {
	at := when(e.Timestamp)
	switch action := text(e.Action); {
	case e.Kind != "":
		r.kind(e, at)
	case action != "" && !notCalls[action] && e.Source != "user":
		c := r.base
		c.ID, c.Tool, c.Input, c.Begun = "event-"+string(e.ID), action, actionInput(e.Args), at
		if t := e.Tool.is; t.FunctionName != "" {
			c.Tool, c.Model = string(t.FunctionName), string(t.Response.is.Model)
			for _, choice := range t.Response.is.Choices {
				for _, call := range choice.Message.is.ToolCalls {
					if _, args := call.function(); call.ID == t.ToolCallID && len(args) > 0 {
						c.Input = input(args)
					}
				}
			}
		}
		r.calls[string(e.ID)] = c.ID
		r.f.add(c)
	case text(e.Observation) != "" && r.calls[string(e.Cause)] != "":
		c := r.base
		c.ID, c.Done = r.calls[string(e.Cause)], at
		c.end(e.outcome())
		r.f.add(c)
	}
}

// observed reads what was observed: the first exit code that is given counts. -1 is
// that of a command that still runs.
func observed(output string, codes ...jsontext.Value) result {
	r := unwrapEnd(output)
	for _, code := range codes {
		if n, ok := number(code); ok && n >= 0 && r.exit == nil {
			r.exited(string(code))
		}
	}
	return r
}

// outcome reads an observation of the first versions.
func (e *openhandsEvent) outcome() result {
	r := observed(contentText(e.Content), e.Extras.is.Metadata.is.ExitCode, e.Extras.is.ExitCode)
	switch observation := text(e.Observation); observation {
	case "error":
		r.outcome, r.errorType = Failed, string(e.Extras.is.ErrorID)
	case "user_rejected":
		r.outcome = Cancelled
	default:
		if ok, known := truth(e.Success); known && !ok && r.exit == nil {
			r.outcome = Failed
		}
	}
	return r
}

// kind takes an event of the later versions.
func (r *openhandsRun) kind(e *openhandsEvent, at time.Time) {
	c := r.base
	c.ID = string(e.ToolCallID)
	if c.ID == "" {
		return
	}
	switch e.Kind {
	case "ActionEvent":
		if e.ToolName == "finish" {
			return
		}
		c.Tool, c.Begun, c.Input = string(e.ToolName), at, actionInput(e.Action)
		if _, args := e.ToolCall.is.function(); len(args) > 0 {
			c.Input = input(args)
		}
	case "ObservationEvent":
		var o struct {
			Content  jsontext.Value `json:"content"`
			Output   jsontext.Value `json:"output"`
			Error    jsontext.Value `json:"error"`
			IsError  bool           `json:"is_error"`
			ExitCode jsontext.Value `json:"exit_code"`
		}
		if decode(e.Observation, &o) != nil {
			return
		}
		res := observed(cmp.Or(contentText(o.Content), contentText(o.Output)), o.ExitCode)
		if isError, _ := truth(o.Error); o.IsError || isError || text(o.Error) != "" {
			res.outcome = Failed
			res.output = cmp.Or(res.output, text(o.Error))
		}
		c.Done = at
		c.end(res)
	case "AgentErrorEvent":
		c.Done = at
		c.end(result{output: text(e.Error), outcome: Failed, errorType: "agent"})
	case "UserRejectObservation":
		c.end(result{outcome: Cancelled})
	default:
		return
	}
	r.f.add(c)
}

// ofHost are members of an action that the program adds to what the model asked for.
var ofHost = []string{
	"thought", "is_input", "blocking", "is_static", "cwd", "hidden", "confirmation_state", "security_risk", "impl_source", "kind", "translated_ipython_code", "wait_for_response",
}

// actionInput is an action without the members that its host adds.
func actionInput(v jsontext.Value) json.RawMessage {
	members := map[string]jsontext.Value{}
	if v.Kind() != '{' || decode(v, &members) != nil {
		return input(v)
	}
	for _, name := range ofHost {
		delete(members, name)
	}
	for name, m := range members {
		if !there(m) || !m.IsValid() {
			delete(members, name)
		}
	}
	out, err := json.Marshal(members)
	if err != nil {
		return input(v)
	}
	return out
}
