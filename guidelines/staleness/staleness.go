// Package staleness decides when a guideline no longer fits its tool: because
// enough new calls came, because success, score, latency or the mix of errors
// changed, because the tool's parameters changed, or by age. It is a pure
// function of what was seen when the guideline was written and what came since.
//
// A change is tested with exact or rank tests of the calls since the guideline,
// all of them and the newest few, against the calls that it was written from, at
// fixed checkpoints. The level is FalseAlarms over the four things that are
// tested and over the looks, where looks that share most of their calls count as
// one: from one look to the next of them the number of calls doubles. That a
// guideline whose tool does not change is called stale for a change with
// probability at most FalseAlarms in its life of After calls is held by
// simulation, in the tests of this package, rather than by Bonferroni's bound,
// which costs twice the delay.
package staleness

import (
	"fmt"
	"time"

	"memoryd"
)

// Config is when a guideline counts as stale.
type Config struct {
	// FirstAfter is how many judged calls a tool without a guideline needs, After
	// how many new calls make one stale in any case.
	FirstAfter int `yaml:"first_after"`
	After      int `yaml:"after"`
	// MaxAge makes a guideline stale that is older, if anything came since; 0
	// means never.
	MaxAge time.Duration `yaml:"max_age"`
	// FalseAlarms bounds the probability that a guideline is ever called stale for
	// a change while nothing changed.
	FalseAlarms float64 `yaml:"false_alarms"`
}

// DefaultConfig is the settings when nothing is configured.
func DefaultConfig() Config {
	return Config{FirstAfter: 20, After: 100, MaxAge: 30 * 24 * time.Hour, FalseAlarms: 0.05}
}

// Validate names the setting that is wrong.
func (c Config) Validate() error {
	switch {
	case c.FirstAfter < 1:
		return fmt.Errorf("first_after: must be at least 1, got %d", c.FirstAfter)
	case c.After < every:
		return fmt.Errorf("after: must be at least %d, got %d", every, c.After)
	case c.MaxAge < 0:
		return fmt.Errorf("max_age: must not be negative, got %v", c.MaxAge)
	case c.FalseAlarms <= 0 || c.FalseAlarms >= 1:
		return fmt.Errorf("false_alarms: must be between 0 and 1, got %v", c.FalseAlarms)
	}
	return nil
}

// Observation is what is looked at of a call.
type Observation struct {
	Sample memoryd.Sample `json:"sample"`
	// Error names the kind of error, such as the id of an error cluster; "" when
	// the call went well or its kind is not known.
	Error string `json:"error,omitempty"`
}

// Baseline is what a guideline was written from: it is kept beside it.
type Baseline struct {
	// Written is when; zero means that there is no guideline yet.
	Written time.Time `json:"written"`
	// Schema stands for the tool's parameters: any text that changes with them,
	// "" when unknown.
	Schema string `json:"schema,omitempty"`
	// Observations are the newest calls then, oldest first; the newest
	// MaxObservations count.
	Observations []Observation `json:"observations"`
}

// MaxObservations bounds the baseline.
const MaxObservations = 200

// Kind says what made a guideline stale.
type Kind string

// The kinds.
const (
	First   Kind = "first"   // there is none yet, and enough calls
	Count   Kind = "count"   // enough new calls
	Schema  Kind = "schema"  // the parameters changed
	Age     Kind = "age"     // it is old and calls came since
	Success Kind = "success" // the success rate changed
	Score   Kind = "score"   // the share of calls that scored 0 or below 1 changed
	Latency Kind = "latency" // the time of successful calls changed
	Errors  Kind = "errors"  // a kind of error became more or less frequent
)

// Reason is one thing that makes a guideline stale.
type Reason struct {
	Kind Kind
	// Text says it in a sentence, P is the p value of a test; 0 where there is
	// none.
	Text string
	P    float64
}

// Of tells why the guideline is stale; nothing means that it is not. since are
// the calls after it, oldest first (without a guideline, all calls), schema is the
// tool's now.
func Of(cfg Config, b Baseline, since []Observation, schema string, now time.Time) []Reason {
	if b.Written.IsZero() {
		judged := 0
		for _, o := range since {
			if o.Sample.State == memoryd.Judged {
				judged++
			}
		}
		if judged >= cfg.FirstAfter {
			return []Reason{{Kind: First, Text: fmt.Sprintf("there is none, and %d judged calls", judged)}}
		}
		return nil
	}
	var reasons []Reason
	if b.Schema != "" && schema != "" && b.Schema != schema {
		reasons = append(reasons, Reason{Kind: Schema, Text: "the tool's parameters changed"})
	}
	if len(since) == 0 {
		return reasons
	}
	if len(since) >= cfg.After {
		reasons = append(reasons, Reason{Kind: Count, Text: fmt.Sprintf("%d calls since it was written", len(since))})
	}
	if age := now.Sub(b.Written); cfg.MaxAge > 0 && age > cfg.MaxAge {
		reasons = append(reasons, Reason{Kind: Age, Text: fmt.Sprintf("it is %d days old, and %d calls came since", int(age.Hours()/24), len(since))})
	}
	return append(reasons, changes(cfg, b.Observations[max(0, len(b.Observations)-MaxObservations):], since)...)
}
