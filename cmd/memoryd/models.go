package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"memoryd"
	"memoryd/config"
	"memoryd/guidelines/revisions"
	"memoryd/guidelines/search"
	"memoryd/llm"
	"memoryd/llm/usage"
	"memoryd/ops"
)

// models are the entries of the llm section that can be used: those with a key
// or with an address of their own. The others stay silent, so that the server
// works without any.
type models struct{ clients map[string]*llm.Client }

func newModels(cfg *config.Config, getenv func(string) string, log *slog.Logger, told func(llm.Attempt), traced tracedAttempt) (*models, error) {
	m := &models{clients: map[string]*llm.Client{}}
	for name, c := range cfg.LLM {
		key := getenv(c.APIKeyEnv)
		if key == "" && c.BaseURL == "" {
			continue
		}
		client, err := llm.New(c, key, llm.Options{Logger: log.With("llm", name), Observer: told, Tracer: traced})
		if err != nil {
			return nil, fmt.Errorf("llm.%s: %w", name, err)
		}
		m.clients[name] = client
	}
	return m, nil
}

// pricesOf gives what the configured models cost.
func pricesOf(entries map[string]llm.Config) usage.Prices {
	prices := usage.Prices{}
	for _, c := range entries {
		if p := (usage.Price{Prompt: c.PricePrompt, Completion: c.PriceCompletion}); p != (usage.Price{}) {
			prices[c.ModelName] = p
		}
	}
	return prices
}

// forOp gives the view of an entry that spaces the requests of one op; nil when
// the entry cannot be used.
func (m *models) forOp(name, op string, seconds float64) *llm.Model {
	client := m.clients[name]
	if client == nil {
		return nil
	}
	return client.ForOp(op, time.Duration(seconds*float64(time.Second)))
}

// close ends what still waits for a model.
func (m *models) close() {
	for _, client := range m.clients {
		client.Close()
	}
}

func healthOf(client *llm.Client) func(context.Context) error {
	return func(context.Context) error {
		if h := client.Health(); h.Status != llm.HealthOK {
			return memoryd.Errorf(memoryd.Unavailable, "the model cannot be used: %s", h.Reason)
		}
		return nil
	}
}

// embeddingEntry is what health and metrics call the model of the search section,
// beside the entries of the llm section.
const embeddingEntry = "search.embedding_model"

// newSearch makes the index of guidelines, if a model is configured that can be
// used. It has a client of its own, so that what its model is refused or spared
// concerns no other model.
func (a *app) newSearch(getenv func(string) string) error {
	cfg := a.cfg.Search
	if cfg.EmbeddingModel == "" {
		return nil
	}
	entry := a.cfg.LLM[cfg.LLM]
	key := getenv(entry.APIKeyEnv)
	if key == "" && entry.BaseURL == "" {
		a.log.Warn("search.embedding_model is not used: its entry of the llm section has neither a key nor a base_url", "llm", cfg.LLM)
		return nil
	}
	entry.ModelName, entry.FallbackModels = cfg.EmbeddingModel, nil
	client, err := llm.New(entry, key, llm.Options{
		Logger: a.log.With("llm", embeddingEntry), Observer: a.attempted, Tracer: a.traceAttempts(),
	})
	if err != nil {
		return fmt.Errorf("search.llm: %w", err)
	}
	a.models.clients[embeddingEntry] = client
	a.search = search.New(cfg, search.Deps{
		Store: a.store, Logger: a.log, Now: time.Now, Barred: a.cfg.Privacy.Barred,
		Guidelines: budgeted{a.ledger, client.EmbedderForOp("embed_guideline", cfg.Dimensions)},
		Queries:    budgeted{a.ledger, client.EmbedderForOp("embed_query", cfg.Dimensions)},
	})
	return nil
}

// searcher is what tools are searched with: by words alone, the store.
func (a *app) searcher() ops.Searcher {
	if a.search == nil {
		return a.store
	}
	return a.search
}

// index is what hears of guidelines; nil: nobody.
func (a *app) index() revisions.Index {
	if a.search == nil {
		return nil
	}
	return a.search
}

// budgeted is an embedder that keeps to the ledger's budgets.
type budgeted struct {
	ledger *usage.Ledger
	model  *llm.Embedder
}

// Embed implements search.Embedder.
func (b budgeted) Embed(ctx context.Context, workspace string, texts []string) ([][]float32, error) {
	one := embedding{model: b.model, texts: texts}
	_, err := b.ledger.Limited(&one).Complete(ctx, memoryd.Prompt{Workspace: workspace, User: strings.Join(texts, "\n")})
	return one.vectors, err
}

// embedding is one request for vectors in the shape that the ledger knows.
type embedding struct {
	model   *llm.Embedder
	texts   []string
	vectors [][]float32
}

// Name implements memoryd.Model.
func (e *embedding) Name() string { return e.model.Name() }

// Complete implements memoryd.Model; the prompt's text is there to be counted.
func (e *embedding) Complete(ctx context.Context, p memoryd.Prompt) (_ memoryd.Completion, err error) {
	e.vectors, err = e.model.Embed(ctx, p.Workspace, e.texts)
	return memoryd.Completion{}, err
}
