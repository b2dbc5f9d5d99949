package main

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"memoryd"
	"memoryd/internal/access"
	"memoryd/store"
)

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
	before := map[string]string{}
	switch {
	case memoryd.IsKind(err, memoryd.NotFound):
	case err != nil:
		return err
	case json.Unmarshal(r.Data, &before) != nil:
		before = map[string]string{} // of a later program
	}
	var changed []string
	for section, digest := range now {
		if len(before) > 0 && before[section] != digest {
			changed = append(changed, section)
		}
	}
	slices.Sort(changed)
	if len(changed) > 0 {
		if err := a.audit.Note(ctx, access.Entry{Action: "settings", Detail: "started with other settings in " + strings.Join(changed, ", ")}); err != nil {
			return err
		}
	}
	if len(before) > 0 && len(changed) == 0 {
		return nil
	}
	data, err := json.Marshal(now)
	if err == nil {
		_, err = a.store.PutRecord(ctx, store.Record{RecordKey: key, Revision: store.AnyRevision, Data: data})
	}
	return err
}
