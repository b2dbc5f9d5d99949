package ops

import (
	"context"
	"fmt"
	"iter"

	"memoryd"
	"memoryd/store/backup"
)

// StoreAction is a request to move or remove whole memories, and its answer.
type StoreAction struct {
	// Action is list, delete, delete_ids, copy, dump or load.
	Action    string
	MemoryIDs []string
	Source    string // the workspace to copy
	Path      string

	// Size is how many memories were moved or removed.
	Size int
	// Memories are the ones listed.
	Memories []Memory
}

// VectorStoreParams are the settings of vector_store_op.
type VectorStoreParams struct {
	// DumpDir is the folder of dumps; no path of a request leads out of it.
	DumpDir string `yaml:"dump_dir"`
}

// Validate names the setting that is wrong.
func (p VectorStoreParams) Validate() error {
	if p.DumpDir == "" {
		return fmt.Errorf("dump_dir: must be a folder")
	}
	return nil
}

// Mover moves and removes whole memories.
type Mover interface {
	List(ctx context.Context, workspace string) iter.Seq2[backup.Memory, error]
	Delete(ctx context.Context, workspace string) (int, error)
	DeleteIDs(ctx context.Context, workspace string, ids []string) (int, error)
	Copy(ctx context.Context, src, dst string) (int, error)
	Dump(ctx context.Context, workspace, path string) (int, error)
	Load(ctx context.Context, workspace, path string) (int, error)
}

// VectorStore carries out the actions of the endpoint of that name, which is
// older than this program.
type VectorStore struct {
	Mover  Mover
	Reader MemoryReader
}

// Name implements Op.
func (VectorStore) Name() string { return "vector_store_op" }

// Run implements Op.
func (o VectorStore) Run(ctx context.Context, st *State) (err error) {
	a := &st.StoreAction
	switch a.Action {
	case "list":
		err = o.list(ctx, st)
	case "delete":
		a.Size, err = o.Mover.Delete(ctx, st.Workspace)
	case "delete_ids":
		if len(a.MemoryIDs) == 0 {
			return refuse("memory_ids is required")
		}
		a.Size, err = o.Mover.DeleteIDs(ctx, st.Workspace, a.MemoryIDs)
	case "copy":
		if a.Source == "" {
			return refuse("src_workspace_id is required")
		}
		a.Size, err = o.Mover.Copy(ctx, a.Source, st.Workspace)
	case "dump":
		a.Size, err = o.Mover.Dump(ctx, st.Workspace, a.Path)
	case "load":
		a.Size, err = o.Mover.Load(ctx, st.Workspace, a.Path)
	default:
		return refuse("action must be one of list, delete, delete_ids, copy, dump, load")
	}
	// What the client can mend is an answer; what the store cannot do is not.
	switch kind, msg := memoryd.KindOf(err); {
	case err == nil:
	case kind == memoryd.Invalid || kind == memoryd.NotFound || kind == memoryd.Conflict || kind == memoryd.TooLarge:
		return refuse("%s", msg)
	default:
		return fmt.Errorf("%s: %w", a.Action, err)
	}
	st.Result.Success = true
	st.Result.Answer = fmt.Sprintf("%s: %d tool memory(ies)", a.Action, a.Size)
	return nil
}

func (o VectorStore) list(ctx context.Context, st *State) error {
	for m, err := range o.Mover.List(ctx, st.Workspace) {
		if err != nil {
			return err
		}
		full, err := o.Reader.Complete(ctx, m.Tool, NoCalls)
		if err != nil {
			return err
		}
		full.Calls = m.Calls
		st.StoreAction.Memories = append(st.StoreAction.Memories, full)
		st.StoreAction.Size++
	}
	return nil
}
