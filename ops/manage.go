package ops

import (
	"context"
	"fmt"
	"io"
	"slices"

	"memoryd"
	"memoryd/evaluate/kinds"
	"memoryd/guidelines/revisions"
	"memoryd/store"
)

// ManageRequest requests to list, move or remove whole memories.
type ManageRequest struct {
	Workspace string
	// Action is list, delete, delete_ids, copy, dump or load, or, on its own route, Forget.
	Action    string
	MemoryIDs []string
	Source    string // the workspace to copy; for Forget, the source of the calls
	Path      string
}

// Moves reports whether the action moves or removes memories.
func (r ManageRequest) Moves() bool {
	return slices.Contains([]string{"delete", "delete_ids", "copy", "dump", "load", Forget}, r.Action)
}

// Managed is the result of a ManageRequest.
type Managed struct {
	Answer string
	// Size is the number of memories moved or removed.
	Size int
	// Memories are the listed memories.
	Memories []Memory
}

// VectorStoreParams are the settings of vector_store_op.
type VectorStoreParams struct {
	// DumpDir is the folder of dumps; requests cannot leave it.
	DumpDir string `yaml:"dump_dir"`
}

// Validate returns the first invalid setting.
func (p VectorStoreParams) Validate() error {
	if p.DumpDir == "" {
		return fmt.Errorf("dump_dir: must be a folder")
	}
	return nil
}

// TakeSnapshot requests a copy of a workspace, or of the whole store.
type TakeSnapshot struct{ Workspace string }

// Snapshot writes a copy in the format of memoryd export. The store stays in use meanwhile;
// each tool is copied at one moment.
type Snapshot = func(w io.Writer) error

func (d *Deps) snapshot(ctx context.Context, r TakeSnapshot) (Snapshot, error) {
	return func(w io.Writer) error { return d.Mover.Export(ctx, r.Workspace, w) }, nil
}

// vectorStore carries out the actions of the endpoint of that name, which is
// older than this program.
func (d *Deps) vectorStore(ctx context.Context, r ManageRequest) (*Managed, error) {
	var err error
	out := &Managed{}
	switch r.Action {
	case "list":
		out.Memories, err = d.memories(ctx, r.Workspace)
		out.Size = len(out.Memories)
	case "delete":
		if out.Size, err = d.Mover.Delete(ctx, r.Workspace); err == nil {
			d.Ledger.Forget(ctx, r.Workspace)
		}
	case "delete_ids":
		if len(r.MemoryIDs) == 0 {
			return nil, refuse("memory_ids is required")
		}
		out.Size, err = d.Mover.DeleteIDs(ctx, r.Workspace, r.MemoryIDs)
	case "copy":
		if r.Source == "" {
			return nil, refuse("src_workspace_id is required")
		}
		out.Size, err = d.Mover.Copy(ctx, r.Source, r.Workspace)
	case "dump":
		out.Size, err = d.Mover.Dump(ctx, r.Workspace, r.Path)
	case "load":
		out.Size, err = d.Mover.Load(ctx, r.Workspace, r.Path)
	case Forget:
		out.Size, err = d.forget(ctx, r.Workspace, r.Source)
	default:
		return nil, refuse("action must be one of list, delete, delete_ids, copy, dump, load")
	}
	if r.Moves() { // what failed half way too
		d.Judge.Moved(r.Workspace)
		d.Forecasts.Moved(r.Workspace)
	}
	// What the client can mend is an answer; what the store cannot do is not.
	switch kind, msg := memoryd.KindOf(err); {
	case err == nil:
	case kind == memoryd.Invalid || kind == memoryd.NotFound || kind == memoryd.Conflict || kind == memoryd.TooLarge:
		return nil, refuse("%s", msg)
	default:
		return nil, fmt.Errorf("%s: %w", r.Action, err)
	}
	out.Answer = fmt.Sprintf("%s: %d tool memory(ies)", r.Action, out.Size)
	return out, nil
}

