package search_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"memoryd/internal/configtest"

	"memoryd"
	"memoryd/guidelines/search"
	"memoryd/llm/llmtest"
	"memoryd/store"
	"memoryd/store/mem"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const space = "w"

func ref(tool string) memoryd.ToolRef { return memoryd.ToolRef{Workspace: space, Tool: tool} }

// model is an Embedder whose vectors are those of llmtest.Meaning, and that can
// be told to fail.
type model struct {
	mu         sync.Mutex
	dimensions int
	asked      [][]string
	fail       func(texts []string) error
	hang       bool
}

var _ search.Embedder = (*model)(nil)

func (m *model) Embed(ctx context.Context, _ string, texts []string) ([][]float32, error) {
	m.mu.Lock()
	m.asked = append(m.asked, texts)
	fail, hang, n := m.fail, m.hang, m.dimensions
	m.mu.Unlock()
	if hang {
		<-ctx.Done()
		return nil, &memoryd.ModelError{Reason: "timeout", Temporary: true, Err: context.Cause(ctx)}
	}
	if fail != nil {
		if err := fail(texts); err != nil {
			return nil, err
		}
	}
	return llmtest.MeaningOf(n, texts, []string{"weather", "forecast", "rain"}, []string{"mail", "letter", "inbox"}), nil
}

func (m *model) set(change func(*model)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(m)
}

// texts are all that the model was asked for, in order.
func (m *model) texts() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []string
	for _, texts := range m.asked {
		all = append(all, texts...)
	}
	return all
}

// requests is how often the model was asked.
func (m *model) requests() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.asked)
}

// counting counts the reads of records.
type counting struct {
	store.Store
	mu    sync.Mutex
	lists int
}

func (c *counting) ListRecords(ctx context.Context, from store.RecordKey, limit int) ([]store.Record, error) {
	c.mu.Lock()
	c.lists++
	c.mu.Unlock()
	return c.Store.ListRecords(ctx, from, limit)
}

func (c *counting) listed() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lists
}

// bench is an index over a store in memory, with its models and its log.
type bench struct {
	t          *testing.T
	store      *counting
	guidelines *model
	queries    *model
	log        *lines
	index      *search.Index
}

// lines collects a log.
type lines struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.b.String(), text)
}

func config() search.Config {
	c := configtest.Section[search.Config]("search")
	c.EmbeddingModel = "vectors"
	return c
}

// newBench makes an index that is not started.
func newBench(t *testing.T, cfg search.Config) *bench {
	t.Helper()
	b := &bench{t: t, store: &counting{Store: mem.New()}, guidelines: &model{dimensions: 64}, queries: &model{dimensions: 64}}
	b.again(cfg)
	return b
}

// again is the index of another process on the same store.
func (b *bench) again(cfg search.Config) {
	b.log = &lines{}
	b.index = search.New(cfg, search.Deps{
		Store: b.store, Guidelines: b.guidelines, Queries: b.queries, Logger: slog.New(slog.NewTextHandler(b.log, nil)), Now: time.Now,
	})
}

// start starts the index until the test ends.
func (b *bench) start() {
	b.index.Start(b.t.Context())
	b.t.Cleanup(b.index.Stop)
}

// tool makes a tool with a guideline; "" makes it without.
func (b *bench) tool(name, guideline string) {
	b.t.Helper()
	call := memoryd.Call{ToolRef: ref(name), Key: memoryd.CallKey{byte(len(name))}, Evaluation: memoryd.Evaluation{State: memoryd.Judged}}
	copy(call.Key[1:], name)
	if _, err := b.store.Append(b.t.Context(), store.Batch{Workspace: space, Calls: []memoryd.Call{call}, Keep: 9}); err != nil {
		b.t.Fatal(err)
	}
	if guideline != "" {
		b.write(name, guideline)
	}
}

// write gives a tool another guideline.
func (b *bench) write(name, guideline string) {
	b.t.Helper()
	t, err := b.store.Tool(b.t.Context(), ref(name))
	if err != nil {
		b.t.Fatal(err)
	}
	if err := b.store.PutGuideline(b.t.Context(), ref(name), memoryd.Guideline{Content: guideline, Author: "rules"}, t.Guideline.Revision); err != nil {
		b.t.Fatal(err)
	}
}

// round tells the index of all tools, in pages of n.
func (b *bench) round(n int) {
	b.t.Helper()
	for after := ""; ; {
		tools, err := b.store.ListTools(b.t.Context(), space, after, n)
		if err != nil {
			b.t.Fatal(err)
		}
		b.index.Saw(b.t.Context(), space, after, tools, len(tools) < n)
		if len(tools) < n {
			return
		}
		after = tools[n-1].Tool
	}
}

// find gives the names that a search finds.
func (b *bench) find(query string, limit int) []string {
	b.t.Helper()
	tools, err := b.index.SearchTools(b.t.Context(), space, query, limit)
	if err != nil {
		b.t.Fatal(err)
	}
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Tool
	}
	return names
}

// records gives the stored vectors by tool.
func (b *bench) records() map[string]store.Record {
	b.t.Helper()
	list, err := b.store.Store.ListRecords(b.t.Context(), store.RecordKey{ToolRef: ref(""), Kind: search.Kind}, 1000)
	if err != nil {
		b.t.Fatal(err)
	}
	byTool := map[string]store.Record{}
	for _, r := range list {
		byTool[r.ID] = r
	}
	return byTool
}
