// Package store is the storage contract: it documents once what every backend promises. It
// does no I/O. The backends are store/mem, store/sqlite and, for several servers,
// store/qdrant; store/storetest tests them all against this page.
//
// # Promises common to all methods
//
// Methods are safe for concurrent use. A method that returns nil has taken full effect and,
// in a durable backend, its effect survives the death of the process and a power failure. A
// method that returns an error has had no effect, with one inherent exception: if the context
// ended, or the connection broke, during a write, the write (or, with several machines, a
// part of it) may still happen later. Repeating it is always safe. With a context that has
// already ended, a method does nothing.
//
// Names are exact: workspaces and tools are compared byte for byte, so "Fetch",
// "fetch", "fetch " and "fetch,get" are four tools. Any valid UTF-8 of 1 to
// memoryd.MaxNameBytes bytes is a name.
//
// Errors carry a memoryd.Kind: Invalid for arguments that can never work, NotFound, Conflict,
// Unavailable if the backend cannot serve now (disk full, server down; a retry may help),
// Overloaded if its bounded queue is full, and Closed after Close.
//
// Returned values belong to the caller; a backend never keeps or shares them.
package store

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"memoryd"
)

// Batch is a set of calls of one workspace that are appended together.
type Batch struct {
	Workspace string
	// Calls are in the order of their future numbers. Each has a Tool, a Key and an Evaluation with
	// a state. They may belong to several tools. Their Workspace is that of the batch, or empty.
	Calls []memoryd.Call
	// Keep is the length of each tool's history, at least 1.
	Keep int
}

// Appended is the result for one call of a Batch.
type Appended struct {
	// New is false if the key was accepted before, in this batch or earlier. Then the call was
	// skipped and not counted.
	New bool
	// FirstOfTool is true for all calls of a tool that had no memory before this batch.
	FirstOfTool bool
	// Seq is the number of the call within its tool; 0 if it is not New. Numbers grow with
	// acceptance. They are 1, 2, 3 and so on if one process accepts all calls; several replicas may
	// leave gaps.
	Seq int64
}

// Verdict is the store's name for a settlement.
type Verdict = memoryd.Settlement

// Store keeps the histories, counters and guidelines of tools, and small documents beside them.
type Store interface {
	Calls
	Tools
	verdicts
	Records

	// Ping reports whether the store can accept writes now.
	Ping(ctx context.Context) error
	// Close waits for running calls, makes everything durable and releases the backend. Later calls
	// return Closed; closing again does nothing.
	Close() error
}

// Calls stores the histories.
type Calls interface {
	// Append accepts all of b's calls or none, and answers for each in order. It numbers the
	// new ones, counts them, and drops each tool's oldest calls beyond b.Keep (first in,
	// first out). A smaller Keep than last time trims; a larger one lets the history grow.
	//
	// Append is idempotent by key within a workspace, even for calls that the history has
	// dropped: a backend remembers the keys of at least the newest million accepted calls
	// (store/mem: all). Exact repeats are recognised over the same span. A batch of known
	// calls still trims; an empty one does nothing.
	Append(ctx context.Context, b Batch) ([]Appended, error)

	// History returns the newest limit calls of the tool, oldest first; a limit of 0 means all. An
	// unknown tool has no calls, which is not an error.
	History(ctx context.Context, ref memoryd.ToolRef, limit int) ([]memoryd.Call, error)

	// Described returns a tool with the samples of all its stored calls, or NotFound. Use it for
	// counting: samples contain no texts.
	Described(ctx context.Context, ref memoryd.ToolRef) (Description, error)

	// Call returns the stored call of the tool with the key, or NotFound. It reads no other call.
	Call(ctx context.Context, ref memoryd.ToolRef, key memoryd.CallKey) (memoryd.Call, error)

	// ListCalls returns a page of the tool's stored calls, newest first; an unknown tool has none.
	// It returns fewer than p.Limit if their texts would exceed MaxPageBytes, but at least one if
	// there is one. Only an empty page is the last.
	ListCalls(ctx context.Context, ref memoryd.ToolRef, p CallPage) ([]memoryd.Call, error)

	// RunCalls returns the calls of one run of an agent, over all tools of the workspace, the
	// newest accepted first, at most limit and at most MaxRunCalls. memoryd.RunOf reads the
	// run of a call from its metadata.
	//
	// It uses an index, not a scan, and its results expire: a call disappears when its
	// history drops it (perhaps a little later) or when its tool is deleted (at once). A
	// backend indexes at least the newest 100,000 calls that name a run. Calls stored by a
	// version before this index have no run. An unknown run has no calls.
	RunCalls(ctx context.Context, workspace, run string, limit int) ([]RunCall, error)

	// HistorySize returns the size of the tool's history without reading its texts: at least the
	// bytes of inputs, outputs and metadata. It is zero for an unknown tool.
	HistorySize(ctx context.Context, ref memoryd.ToolRef) (Size, error)

	// DeleteCalls deletes the stored calls of the tool with the given keys, with their bytes as
	// DeleteTool does, and returns their number. The others keep their order, and may get new
	// numbers as in Renumber. The tool's counters and records stay, and the keys are still
	// remembered. A tool without calls is deleted. Unknown tools and keys are not errors.
	DeleteCalls(ctx context.Context, ref memoryd.ToolRef, keys []memoryd.CallKey) (int, error)
}

// Description is a tool with the samples of all its stored calls, oldest first.
type Description struct {
	memoryd.Tool
	Samples []memoryd.Sample
}