func (d *Deps) memories(ctx context.Context, workspace string) ([]Memory, error) {
	var all []Memory
	for m, err := range d.Mover.List(ctx, workspace) {
		if err != nil {
			return nil, err
		}
		full, err := d.Reader.Complete(ctx, m.Tool, noCalls)
		if err != nil {
			return nil, err
		}
		full.Calls = m.Calls
		all = append(all, full)
	}
	return all, nil
}

// Forget is the action that removes the calls of a source from a workspace.
const Forget = "forget_source"

// forget removes the calls of a workspace that a source wrote, those also that a history let
// go. The tools that it touched lose the versions of their guidelines and the decisions on
// them; their guidelines are withdrawn first, and written anew from what is left. It reports
// how many calls there were; after an error, asking again goes on.
func (d *Deps) forget(ctx context.Context, workspace, source string) (int, error) {
	if err := d.ForgetSource(ctx, workspace, source); err != nil {
		return 0, err
	}
	n := 0
	for t, err := range store.AllTools(ctx, d.Store, workspace) {
		if err != nil {
			return n, err
		}
		cut, err := d.cut(ctx, t.ToolRef, source)
		if err != nil {
			return n, fmt.Errorf("tool %q, after %d calls: %w", t.Tool, n, err)
		}
		n += cut
	}
	return n, nil
}

func (d *Deps) cut(ctx context.Context, ref memoryd.ToolRef, source string) (int, error) {
	if err := kinds.Forget(ctx, d.Store, ref, source); err != nil {
		return 0, err
	}
	keys, err := keysOf(ctx, d.Store, ref, func(c *memoryd.Call) bool { return c.Source() == source })
	if err != nil {
		return 0, err
	}
	n, err := d.observed(ctx, ref, source)
	if n = max(n, len(keys)); err != nil || n == 0 {
		return 0, err
	}
	if err := d.unpublish(ctx, ref); err != nil {
		return 0, err
	}
	if len(keys) > 0 {
		if _, err := d.Store.DeleteCalls(ctx, ref, keys); err != nil {
			return 0, err
		}
	}
	if err := d.Forget(ctx, ref, source); err != nil {
		return n, err
	}
	d.Forecasts.Forget(ref)
	for _, k := range keys {
		if err := d.Store.DeleteRecord(ctx, store.RecordKey{ToolRef: ref, Kind: CorrectionKind, ID: k.String()}); err != nil {
			return n, err
		}
	}
	for _, kind := range revisions.Kinds() {
		of := store.AllRecords(ctx, d.Store, store.RecordKey{ToolRef: ref, Kind: kind})
		if err := store.Each(of, func(r store.Record) error { return d.Store.DeleteRecord(ctx, r.RecordKey) }); err != nil {
			return n, err
		}
	}
	if _, err = d.Revisions.Refresh(ctx, ref, revisions.Always); memoryd.IsKind(err, memoryd.NotFound) {
		return n, nil // it had no other calls
	}
	return n, err
}

// unpublish empties a tool's guideline, so that nothing of it stands while its calls go.
func (d *Deps) unpublish(ctx context.Context, ref memoryd.ToolRef) error {
	t, err := d.Store.Tool(ctx, ref)
	if err != nil || t.Guideline.Revision == 0 {
		return err
	}
	return d.Store.PutGuideline(ctx, ref, memoryd.Guideline{Author: t.Guideline.Author, Written: t.Guideline.Written}, t.Guideline.Revision)
}

// observed counts the calls of a source that a tool's guideline is learned from.
func (d *Deps) observed(ctx context.Context, ref memoryd.ToolRef, source string) (n int, err error) {
	list, err := d.Revisions.Sourced(ctx, ref, source) // it is off the workspace's list already
	if err != nil {
		return 0, err
	}
	for i := range list {
		if list[i].Source() == source {
			n++
		}
	}
	return n, nil
}

// keysOf gives the keys of the kept calls of a tool that of picks, newest first.
func keysOf(ctx context.Context, s store.Calls, ref memoryd.ToolRef, of func(*memoryd.Call) bool) (keys []memoryd.CallKey, err error) {
	for c, err := range store.AllCalls(ctx, s, ref, true) {
		if err != nil {
			return keys, err
		}
		if of(&c) {
			keys = append(keys, c.Key)
		}
	}
	return keys, nil
}
