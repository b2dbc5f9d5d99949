package ops

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"memoryd"
	"memoryd/guidelines/preflight"
	"memoryd/store"
)

// The warnings of a run that goes round in circles: by the call that is planned, or by its
// last calls.
const (
	loopRule   = "loop"
	thrashRule = "thrash"
)

// Limits of a loop.
const (
	equalFailures = 2 // of a call, before the one that is planned
	stopsAfter    = 3 // equal failures: the next one need not be made
	ofLast, most  = 10, 8
	runRead       = 60 // the newest calls of a run that are compared
	leastRisk     = 0.5
)

// loops warns of a call that its run has made in vain, in place of what forecasts say of
// one earlier failure. It does not where the call is likely to work, as after its run has mended
// what the earlier failures came from.
func (d *Deps) loops(ctx context.Context, r *PreflightRequest, run string, a *Assessment) error {
	if run == "" || a.Risk != nil && *a.Risk < leastRisk {
		return nil
	}
	calls, err := d.Store.RunCalls(ctx, r.Workspace, run, runRead)
	if err != nil || len(calls) == 0 {
		return err
	}
	w := preflight.Warning{Rule: loopRule, Severity: preflight.Ask}
	n := equalTo(calls, r.Tool, r.Input)
	failed := 0
	for i := range calls[:min(len(calls), ofLast)] {
		if failedCall(&calls[i]) {
			failed++
		}
	}
	switch {
	case n >= equalFailures:
		w.Text = fmt.Sprintf("You have sent this %d times.", n+1)
		if n >= stopsAfter {
			w.Severity = preflight.Stop
		}
	case failed >= most && failedCall(&calls[0]):
		w.Rule = thrashRule
		w.Text = fmt.Sprintf("%d of the last %d calls of this run failed. Look at what is there before you go on.", failed, ofLast)
	default:
		return nil
	}
	for i := range calls {
		if failedCall(&calls[i]) && len(w.Calls) < ofLast {
			w.Calls = append(w.Calls, calls[i].Key)
		}
	}
	a.Warnings = append([]preflight.Warning{w}, slices.DeleteFunc(a.Warnings,
		func(o preflight.Warning) bool { return o.Rule == "repeats_failure" })...)
	return nil
}

// equalTo counts the failed calls of a run that are equal to a planned one, back to the
// first with another answer: whoever mends something between two calls sees another.
func equalTo(calls []store.RunCall, tool string, input []byte) (n int) {
	said := ""
	for i := range calls {
		c := &calls[i]
		if c.Tool != tool || !bytes.Equal(memoryd.InputText(c.Input), memoryd.InputText(input)) {
			continue
		}
		without := strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return -1
			}
			return r
		}, c.Output)
		if !failedCall(c) || n > 0 && without != said {
			return n
		}
		said = without
		n++
	}
	return n
}

func failedCall(c *store.RunCall) bool {
	if c.State == memoryd.Judged {
		return c.Score == memoryd.ScoreFailure
	}
	return !c.Success
}
