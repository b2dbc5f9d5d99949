package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"memoryd"
	"memoryd/config"
	"memoryd/llm/llmtest"
	"memoryd/llm/usage"
)

// searchApp builds the server with an embedding model at baseURL ("" means none).
func searchApp(t *testing.T, baseURL string, change func(*config.Config)) (*app, *bytes.Buffer) {
	t.Helper()
	var environ []string
	if baseURL != "" {
		environ = []string{"OPENAI_BASE_URL=" + baseURL}
	}
	cfg, err := config.Parse([]byte("search: {embedding_model: vectors}\nstore: {backend: mem}\nhttp: {listen: '127.0.0.1:0'}\n"), "test", environ)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(cfg)
	}
	log := &bytes.Buffer{}
	a, err := newApp(t.Context(), cfg, func(string) string { return "" }, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		_ = a.listener.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return a, log
}

func TestAnEmbeddingModelWithoutKeyAndAddressIsNotUsed(t *testing.T) {
	a, log := searchApp(t, "", nil)
	if a.search != nil || a.index() != nil || len(a.models.clients) != 0 {
		t.Error("a model that nobody can reach is in use")
	}
	if !strings.Contains(log.String(), "search.embedding_model is not used") {
		t.Errorf("log %s", log)
	}
}

func TestEmbeddingsAreCountedAndKeepToTheBudget(t *testing.T) {
	model := llmtest.New(llmtest.Always(llmtest.Status(http.StatusNotFound, nil))).Embeddings(llmtest.Meaning())
	a, _ := searchApp(t, model.Start(t), func(c *config.Config) { c.Usage.RequestsPerHour = 2 })
	client := a.models.clients[embeddingEntry]
	if client == nil || a.revisions.Index == nil {
		t.Fatal("the embedding model is not in use")
	}
	e := budgeted{a.ledger, client.EmbedderForOp("embed_query", 0)}
	for range 2 {
		if v, err := e.Embed(t.Context(), "w", []string{"some text", "and more"}); err != nil || len(v) != 2 {
			t.Fatalf("got %v, %v", v, err)
		}
	}
	_, err := e.Embed(t.Context(), "w", []string{"some text"})
	if f, ok := errors.AsType[*memoryd.ModelError](err); !ok || f.Reason != usage.ReasonBudget || !f.Temporary {
		t.Errorf("beyond the budget: %v", err)
	}
	if n := model.Counts().Requests; n != 2 {
		t.Errorf("%d requests", n)
	}
	now := time.Now()
	rows, err := a.ledger.Report(t.Context(), "w", now.Add(-time.Hour), now.Add(time.Hour))
	if err != nil || len(rows) != 1 || rows[0].Op != "embed_query" || rows[0].By != "llm:vectors" || rows[0].Requests != 2 || rows[0].PromptTokens == 0 {
		t.Errorf("the ledger says %+v, %v", rows, err)
	}
}
