package ingest

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// notCalls are actions that ask no tool for anything.
var notCalls = map[string]bool{
	"message": true, "system": true, "finish": true, "reject": true, "recall": true, "change_agent_state": true, "null": true,
	"pause": true, "resume": true, "stop": true, "condensation": true, "condensation_request": true, "agent_state_changed": true, "start": true, "loop_recovery": true,
}

// readOpenHands reads runs of OpenHands: a line with a history, or events one by one. An event
// is, of its first versions, an action or an observation, of later ones a thing of a kind.
func readOpenHands(f *file) func(doc []byte) error {
	var alone *openhandsRun
	return func(doc []byte) error {
		d, err := parse(doc)
		if err != nil {
			return err
		}
		began := func(name string) *openhandsRun {
			conversation := strings.TrimPrefix(name+"-"+digest(doc), "-")
			return &openhandsRun{f: f, base: Call{Source: f.format, Conversation: conversation, Local: true}, calls: map[string]string{}}
		}
		events := slices.Concat(arrayOf(d.at("history")), arrayOf(d.at("events")), arrayOf(d.at("trajectory")))
		if len(events) == 0 {
			if alone == nil {
				alone = began(f.base)
			}
			alone.event(d)
			return nil
		}
		run := began(d.text("instance_id"))
		for _, v := range events {
			for _, one := range elementsOf(v) { // an event, or the pair of an action and its observation
				if e := objectIn(one); e != nil {
					run.event(e)
				} else {
					f.broken(0, "an event of another shape")
				}
			}
		}
		return nil
	}
}

type openhandsRun struct {
	f     *file
	base  Call
	calls map[string]string // event id -> the id of its call
}

func (r *openhandsRun) event(e object) {
	at, id, of := when(e.at("timestamp")), e.text("id"), r.calls[e.text("cause")]
	switch action := text(e["action"]); {
	case e.text("kind") != "":
		r.kind(e, at)
	case action != "" && !notCalls[action] && e.text("source") != "user":
		c := r.base
		c.ID, c.Tool, c.Input, c.Begun = "event-"+id, action, actionInput(e.at("args")), at
		if t := objectIn(e.at("tool_call_metadata")); t.text("function_name") != "" {
			c.Tool, c.Model = t.text("function_name"), t.text("model_response.model")
			for _, choice := range objects(t.at("model_response.choices")) {
				for _, call := range objects(choice.at("message.tool_calls")) {
					if _, args := asked(call); call.text("id") == t.text("tool_call_id") && len(args) > 0 {
						c.Input = input(args)
					}
				}
			}
		}
		r.calls[id] = c.ID
		r.f.add(c)
	case text(e["observation"]) != "" && of != "":
		c := r.base
		c.ID, c.Done = of, at
		c.end(openhandsOutcome(e))
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

// openhandsOutcome reads an observation of the first versions.
func openhandsOutcome(e object) result {
	r := observed(contentText(e.at("content")), e.at("extras.metadata.exit_code"), e.at("extras.exit_code"))
	switch text(e["observation"]) {
	case "error":
		r.outcome, r.errorType = Failed, e.text("extras.error_id")
	case "user_rejected":
		r.outcome = Cancelled
	default:
		if ok, known := truth(e.at("success")); known && !ok && r.exit == nil {
			r.outcome = Failed
		}
	}
	return r
}

// kind takes an event of the later versions.
func (r *openhandsRun) kind(e object, at time.Time) {
	c := r.base
	if c.ID = e.text("tool_call_id"); c.ID == "" {
		return
	}
	switch e.text("kind") {
	case "ActionEvent":
		if c.Tool = e.text("tool_name"); c.Tool == "finish" {
			return
		}
		c.Begun, c.Input = at, actionInput(e.at("action"))
		if _, args := asked(objectIn(e.at("tool_call"))); len(args) > 0 {
			c.Input = input(args)
		}
	case "ObservationEvent":
		o := objectIn(e.at("observation"))
		if o == nil {
			return
		}
		why := text(o["error"])
		res := observed(cmp.Or(contentText(o.at("content")), contentText(o.at("output"))), o.at("exit_code"))
		if o.is("is_error") || o.is("error") || why != "" {
			res.outcome = Failed
			res.output = cmp.Or(res.output, why)
		}
		c.Done = at
		c.end(res)
	case "AgentErrorEvent":
		c.Done = at
		c.end(result{output: text(e["error"]), outcome: Failed, errorType: "agent"})
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
	members := objectIn(v)
	if members == nil {
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
