package search_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"memoryd"
	"memoryd/guidelines/search"
	"memoryd/store"
)

// three fills a bench with a tool of each meaning, and one without a guideline.
func (b *bench) three() {
	b.tool("meteo", "Gives the forecast of rain for a town.")
	b.tool("post", "Reads the inbox and sends a letter.")
	b.tool("shell", "Runs a command.")
	b.tool("silent", "")
}

func TestAQueryFindsByMeaningWhatItsWordsDoNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, config())
		b.three()
		if got := b.find("weather", 1); len(got) != 0 {
			t.Errorf("before there are vectors: %v", got)
		}
		for _, tool := range []string{"meteo", "post", "shell", "silent"} {
			b.index.Wrote(ref(tool))
		}
		b.start() // now, so that all are in one batch
		synctest.Wait()
		if got := b.find("weather", 1); !slices.Equal(got, []string{"meteo"}) {
			t.Errorf("got %v", got)
		}
		if got := b.find("mail", 9); got[0] != "post" || slices.Contains(got, "silent") {
			t.Errorf("got %v", got)
		}
		if n := len(b.records()); n != 3 {
			t.Errorf("%d vectors", n)
		}
		if n := b.guidelines.requests(); n > 2 {
			t.Errorf("3 guidelines took %d requests", n)
		}
	})
}

// A panic over a guideline's text is counted and survived; a later round makes
// the vector.
func TestAPanicWhileWritingAVectorIsSurvived(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, config())
		b.three()
		b.guidelines.set(func(m *model) { m.fail = func([]string) error { panic("a defect") } })
		b.start()
		b.index.Wrote(ref("meteo"))
		synctest.Wait()
		if n := b.log.count("part=searching"); n != 1 {
			t.Errorf("%d panics are logged", n)
		}
		b.guidelines.set(func(m *model) { m.fail = nil })
		time.Sleep(time.Minute)
		b.round(100)
		synctest.Wait()
		if n := len(b.records()); n != 3 {
			t.Errorf("%d vectors", n)
		}
	})
}

func TestARoundMakesTheVectorsThatAreMissing(t *testing.T) {
	for _, page := range []int{1, 2, 3, 100} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, config())
			b.start()
			b.three()
			b.round(page)
			synctest.Wait()
			if n := len(b.records()); n != 3 {
				t.Fatalf("%d vectors", n)
			}
			asked := b.guidelines.requests()
			b.round(page)
			synctest.Wait()
			if n := b.guidelines.requests(); n != asked {
				t.Errorf("a round with nothing to do asked %d times", n-asked)
			}
		})
	}
}

func TestARoundMendsWhatIsNotWhatItShouldBe(t *testing.T) {
	tests := map[string]struct {
		harm   func(b *bench)
		config func(*search.Config)
		asked  []string // beginnings of the texts
	}{
		"another text":             {harm: func(b *bench) { b.write("post", "Reads mail.") }, asked: []string{"post\nReads mail."}},
		"a broken record":          {harm: func(b *bench) { b.put("post", []byte("emb1 nonsense")) }, asked: []string{"post\n"}},
		"an empty record":          {harm: func(b *bench) { b.put("post", nil) }, asked: []string{"post\n"}},
		"a record without a tool":  {harm: func(b *bench) { b.put("aaa", nil); b.put("nobody", nil); b.put("zzz", nil) }},
		"a record of a silent one": {harm: func(b *bench) { b.put("silent", b.records()["post"].Data) }},
		"a deleted tool":           {harm: func(b *bench) { b.delete("shell") }},
		"another model":            {config: func(c *search.Config) { c.EmbeddingModel = "better" }, asked: []string{"meteo", "post", "shell"}},
		"other dimensions":         {config: func(c *search.Config) { c.Dimensions = 32 }, asked: []string{"meteo", "post", "shell"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, config())
				b.three()
				b.fill()
				before := len(b.guidelines.texts())
				if tc.harm != nil {
					tc.harm(b)
				}
				cfg := config()
				if tc.config != nil {
					tc.config(&cfg)
				}
				b.again(cfg)
				b.start()
				b.round(2)
				synctest.Wait()
				checkAsked(t, b.guidelines.texts()[before:], tc.asked)
				b.checkVectors()
			})
		})
	}
}

// fill makes all vectors by an index of its own.
func (b *bench) fill() {
	b.t.Helper()
	b.index.Start(b.t.Context())
	b.round(100)
	synctest.Wait()
	b.index.Stop()
}

func (b *bench) put(tool string, data []byte) {
	b.t.Helper()
	key := store.RecordKey{ToolRef: ref(""), Kind: search.Kind, ID: tool}
	if _, err := b.store.PutRecord(b.t.Context(), store.Record{RecordKey: key, Revision: store.AnyRevision, Data: data}); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) delete(tool string) {
	b.t.Helper()
	if err := b.store.DeleteTool(b.t.Context(), ref(tool)); err != nil {
		b.t.Fatal(err)
	}
}

func checkAsked(t *testing.T, got, want []string) {
	t.Helper()
	slices.Sort(got)
	if len(got) != len(want) {
		t.Fatalf("the model was shown %q, want %q", got, want)
	}
	for i, text := range want {
		if !strings.HasPrefix(got[i], text) {
			t.Errorf("the model was shown %q, want %q", got[i], text)
		}
	}
}

