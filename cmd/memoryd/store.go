package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"memoryd"
	"memoryd/config"
	"memoryd/internal/access"
	"memoryd/internal/lifecycle"
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
		key := getenv(c.Qdrant.APIKeyEnv)
		if key == "" && c.Qdrant.APIKeyEnv != "" {
			return nil, "", memoryd.Errorf(memoryd.Invalid, "store.qdrant.api_key_env: the environment variable %s is not set", c.Qdrant.APIKeyEnv)
		}
		s, err := qdrant.Open(ctx, c.Qdrant, key, log)
		if err != nil {
			return nil, "", err
		}
		return s, fmt.Sprintf("qdrant at %s:%d", c.Qdrant.Host, c.Qdrant.Port), nil
	}
	s, err := sqlite.Open(ctx, cfg.Store.SQLite, log)
	if err != nil {
		return nil, "", err
	}
	s.Start(ctx)
	return s, "sqlite in " + cfg.Store.SQLite.Dir, nil
}

// settingsKind is the kind of the record that holds what the settings of the last start
// came to: a digest for each section, no value.
const settingsKind = "settings"

// noteSettings writes to the audit log that the server starts with other settings than
// last time, and which sections of the file they are in. The first start has nothing to
// compare with.
func (a *app) noteSettings(ctx context.Context) error {
	now, err := a.cfg.Digests()
	if err != nil {
		return err
	}
	key := store.RecordKey{Kind: settingsKind, ID: "last"}
	r, err := a.store.Record(ctx, key)
	if err := memoryd.Except(err, memoryd.NotFound); err != nil {
		return err
	}
	var before map[string]string
	if json.Unmarshal(r.Data, &before) == nil { // else there is none, or it is of a later program
		changed := differing(before, now)
		if len(changed) == 0 {
			return nil
		}
		if err := a.audit.Note(ctx, access.Entry{Action: "settings", Detail: "started with other settings in " +
			strings.Join(changed, ", ")}); err != nil {
			return err
		}
	}
	return store.WriteJSON(ctx, a.store, store.Record{RecordKey: key, Revision: store.AnyRevision}, now)
}

// differing are the sections whose digests differ.
func differing(before, after map[string]string) []string {
	changed := maps.Clone(after)
	maps.DeleteFunc(changed, func(section, digest string) bool { return before[section] == digest })
	return slices.Sorted(maps.Keys(changed))
}

// How often a store is swept, and how many records are removed at a time, so as
// to hold nobody up.
const (
	sweepEvery = 10 * time.Minute
	sweepBatch = 500
)

// sweeps has records removed whose time has passed, and the store tidy up.
func (a *app) sweeps(s store.Store) {
	worker := lifecycle.NewWorker(a.log, "sweeping")
	a.runs(func(ctx context.Context) {
		worker.Start(ctx, func(ctx context.Context) {
			for ok := true; ok; ok = lifecycle.Sleep(ctx, sweepEvery) {
				if err := sweep(ctx, s); err != nil && ctx.Err() == nil {
					a.log.WarnContext(ctx, "cannot clean up the store", "err", err)
				}
			}
		})
	}, worker.Stop)
}

func sweep(ctx context.Context, s store.Store) error {
	for n := sweepBatch; n == sweepBatch; {
		var err error
		if n, err = s.ExpireRecords(ctx, time.Now(), sweepBatch); err != nil {
			return err
		}
	}
	if own, ok := s.(interface {
		Sweep(ctx context.Context) error
	}); ok { // the store's own cleaning
		return own.Sweep(ctx)
	}
	return nil
}
