package preflight

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"memoryd"
	"memoryd/store"
)

// The warnings of a run that goes round in circles: by the call that is planned, or by its
// last calls.
const (
	LoopRule   = "loop"
	ThrashRule = "thrash"
)

// Limits of a loop.
const (
	equalFailures = 2 // of a call, before the one that is planned
	stopsAfter    = 3 // equal failures: the next one need not be made
	lastCalls     = 10
	mostOfLast    = 8 // failures
	leastRisk     = 0.5
)

// circles warns of a call that its run has made in vain, or of a run whose calls mostly fail. It
// does not where the call is likely to work, as after its run has mended what the earlier failures
// came from.
func (v *view) circles(risk *float64) []Warning {
	if risk != nil && *risk < leastRisk {
		return nil
	}
	var failures []memoryd.CallKey // of the last calls, oldest first
	for _, c := range slices.Backward(v.RunCalls[:min(len(v.RunCalls), lastCalls)]) {
		if failedCall(&c) {
			failures = append(failures, c.Key)
		}
	}
	switch equal := v.inVain(); {
	case len(equal) >= equalFailures:
		w := Warning{Rule: LoopRule, Severity: Ask, Text: fmt.Sprintf("You have sent this %d times.", len(equal)+1), Calls: equal}
		if len(equal) >= stopsAfter {
			w.Severity = Stop
		}
		return []Warning{w}
	case len(failures) >= mostOfLast && failedCall(&v.RunCalls[0]):
		text := fmt.Sprintf("%d of the last %d calls of this run failed. Look at what is there before you go on.", len(failures), lastCalls)
		return []Warning{{Rule: ThrashRule, Severity: Ask, Text: text, Calls: failures}}
	}
	return nil
}

// inVain lists the failed calls of the run that are equal to the planned one, oldest first, back to
// the first with another answer: whoever mends something between two calls sees another.
func (v *view) inVain() (equal []memoryd.CallKey) {
	said := ""
	for i := range v.RunCalls {
		c := &v.RunCalls[i]
		if c.Tool != v.m.options.Tool || !v.in.equals(c.Input) {
			continue
		}
		answer := strings.Map(withoutDigits, c.Output)
		if !failedCall(c) || len(equal) > 0 && answer != said {
			break
		}
		said = answer
		equal = append(equal, c.Key)
	}
	slices.Reverse(equal)
	return equal
}

// failedCall reports whether a call of a run failed, as far as that is known.
func failedCall(c *store.RunCall) bool {
	failed, _ := outcome(c)
	return failed
}

func withoutDigits(r rune) rune {
	if unicode.IsDigit(r) {
		return -1
	}
	return r
}
