package evaluate

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// The judges that Config.Judge names.
const (
	JudgeAuto    = "auto"    // cascade when there is a model, else rules
	JudgeRules   = "rules"   // rules only
	JudgeLLM     = "llm"     // the model, bounded by what the rules are sure of
	JudgeCascade = "cascade" // rules where they are sure, the model for the rest
)

// What Config.OnModelFailure and Config.OnUnjudgeable name.
const (
	LeavePending = "pending" // the call waits until the model can be used again
	MarkFailed   = "failed"  // the call is marked as not judged, with the reason
	TakeRules    = "rules"   // the rules' evaluation is taken, sure or not
)

// Config is the evaluate section of the configuration.
type Config struct {
	// Judge is auto, rules, llm or cascade.
	Judge string `yaml:"judge"`
	// Wait bounds how long a request waits for its evaluations; what is not judged
	// by then is answered as pending.
	Wait time.Duration `yaml:"wait"`
	// OnModelFailure is pending or rules: what becomes of calls while the model
	// cannot be used at all (key rejected, quota spent, model unknown). While a
	// budget of our own is spent they stay pending in any case.
	OnModelFailure string `yaml:"on_model_failure"`
	// OnUnjudgeable is failed or rules: what becomes of a call that the model
	// will not judge (filtered, refused, too long, only unusable answers).
	OnUnjudgeable string `yaml:"on_unjudgeable"`

	// BatchSize is how many calls of one tool may share a request.
	BatchSize int `yaml:"batch_size"`
	// Workers is how many requests may be under way at once; the model's own
	// limits apply as well.
	Workers int `yaml:"workers"`
	// QueueSize bounds the calls in hand: waiting, being judged, or joined to an
	// equal one. What does not fit stays in the store until there is room.
	QueueSize int `yaml:"-"`
	// MaxInput and MaxOutput bound, in bytes, what the model is shown of a
	// call's input and output: the head, the tail, and how much is missing.
	MaxInput  int `yaml:"-"`
	MaxOutput int `yaml:"-"`
	// MaxContext bounds, in bytes each, what the model is shown of a tool's
	// description and of the agent's task, where a call's metadata holds them
	// (see settingOf); 0 shows neither.
	MaxContext int `yaml:"-"`
	// EarlierVerdicts is how many earlier evaluations of the tool the model is
	// shown.
	EarlierVerdicts int `yaml:"-"`
	// PromptFile replaces the built-in instructions; "" keeps them.
	PromptFile string `yaml:"prompt_file"`

	// RequestTimeout bounds one request to the model, its queuing included.
	RequestTimeout time.Duration `yaml:"-"`
	// MaxAttempts is after how many failed tries a call counts as unjudgeable,
	// if the newest two failed because the model's answers could not be used.
	// Tries that failed for the network's or the server's sake never end it.
	MaxAttempts int `yaml:"-"`
	// RetryMin and RetryMax bound the wait before a failed call is tried again;
	// it doubles with each failure, less up to half at random.
	RetryMin time.Duration `yaml:"-"`
	RetryMax time.Duration `yaml:"-"`
	// SweepInterval is how often the store is asked for pending calls, and Lease
	// how long a call taken from it is kept from other processes.
	SweepInterval time.Duration `yaml:"sweep_interval"`
	Lease         time.Duration `yaml:"lease"`

	// ProfileTools is how many tools' profiles (costs and forms of earlier
	// outputs) the rules remember at once, at up to 1.5 KB each: fewer than tools
	// in use means a read of the history for nearly every call.
	ProfileTools int `yaml:"-"`

	// Barred, where it is not nil, names workspaces whose calls no model is shown:
	// the rules judge them.
	Barred func(workspace string) bool `yaml:"-"`
	// Resting, where it is not nil, says how long the model is to be left alone: who
	// waits for a verdict then waits no longer.
	Resting func() time.Duration `yaml:"-"`

	// KindSampling is the share of calls of a kind that a model judged before that it is
	// asked about all the same, so that a kind that changes is noticed; 1 asks for
	// each call.
	KindSampling float64 `yaml:"kind_sampling"`
}

// What a profile is made of, and for how long before it is made again: 32 calls tell
// the middle of a tool's costs, and five minutes bear what another server added.
const (
	profileCalls = 32
	profileTTL   = 5 * time.Minute
)

// UnmarshalYAML reads a section over what nobody has had a reason to change. What the
// model is shown (800, 1,200, 600 bytes, two verdicts) is what its agreement was
// measured with; a request outlives the model's own three minutes; waits double up to
// a quarter of an hour; 20,000 tools are what a workspace may hold.
func (c *Config) UnmarshalYAML(unmarshal func(any) error) error {
	type settings Config
	c.QueueSize, c.ProfileTools, c.MaxAttempts = 4096, 20_000, 5
	c.MaxInput, c.MaxOutput, c.MaxContext, c.EarlierVerdicts = 800, 1200, 600, 2
	c.RequestTimeout, c.RetryMin, c.RetryMax = 5*time.Minute, 2*time.Second, 15*time.Minute
	return unmarshal((*settings)(c))
}

// Validate reports the first setting that cannot work, by its yaml key.
func (c Config) Validate() error {
	for _, e := range []struct {
		key, value string
		allowed    []string
	}{
		{"judge", c.Judge, []string{JudgeAuto, JudgeRules, JudgeLLM, JudgeCascade}},
		{"on_model_failure", c.OnModelFailure, []string{LeavePending, TakeRules}},
		{"on_unjudgeable", c.OnUnjudgeable, []string{MarkFailed, TakeRules}},
	} {
		if !slices.Contains(e.allowed, e.value) {
			return fmt.Errorf("%s: must be one of %[3]s, not %[2]q", e.key, e.value, strings.Join(e.allowed, ", "))
		}
	}
	if !(c.KindSampling >= 0 && c.KindSampling <= 1) {
		return fmt.Errorf("kind_sampling: must be 0 to 1, got %v", c.KindSampling)
	}
	return c.validateRanges()
}

func (c Config) validateRanges() error {
	for _, n := range []struct {
		key               string
		value, least, top int
	}{
		{"batch_size", c.BatchSize, 1, 32},
		{"workers", c.Workers, 1, 1024},
	} {
		if n.value < n.least || n.value > n.top {
			return fmt.Errorf("%s: must be %d to %d, got %d", n.key, n.least, n.top, n.value)
		}
	}
	for _, d := range []struct {
		key          string
		value, least time.Duration
	}{
		{"wait", c.Wait, 0},
		{"sweep_interval", c.SweepInterval, 10 * time.Millisecond},
		{"lease", c.Lease, time.Second},
	} {
		if d.value < d.least || d.value > 24*time.Hour {
			return fmt.Errorf("%s: must be %v to 24h, got %v", d.key, d.least, d.value)
		}
	}
	return nil
}
