package llm

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"time"
)

// BackendOpenAI is the only backend: a server that speaks OpenAI's chat
// completions protocol.
const BackendOpenAI = "openai_compatible"

// maxPrice bounds the price of a million tokens, in any currency.
const maxPrice = 1_000_000_000

// proxyEnvironment is the Proxy that stands for the environment's.
const proxyEnvironment = "environment"

// openAIURL is where requests go when the configuration names no base_url.
const openAIURL = "https://api.openai.com/v1"

// Config is one entry of the configuration's llm section. Zero limits mean
// "unknown": they are learnt from the server's headers, else from its refusals.
type Config struct {
	// Backend must be "openai_compatible".
	Backend string `yaml:"backend"`
	// ModelName is the model asked for.
	ModelName string `yaml:"model_name"`
	// BaseURL is the address before "/chat/completions" and "/embeddings"; "" is OpenAI's own.
	BaseURL string `yaml:"base_url"`
	// APIKeyEnv names the environment variable that holds the key.
	APIKeyEnv string `yaml:"api_key_env"`
	// Proxy is the address of an HTTP proxy, "environment" for what HTTP_PROXY,
	// HTTPS_PROXY and NO_PROXY say, and "" for none: a proxy sees what is not
	// encrypted.
	Proxy string `yaml:"proxy"`

	// Temperature is sent with each request, also when 0; models that take none
	// are not sent one.
	Temperature float64 `yaml:"temperature"`
	// MaxTokens caps an answer whose Prompt sets no cap; 0 leaves it to the server.
	MaxTokens int `yaml:"max_tokens"`

	// AttemptTimeout bounds one HTTP request up to the last byte of its reply.
	AttemptTimeout time.Duration `yaml:"attempt_timeout"`
	// TotalTimeout bounds a request from its first attempt to its end, waits
	// between attempts included; the wait in the queue before the first attempt
	// is bounded by the caller's context. A request does not wait for a pause of
	// the server that is longer than this.
	TotalTimeout time.Duration `yaml:"-"`
	// Retries is how often a request that failed by the server's or the
	// network's fault is sent again, as long as the retry budget allows (a tenth
	// of the first attempts, and one per ten seconds). Refusals (429) do not
	// count: they go back to the queue.
	Retries int `yaml:"retries"`

	// MaxConcurrency is the most requests in flight for each model.
	MaxConcurrency int `yaml:"max_concurrency"`
	// RequestsPerMinute and TokensPerMinute are the server's limits, 0 = unknown.
	RequestsPerMinute int `yaml:"requests_per_minute"`
	TokensPerMinute   int `yaml:"tokens_per_minute"`
	// Burst is how much of these two limits may be used at once, as time: 60s
	// means a whole minute's worth, 0 that it is not known: requests are spread evenly.
	Burst time.Duration `yaml:"burst"`
	// MaxQueue bounds the waiting requests of all workspaces together.
	MaxQueue int `yaml:"-"`

	// PricePrompt and PriceCompletion are what a million tokens of ModelName cost,
	// in a currency of the user's own, wherever that model is asked: also as a
	// fallback of another entry. 0 for both is unknown.
	PricePrompt     float64 `yaml:"price_prompt"`
	PriceCompletion float64 `yaml:"price_completion"`

	// FallbackModels are asked, in order, while the models before them are
	// unknown to the server, paused for longer than FallbackAfter, or failing.
	FallbackModels []string      `yaml:"fallback_models"`
	FallbackAfter  time.Duration `yaml:"-"`
	// BreakerFailures is how many failures in a row stop a model for a while.
	BreakerFailures int `yaml:"-"`
	// ProbeInterval is how long the client stays still after the server
	// rejected its key, its quota ran out or it does not know the model.
	ProbeInterval time.Duration `yaml:"probe_interval"`
}

// UnmarshalYAML reads an entry over what nobody has had a reason to change: a request may
// take as long as three attempts; 20,000 waiting ones are a day's work for a model with a
// limit; a pause of five seconds is worth asking another model; eight failures in a row
// are no accident.
func (c *Config) UnmarshalYAML(unmarshal func(any) error) error {
	type settings Config
	c.MaxQueue, c.FallbackAfter, c.BreakerFailures = 20_000, 5*time.Second, 8
	err := unmarshal((*settings)(c))
	c.TotalTimeout = 3 * c.AttemptTimeout
	return err
}

// Validate reports the first setting that cannot work, by its yaml key.
func (c Config) Validate() error {
	if c.Backend != BackendOpenAI {
		return fmt.Errorf("backend: %q is not known, want %q", c.Backend, BackendOpenAI)
	}
	if c.ModelName == "" {
		return fmt.Errorf("model_name: must not be empty")
	}
	if err := checkURL(c.BaseURL); err != nil {
		return fmt.Errorf("base_url: %w", err)
	}
	if c.Proxy != proxyEnvironment {
		if err := checkURL(c.Proxy); err != nil {
			return fmt.Errorf("proxy: %w", err)
		}
	}
	if !(c.Temperature >= 0 && c.Temperature <= 2) {
		return fmt.Errorf("temperature: %v is not between 0 and 2", c.Temperature)
	}
	for key, price := range map[string]float64{"price_prompt": c.PricePrompt, "price_completion": c.PriceCompletion} {
		if !(price >= 0 && price <= maxPrice) {
			return fmt.Errorf("%s: %v is not between 0 and %d", key, price, maxPrice)
		}
	}
	if slices.Contains(c.FallbackModels, "") {
		return fmt.Errorf("fallback_models: a name must not be empty")
	}
	return c.validateRanges()
}

func (c Config) validateRanges() error {
	for _, n := range []struct {
		key          string
		value, least int
	}{
		{"max_tokens", c.MaxTokens, 0},
		{"retries", c.Retries, 0},
		{"max_concurrency", c.MaxConcurrency, 1},
		{"requests_per_minute", c.RequestsPerMinute, 0},
		{"tokens_per_minute", c.TokensPerMinute, 0},
	} {
		if n.value < n.least || n.value > math.MaxInt32 {
			return fmt.Errorf("%s: %d is not between %d and %d", n.key, n.value, n.least, math.MaxInt32)
		}
	}
	for _, d := range []struct {
		key          string
		value, least time.Duration
	}{
		{"attempt_timeout", c.AttemptTimeout, time.Millisecond},
		{"burst", c.Burst, 0},
		{"probe_interval", c.ProbeInterval, time.Second},
	} {
		if d.value < d.least {
			return fmt.Errorf("%s: %v is less than %v", d.key, d.value, d.least)
		}
	}
	return nil
}

// checkURL accepts "" and an absolute http or https address without user,
// query and fragment.
func checkURL(s string) error {
	if s == "" {
		return nil
	}
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return fmt.Errorf("not an address")
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("scheme %q is not http or https", u.Scheme)
	case u.Host == "":
		return fmt.Errorf("no host")
	case u.User != nil:
		return fmt.Errorf("must not hold a user or a password")
	case u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("must not hold a query or a fragment")
	}
	return nil
}
