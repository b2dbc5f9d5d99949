// Package backup moves tool memories between stores, and between this program
// and others.
//
// Export writes a workspace or a whole store as versioned JSON lines that end in a hash.
// Restore reads them into any backend. An export that is restored and exported again is the
// same file, byte for byte, whatever the two backends are. Actions is the older interface,
// POST /vector_store: one file per workspace, one tool memory per line, in the shape of the
// HTTP answers. ReMe reads the dumps of the ReMe server, and Import adds them.
//
// # The file
//
// Each line is a JSON object with one member, which names the type of the line:
//
//	{"manifest":{"format":"memoryd","version":1,"scope":"store",...}}
//	{"record":{...}}   documents of the whole server
//	{"record":{...}}   documents of a workspace
//	{"tool":{...}}     a tool: counters, times, guideline, and how many calls follow
//	{"call":{...}}     its kept calls, oldest first
//	{"record":{...}}   its documents
//	{"trailer":{"tools":n,"calls":n,"records":n,"sha256":"..."}}
//
// Workspaces and their tools are sorted by the bytes of their names, so no tool can occur
// twice. The hash covers every byte before the last line. Texts that are not valid UTF-8 are
// {"base64":"..."}. JSON from a caller (input, metadata) is stored as text, to keep its white
// space. Instants are RFC 3339 in UTC with microseconds.
//
// Leases, cached verdicts, the keys of calls that the history dropped, and the revision
// numbers of documents are not exported: they belong to a store, not to its content.
package backup

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"memoryd"
	"memoryd/store"
)

// formatVersion is the version of the files that this program writes, and the newest that it reads.
const formatVersion = 1

// format names the file in its manifest.
const format = "memoryd"

// The bounds of what is read. A record of store.MaxRecordBytes and the longest
// call that a server of default limits accepts fit a line several times over.
const (
	maxLineBytes   = 128 << 20 // one line of an export
	maxMemoryBytes = 256 << 20 // one line of a dump: a whole tool memory
	maxToolBytes   = 1 << 30   // all lines of one tool
)

// Counts are the numbers of moved items.
type Counts struct {
	Tools, Calls, Records int
	// Skipped counts existing tools that were not changed.
	Skipped int
}

// String returns the counts in words.
func (c Counts) String() string {
	s := fmt.Sprintf("%d tools, %d calls, %d records", c.Tools, c.Calls, c.Records)
	if c.Skipped > 0 {
		s += fmt.Sprintf(", %d tools skipped", c.Skipped)
	}
	return s
}

// invalid says what is wrong with something that was read.
func invalid(text string, args ...any) error { return memoryd.Errorf(memoryd.Invalid, text, args...) }

// within puts words before the sentence of err and keeps its kind and its cause.
func within(err error, text string, args ...any) error {
	where := fmt.Sprintf(text, args...)
	e, ok := errors.AsType[*memoryd.Error](err)
	if !ok {
		return fmt.Errorf("%s: %w", where, err) // not ours: a context's end, a disk's fault
	}
	cause := err
	if err == error(e) { //nolint:errorlint // the sentence moves into the new one
		cause = e.Err
	}
	return &memoryd.Error{Kind: e.Kind, Msg: where + ": " + e.Msg, RetryAfter: e.RetryAfter, Err: cause}
}

// ImportOptions control how memories are added.
type ImportOptions struct {
	// Keep is the number of calls in a tool's history, at least 1.
	Keep int
	// SetAside returns the record that keeps a guideline until a person decides; without it,
	// guidelines are published as they are.
	SetAside func(ref memoryd.ToolRef, g memoryd.Guideline) (store.Record, error)
	// Rejected, if set, is called with each memory that was not imported, and the reason.
	Rejected func(line int, err error)
}

// ImportCounts counts what happened to memories and their calls.
type ImportCounts struct {
	Tools      int // memories that were read, with or without anything new
	Added      int // calls
	Duplicates int // calls that were already known
	Rejected   int // memories
}

// Import adds memories to a store. A new tool is stored as it was, including times and
// guideline, as a whole or not at all. An existing tool gets the calls that it lacks, and the
// guideline if it has none. So importing the same memories again adds nothing. Memories with
// an Invalid or TooLarge error are counted and skipped; any other error, and one of the
// store, ends the import.
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
	return added, memoryd.Except(err, memoryd.Conflict) // it has one already
}
