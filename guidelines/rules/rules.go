// Package rules finds what failed calls of a tool have in common that good ones have
// not. It reads no word of any message: a hypothesis is a condition on the input or on
// what was called before, and calls decide about it. A number or a form that stands in
// the messages only narrows a condition that calls vouch for.
//
// One Rule has two uses: Line is what a guideline says, and Holds tells whether a
// planned call breaks it, which is a warning.
package rules

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Call is what is compared of a judged call.
type Call struct {
	Input json.RawMessage
	// Message is what the output of a call that went wrong says, Bad that it did.
	Message string
	Bad     bool
	// Run and Source number the run of the call and who recorded it; 0: unknown.
	Run, Source uint64
	// Before are the tools that had answered in the run.
	Before []string
}

// Rule is a condition under which calls of a tool went wrong and hardly a good one did.
type Rule struct {
	when hypothesis
	// Line says what to do, without its counts.
	Line string
	// Parameter is what the rule is about, "" for the order of calls.
	Parameter string
	// Calls went wrong under the condition, in Runs; Good went well nevertheless.
	Calls, Runs, Good int
	// Behind are the places of those that went wrong, oldest first.
	Behind []int
}

// ID names what the rule is about; it stays while its numbers change.
func (r *Rule) ID() string {
	return strings.Join([]string{strconv.Itoa(int(r.when.what)), r.when.p, r.when.q, r.when.tool}, " ")
}

// Holds reports whether a planned call meets the condition of the rule.
func (r *Rule) Holds(input json.RawMessage, before []string) bool {
	return r.when.holds(inputOf(input), before)
}

// Limits on what is tested and published.
const (
	minCalls       = 3    // that went wrong under a condition
	minRuns        = 2    // of them, and of good calls
	minGood        = 3    // good calls that a condition is held against
	maxWrong       = 0.03 // share of the good calls that may meet a condition
	maxCalls       = 400  // the newest are compared
	newest         = 80   // good calls that count alone, where older ones speak against all
	maxOfKind      = 3    // rules for one kind of failure
	maxRules       = 8
	sourceShare    = 20 // calls of one source that count for a rule, where there are several
	falseDiscovery = 0.05
	messageShare   = 0.05 // what it counts for that a message names the parameter, beside the share of calls
)
