package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"memoryd"
	"memoryd/config"
	"memoryd/llm"
	"memoryd/llm/usage"
)

// models are the entries of the llm section that can be used: those with a key
// or with an address of their own. The others stay silent, so that the server
// works without any.
type models struct{ clients map[string]*llm.Client }

func newModels(cfg *config.Config, getenv func(string) string, log *slog.Logger, told func(memoryd.Attempt),
	traced llm.Tracer,
) (*models, error) {
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
		if reason := client.Health(); reason != "" {
			return memoryd.Errorf(memoryd.Unavailable, "the model is unavailable: %s", reason)
		}
		return nil
	}
}
