package evaluate

import "time"

// The values of Config.Judge.
const (
	JudgeAuto    = "auto"    // cascade if there is a model, otherwise rules
	JudgeRules   = "rules"   // rules only
	JudgeLLM     = "llm"     // the model, limited by what the rules are sure of
	JudgeCascade = "cascade" // rules where they are sure, the model otherwise
)

// The values of Config.OnModelFailure and Config.OnUnjudgeable.
const (
	leavePending = "pending" // the call waits until the model is available again
	markFailed   = "failed"  // the call is marked as failed to be judged, with the reason
	takeRules    = "rules"   // the rules' evaluation is used, sure or not
)

// Config is the evaluate section of the configuration.
type Config struct {
	// Judge is auto, rules, llm or cascade.
	Judge string `yaml:"judge" must:"one of auto, rules, llm, cascade"`
	// Wait limits how long a request waits for its evaluations. Calls without one by then are
	// reported as pending.
	Wait time.Duration `yaml:"wait"`
	// OnModelFailure is pending or rules: what happens to calls while the model is
	// unavailable (key rejected, quota spent, model unknown). While our own budget is used
	// up, they always stay pending.
	OnModelFailure string `yaml:"on_model_failure" must:"one of pending, rules"`
	// OnUnjudgeable is failed or rules: what happens to a call that the model does not judge
	// (filtered, refused, too long, or only unusable answers).
	OnUnjudgeable string `yaml:"on_unjudgeable" must:"one of failed, rules"`

	// Workers is the number of calls that are judged at a time: as many as the model may have
	// requests, so that a kill leaves no more to be asked again.
	Workers int `yaml:"-"`
	// QueueSize limits the calls in memory: waiting, being judged, or joined to an equal one.
	// Further calls stay in the store until there is room.
	QueueSize int `yaml:"-"`
	// MaxInput and MaxOutput limit, in bytes, what the model sees of a call's input and
	// output: the beginning, the end, and how much is missing.
	MaxInput  int `yaml:"-"`
	MaxOutput int `yaml:"-"`
	// MaxContext limits, in bytes each, what the model sees of a tool's description and of
	// the agent's task, if a call's metadata has them (see settingOf); 0 hides both.
	MaxContext int `yaml:"-"`
	// EarlierVerdicts is the number of earlier evaluations of the tool that the model sees.
	EarlierVerdicts int `yaml:"-"`
	// PromptFile replaces the built-in instructions; "" uses those.
	PromptFile string `yaml:"prompt_file"`

	// RequestTimeout limits one request to the model, including its time in the queue.
	RequestTimeout time.Duration `yaml:"-"`
	// MaxAttempts is the number of failed attempts after which a call counts as unjudgeable,
	// if the newest two failed because the model's answers were unusable. Failures of the
	// network or the server never count as unjudgeable.
	MaxAttempts int `yaml:"-"`
	// RetryMin and RetryMax limit the wait before a failed call is retried. It doubles with
	// each failure, minus up to half at random.
	RetryMin time.Duration `yaml:"-"`
	RetryMax time.Duration `yaml:"-"`
	// Lease is how long a claimed call is reserved for this process. SweepInterval is the time
	// between queries of the store for pending calls: a part of the lease.
	Lease         time.Duration `yaml:"lease" must:"1s to 24h"`
	SweepInterval time.Duration `yaml:"-"`

	// ProfileTools is the number of tools whose profiles (costs and forms of earlier outputs)
	// the rules keep in memory, at up to 1.5 KB each. If more tools are in use, nearly every
	// call reads the history.
	ProfileTools int `yaml:"-"`

	// Barred, if not nil, names workspaces whose calls are never sent to a model: the rules
	// judge them.
	Barred func(workspace string) bool `yaml:"-"`
	// Resting, if not nil, returns how long the model must not be used. Requests then wait no
	// longer for a verdict.
	Resting func() time.Duration `yaml:"-"`

	// KindSampling is the share of calls of an already judged kind that the model is asked
	// about again, to notice a kind that changes; 1 asks about each call.
	KindSampling float64 `yaml:"kind_sampling" must:"0 to 1"`
}

// What a profile is made of, and for how long before it is made again: 32 calls tell
// the middle of a tool's costs, and five minutes bear what another server added.
const (
	profileCalls = 32
	profileTTL   = 5 * time.Minute
)

// UnmarshalYAML decodes a section and keeps constants that are not settings. The model's
// agreement was measured with what it sees (800, 1,200, 600 bytes, two verdicts). A request
// outlasts the model's own three minutes. Waits double up to a quarter of an hour. A
// workspace can have 20,000 tools.
func (c *Config) UnmarshalYAML(unmarshal func(any) error) error {
	type settings Config
	c.Workers, c.QueueSize, c.ProfileTools, c.MaxAttempts = 32, 4096, 20_000, 5
	c.MaxInput, c.MaxOutput, c.MaxContext, c.EarlierVerdicts = 800, 1200, 600, 2
	c.RequestTimeout, c.RetryMin, c.RetryMax = 5*time.Minute, 2*time.Second, 15*time.Minute
	err := unmarshal((*settings)(c))
	c.SweepInterval = c.Lease / 24
	return err
}