// Size is a number of items and their total bytes.
type Size struct{ Count, Bytes int64 }

// Add adds o to s.
func (s *Size) Add(o Size) { s.Count, s.Bytes = s.Count+o.Count, s.Bytes+o.Bytes }

// MaxPageBytes limits the texts of a page of ListCalls.
const MaxPageBytes = 16 << 20

// CallPage selects calls for ListCalls.
type CallPage struct {
	// Before is the Seq of the last call of the previous page; 0 starts at the newest call.
	Before int64
	// Limit is the maximum number of calls.
	Limit int
	// Brief leaves out Input and Output without reading them.
	Brief bool
}

// Of returns this page of a whole history, oldest first.
func (p CallPage) Of(history []memoryd.Call) []memoryd.Call {
	var out []memoryd.Call
	size := 0
	for _, c := range slices.Backward(history) {
		if p.Before > 0 && c.Seq >= p.Before {
			continue
		}
		if p.Brief {
			c.Input, c.Output = nil, ""
		}
		if size += TextBytes(&c); len(out) == p.Limit || size > MaxPageBytes && len(out) > 0 {
			break
		}
		out = append(out, c)
	}
	return out
}

// Limits of RunCalls: the number of calls, and the bytes of their texts.
const (
	MaxRunCalls  = 256
	MaxRunInput  = 32 << 10
	MaxRunOutput = 16 << 10
)

// RunCall is a call as RunCalls returns it.
type RunCall struct {
	memoryd.ToolRef
	Key memoryd.CallKey
	// Time is the instant of CreateTime, in microseconds.
	Time time.Time
	// Input is the input of the call; nil if it is longer than MaxRunInput.
	Input json.RawMessage
	// Output is the output of the call, shortened by CutOutput if it is longer than MaxRunOutput.
	Output  string
	Success bool
	State   memoryd.EvaluationState
	Score   float64
}

// Tools stores tools and workspaces.
type Tools interface {
	// Tool returns the tool, or NotFound. A tool exists from its first call until it is deleted.
	Tool(ctx context.Context, ref memoryd.ToolRef) (memoryd.Tool, error)

	// ListTools returns up to limit tools of the workspace with names greater than after, in byte
	// order. An unknown workspace has none.
	ListTools(ctx context.Context, workspace, after string, limit int) ([]memoryd.Tool, error)

	// ListWorkspaces returns up to limit workspaces that contain a tool and have names greater than
	// after, in byte order.
	ListWorkspaces(ctx context.Context, after string, limit int) ([]string, error)

	// PutGuideline replaces the tool's guideline if its revision is expect (0: none yet), and sets
	// the revision to expect+1. Otherwise it returns Conflict, or NotFound for an unknown tool.
	PutGuideline(ctx context.Context, ref memoryd.ToolRef, g memoryd.Guideline, expect int64) error

	// RestoreTool writes a tool from another store: counters, revision, times, guideline, and the
	// stored calls, oldest first. Kept and Pending are computed from the calls, which may get new
	// numbers as in Renumber. It returns Conflict if the tool exists or a call is known in the
	// workspace. The keys of these calls are remembered, but not those of calls that the other
	// store had dropped.
	RestoreTool(ctx context.Context, t memoryd.Tool, calls []memoryd.Call) error

	// DeleteTool deletes the tool with its history, guideline, counters, records and remembered
	// keys. A missing tool is not an error.
	DeleteTool(ctx context.Context, ref memoryd.ToolRef) error

	// DeleteWorkspace deletes all tools of the workspace, and its records, at once. It returns the
	// number of tools.
	DeleteWorkspace(ctx context.Context, workspace string) (int, error)
}

// verdicts stores the evaluations of calls.
type verdicts interface {
	// Settle writes each verdict to its call if the call is still pending, and reports for each
	// whether it was written. A judged call keeps its verdict; a dropped one is skipped. A verdict
	// that is still Pending records a failed attempt: only Attempts, LastError and NotBefore
	// change, and the tool's Revision does not.
	Settle(ctx context.Context, verdicts []Verdict) ([]bool, error)

	// Override writes the verdict to its call, whatever judged it before: this is how a
	// person corrects a judge. It returns the call as it was. It returns NotFound if the
	// history does not have the call. The state must be Judged.
	//
	// With an Amendment it also changes the content of the call, as a further source reported
	// it. Then any state is allowed: with Pending, the call waits to be judged again. What
	// was remembered of the call for repeats and runs stays as it was.
	Override(ctx context.Context, v Verdict) (memoryd.Call, error)

	// Claim returns up to limit pending calls of any workspace whose NotBefore has passed, oldest
	// first, and sets NotBefore to now+lease, so that nobody else claims them before. A call that
	// Override made pending again comes in its old place or after the others. Leases need not
	// survive a restart.
	Claim(ctx context.Context, now time.Time, lease time.Duration, limit int) ([]memoryd.Call, error)

	// CachedVerdict returns the evaluation cached under key, or NotFound.
	CachedVerdict(ctx context.Context, key [16]byte) (memoryd.Evaluation, error)

	// CacheVerdict caches an evaluation under key and replaces an older one: a judged one, or a
	// pending one where that was taken back. A backend keeps at least the newest 100,000. Losing one
	// costs a model request, but changes no figure.
	CacheVerdict(ctx context.Context, key [16]byte, e memoryd.Evaluation) error
}
