package metrics

// Model is the state of one configured model.
type Model struct {
	// Name is its entry in the configuration.
	Name string
	// Reason is why it is not asked now; "" while it is.
	Reason string
	// Queued requests wait, InFlight are under way, Concurrency may be.
	Queued, InFlight, Concurrency int
	// Retries counts requests that repeated an earlier one.
	Retries int64
}

// The metrics of the models.
var (
	modelAvailable   = Metric{Name: "memoryd_model_available", Type: Gauge, Labels: []string{"model"}, Help: "1 while the model can be asked, 0 while its circuit breaker is open or its server refuses for long."}
	modelHalted      = Metric{Name: "memoryd_model_halted", Type: Gauge, Labels: []string{"model", "reason"}, Help: "1 for the reason why the model is not asked now: breaker_open, credentials, quota, unknown_model, endpoint or rate_limited."}
	modelQueued      = Metric{Name: "memoryd_model_queue_depth", Type: Gauge, Labels: []string{"model"}, Help: "Requests that wait for their turn at the model."}
	modelInFlight    = Metric{Name: "memoryd_model_in_flight", Type: Gauge, Labels: []string{"model"}, Help: "Requests to the model under way."}
	modelConcurrency = Metric{Name: "memoryd_model_concurrency_limit", Type: Gauge, Labels: []string{"model"}, Help: "How many requests may be under way now; it adapts to what the server bears."}
	modelRetries     = Metric{Name: "memoryd_model_retries_total", Type: Counter, Labels: []string{"model"}, Help: "Requests that repeated an earlier one after a failure, a refusal or an adaptation."}
)

func modelStateMetrics() []Metric {
	return []Metric{modelAvailable, modelHalted, modelQueued, modelInFlight, modelConcurrency, modelRetries}
}

// Models asks for the state of all models at each scrape. It is called once.
func (r *Registry) Models(state func() []Model) {
	r.pull(modelStateMetrics(), func(e emit) {
		seen := map[string]bool{}
		for _, m := range state() {
			name := word(m.Name)
			if seen[name] { // two names that cannot be shown
				continue
			}
			seen[name] = true
			available := 1.0
			if m.Reason != "" {
				available = 0
				e(modelHalted, 1, name, word(m.Reason))
			}
			e(modelAvailable, available, name)
			e(modelQueued, float64(m.Queued), name)
			e(modelInFlight, float64(m.InFlight), name)
			e(modelConcurrency, float64(m.Concurrency), name)
			e(modelRetries, float64(m.Retries), name)
		}
	})
}
