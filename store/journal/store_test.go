package journal_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"memoryd/internal/configtest"

	"memoryd"
	"memoryd/store"
	"memoryd/store/journal"
	"memoryd/store/mem"
	"memoryd/store/qdrant"
	"memoryd/store/qdrant/qdranttest"
	"memoryd/store/sqlite"
	"memoryd/store/storetest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lasting is a store in memory that survives its Close, as a disk does.
type lasting struct{ store.Store }

func (lasting) Close() error { return nil }

// quick has short waits: what is away in these tests comes back at the next try.
func quick() journal.Config {
	cfg := configtest.Section[journal.Config]("store.journal")
	cfg.RetryMin, cfg.RetryMax, cfg.RepairInterval = time.Millisecond, 2*time.Millisecond, 0
	cfg.RemoteWait = 20 * time.Second
	return cfg
}

// open makes a started store that is closed with the test.
func open(t testing.TB, local, remote store.Store, cfg journal.Config) *journal.Store {
	t.Helper()
	s, err := journal.New(local, remote, cfg, slog.New(slog.DiscardHandler), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	s.Start(context.Background())
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// pair is what lies below a journal.
type pair struct{ local, remote store.Store }

// backend gives journals over pairs; reopening opens the pair again.
func backend(cfg journal.Config, newPair func(t *testing.T) pair) storetest.Backend {
	var mu sync.Mutex
	pairs := map[store.Store]pair{}
	opened := func(t *testing.T, p pair) store.Store {
		s := store.Store(settling{open(t, p.local, p.remote, cfg)})
		mu.Lock()
		defer mu.Unlock()
		pairs[s] = p
		return s
	}
	return storetest.Backend{
		Open: func(t *testing.T) store.Store { return opened(t, newPair(t)) },
		Reopen: func(t *testing.T, s store.Store) store.Store {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			mu.Lock()
			p := pairs[s]
			mu.Unlock()
			return opened(t, p)
		},
	}
}

// settling waits, before it reads, until the remote store has what was accepted:
// so that a read is not answered locally because a try failed a moment ago.
type settling struct{ *journal.Store }

func (s settling) drained(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := s.Drain(ctx); err != nil {
			return err
		}
		if !s.Status().Away {
			break
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}

func (s settling) Tool(ctx context.Context, ref memoryd.ToolRef) (memoryd.Tool, error) {
	if err := s.drained(ctx); err != nil {
		return memoryd.Tool{}, err
	}
	return s.Store.Tool(ctx, ref)
}

func (s settling) ListTools(ctx context.Context, workspace, after string, limit int) ([]memoryd.Tool, error) {
	if err := s.drained(ctx); err != nil {
		return nil, err
	}
	return s.Store.ListTools(ctx, workspace, after, limit)
}

func (s settling) Claim(ctx context.Context, now time.Time, lease time.Duration, limit int) ([]memoryd.Call, error) {
	if err := s.drained(ctx); err != nil {
		return nil, err
	}
	return s.Store.Claim(ctx, now, lease, limit)
}

func inMemory(*testing.T) pair { return pair{lasting{mem.New()}, lasting{mem.New()}} }

func TestStore(t *testing.T) { storetest.Run(t, backend(quick(), inMemory)) }

func TestModel(t *testing.T) { storetest.Model(t, backend(quick(), inMemory)) }

// journaled are the methods whose effects wait in the journal.
var journaled = map[string]bool{
	"Append": true, "Settle": true, "CacheVerdict": true, "DeleteTool": true,
}

// everyThird fails each third request that forwards, before or after its effect
// by turns.
func everyThird(method string, n int, stage storetest.Stage) bool {
	return journaled[method] && n%3 == 0 && (n%2 == 0) == (stage == storetest.Before)
}

// troubled fails requests by a rule that is told how many there were.
func troubled(inner store.Store, fails func(method string, n int, stage storetest.Stage) bool) store.Store {
	var mu sync.Mutex
	n := map[string]int{}
	return storetest.NewFaults(inner, func(method string, stage storetest.Stage) error {
		mu.Lock()
		defer mu.Unlock()
		if stage == storetest.Before {
			n[method]++
		}
		if fails(method, n[method], stage) {
			return memoryd.Errorf(memoryd.Unavailable, "injected")
		}
		return nil
	})
}

// Requests that fail, and acknowledgements that are lost, change no answer.
func TestStoreInTrouble(t *testing.T) {
	storetest.Run(t, backend(quick(), func(*testing.T) pair {
		return pair{lasting{mem.New()}, troubled(lasting{mem.New()}, everyThird)}
	}))
}

func TestModelInTrouble(t *testing.T) {
	storetest.Model(t, backend(quick(), func(*testing.T) pair {
		return pair{lasting{mem.New()}, troubled(lasting{mem.New()}, everyThird)}
	}))
}

// The stores that it is meant for.
func TestStoreOverTheRealOnes(t *testing.T) {
	b := backend(quick(), func(t *testing.T) pair {
		return pair{openLocal(t, t.TempDir()), openQdrant(t)}
	})
	b.Gaps, b.Reopen = true, nil
	storetest.Run(t, b)
}

func openLocal(t testing.TB, dir string) store.Store {
	t.Helper()
	cfg := configtest.Section[sqlite.Config]("store.sqlite")
	cfg.Dir = dir
	s, err := sqlite.Open(t.Context(), cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s.Start(t.Context())
	return s
}

func openQdrant(t *testing.T) store.Store {
	t.Helper()
	cfg := qdrant.DefaultConfig()
	cfg.Host, cfg.Connections = "fake", 1
	s, err := qdrant.Open(t.Context(), cfg, "", slog.New(slog.DiscardHandler),
		qdrant.WithDialer(qdranttest.New(t, "1.19.0").Dial))
	if err != nil {
		t.Fatal(err)
	}
	return s
}
