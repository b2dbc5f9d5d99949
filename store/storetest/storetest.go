// Package storetest tests every backend against the contract of store.Store. A backend's test
// file calls Run and Model and has about ten lines.
package storetest

import (
	"context"
	"testing"
	"time"

	"memoryd/store"
)

// Backend is a store implementation to test.
type Backend struct {
	// Open returns a new, empty store that cleans up after itself. It may be closed before
	// the test ends.
	Open func(t *testing.T) store.Store
	// Reopen closes s and opens its content again; nil means that content does not survive
	// Close.
	Reopen func(t *testing.T, s store.Store) store.Store
	// Gaps reports that the numbers of a tool's calls grow but leave gaps, as in a backend
	// with many writers. They are then compared by rank.
	Gaps bool
}

// Run tests b against the contract, sentence by sentence.
func Run(t *testing.T, b Backend) {
	b = b.ranked()
	groups := []struct {
		name  string
		cases []testCase
	}{
		{"append", appendCases()},
		{"repeats", repeatCases()},
		{"trim", trimCases()},
		{"history", historyCases()},
		{"calls", append(callCases(), pageCases()...)},
		{"runs", append(runCases(), longRunCases()...)},
		{"tools", toolCases()},
		{"guideline", guidelineCases()},
		{"delete", deleteCases()},
		{"cut", cutCases()},
		{"settle", settleCases()},
		{"claim", claimCases()},
		{"override", overrideCases()},
		{"verdict cache", cacheCases()},
		{"records", recordCases()},
		{"restore", restoreCases()},
		{"lifecycle", lifecycleCases()},
		{"reopen", reopenCases()},
	}
	for _, g := range groups {
		t.Run(g.name, func(t *testing.T) {
			for _, c := range g.cases {
				t.Run(c.name, func(t *testing.T) {
					if c.durable && b.Reopen == nil {
						t.Skip("this backend declares that its content does not survive Close")
					}
					c.run(&env{T: t, b: b, s: b.Open(t)})
				})
			}
		})
	}
}

// testCase is one sentence of the contract.
type testCase struct {
	name    string
	durable bool // needs Reopen
	run     func(e *env)
}

// env is a test with a store to try.
type env struct {
	*testing.T
	b Backend
	s store.Store
}

// reopen closes the store and opens its content again.
func (e *env) reopen() {
	e.Helper()
	e.s = e.b.Reopen(e.T, e.s)
}

// Stage is the side of a call at which a fault is injected.
type Stage int

// A fault Before the call leaves the store untouched. One After it loses the acknowledgement:
// the call has taken effect, but its caller gets an error.
const (
	Before Stage = iota
	After
)

// Faults is a store that forwards every call and asks Fail before and after it.
type Faults struct {
	store.Store
	// Fail gets the method's name ("Append") and the stage; its error is returned to the
	// caller. It is not called after a call that failed by itself. It must be safe for
	// concurrent use; nil means no faults.
	Fail func(method string, stage Stage) error
}

// NewFaults makes calls to inner fail as fail decides.
func NewFaults(inner store.Store, fail func(method string, stage Stage) error) *Faults {
	f := &Faults{Fail: fail}
	f.Store = store.Intercept(inner, store.Bracket{
		Begin: func(_ context.Context, method string) error {
			if f.Fail == nil {
				return nil
			}
			return f.Fail(method, Before)
		},
		End: func(method string, _ time.Duration, err error) error {
			if f.Fail == nil || err != nil {
				return err
			}
			return f.Fail(method, After)
		},
	})
	return f
}
