package journal_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"memoryd/internal/configtest"

	"memoryd"
	"memoryd/store"
	"memoryd/store/journal"
	"memoryd/store/mem"
	"memoryd/store/storetest"
)

// door is a remote store that is opened when a test lets it.
type door struct {
	mu     sync.Mutex
	remote store.Store
	err    error // what opening says now
	tries  int
	hangs  bool
}

func (d *door) open(ctx context.Context) (store.Store, error) {
	d.mu.Lock()
	d.tries++
	err, hangs := d.err, d.hangs
	d.mu.Unlock()
	if hangs {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, err
	}
	return d.remote, nil
}

func (d *door) say(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.err, d.hangs = err, false
}

var (
	errAway  = memoryd.Errorf(memoryd.Unavailable, "nobody there")
	errUnfit = memoryd.Errorf(memoryd.Conflict, "another schema")
)

// openLazy opens and starts a journal whose remote store is behind a door.
func openLazy(t *testing.T, local store.Store, d *door, log *slog.Logger) *journal.Store {
	t.Helper()
	cfg := configtest.Section[journal.Config]("store.journal")
	cfg.RepairInterval = 0
	s, err := journal.Open(t.Context(), local, d.open, cfg, log, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	s.Start(context.Background())
	return s
}

func closeIt(t *testing.T, s store.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestARemoteStoreThatIsAwayAtTheStartIsOpenedLater(t *testing.T) {
	for name, hangs := range map[string]bool{"refuses": false, "does not answer": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &door{remote: lasting{mem.New()}, err: errAway, hangs: hangs}
				begun := time.Now()
				s := openLazy(t, mem.New(), d, slog.New(slog.DiscardHandler))
				defer closeIt(t, s)
				if took := time.Since(begun); took > configtest.Section[journal.Config]("store.journal").RemoteWait {
					t.Errorf("opening took %v", took)
				}
				begun = time.Now()
				add(t, s, 9, pending("t", 1), pending("t", 2))
				wantHistory(t, s, "t", "1:pending 2:pending")
				refusedWithoutRemote(t, s)
				if took := time.Since(begun); took > 10*configtest.Section[journal.Config]("store.journal").RemoteWait {
					t.Errorf("answers took %v while nobody was there", took)
				}
				if err := s.Ping(t.Context()); err != nil {
					t.Errorf("not ready: %v", err)
				}
				if st := s.Status(); !st.Away || st.Why == "" || st.Backlog != 2 || st.Fault != nil || st.Oldest.IsZero() {
					t.Errorf("got %+v", st)
				}
				time.Sleep(time.Hour)
				d.say(nil)
				time.Sleep(2 * time.Minute)
				synctest.Wait()
				wantHistory(t, d.remote, "t", "1:pending 2:pending")
				if st := s.Status(); st.Away || st.Why != "" || st.Backlog != 0 || st.Forwarded != 2 || !st.Oldest.IsZero() {
					t.Errorf("got %+v", st)
				}
				if err := s.PutGuideline(t.Context(), ref("t"), memoryd.Guideline{Content: "x"}, 0); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// refusedWithoutRemote asks for what only the remote store can do.
func refusedWithoutRemote(t *testing.T, s *journal.Store) {
	t.Helper()
	_, err := s.Tool(t.Context(), ref("unknown"))
	for what, err := range map[string]error{
		"an unknown tool": err,
		"a guideline":     s.PutGuideline(t.Context(), ref("t"), memoryd.Guideline{Content: "x"}, 0),
		"a record":        s.PutRecords(t.Context(), []store.Record{{RecordKey: store.RecordKey{Kind: "note", ID: "1"}}}),
	} {
		e, ok := errors.AsType[*memoryd.Error](err)
		if !ok || e.Kind != memoryd.Unavailable || e.RetryAfter <= 0 {
			t.Errorf("%s: got %v, want unavailable with a time", what, err)
		}
	}
}

func TestAnUnusableRemoteStoreIsAnErrorAtTheStart(t *testing.T) {
	d := &door{err: errUnfit}
	_, err := journal.Open(t.Context(), mem.New(), d.open, configtest.Section[journal.Config]("store.journal"), slog.New(slog.DiscardHandler), time.Now)
	wantKind(t, err, memoryd.Conflict)
}

func TestAnUnusableRemoteStoreFoundLaterIsLoud(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		d := &door{remote: lasting{mem.New()}, err: errAway}
		s := openLazy(t, mem.New(), d, slog.New(slog.NewTextHandler(&log, nil)))
		defer closeIt(t, s)
		d.say(errUnfit)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		err := s.Ping(t.Context())
		wantKind(t, err, memoryd.Unavailable)
		if _, msg := memoryd.KindOf(err); !strings.Contains(msg, "another schema") || s.Status().Fault == nil {
			t.Errorf("got %q", msg)
		}
		if n := strings.Count(log.String(), "level=ERROR"); n < 10 || n > d.tries {
			t.Errorf("%d errors were logged in ten minutes, for %d tries", n, d.tries)
		}
		if d.tries > 400 {
			t.Errorf("%d tries in ten minutes", d.tries)
		}
		add(t, s, 9, pending("t", 1)) // nothing is lost meanwhile
		d.say(nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		if err := s.Ping(t.Context()); err != nil || s.Status().Fault != nil {
			t.Errorf("still not ready: %v", err)
		}
		wantHistory(t, d.remote, "t", "1:pending")
	})
}

// What waited for a remote store that was never there survives a restart, and its
// age does too.
func TestWhatWaitedKeepsItsAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		local, d := lasting{mem.New()}, &door{remote: lasting{mem.New()}, err: errAway}
		s := openLazy(t, local, d, slog.New(slog.DiscardHandler))
		accepted := time.Now()
		add(t, s, 9, pending("t", 1))
		time.Sleep(time.Hour)
		closeIt(t, s)
		s = openLazy(t, local, d, slog.New(slog.DiscardHandler))
		defer closeIt(t, s)
		if got := s.Status().Oldest; got.Sub(accepted).Abs() > time.Second {
			t.Errorf("accepted at %v, now %v", accepted, got)
		}
	})
}

