package journal_test

import (
	"fmt"
	"sync"
	"testing"

	"memoryd"
	"memoryd/store"
	"memoryd/store/mem"
	"memoryd/store/storetest"
)

// Several journals on one remote store that fails now and then lose nothing and
// count nothing twice.
func TestManyJournalsOnOneRemote(t *testing.T) {
	const journals, writers, each, keep = 3, 8, 25, 20
	inner := lasting{mem.New()}
	var all []store.Store
	var wg sync.WaitGroup
	for i := range journals {
		s := open(t, mem.New(), troubled(inner, everyThird), brief())
		all = append(all, settling{s})
		for w := range writers {
			wg.Go(func() {
				for n := range each {
					own := pending("t", 1000*(writers*i+w)+n)
					_, err := s.Append(t.Context(), store.Batch{
						Workspace: "w", Keep: keep, Calls: []memoryd.Call{own, pending("shared", n), pending(fmt.Sprint("own", i), w*each+n)},
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	wg.Wait()
	for i, s := range all {
		if got := describe(t, s, fmt.Sprint("own", i)); got.Lifetime != writers*each || got.Kept != keep {
			t.Errorf("got %+v", got)
		}
	}
	for i, s := range all {
		if got := describe(t, s, "t"); got.Lifetime != journals*writers*each || got.Pending != keep {
			t.Errorf("journal %d: got %+v", i, got)
		}
		if got := describe(t, s, "shared"); got.Lifetime != each {
			t.Errorf("journal %d: got %+v", i, got)
		}
	}
}

// BenchmarkAppend is what a call of 2 KB costs with 16 writers and the local store
// on a disk.
func BenchmarkAppend(b *testing.B) {
	for name, line := range map[string]bool{"remote there": false, "remote away": true} {
		b.Run(name, func(b *testing.B) {
			remote := newLink(lasting{mem.New()})
			remote.cut.Store(line)
			cfg := quick()
			cfg.MaxBacklog = 10_000_000
			s := open(b, openLocal(b, b.TempDir()), remote, cfg)
			var n sync.Mutex
			at := 0
			b.SetParallelism(8)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					n.Lock()
					at++
					c := pending(fmt.Sprint("t", at%50), at)
					n.Unlock()
					c.Output = string(make([]byte, 2000))
					add(b, s, 100, c)
				}
			})
		})
	}
}

// A call whose acknowledgement was lost at each try is counted once.
func TestLostAcknowledgements(t *testing.T) {
	inner := lasting{mem.New()}
	n := 0
	remote := storetest.NewFaults(inner, func(method string, stage storetest.Stage) error {
		if method == "Append" && stage == storetest.After {
			if n++; n < 6 {
				return memoryd.Errorf(memoryd.Unavailable, "lost")
			}
		}
		return nil
	})
	s := open(t, mem.New(), remote, quick())
	if a := add(t, s, 9, pending("t", 1))[0]; a != (store.Appended{New: true, FirstOfTool: true, Seq: 1}) {
		t.Errorf("got %+v", a)
	}
	drain(t, s)
	if got := describe(t, inner, "t"); got.Lifetime != 1 || got.Revision != 1 {
		t.Errorf("got %+v", got)
	}
}
