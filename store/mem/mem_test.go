package mem_test

import (
	"testing"

	"memoryd/store"
	"memoryd/store/mem"
	"memoryd/store/storetest"
)

func backend() storetest.Backend {
	return storetest.Backend{Open: func(*testing.T) store.Store { return mem.New() }}
}

func TestStore(t *testing.T) { storetest.Run(t, backend()) }

// TestModel compares the reference with itself: a check of the comparison.
func TestModel(t *testing.T) { storetest.Model(t, backend()) }
