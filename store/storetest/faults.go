package storetest

import (
	"context"

	"memoryd/store"
)

// Stage is the side of a call at which a fault strikes.
type Stage int

// A fault Before the call leaves the store untouched. One After it loses the
// acknowledgement: the call has taken effect and its caller hears an error.
const (
	Before Stage = iota
	After
)

// Faults is a store that passes every call on and asks Fail before and after it.
type Faults struct {
	store.Store
	// Fail is given the method's name ("Append") and the stage; an error that it
	// returns is what the caller gets. It is not asked after a call that failed
	// by itself. It must be safe for concurrent use; nil means no faults.
	Fail func(method string, stage Stage) error
}

// NewFaults makes any call to inner fail where and when fail says.
func NewFaults(inner store.Store, fail func(method string, stage Stage) error) *Faults {
	f := &Faults{Fail: fail}
	f.Store = store.Intercept(func(ctx context.Context, method string, call func(context.Context, store.Store) error) error {
		if f.Fail == nil {
			return call(ctx, inner)
		}
		if err := f.Fail(method, Before); err != nil {
			return err
		}
		if err := call(ctx, inner); err != nil {
			return err
		}
		return f.Fail(method, After)
	})
	return f
}
