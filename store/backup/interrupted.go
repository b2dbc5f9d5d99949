package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"memoryd"
	"memoryd/store"
)

// Mark says what is being written into a store. It stays in the store until everything is written,
// so that an interruption is noticed.
type Mark struct {
	// What is "" for a restore; otherwise load or copy.
	What string `json:"what,omitempty"`
	// Name is the source for people. Workspace is the target; "" means the original workspaces.
	Name      string `json:"name"`
	Workspace string `json:"workspace,omitempty"`
}

const markKind = "restore"

func (m Mark) key() store.RecordKey {
	key := store.RecordKey{Kind: markKind, ID: "interrupted"} // of a restore there is one at a time
	if m.What != "" {
		sum := sha256.Sum256([]byte(m.What + "\x00" + m.Name + "\x00" + m.Workspace))
		key.ID = hex.EncodeToString(sum[:16])
	}
	return key
}

// CheckWhole returns a Conflict if a restore, load or copy into the store was interrupted.
// Its text says how to continue. If the records cannot be read, that error appears when they are
// requested.
func CheckWhole(ctx context.Context, s store.Records) error {
	err := Mark{}.Alone(ctx, s)
	if memoryd.IsKind(err, memoryd.Conflict) {
		return err
	}
	return nil
}

// Alone returns an error if another operation into the store was interrupted.
func (m Mark) Alone(ctx context.Context, s store.Records) error {
	return store.Each(store.AllRecords(ctx, s, store.RecordKey{Kind: markKind}), func(r store.Record) error {
		var other Mark
		if err := json.Unmarshal(r.Data, &other); err != nil || other == m {
			return err
		}
		return other.fault()
	})
}

// begun reports whether the same was interrupted before.
func (m Mark) begun(ctx context.Context, s store.Records) (bool, error) {
	var there Mark
	revision, err := store.ReadJSON(ctx, s, m.key(), &there)
	return revision > 0 && there == m, err
}

// around runs bring with the mark in the store. It removes the mark if everything was written, or
// if bring failed before it wrote anything, which came reports as false.
func (m Mark) around(ctx context.Context, s store.Records, bring func() (came bool, err error)) error {
	again, err := m.begun(ctx, s)
	if err != nil {
		return err
	}
	if !again {
		if err := store.WriteJSON(ctx, s, store.Record{RecordKey: m.key(), Revision: store.AnyRevision}, m); err != nil {
			return within(err, "nothing was brought in")
		}
	}
	came, err := bring()
	if err == nil || !again && !came {
		err = errors.Join(err, s.DeleteRecord(context.WithoutCancel(ctx), m.key()))
	}
	return err
}

func (m Mark) fault() error {
	into := ""
	switch {
	case m.Workspace != "" && m.What == "":
		into = fmt.Sprintf(" --workspace %q", m.Workspace)
	case m.Workspace != "":
		into = fmt.Sprintf(" into %q", m.Workspace)
	}
	if m.What == "" {
		return memoryd.Errorf(memoryd.Conflict,
			"the store holds a part of a restore that was interrupted: run memoryd restore %q%s again, which completes it", m.Name, into)
	}
	return memoryd.Errorf(memoryd.Conflict, "the store holds a part of the %s of %q%s that was interrupted: "+
		"start the server with --incomplete and ask for it again, which completes it", m.What, m.Name, into)
}
