package search

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"memoryd/internal/configtest"
)

// rack is vectorCache whose workspaces have one vector of n numbers each.
type rack struct {
	*vectorCache
	reads map[string]int
	fail  error
	delay time.Duration
}

func newRack(n int, most int64) *rack {
	r := &rack{reads: map[string]int{}}
	r.vectorCache = newVectorCache(time.Minute, most, time.Now, func(ctx context.Context, workspace string, _ int64) (*vectorSet, error) {
		time.Sleep(r.delay)
		r.reads[workspace]++
		if r.fail != nil {
			return nil, r.fail
		}
		v := &vectorSet{}
		v.add("tool", make([]float32, n))
		return v, ctx.Err()
	})
	return r
}

func TestTheWorkspacesUsedLongestAgoMakeRoom(t *testing.T) {
	r := newRack(1000, 5*(4000+nameBytes+4+slotBytes))
	for i := range 20 {
		for _, w := range []string{"often", fmt.Sprint("once", i)} {
			if _, err := r.get(t.Context(), w); err != nil {
				t.Fatal(err)
			}
		}
		if r.bytes > r.most {
			t.Fatalf("%d bytes of %d", r.bytes, r.most)
		}
	}
	if r.reads["often"] != 1 || r.slots.Len() != 5 {
		t.Errorf("read %d times; %d workspaces", r.reads["often"], r.slots.Len())
	}
	if _, err := r.get(t.Context(), "once0"); err != nil || r.reads["once0"] != 2 {
		t.Errorf("read %d times, %v", r.reads["once0"], err)
	}
}

func TestWhoeverComesWhileVectorsAreReadWaitsForThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRack(1, 1<<20)
		r.delay = time.Second
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if v, err := r.get(t.Context(), "w"); err != nil || len(v.names) != 1 {
					t.Errorf("got %v, %v", v, err)
				}
			})
		}
		short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		synctest.Wait()
		if _, err := r.get(short, "w"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		wg.Wait()
		if r.reads["w"] != 1 {
			t.Errorf("read %d times", r.reads["w"])
		}
	})
}

func TestFewWorkspacesAreReadAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRack(1, 1<<20)
		var now, most atomic.Int64
		r.read = func(context.Context, string, int64) (*vectorSet, error) {
			most.Store(max(most.Load(), now.Add(1)))
			time.Sleep(time.Second)
			now.Add(-1)
			return &vectorSet{}, nil
		}
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				if _, err := r.get(t.Context(), fmt.Sprint(i)); err != nil {
					t.Error(err)
				}
			})
		}
		begin := time.Now()
		wg.Wait()
		if most.Load() != readersMost || time.Since(begin) != 5*time.Second {
			t.Errorf("%d at a time; took %v", most.Load(), time.Since(begin))
		}
	})
}

// What was read before a vector was written must not be kept after it.
func TestVectorsThatAreWrittenWhileOthersReadAreNotMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRack(1, 1<<20)
		r.delay = time.Second
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := r.get(t.Context(), "w"); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		r.changed("w")
		r.changed("nobody asked for")
		wg.Wait()
		if _, err := r.get(t.Context(), "w"); err != nil || r.reads["w"] != 2 {
			t.Errorf("read %d times, %v", r.reads["w"], err)
		}
	})
}

func TestAFailureIsNotKeptButTooManyAre(t *testing.T) {
	for fail, reads := range map[error]int{errors.New("away"): 3, errTooMany: 1} {
		r := newRack(1, 1<<20)
		r.fail = fail
		for range 3 {
			if _, err := r.get(t.Context(), "w"); !errors.Is(err, fail) {
				t.Errorf("got %v, want %v", err, fail)
			}
		}
		if r.reads["w"] != reads {
			t.Errorf("%v: read %d times", fail, r.reads["w"])
		}
	}
}

func TestEachWrongSettingIsNamed(t *testing.T) {
	if err := configtest.Section[Config]("search").Validate(); err != nil {
		t.Error(err)
	}
	for key, change := range map[string]func(*Config){
		"embedding_model": func(c *Config) { c.EmbeddingModel = strings.Repeat("x", 300) },
		"dimensions":      func(c *Config) { c.Dimensions = -1 },
		"wait":            func(c *Config) { c.Wait = 0 },
		"nearest":         func(c *Config) { c.Nearest = 0 },
		"min_similarity":  func(c *Config) { c.MinSimilarity = 1.5 },
		"max_text_bytes":  func(c *Config) { c.MaxTextBytes = 1 },
		"batch":           func(c *Config) { c.Batch = 0 },
		"queue":           func(c *Config) { c.Queue = 0 },
		"cache_for":       func(c *Config) { c.CacheFor = -1 },
		"cache_bytes":     func(c *Config) { c.CacheBytes = 1 },
	} {
		c := configtest.Section[Config]("search")
		change(&c)
		if err := c.Validate(); err == nil || !strings.HasPrefix(err.Error(), key+": ") {
			t.Errorf("%s: got %v", key, err)
		}
	}
}
