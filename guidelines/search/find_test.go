package search_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"memoryd/internal/configtest"

	"memoryd"
	"memoryd/guidelines/search"
	"memoryd/store/storetest"

	"pgregory.net/rapid"
)

// lexical is what the store finds.
func (b *bench) lexical(query string, limit int) []string {
	b.t.Helper()
	tools, err := b.store.SearchTools(b.t.Context(), space, query, limit)
	if err != nil {
		b.t.Fatal(err)
	}
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Tool
	}
	return names
}

func TestWhateverKeepsTheMeaningAwayLeavesTheWords(t *testing.T) {
	tests := map[string]struct {
		model func(*model)
		took  time.Duration
	}{
		"away":      {func(m *model) { m.fail = func([]string) error { return errors.New("away") } }, 0},
		"refused":   {func(m *model) { m.fail = func([]string) error { return &memoryd.ModelError{Reason: "credentials"} } }, 0},
		"slow":      {func(m *model) { m.hang = true }, 2 * time.Second},
		"no vector": {func(m *model) { m.dimensions = 3 }, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, config())
				b.three()
				b.fill()
				b.queries.set(tc.model)
				for _, query := range []string{"reads a letter", "weather", "town", "for the command", "!"} {
					begin := time.Now()
					if got, want := b.find(query, 9), b.lexical(query, 9); !slices.Equal(got, want) {
						t.Errorf("%q: got %v, want %v", query, got, want)
					}
					if took := time.Since(begin); took > tc.took {
						t.Errorf("%q took %v", query, took)
					}
					tc.took = 0 // the searches that follow do not wait again
				}
				if n := b.log.count("level=WARN"); n > 1 {
					t.Errorf("%d lines", n)
				}
			})
		})
	}
}

func TestAModelThatComesBackIsUsedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, config())
		b.three()
		b.fill()
		b.queries.set(func(m *model) { m.fail = func([]string) error { return errors.New("away") } })
		for range 50 {
			if got := b.find("weather", 1); len(got) != 0 {
				t.Errorf("got %v", got)
			}
		}
		if n := b.queries.requests(); n != 1 {
			t.Errorf("asked %d times", n)
		}
		b.queries.set(func(m *model) { m.fail = nil })
		time.Sleep(11 * time.Second)
		if got := b.find("weather", 1); !slices.Equal(got, []string{"meteo"}) {
			t.Errorf("got %v", got)
		}
	})
}

func TestACallerWhoLeavesDoesNotMakeTheModelAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, config())
		b.three()
		b.fill()
		b.queries.set(func(m *model) { m.hang = true })
		ctx, cancel := context.WithCancel(t.Context())
		go func() { time.Sleep(time.Second); cancel() }()
		if _, err := b.index.SearchTools(ctx, space, "weather", 9); err != nil {
			t.Error(err)
		}
		b.queries.set(func(m *model) { m.hang = false })
		if got := b.find("weather", 1); !slices.Equal(got, []string{"meteo"}) {
			t.Errorf("got %v", got)
		}
		if n := b.log.count("level=WARN"); n != 0 {
			t.Errorf("%d lines", n)
		}
	})
}

func TestNothingIsAskedWhereThereIsNothingToCompare(t *testing.T) {
	b := newBench(t, config())
	b.three()
	b.find("weather", 9)
	if n := b.queries.requests(); n != 0 {
		t.Errorf("asked %d times without a vector", n)
	}
}

func TestAThousandToolsCostNoReadEachTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, config())
		b.three()
		b.fill()
		b.again(config())
		b.find("weather", 9)
		read := b.store.listed()
		for i := range 100 {
			b.find(fmt.Sprintf("weather %d", i%10), 9)
		}
		if n := b.store.listed(); n != read {
			t.Errorf("%d reads for 100 searches", n-read)
		}
		if n := b.queries.requests(); n != 11 {
			t.Errorf("asked %d times for 11 queries", n)
		}
		time.Sleep(30 * time.Second)
		b.find("weather", 9)
		if n := b.store.listed(); n == read {
			t.Error("the vectors are never read again")
		}
	})
}

// Another process writes a vector: this one learns of it when its own copy is too
// old, its own writes show at once.
func TestWhatAnotherProcessWroteIsFoundAfterAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, config())
		b.three()
		b.fill()
		b.find("weather", 9)
		ours := b.index
		b.tool("radar", "Shows rain.")
		b.again(config())
		b.fill()
		b.index = ours
		if got := b.find("weather", 9); slices.Contains(got, "radar") {
			t.Errorf("got %v at once", got)
		}
		time.Sleep(30 * time.Second)
		if got := b.find("weather", 9); !slices.Contains(got, "radar") {
			t.Errorf("got %v", got)
		}
		b.start()
		b.write("radar", "Prints a page.")
		b.index.Wrote(ref("radar"))
		synctest.Wait()
		if got := b.find("weather", 9); got[len(got)-1] == "meteo" {
			t.Errorf("got %v", got)
		}
	})
}

func TestToolsThatAreGoneAreNotFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, config())
		b.three()
		b.fill()
		b.find("weather", 9)
		b.delete("meteo")
		if got := b.find("weather", 9); slices.Contains(got, "meteo") || len(got) == 0 {
			t.Errorf("got %v", got)
		}
		b.delete("post")
		b.tool("post", "") // again, without a guideline
		if got := b.find("mail", 9); slices.Contains(got, "post") {
			t.Errorf("got %v", got)
		}
		b.again(config())
		b.start()
		b.find("mail weather", 9) // has the vectors looked at
		synctest.Wait()
		if r := b.records(); len(r) != 1 {
			t.Errorf("%d vectors are left", len(r))
		}
	})
}

func TestAWorkspaceWithTooManyVectorsIsSearchedByWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := config()
		cfg.CacheBytes, cfg.Dimensions = 1<<20, 8192
		b := newBench(t, cfg)
		b.guidelines.dimensions = 8192
		for i := range 40 {
			b.tool(fmt.Sprintf("rain%02d", i), "text")
		}
		b.fill()
		read := b.store.listed()
		for range 5 {
			if got := b.find("rain07", 9); !slices.Equal(got, []string{"rain07"}) {
				t.Errorf("got %v", got)
			}
		}
		if n := b.store.listed() - read; n != 1 {
			t.Errorf("%d reads for 5 searches", n)
		}
		if n := b.queries.requests(); n != 0 || b.log.count("cache_bytes") != 1 {
			t.Errorf("asked %d times; %d lines", n, b.log.count("cache_bytes"))
		}
	})
}

func TestTheStoresFailureIsTheSearchs(t *testing.T) {
	b := newBench(t, config())
	b.three()
	inner := b.store.Store
	for op, want := range map[string]bool{"SearchTools": true, "ListRecords": false} {
		b.store.Store = storetest.NewFaults(inner, func(method string, _ storetest.Stage) error {
			if method == op {
				return memoryd.Errorf(memoryd.Unavailable, "away")
			}
			return nil
		})
		got, err := b.index.SearchTools(t.Context(), space, "command", 9)
		if failed := memoryd.IsKind(err, memoryd.Unavailable); failed != want || !want && len(got) != 1 {
			t.Errorf("%s: got %v, %v", op, got, err)
		}
	}
}

// Searches, writes and rounds at once: for the race detector, and every search
// finds what the words find.
func TestSearchesAndWritesAtOnce(t *testing.T) {
	b := newBench(t, config())
	b.three()
	b.start()
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 20 {
				b.index.Wrote(ref("meteo"))
				b.round(2)
				if got := b.find(fmt.Sprintf("command weather %d", (i+j)%7), 9); !slices.Contains(got, "shell") {
					t.Errorf("got %v", got)
				}
			}
		})
	}
	wg.Wait()
}

func TestAResultHoldsTheWordsAndNoToolTwice(t *testing.T) {
	words := []string{"rain", "weather", "forecast", "mail", "inbox", "command", "disk", "page", "the"}
	text := rapid.SliceOfN(rapid.SampledFrom(words), 0, 6)
	rapid.Check(t, func(r *rapid.T) {
		guidelines := rapid.SliceOfN(text, 0, 12).Draw(r, "guidelines")
		query, limit := fmt.Sprint(text.Draw(r, "query")), rapid.IntRange(1, 25).Draw(r, "limit")
		var got, lexical, all []string
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, config())
			for i, words := range guidelines {
				b.tool(fmt.Sprintf("t%02d", i), fmt.Sprint(words))
			}
			b.fill()
			got, lexical, all = b.find(query, limit), b.lexical(query, limit), b.lexical(query, 100)
		})
		if len(got) > limit || len(got) < len(lexical) || len(slices.Compact(slices.Sorted(slices.Values(got)))) != len(got) {
			r.Fatalf("got %v, by words %v, limit %d", got, lexical, limit)
		}
		for _, name := range all {
			if limit >= len(all)+configtest.Section[search.Config]("search").Nearest && !slices.Contains(got, name) {
				r.Fatalf("%v lacks %s", got, name)
			}
		}
	})
}
