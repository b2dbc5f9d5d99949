package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"memoryd/config"
	"memoryd/store"
	"memoryd/store/mem"
	"memoryd/store/qdrant"
	"memoryd/store/spool"
	"memoryd/store/sqlite"
)

// openQdrant opens a Qdrant, behind a journal if one is configured. The journal's
// calls are forwarded from now on; closing the store ends that.
func openQdrant(ctx context.Context, c config.Store, key string, log *slog.Logger) (store.Store, string, error) {
	remote, err := qdrant.Open(ctx, c.Qdrant, key, log)
	if err != nil {
		return nil, "", err
	}
	name := fmt.Sprintf("qdrant at %s:%d", c.Qdrant.Host, c.Qdrant.Port)
	if c.Spool.Dir == "" {
		return remote, name, nil
	}
	journal := c.SQLite
	journal.Dir = c.Spool.Dir
	local, err := sqlite.Open(ctx, journal, log)
	if err != nil {
		return nil, "", errors.Join(err, remote.Close())
	}
	s, err := spool.New(local, remote, c.Spool.Config, log, time.Now)
	if err != nil {
		return nil, "", errors.Join(err, local.Close(), remote.Close())
	}
	s.Start(context.WithoutCancel(ctx))
	return s, name + ", journal in " + c.Spool.Dir, nil
}

// openStore opens the store that the configuration names and says which, for
// people. The store is nil when it fails.
func openStore(ctx context.Context, cfg *config.Config, getenv func(string) string, log *slog.Logger) (store.Store, string, error) {
	switch c := cfg.Store; c.Backend {
	case config.BackendMem:
		return mem.New(), "memory, lost at exit", nil
	case config.BackendQdrant:
		return openQdrant(ctx, c, getenv(c.Qdrant.APIKeyEnv), log)
	}
	s, err := sqlite.Open(ctx, cfg.Store.SQLite, log)
	if err != nil {
		return nil, "", err
	}
	return s, "sqlite in " + cfg.Store.SQLite.Dir, nil
}
