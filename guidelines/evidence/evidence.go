// Package evidence computes what the stored calls of a tool show, before anything puts it
// into words: its parameters, where their values came from, what failed calls returned, and
// which rules the calls support. It is deterministic, uses no model and trusts no text.
//
// Text in it (names, values, messages) comes from the calls and is untrusted: publish it only
// according to guidelines/origin.
package evidence

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"memoryd"
	"memoryd/guidelines/rules"
)

// maxValueBytes bounds a value that is compared with others.
const maxValueBytes = 64

// Evidence is what the calls of one tool show.
type Evidence struct {
	// Calls counts all stored calls, and Judged those with a verdict; Failed of them scored
	// 0, Partial 0.5 and Good 1. Empty of the partial ones found nothing.
	Calls   int `json:"calls"`
	Judged  int `json:"judged"`
	Failed  int `json:"failed"`
	Partial int `json:"partial"`
	Empty   int `json:"empty,omitempty"`
	Good    int `json:"good"`
	// Overstated counts calls that were reported as successful and scored 0.
	Overstated int `json:"overstated"`
	// Runs counts the runs of the calls, if known.
	Runs int `json:"runs,omitempty"`
	// Parties counts the API keys that recorded the calls, or, if there is only one, the
	// agents that calls name.
	Parties int `json:"parties,omitempty"`

	Parameters []Parameter   `json:"parameters"`
	Output     OutputProfile `json:"output"`
	// Rules are the rules that the calls support, the one with the most calls first.
	Rules []rules.Rule `json:"rules,omitempty"`
	// Messages are the messages of calls that went wrong, by form, the most important first.
	Messages []Message `json:"messages,omitempty"`
	Exemplar *Exemplar `json:"exemplar,omitempty"`
	Order    Order     `json:"order,omitzero"`
	// Unchanged counts the calls that repeated a failed input of their run, in UnchangedRuns
	// runs.
	Unchanged     Retry `json:"unchanged"`
	UnchangedRuns int   `json:"unchanged_runs,omitempty"`
}

// Window has observations of a tool's newest calls, beyond its history.
type Window interface {
	// Observations lists them, oldest first. An unknown tool has none.
	Observations(ctx context.Context, ref memoryd.ToolRef) ([]Observation, error)
	// Shared reports whether several sources recorded calls in a workspace.
	Shared(ctx context.Context, workspace string) (bool, error)
	// World is what good calls of a workspace used and showed.
	World(ctx context.Context, workspace string) (*World, error)
}

// Retry counts attempts and those that worked.
type Retry struct {
	Tries     int `json:"tries"`
	Succeeded int `json:"succeeded"`
}

// Mine computes the evidence of the calls of a tool that were observed, oldest first. recent
// are calls with outputs, which are used to describe the outputs. It stores in obs what it
// parsed of their bodies.
func Mine(tool string, obs []Observation, recent []memoryd.Call) Evidence {
	who := partiesOf(obs)
	e := Evidence{Calls: len(obs), Parties: who.known}
	runs := map[uint64]bool{}
	for i := range obs {
		if obs[i].Run != 0 {
			runs[obs[i].Run] = true
		}
		e.count(&obs[i])
	}
	e.Runs = len(runs)
	columns, order := columnsOf(obs, &who)
	e.Parameters = make([]Parameter, len(order))
	for i, c := range order {
		e.Parameters[i] = c.parameter(len(obs), &who)
	}
	e.Output = profileOutputs(recent)
	e.Rules = Rules(tool, obs)
	e.Messages = messagesOf(obs, &who, e.Rules)
	e.Order = orderOf(tool, obs, &who)
	e.Exemplar = exemplarOf(obs, &who, columns)
	e.Unchanged, e.UnchangedRuns = unchanged(obs)
	return e
}

// count counts a call by its verdict.
func (e *Evidence) count(ob *Observation) {
	switch v := &ob.Evaluation; {
	case v.Good():
		e.Good++
	case v.Partial():
		if e.Partial++; v.FoundNothing() {
			e.Empty++
		}
	case v.Bad():
		if e.Failed++; ob.Success {
			e.Overstated++
		}
	}
	e.Judged = e.Good + e.Partial + e.Failed
}

// failed reports whether the call counts as a failure: by its verdict or, while
// there is none, by the caller's flag.
func failed(c *memoryd.Call) bool {
	return c.Evaluation.Bad() || c.Evaluation.State != memoryd.Judged && !c.Success
}

// wrong reports whether the call failed or was judged to have issues.
func wrong(c *memoryd.Call) bool {
	return failed(c) || c.Evaluation.Partial()
}

// itemID names an item by what it says, not by its counts, so that it stays the same
// while the history grows.
func itemID(kind string, parts ...string) string {
	sum := sha256.Sum256([]byte(kind + "\x00" + strings.Join(parts, "\x00")))
	return kind + "-" + hex.EncodeToString(sum[:5])
}
