package llm

import "time"

// The states of a client.
const (
	HealthOK       = "ok"
	HealthDegraded = "degraded"
)

// The reasons for being degraded.
const (
	ReasonCredentials  = "credentials"   // the key was rejected
	ReasonQuota        = "quota"         // what was paid for is used up
	ReasonUnknownModel = "unknown_model" // the server does not have the model
	ReasonBreakerOpen  = "breaker_open"  // too many failures in a row
	ReasonEndpoint     = "endpoint"      // the address is wrong: it redirects, or its certificate does not fit
	ReasonRateLimited  = "rate_limited"  // the server named a pause of more than a minute
)

// longPause is the pause from which on a refusing server counts as degraded.
const longPause = time.Minute

// Health is the state of a client: of its first model, and of the endpoint.
type Health struct {
	Status string // HealthOK or HealthDegraded
	Reason string // "" when ok
	// Since is when that state began; zero when it was never anything but ok.
	Since time.Time
	// Until is when the model will be asked again at the earliest; zero when ok.
	Until time.Time
}

// Stats are the counters of a client.
type Stats struct {
	// Requests counts the HTTP requests, Retries those among them that repeat
	// an earlier one after a failure, a refusal or an adaptation.
	Requests int64
	Retries  int64
	// Outcomes counts ended requests by Attempt.Outcome.
	Outcomes map[string]int64
	// PromptTokens and CompletionTokens are as the server reported them.
	PromptTokens     int64
	CompletionTokens int64
	// Waits counts requests that could not start at once, Waited adds up how
	// long they waited.
	Waits  int64
	Waited time.Duration
	// Queued and InFlight are now; Concurrency is how many requests to the first
	// model may be in flight now.
	Queued      int
	InFlight    int
	Concurrency int
}
