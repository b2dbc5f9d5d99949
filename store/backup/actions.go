package backup

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"time"

	"memoryd"
	"memoryd/store"
)

// Actions implements POST /vector_store. Its methods are safe for concurrent use.
type Actions struct {
	Store store.Store
	// Marks stores the mark of a running copy or load; see RestoreOptions.
	Marks store.Records
	// Dir is the dump folder; Dump creates it if it is missing. No path of a request leaves
	// it.
	Dir string
	// Kinds are the kinds of records that move with their tools.
	Kinds []string
	// RecentCalls is the number of newest calls in the recent statistics of a dump.
	RecentCalls int
	// Trust distinguishes dumps of this installation from others; nil treats all as its own.
	Trust *Trust
	// Now is the clock; expired records are left out.
	Now func() time.Time
}

// List returns the tool memories of a workspace, with their calls, sorted by the bytes of the
// tools' names, one at a time. An unknown workspace has none.
func (a *Actions) List(ctx context.Context, workspace string) iter.Seq2[Memory, error] {
	return memoriesOf(ctx, a.Store, workspace, nil, a.Now())
}

// Export writes a workspace, or the whole store for "", as [Export] does.
func (a *Actions) Export(ctx context.Context, workspace string, w io.Writer) error {
	_, err := Export(ctx, a.Store, w, ExportOptions{Workspace: workspace, Created: a.Now(), Kinds: a.Kinds})
	return err
}

// Delete deletes a workspace and returns the number of its tools.
func (a *Actions) Delete(ctx context.Context, workspace string) (int, error) {
	if err := store.CheckName("workspace", workspace); err != nil {
		return 0, err
	}
	return a.Store.DeleteWorkspace(ctx, workspace)
}

// DeleteIDs deletes the tools of a workspace with the given memory ids and returns their
// number. Unknown ids are not errors.
func (a *Actions) DeleteIDs(ctx context.Context, workspace string, ids []string) (int, error) {
	if err := store.CheckName("workspace", workspace); err != nil {
		return 0, err
	}
	n := 0
	for t, err := range store.AllTools(ctx, a.Store, workspace) {
		if err == nil && slices.Contains(ids, t.MemoryID()) {
			if err = a.Store.DeleteTool(ctx, t.ToolRef); err == nil {
				n++
			}
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// Copy copies the tools of workspace src into dst, with their histories, counters, guidelines
// and records, and returns their number. It replaces tools that dst already has; other tools
// of dst stay. Each tool is copied as a whole or not at all. An error says how many were
// copied, and copying again continues. An empty src is NotFound.
func (a *Actions) Copy(ctx context.Context, src, dst string) (int, error) {
	for _, name := range []string{src, dst} {
		if err := store.CheckName("workspace", name); err != nil {
			return 0, err
		}
	}
	if src == dst {
		return 0, invalid("a workspace cannot be copied onto itself")
	}
	n, err := a.bring(ctx, Mark{"copy", src, dst}, "copied", memoriesOf(ctx, a.Store, src, a.Kinds, a.Now()))
	if err == nil && n == 0 {
		err = empty(src)
	}
	return n, err
}

// bring puts memories into the workspace of a mark, which stands in the store meanwhile. Who
// asked is told of an error and how many came; the mark is for who asks after the death of the
// process.
func (a *Actions) bring(ctx context.Context, mark Mark, done string, list iter.Seq2[Memory, error]) (int, error) {
	w := &writer{s: a.Store, workspace: mark.Workspace, existing: replace, kinds: a.Kinds, beside: 1}
	err := mark.around(ctx, cmp.Or[store.Records](a.Marks, a.Store), func() (bool, error) {
		err := w.bring(ctx, list)
		if err != nil {
			err = within(err, "after %d tools were %s", w.n.Tools, done)
		}
		return false, err
	})
	return w.n.Tools, err
}

func empty(workspace string) error {
	return memoryd.Errorf(memoryd.NotFound, "workspace %q holds no tool memories", workspace)
}

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