func TestRepairsAreCounted(t *testing.T) {
	w := newWorld(t)
	add(t, w.s, 9, calls("t", 1, 3)...)
	w.lose(func(store.Store, store.Store) {})
	repair(t, w.s)
	repair(t, w.s)
	if st := w.s.Status(); st.Repairs != 2 || st.Calls != 3 {
		t.Errorf("got %+v", st)
	}
}

// A remote store that was opened late is as good as any.
func TestStoreOpenedLate(t *testing.T) {
	storetest.Run(t, storetest.Backend{Open: func(t *testing.T) store.Store {
		d := &door{remote: lasting{mem.New()}, err: errAway}
		s, err := journal.Open(t.Context(), mem.New(), d.open, quick(), slog.New(slog.DiscardHandler), time.Now)
		if err != nil {
			t.Fatal(err)
		}
		d.say(nil)
		s.Start(context.Background())
		t.Cleanup(func() { closeIt(t, s) })
		if err := (settling{s}).drained(t.Context()); err != nil {
			t.Fatal(err)
		}
		return settling{s}
	}})
}

// swept counts how often it was tidied up.
type swept struct {
	store.Store
	n int
}

func (s *swept) Sweep(context.Context) error { s.n++; return nil }

func TestTheRemoteStoreIsTidiedUp(t *testing.T) {
	remote := &swept{Store: lasting{mem.New()}}
	s := open(t, mem.New(), remote, quick())
	if err := s.Sweep(t.Context()); err != nil || remote.n != 1 {
		t.Errorf("tidied up %d times, %v", remote.n, err)
	}
}

// mortal is a remote store whose content can vanish.
type mortal struct {
	store.Store
	now atomic.Pointer[store.Store] // nil: vanished
}

func newMortal() *mortal {
	m := &mortal{}
	m.born()
	m.Store = store.Intercept(func(ctx context.Context, _ string, call func(context.Context, store.Store) error) error {
		if now := m.now.Load(); now != nil {
			return call(ctx, *now)
		}
		return memoryd.Wrap(memoryd.Unavailable, store.ErrVanished, "gone")
	})
	return m
}

func (m *mortal) born() {
	var s store.Store = mem.New()
	m.now.Store(&s)
}

func (m *mortal) Remake(context.Context) error {
	if m.now.Load() == nil {
		m.born()
	}
	return nil
}

// TestAVanishedRemoteStoreIsFilledAgainWithoutARestart loses all that the remote
// store had; the journal accepts, has it made anew and puts back what it knows.
func TestAVanishedRemoteStoreIsFilledAgainWithoutARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := newMortal()
		cfg := configtest.Section[journal.Config]("store.journal")
		cfg.RepairInterval = 0
		s, err := journal.New(mem.New(), remote, cfg, slog.New(slog.DiscardHandler), time.Now)
		if err != nil {
			t.Fatal(err)
		}
		s.Start(t.Context())
		defer closeIt(t, s)
		add(t, s, 50, calls("a", 1, 20)...)
		add(t, s, 50, calls("b", 1, 5)...)
		add(t, s, 3, calls("c", 1, 9)...) // six of them let go
		if err := s.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		remote.now.Store(nil)
		add(t, s, 50, calls("a", 21, 22)...)
		add(t, s, 3, calls("c", 10, 11)...)
		time.Sleep(time.Minute)
		for tool, want := range map[string][2]int{"a": {22, 22}, "b": {5, 5}, "c": {11, 3}} {
			got, err := remote.Tool(t.Context(), ref(tool))
			if err != nil || got.Lifetime != int64(want[0]) || got.Kept != want[1] {
				t.Errorf("%s: the remote store has %+v, %v, want %v", tool, got, err, want)
			}
			kept, err := remote.History(t.Context(), ref(tool), 0)
			for i, c := range calls(tool, want[0]-want[1]+1, want[0]) {
				if err != nil || i >= len(kept) || kept[i].Key != c.Key {
					t.Errorf("%s: the remote store keeps %v, %v; call %d is missing or out of order", tool, kept, err, i)
					break
				}
			}
		}
		if st := s.Status(); st.Away || st.Backlog != 0 || st.Calls != 0 || st.Uncounted != 0 {
			t.Errorf("got %+v", st)
		}
	})
}

// TestWhatARefillCannotCountIsSaid has so many calls wait for a tool when the remote store
// is made anew that nothing older is left to bring back: its counters miss what was, and
// the status says how many calls that is.
func TestWhatARefillCannotCountIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := newMortal()
		cfg := configtest.Section[journal.Config]("store.journal")
		cfg.RepairInterval = 0
		s, err := journal.New(mem.New(), remote, cfg, slog.New(slog.DiscardHandler), time.Now)
		if err != nil {
			t.Fatal(err)
		}
		s.Start(t.Context())
		defer closeIt(t, s)
		add(t, s, 3, calls("c", 1, 9)...)
		if err := s.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		remote.now.Store(nil)
		add(t, s, 3, calls("c", 10, 14)...)
		time.Sleep(time.Minute)
		got, err := remote.Tool(t.Context(), ref("c"))
		if err != nil || got.Lifetime != 5 || s.Status().Uncounted != 9 {
			t.Errorf("the remote store counts %+v, %v, and %d are said to be missing", got.Counters, err, s.Status().Uncounted)
		}
	})
}
