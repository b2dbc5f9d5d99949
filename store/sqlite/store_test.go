package sqlite_test

import (
	"log/slog"
	"testing"

	"memoryd/internal/configtest"

	"memoryd/store"
	"memoryd/store/sqlite"
	"memoryd/store/storetest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// backend is a store in a directory of its own. A small identity window makes
// the background work on it happen within short tests.
func backend(window int) storetest.Backend {
	dirs := map[store.Store]string{}
	open := func(t *testing.T, dir string) store.Store {
		cfg := configtest.Section[sqlite.Config]("store.sqlite")
		cfg.Dir, cfg.IdentityWindow, cfg.Readers = dir, window, 2
		s, err := sqlite.Open(t.Context(), cfg, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		s.Start(t.Context())
		dirs[s] = dir
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		return s
	}
	return storetest.Backend{
		Open: func(t *testing.T) store.Store { return open(t, t.TempDir()) },
		Reopen: func(t *testing.T, s store.Store) store.Store {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			return open(t, dirs[s])
		},
	}
}

func TestStore(t *testing.T) { storetest.Run(t, backend(4096)) }

func TestModel(t *testing.T) { storetest.Model(t, backend(4096)) }
