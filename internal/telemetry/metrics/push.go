package metrics

import "time"

// Routes lists the route templates that may appear as a label, such as
// "/v1/workspaces/:workspace/tools". Observe counts any other route as "other".
func (r *Registry) Routes(templates ...string) {
	if r != nil {
		r.routes.add(templates)
	}
}

// Observe counts an answered request.
func (r *Registry) Observe(route, method string, status int, took time.Duration) {
	if r == nil {
		return
	}
	r.requests.WithLabelValues(r.routes.label(route), methodLabel(method), statusLabel(status)).Observe(took.Seconds())
}

// ModelRequest is a finished HTTP request to a model.
type ModelRequest struct {
	// Model and Op are names from the configuration; Outcome is "ok", "adapted",
	// "cancelled" or the reason of a failure.
	Model, Op, Outcome string
	Waited, Took       time.Duration
	// PromptTokens and CompletionTokens are the server's counts; negative ones are ignored.
	PromptTokens, CompletionTokens int
	// Cost is in the currency of the configured prices; 0 if there are none.
	Cost float64
}

// ModelRequest counts one request to a model.
func (r *Registry) ModelRequest(m ModelRequest) {
	if r == nil {
		return
	}
	model, op := r.words.label(m.Model), r.words.label(m.Op)
	r.modelReqs.WithLabelValues(model, op, r.words.label(m.Outcome)).Inc()
	r.modelTime.WithLabelValues(model, op).Observe(m.Took.Seconds())
	r.modelWaits.WithLabelValues(model, op).Observe(m.Waited.Seconds())
	r.modelTokens.WithLabelValues(model, op, "prompt").Add(float64(max(0, m.PromptTokens)))
	r.modelTokens.WithLabelValues(model, op, "completion").Add(float64(max(0, m.CompletionTokens)))
	if m.Cost > 0 {
		r.modelCost.WithLabelValues(model, op).Add(m.Cost)
	}
}

// The triggers and outcomes of compactions. Others are counted as "other".
const (
	TriggerAsked     = "asked"     // the caller forced it
	TriggerTokens    = "tokens"    // too many tokens
	TriggerMessages  = "messages"  // too many messages
	TriggerNone      = "none"      // nothing fired
	TriggerProfile   = "profile"   // a rule of the profile
	OutcomeCompacted = "compacted" // smaller now
	OutcomeUnchanged = "unchanged" // nothing to do
	OutcomeExtract   = "extract"   // smaller, with an extract instead of a model's text
	OutcomeRefused   = "refused"   // the request was wrong
	OutcomeFailed    = "failed"
)

// Compaction counts a request to compact; saved is the number of tokens saved.
func (r *Registry) Compaction(trigger, outcome string, saved int, took time.Duration) {
	if r == nil {
		return
	}
	trigger = oneOf(trigger, TriggerAsked, TriggerTokens, TriggerMessages, TriggerNone, TriggerProfile)
	outcome = oneOf(outcome, OutcomeCompacted, OutcomeUnchanged, OutcomeExtract, OutcomeRefused, OutcomeFailed)
	r.compactions.WithLabelValues(trigger, outcome).Inc()
	r.compactTime.Observe(took.Seconds())
	r.compactSave.Add(float64(max(0, saved)))
}
