package backup

import (
	"context"
	"iter"

	"memoryd"
	"memoryd/store"
)

// ImportOptions say how memories are added.
type ImportOptions struct {
	// Keep is how many calls of a tool the history keeps, at least 1.
	Keep int
	// SetAside makes the record that keeps a guideline until a person decides; without it
	// guidelines come as they are.
	SetAside func(ref memoryd.ToolRef, g memoryd.Guideline) (store.Record, error)
	// Rejected, when set, is told each memory that was not imported, with the
	// reason.
	Rejected func(line int, err error)
}

// ImportCounts says what became of memories and their calls.
type ImportCounts struct {
	Tools      int // memories read, whether or not they held anything new
	Added      int // calls
	Duplicates int // calls that were known
	Rejected   int // memories
}

// Import adds memories to a store. A tool that is new comes as it was, times and
// guideline included, and whole or not at all. To one that is there the calls are
// added that it lacks, and the guideline if it has none; so importing the same
// memories again adds nothing. Memories that come with an Invalid or TooLarge error
// are counted and passed over; any other error, and one of the store, ends the
// import.
func Import(ctx context.Context, s store.Store, memories iter.Seq2[Memory, error], opts ImportOptions) (ImportCounts, error) {
	var n ImportCounts
	if opts.Keep < 1 {
		return n, invalid("keep must be at least 1, not %d", opts.Keep)
	}
	for m, err := range memories {
		var added int
		if err == nil {
			err = m.check()
		}
		if err == nil && opts.SetAside != nil {
			err = (&Trust{SetAside: opts.SetAside}).distrust(&m)
		}
		if err == nil {
			if added, err = add(ctx, s, m, opts.Keep); err != nil {
				return n, within(err, "tool %q of workspace %q", m.Tool.Tool, m.Tool.Workspace)
			}
			n.Tools++
			n.Added += added
			n.Duplicates += len(m.Calls) - added
		} else if !rejects(err) {
			return n, err
		} else if n.Rejected++; opts.Rejected != nil {
			opts.Rejected(m.Line, err)
		}
	}
	return n, ctx.Err()
}

// add adds one memory and reports how many of its calls were new.
func add(ctx context.Context, s store.Store, m Memory, keep int) (int, error) {
	added := len(m.Calls)
	err := s.RestoreTool(ctx, m.Tool, m.Calls)
	if memoryd.IsKind(err, memoryd.Conflict) {
		added, err = appendTo(ctx, s, m, keep)
	}
	if err == nil {
		err = (&writer{s: s}).documents(ctx, m.Records)
	}
	return added, err
}

func appendTo(ctx context.Context, s store.Store, m Memory, keep int) (int, error) {
	out, err := s.Append(ctx, store.Batch{Workspace: m.Tool.Workspace, Calls: m.Calls, Keep: keep})
	if err != nil {
		return 0, err
	}
	added := 0
	for _, a := range out {
		if a.New {
			added++
		}
	}
	if m.Tool.Guideline.Revision == 0 {
		return added, nil
	}
	g := m.Tool.Guideline
	g.BasedOn, g.ThroughSeq = 0, 0 // of other numbers than this store's
	err = s.PutGuideline(ctx, m.Tool.ToolRef, g, 0)
	if memoryd.IsKind(err, memoryd.Conflict) {
		err = nil // it has one already
	}
	return added, err
}
