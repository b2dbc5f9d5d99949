package metrics

import (
	"cmp"
	"time"

	"memoryd"
)

// Observe counts an answered request.
func (r *Registry) Observe(route, method string, status int, took time.Duration) {
	r.requests.WithLabelValues(cmp.Or(route, other), methodLabel(method), statusLabel(status)).Observe(took.Seconds())
}

// ModelRequest counts one request to a model. Negative counts of tokens are ignored; cost is in
// the currency of the configured prices, 0 if there are none.
func (r *Registry) ModelRequest(m memoryd.Attempt, cost float64) {
	r.modelReqs.WithLabelValues(m.Model, m.Op, m.Outcome).Inc()
	r.modelTime.WithLabelValues(m.Model, m.Op).Observe(m.Took.Seconds())
	r.modelWaits.WithLabelValues(m.Model, m.Op).Observe(m.Waited.Seconds())
	r.modelTokens.WithLabelValues(m.Model, m.Op, "prompt").Add(float64(max(0, m.Usage.PromptTokens)))
	r.modelTokens.WithLabelValues(m.Model, m.Op, "completion").Add(float64(max(0, m.Usage.CompletionTokens)))
	if cost > 0 {
		r.modelCost.WithLabelValues(m.Model, m.Op).Add(cost)
	}
}

// Judged counts a call with a verdict: advice is "told", "untold", or "" if nobody knows what
// its run got; outcome is failed, partial or succeeded.
func (r *Registry) Judged(advice, outcome string) {
	r.judged.WithLabelValues(cmp.Or(advice, "unknown"), outcome).Inc()
}

// Compaction counts a request to compact, by what began it (asked, tokens, messages, profile or none)
// and how it ended (compacted, unchanged, extract, refused or failed); saved is the number of tokens saved.
func (r *Registry) Compaction(trigger, outcome string, saved int, took time.Duration) {
	r.compactions.WithLabelValues(trigger, outcome).Inc()
	r.compactTime.WithLabelValues().Observe(took.Seconds())
	r.compactSave.WithLabelValues().Add(float64(max(0, saved)))
}
