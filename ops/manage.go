package ops

import (
	"context"
	"fmt"
	"io"
	"slices"

	"memoryd"
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