// checkVectors expects a vector for each tool with a guideline, and no other.
func (b *bench) checkVectors() {
	b.t.Helper()
	tools, err := b.store.ListTools(b.t.Context(), space, "", 100)
	if err != nil {
		b.t.Fatal(err)
	}
	records := b.records()
	n := 0
	for _, tool := range tools {
		if tool.Guideline.Revision == 0 {
			continue
		}
		n++
		if len(records[tool.Tool].Data) < 100 {
			b.t.Errorf("%s has no vector", tool.Tool)
		}
	}
	if len(records) != n {
		b.t.Errorf("%d vectors for %d guidelines", len(records), n)
	}
}

// The model behind the name became another, whose vectors are longer: what is
// stored is of no use.
func TestVectorsOfAnotherLengthThanTheModelsAreMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, config())
		b.three()
		b.fill()
		longer := func(m *model) { m.dimensions = 96 }
		b.guidelines.set(longer)
		b.queries.set(longer)
		b.again(config())
		b.start()
		if got := b.find("weather", 9); len(got) != 0 {
			t.Errorf("found %v by vectors of another length", got)
		}
		b.round(100)
		synctest.Wait()
		if got := b.find("weather", 1); !slices.Equal(got, []string{"meteo"}) {
			t.Errorf("got %v", got)
		}
	})
}

func TestAVectorOfAToolThatWasDeletedMeanwhileIsRemoved(t *testing.T) {
	for name, remove := range map[string]func(b *bench){
		"tool": func(b *bench) { b.delete("post") },
		"workspace": func(b *bench) {
			if _, err := b.store.DeleteWorkspace(b.t.Context(), space); err != nil {
				b.t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, config())
				b.tool("post", "Reads mail.")
				b.guidelines.fail = func([]string) error { remove(b); return nil }
				b.start()
				b.index.Wrote(ref("post"))
				synctest.Wait()
				if n := b.guidelines.requests(); n != 1 {
					t.Errorf("asked %d times", n)
				}
				if r := b.records(); len(r) != 0 {
					t.Errorf("left %v", r)
				}
			})
		})
	}
}

func TestAModelThatIsAwayIsAskedAgainLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, config())
		away := errors.New("away")
		b.guidelines.fail = func([]string) error { return away }
		b.three()
		b.start()
		b.round(100)
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := b.guidelines.requests(); n < 12 || n > 20 {
			t.Errorf("asked %d times in an hour", n)
		}
		if n := b.log.count("level=WARN"); n == 0 || n > 20 {
			t.Errorf("%d lines in an hour", n)
		}
		b.guidelines.set(func(m *model) { m.fail = nil })
		time.Sleep(6 * time.Minute)
		synctest.Wait()
		b.checkVectors()
	})
}

func TestOneBadTextKeepsNoOtherBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, config())
		b.guidelines.fail = func(texts []string) error {
			if slices.ContainsFunc(texts, func(s string) bool { return strings.HasPrefix(s, "post") }) {
				return &memoryd.ModelError{Reason: "filtered"}
			}
			return nil
		}
		b.three()
		b.start()
		b.round(100)
		time.Sleep(time.Second)
		synctest.Wait()
		if r := b.records(); len(r) != 2 || r["meteo"].Data == nil || r["shell"].Data == nil {
			t.Errorf("%d vectors", len(r))
		}
		asked := b.guidelines.requests()
		time.Sleep(time.Hour)
		if n := b.guidelines.requests(); n != asked {
			t.Errorf("asked %d times more without a reason", n-asked)
		}
	})
}

func TestAModelThatRejectsEverythingIsNotAskedForEachText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, config())
		b.guidelines.fail = func([]string) error { return &memoryd.ModelError{Reason: "rejected"} }
		for i := range 100 {
			b.tool(fmt.Sprintf("tool%02d", i), "text")
		}
		b.round(100) // before the start, so that the first batch is a full one
		b.start()
		time.Sleep(time.Second)
		synctest.Wait()
		if n := b.guidelines.requests(); n != 1+config().Batch {
			t.Errorf("asked %d times", n)
		}
	})
}

func TestTheQueueIsBoundedAndARoundCatchesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := config()
		cfg.Queue, cfg.Batch = 5, 2
		b := newBench(t, cfg)
		for i := range 12 {
			b.tool(fmt.Sprintf("tool%02d", i), "text")
		}
		b.round(100)
		b.start()
		for rounds := 0; len(b.records()) < 12; rounds++ {
			if rounds > 3 {
				t.Fatalf("%d vectors after %d rounds", len(b.records()), rounds)
			}
			synctest.Wait()
			b.round(100)
		}
		synctest.Wait()
		b.checkVectors()
		for _, texts := range b.guidelines.asked {
			if len(texts) > 2 {
				t.Errorf("%d texts in a request", len(texts))
			}
		}
	})
}

func TestStopWaitsForNobodyAndStartsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, config())
		b.index.Stop() // never started
		b.guidelines.hang = true
		b.three()
		b.index.Start(t.Context())
		b.index.Start(t.Context())
		b.round(100)
		synctest.Wait()
		begin := time.Now()
		b.index.Stop()
		b.index.Stop()
		if took := time.Since(begin); took != 0 {
			t.Errorf("took %v", took)
		}
		if len(b.records()) != 0 {
			t.Error("vectors from nowhere")
		}
	})
}
