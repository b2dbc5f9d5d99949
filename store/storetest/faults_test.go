package storetest_test

import (
	"errors"
	"reflect"
	"testing"

	"memoryd"
	"memoryd/store"
	"memoryd/store/mem"
	"memoryd/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, storetest.Backend{
		Open: func(*testing.T) store.Store {
			return storetest.NewFaults(mem.New(), func(string, storetest.Stage) error { return nil })
		},
	})
}

var (
	ref   = memoryd.ToolRef{Workspace: "w", Tool: "t"}
	batch = store.Batch{Workspace: "w", Keep: 9, Calls: []memoryd.Call{{
		ToolRef: ref, Key: memoryd.CallKey{1}, Evaluation: memoryd.PendingEvaluation(),
	}}}
)

func TestAFaultBeforeLeavesTheStoreUntouched(t *testing.T) {
	boom := errors.New("boom")
	inner := mem.New()
	f := storetest.NewFaults(inner, func(m string, s storetest.Stage) error {
		if m == "Append" && s == storetest.Before {
			return boom
		}
		return nil
	})
	if _, err := f.Append(t.Context(), batch); !errors.Is(err, boom) {
		t.Fatalf("got %v", err)
	}
	if _, err := inner.Tool(t.Context(), ref); !memoryd.IsKind(err, memoryd.NotFound) {
		t.Errorf("got %v, want not found", err)
	}
}

func TestAFaultAfterLosesTheAcknowledgement(t *testing.T) {
	boom := errors.New("boom")
	fails := 1
	f := storetest.NewFaults(mem.New(), func(m string, s storetest.Stage) error {
		if m == "Append" && s == storetest.After && fails > 0 {
			fails--
			return boom
		}
		return nil
	})
	if out, err := f.Append(t.Context(), batch); !errors.Is(err, boom) || out != nil {
		t.Fatalf("got %v, %v", out, err)
	}
	out, err := f.Append(t.Context(), batch)
	if err != nil || out[0].New {
		t.Errorf("the retry: got %+v, %v, want a known call", out, err)
	}
}

// A new method of the contract cannot be forgotten.
func TestEveryMethodIsIntercepted(t *testing.T) {
	boom := errors.New("boom")
	asked := ""
	f := storetest.NewFaults(nil, func(m string, _ storetest.Stage) error { asked = m; return boom })
	contract := reflect.TypeFor[store.Store]()
	for m := range contract.Methods() {
		var args []reflect.Value
		for in := range m.Type.Ins() {
			args = append(args, reflect.Zero(in))
		}
		if m.Name != "Close" {
			args[0] = reflect.ValueOf(t.Context())
		}
		out := reflect.ValueOf(store.Store(f)).MethodByName(m.Name).Call(args)
		if err, _ := reflect.TypeAssert[error](out[len(out)-1]); !errors.Is(err, boom) || asked != m.Name {
			t.Errorf("%s: got %v, asked for %q", m.Name, err, asked)
		}
		if len(out) == 2 && !out[0].IsZero() {
			t.Errorf("%s answered beside its error: %v", m.Name, out[0])
		}
	}
}
