package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"memoryd"
	"memoryd/config"
	"memoryd/store"
	"memoryd/store/journal"
	"memoryd/store/mem"
	"memoryd/store/qdrant"
	"memoryd/store/sqlite"
)

// openQdrant opens a Qdrant, behind a journal if one is configured; then it may be
// away. The journal's calls are forwarded from now on; closing the store ends that.
func openQdrant(ctx context.Context, c config.Store, key string, log *slog.Logger) (store.Store, string, error) {
	name := fmt.Sprintf("qdrant at %s:%d", c.Qdrant.Host, c.Qdrant.Port)
	if c.Journal.Dir == "" {
		remote, err := qdrant.Open(ctx, c.Qdrant, key, log)
		if err != nil {
			return nil, "", err
		}
		return remote, name, nil
	}
	disk := c.SQLite
	disk.Dir = c.Journal.Dir
	local, err := sqlite.Open(ctx, disk, log)
	if err != nil {
		return nil, "", err
	}
	local.Start(ctx)
	s, err := journal.Open(ctx, local, remoteOpener(c.Qdrant, key, log), c.Journal.Config, log, time.Now)
	if err != nil {
		return nil, "", errors.Join(err, local.Close())
	}
	s.Start(context.WithoutCancel(ctx))
	return s, name + ", journal in " + c.Journal.Dir, nil
}

// remoteOpener opens a Qdrant, and tells the journal one that cannot be used from one
// that is away.
func remoteOpener(c qdrant.Config, key string, log *slog.Logger) journal.Opener {
	return func(ctx context.Context) (store.Store, error) {
		s, err := qdrant.Open(ctx, c, key, log)
		if e, ok := errors.AsType[*memoryd.Error](err); ok && errors.Is(err, qdrant.ErrUnfit) {
			return nil, memoryd.Wrap(memoryd.Conflict, e.Err, e.Msg)
		}
		if err != nil {
			return nil, err
		}
		return s, nil
	}
}

// openStore opens the store that the configuration names and says which, for
// people. The store is nil when it fails.
func openStore(ctx context.Context, cfg *config.Config, getenv func(string) string, log *slog.Logger) (store.Store, string, error) {
	switch c := cfg.Store; c.Backend {
	case config.BackendMem:
		return mem.New(), "memory, lost at exit", nil
	case config.BackendQdrant:
		key := getenv(c.Qdrant.APIKeyEnv)
		if key == "" && c.Qdrant.APIKeyEnv != "" {
			return nil, "", memoryd.Errorf(memoryd.Invalid, "store.qdrant.api_key_env: the environment variable %s is not set", c.Qdrant.APIKeyEnv)
		}
		return openQdrant(ctx, c, key, log)
	}
	s, err := sqlite.Open(ctx, cfg.Store.SQLite, log)
	if err != nil {
		return nil, "", err
	}
	s.Start(ctx)
	return s, "sqlite in " + cfg.Store.SQLite.Dir, nil
}
