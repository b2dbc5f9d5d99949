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
	othersRead    = 5  // runs in which the same call failed
	historyRead   = 200
)

// loops warns of a call that its run has made in vain, in place of what forecasts say of
// one earlier failure.
func (d Deps) loops(ctx context.Context, r *PreflightRequest, run string, a *Assessment) error {
	if run == "" {
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
		worked, err := d.workedElsewhere(ctx, r, run)
		if err != nil {
			return err
		}
		w.Text += worked
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
	a.Warnings = append([]preflight.Warning{w}, slices.DeleteFunc(a.Warnings, func(o preflight.Warning) bool { return o.Rule == "repeats_failure" })...)
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

// workedElsewhere says what stood between the same failing call and the next good call of
// its tool in at least two other runs.
func (d Deps) workedElsewhere(ctx context.Context, r *PreflightRequest, run string) (string, error) {
	history, err := d.Store.History(ctx, r.ToolRef, historyRead)
	if err != nil {
		return "", err
	}
	runs, between := map[string]bool{run: true, "": true}, map[string]int{}
	for i := len(history) - 1; i >= 0 && len(runs) < othersRead+2; i-- {
		c := &history[i]
		if c.Success || runs[c.Run()] || !bytes.Equal(memoryd.InputText(c.Input), memoryd.InputText(r.Input)) {
			continue
		}
		runs[c.Run()] = true
		calls, err := d.Store.RunCalls(ctx, r.Workspace, c.Run(), runRead)
		if err != nil {
			return "", err
		}
		slices.Reverse(calls)
		at := slices.IndexFunc(calls, func(o store.RunCall) bool { return o.Key == c.Key })
		last := ""
		for k := at + 1; at >= 0 && k < len(calls); k++ {
			if o := &calls[k]; o.Tool == r.Tool && !failedCall(o) {
				between[last]++
				break
			} else if !failedCall(o) {
				last = o.Tool
			}
		}
	}
	for tool, n := range between {
		switch {
		case n < 2:
		case tool == "":
			return " In other runs another input worked.", nil
		default:
			return fmt.Sprintf(" In other runs `%s` before `%s` worked.", tool, r.Tool), nil
		}
	}
	return "", nil
}
