package main

import (
	"context"
	"fmt"
	"log/slog"

	"memoryd/config"
	"memoryd/store"
	"memoryd/store/mem"
	"memoryd/store/qdrant"
	"memoryd/store/sqlite"
)

// openStore opens the store that the configuration names and says which, for
// people. The store is nil when it fails.
func openStore(ctx context.Context, cfg *config.Config, getenv func(string) string, log *slog.Logger) (store.Store, string, error) {
	switch c := cfg.Store; c.Backend {
	case config.BackendMem:
		return mem.New(), "memory, lost at exit", nil
	case config.BackendQdrant:
		s, err := qdrant.Open(ctx, c.Qdrant, getenv(c.Qdrant.APIKeyEnv), log)
		if err != nil {
			return nil, "", err
		}
		return s, fmt.Sprintf("qdrant at %s:%d", c.Qdrant.Host, c.Qdrant.Port), nil
	}
	s, err := sqlite.Open(ctx, cfg.Store.SQLite, log)
	if err != nil {
		return nil, "", err
	}
	return s, "sqlite in " + cfg.Store.SQLite.Dir, nil
}
