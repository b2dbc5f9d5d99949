package transcripts

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"memoryd/internal/accounts"
	"memoryd/internal/loosejson"

	"github.com/go-json-experiment/json/jsontext"
)

// notCalls are actions that ask no tool for anything.
var notCalls = map[string]bool{
	"message": true, "system": true, "finish": true, "reject": true, "recall": true, "change_agent_state": true, "null": true,
	"pause": true, "resume": true, "stop": true, "condensation": true, "condensation_request": true,
	"agent_state_changed": true, "start": true, "loop_recovery": true,
}

// readOpenHands reads runs of OpenHands: a line with a history, or events one by one. An event
// is, of its first versions, an action or an observation, of later ones a thing of a kind.
func readOpenHands(f *file) reader {
	var alone *openhandsRun
	return func(d loosejson.Members, doc []byte) {
		began := func(name string) *openhandsRun {
			conversation := strings.TrimPrefix(name+"-"+accounts.Digest(doc), "-")
			return &openhandsRun{f: f, base: accounts.Call{Source: f.format, Conversation: conversation, Local: true}, calls: map[string]string{}}
		}
		events := slices.Concat(loosejson.Elements(d.At("history")), loosejson.Elements(d.At("events")), loosejson.Elements(d.At("trajectory")))
		if len(events) == 0 {
			if alone == nil {
				alone = began(f.base)
			}
			alone.event(d)
			return
		}
		run := began(d.Text("instance_id"))
		for _, v := range events {
			for _, one := range elementsOf(v) { // an event, or the pair of an action and its observation
				if e := loosejson.MembersOf(one); e != nil {
					run.event(e)
				} else {
					f.broken(0, "an event of another shape")
				}
			}
		}
	}
}

type openhandsRun struct {
	f     *file
	base  accounts.Call
	calls map[string]string // event id -> the id of its call
}

func (r *openhandsRun) event(e loosejson.Members) {
	at, id, of := loosejson.Time(e.At("timestamp")), e.Text("id"), r.calls[e.Text("cause")]
	switch action := loosejson.Text(e["action"]); {
	case e.Text("kind") != "":
		r.kind(e, at)
	case action != "" && !notCalls[action] && e.Text("source") != "user":
		c := r.base
		c.ID, c.Tool, c.Input, c.Begun = "event-"+id, action, actionInput(e.At("args")), at
		if t := loosejson.MembersOf(e.At("tool_call_metadata")); t.Text("function_name") != "" {
			c.Tool, c.Model = t.Text("function_name"), t.Text("model_response.model")
			for _, choice := range loosejson.Objects(t.At("model_response.choices")) {
				for _, call := range loosejson.Objects(choice.At("message.tool_calls")) {
					if _, args := asked(call); call.Text("id") == t.Text("tool_call_id") && len(args) > 0 {
						c.Input = input(args)
					}
				}
			}
		}
		r.calls[id] = c.ID
		r.f.add(c)
	case loosejson.Text(e["observation"]) != "" && of != "":
		c := r.base
		c.ID, c.Done = of, at
		end(&c, openhandsOutcome(e))
		r.f.add(c)
	}
}

// observed reads what was observed: the first exit code that is given counts. -1 is
// that of a command that still runs.
func observed(output string, codes ...jsontext.Value) result {
	r := unwrapEnd(output)
	for _, code := range codes {
		if n, ok := loosejson.NumberOf(code); ok && n >= 0 && r.exit == nil {
			r.exited(string(code))
		}
	}
	return r
}

// openhandsOutcome reads an observation of the first versions.
func openhandsOutcome(e loosejson.Members) result {
	r := observed(contentText(e.At("content")), e.At("extras.metadata.exit_code"), e.At("extras.exit_code"))
	switch loosejson.Text(e["observation"]) {
	case "error":
		r.outcome, r.errorType = accounts.Failed, e.Text("extras.error_id")
	case "user_rejected":
		r.outcome = accounts.Cancelled
	default:
		if ok, known := loosejson.Truth(e.At("success")); known && !ok && r.exit == nil {
			r.outcome = accounts.Failed
		}
	}
	return r
}

// kind takes an event of the later versions.
func (r *openhandsRun) kind(e loosejson.Members, at time.Time) {
	c := r.base
	if c.ID = e.Text("tool_call_id"); c.ID == "" {
		return
	}
	switch e.Text("kind") {
	case "ActionEvent":
		if c.Tool = e.Text("tool_name"); c.Tool == "finish" {
			return
		}
		c.Begun, c.Input = at, actionInput(e.At("action"))
		if _, args := asked(loosejson.MembersOf(e.At("tool_call"))); len(args) > 0 {
			c.Input = input(args)
		}
	case "ObservationEvent":
		o := loosejson.MembersOf(e.At("observation"))
		if o == nil {
			return
		}
		why := loosejson.Text(o["error"])
		res := observed(cmp.Or(contentText(o.At("content")), contentText(o.At("output"))), o.At("exit_code"))
		if o.Is("is_error") || o.Is("error") || why != "" {
			res.outcome = accounts.Failed
			res.output = cmp.Or(res.output, why)
		}
		c.Done = at
		end(&c, res)
	case "AgentErrorEvent":
		c.Done = at
		end(&c, result{output: loosejson.Text(e["error"]), outcome: accounts.Failed, errorType: "agent"})
	case "UserRejectObservation":
		end(&c, result{outcome: accounts.Cancelled})
	default:
		return
	}
	r.f.add(c)
}

// ofHost are members of an action that the program adds to what the model asked for.
var ofHost = []string{
	"thought", "is_input", "blocking", "is_static", "cwd", "hidden", "confirmation_state", "security_risk", "impl_source",
	"kind", "translated_ipython_code", "wait_for_response",
}

// actionInput is an action without the members that its host adds.
func actionInput(v jsontext.Value) json.RawMessage {
	members := loosejson.MembersOf(v)
	if members == nil {
		return input(v)
	}
	maps.DeleteFunc(members, func(name string, m jsontext.Value) bool {
		return slices.Contains(ofHost, name) || !loosejson.There(m) || !m.IsValid()
	})
	out, _ := json.Marshal(members) // each is valid
	return out
}
