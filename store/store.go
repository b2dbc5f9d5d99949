// Package store is the storage contract: what every backend promises, written
// down once. It does no I/O. The backends are store/mem, store/sqlite and, for
// fleets, store/qdrant; store/storetest holds them all to this page.
//
// # Promises common to all methods
//
// Methods are safe for concurrent use. A method that returns nil has taken full
// effect and, in a durable backend, its effect survives the death of the
// process and of the machine's power. A method that returns an error has had no
// effect, with one exception that is inherent: when the context ended, or the
// connection broke, while a write was under way, the write (in a backend of
// several machines: a part of it) may still happen later; repeating it is always
// safe. A cancelled context before the call does
// nothing.
//
// Names are exact: workspaces and tools are compared byte for byte, so "Fetch",
// "fetch", "fetch " and "fetch,get" are four tools. Any valid UTF-8 of 1 to
// memoryd.MaxNameBytes bytes is a name.
//
// Errors carry a memoryd.Kind: Invalid for arguments that can never work,
// NotFound, Conflict, Unavailable when the backend cannot serve now (disk full,
// server away; a retry may help), Overloaded when its bounded queue is full, and
// Closed after Close.
//
// Values returned belong to the caller; a backend never keeps or shares them.
package store

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"memoryd"
)

// ErrVanished is in the chain of an Unavailable error when a backend answers but
// what it kept is gone. Waiting alone does not help: somebody has to bring it back,
// or a Remaker has to make it anew.
var ErrVanished = errors.New("the store has lost its data")

// Remaker is a backend that can be made anew, empty, after what it kept vanished.
// It leaves what is still there as it is. Only who can fill it again calls it.
type Remaker interface {
	Remake(ctx context.Context) error
}

// Batch is a set of calls of one workspace, appended as one.
type Batch struct {
	Workspace string
	// Calls stand in the order in which they shall be numbered. Each has Tool
	// and Key set, and an Evaluation with a state. They may belong to several
	// tools; their Workspace is the batch's, or empty.
	Calls []memoryd.Call
	// Keep is how many calls each tool's history keeps, at least 1.
	Keep int
}

// Appended says what became of one call of a Batch.
type Appended struct {
	// New is false when the call's key had been accepted before, in this batch
	// or earlier: the call was skipped, nothing was counted.
	New bool
	// Repeat is true when an earlier call of the tool had equal input and
	// output (and another key): a real repeat, kept and counted.
	Repeat bool
	// FirstOfTool is true, for each call of the tool, when the tool had no memory
	// before this batch.
	FirstOfTool bool
	// Seq is the call's number within its tool; 0 when it is not New. Numbers
	// grow with acceptance. Where one process accepts all calls they are 1, 2, 3
	// and so on; many replicas on one backend may leave gaps.
	Seq int64
}

// Verdict is a settlement by the name that the backends know it by.
type Verdict = memoryd.Settlement

// Store keeps the histories of tool calls, their counters and their guidelines,
// and small documents beside them.
type Store interface {
	Calls
	Tools
	Verdicts
	Records

	// Ping reports whether the store can accept writes now.
	Ping(ctx context.Context) error
	// Close waits for running calls, makes everything durable and releases the
	// backend. Later calls fail with Closed; a second Close does nothing.
	Close() error
}

// Calls is the history.
type Calls interface {
	// Append accepts b's calls, all of them or none, and answers for each in
	// order. It numbers the new ones, counts them, and lets each tool's oldest
	// calls beyond b.Keep go (first in, first out); a smaller Keep than last
	// time trims, a larger one lets the history grow.
	//
	// Append is idempotent by key within a workspace, also for calls that the
	// history has let go: a backend remembers the keys of at least the newest
	// million calls that it accepted (store/mem: all). Exact repeats are
	// recognised over the same span. A batch of calls that are all known still
	// trims; an empty one does nothing.
	Append(ctx context.Context, b Batch) ([]Appended, error)

	// History returns the newest limit calls of the tool, oldest first; limit 0
	// means all that are kept. An unknown tool has no calls; that is not an
	// error.
	History(ctx context.Context, ref memoryd.ToolRef, limit int) ([]memoryd.Call, error)

	// Samples returns the narrow part of all kept calls, oldest first. Whoever
	// only counts reads these: they hold no text.
	Samples(ctx context.Context, ref memoryd.ToolRef) ([]memoryd.Sample, error)

	// Described returns what Tool and Samples return, or NotFound. Who wants both
	// asks once.
	Described(ctx context.Context, ref memoryd.ToolRef) (Description, error)

	// Call returns the kept call of the tool that has the key, or NotFound. It
	// reads that call and no other.
	Call(ctx context.Context, ref memoryd.ToolRef, key memoryd.CallKey) (memoryd.Call, error)

	// ListCalls returns a page of the tool's kept calls, the newest first; an
	// unknown tool has none. It returns fewer than p.Limit when their texts would
	// exceed MaxPageBytes together, but at least one if there is one: the last page
	// is the one that is empty.
	ListCalls(ctx context.Context, ref memoryd.ToolRef, p CallPage) ([]memoryd.Call, error)

	// RunCalls returns the calls of one run of an agent, over all tools of the
	// workspace, the newest accepted first, at most limit and at most MaxRunCalls.
	// The run of a call is what memoryd.RunOf reads from its metadata.
	//
	// It is a look-up in an index, not a scan, and what it finds expires: a call
	// leaves when its history lets it go (it may be found a little longer) or its
	// tool is deleted (it is gone at once), and a backend indexes at least the
	// newest 100,000 calls that name a run. Calls that were stored by a version
	// before this index, have no run. An unknown run has no calls.
	RunCalls(ctx context.Context, workspace, run string, limit int) ([]RunCall, error)

	// HistorySize tells the size of the tool's history without reading its texts: at
	// least the bytes of inputs, outputs and metadata. An unknown tool's is zero.
	HistorySize(ctx context.Context, ref memoryd.ToolRef) (Size, error)

	// DeleteCalls removes those kept calls of the tool that have one of the keys, with
	// their bytes as DeleteTool does, and reports how many there were. The others keep
	// their order and may be numbered anew, as Renumber does. The counters of the tool's
	// life and its records stay, and the keys stay known. A tool whose last kept call
	// goes is deleted. Unknown tools and keys are no error.
	DeleteCalls(ctx context.Context, ref memoryd.ToolRef, keys []memoryd.CallKey) (int, error)
}

// Description is a tool with the narrow part of all its kept calls, oldest first.
type Description struct {
	memoryd.Tool
	Samples []memoryd.Sample
}

// DescribedOf is Described for a backend to which Tool and Samples cost nothing.
func DescribedOf(ctx context.Context, s Store, ref memoryd.ToolRef) (d Description, err error) {
	if d.Tool, err = s.Tool(ctx, ref); err != nil {
		return d, err
	}
	d.Samples, err = s.Samples(ctx, ref)
	return d, err
}

// Size says how many there are of something, and how many bytes they hold together.
type Size struct{ Count, Bytes int64 }

// Add adds o to s.
func (s *Size) Add(o Size) { s.Count, s.Bytes = s.Count+o.Count, s.Bytes+o.Bytes }

// MaxPageBytes bounds the texts of one page of ListCalls.
const MaxPageBytes = 16 << 20

// CallPage says which calls ListCalls returns.
type CallPage struct {
	// Before is the Seq of the last call of the page before; 0 starts at the
	// newest call.
	Before int64
	// Limit is how many calls to return at most.
	Limit int
	// Brief leaves out Input and Output, and does not read them.
	Brief bool
}

// Of returns the page of a whole history, oldest first, that it describes.
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

// The bounds of RunCalls: how many calls it returns, and the bytes of their
// texts.
const (
	MaxRunCalls  = 256
	MaxRunInput  = 32 << 10
	MaxRunOutput = 16 << 10
)

// RunCall is what RunCalls tells of a call.
type RunCall struct {
	memoryd.ToolRef
	Key memoryd.CallKey
	// Time is the instant of CreateTime, microseconds are kept.
	Time time.Time
	// Input is the call's input; nil if that is longer than MaxRunInput.
	Input json.RawMessage
	// Output is the call's output; of one longer than MaxRunOutput the beginning
	// and the end, as CutOutput cuts it.
	Output  string
	Success bool
	State   memoryd.EvaluationState
	Score   float64
}

// Tools is what is known of tools and workspaces.
type Tools interface {
	// Tool returns the tool, or NotFound. A tool exists from its first call on
	// until it is deleted.
	Tool(ctx context.Context, ref memoryd.ToolRef) (memoryd.Tool, error)

	// ListTools returns up to limit tools of the workspace whose name is
	// greater than after, in byte order of the names. An unknown workspace has
	// none.
	ListTools(ctx context.Context, workspace, after string, limit int) ([]memoryd.Tool, error)

	// ListWorkspaces returns up to limit workspaces that hold a tool and whose
	// name is greater than after, in byte order.
	ListWorkspaces(ctx context.Context, after string, limit int) ([]string, error)

	// PutGuideline replaces the tool's guideline if its revision is still
	// expect (0: none yet), and gives the new one revision expect+1. Otherwise
	// it fails with Conflict; an unknown tool is NotFound.
	PutGuideline(ctx context.Context, ref memoryd.ToolRef, g memoryd.Guideline, expect int64) error

	// SearchTools returns the workspace's tools whose name or guideline holds at
	// least one word of the query, the best first, at most limit. A word is a run
	// of letters and digits; case does not count. A query without a word finds
	// nothing. The order is the backend's own, by a weight that prefers rare words
	// and more of them.
	SearchTools(ctx context.Context, workspace, query string, limit int) ([]memoryd.Tool, error)

	// RestoreTool brings back a tool as another store gave it: counters, revision,
	// times, guideline, and the kept calls, oldest first. Kept and Pending follow
	// from the calls, which may be numbered anew as Renumber does. It fails with
	// Conflict when the tool exists or a call is known in the workspace. The keys
	// of the calls are remembered; those of calls that the other store had let go
	// are not.
	RestoreTool(ctx context.Context, t memoryd.Tool, calls []memoryd.Call) error

	// DeleteTool removes the tool with its history, guideline, counters, records
	// and remembered keys. Deleting what is not there succeeds.
	DeleteTool(ctx context.Context, ref memoryd.ToolRef) error

	// DeleteWorkspace does the same for all tools of the workspace, at once,
	// with the workspace's own records, and reports how many tools there were.
	DeleteWorkspace(ctx context.Context, workspace string) (int, error)
}

// Verdicts is the judging of what is stored.
type Verdicts interface {
	// Settle writes each verdict to its call if that call is still pending, and
	// reports for each whether it was written. A call that was judged already
	// keeps its verdict; one that the history has let go is skipped. A verdict
	// whose state is again Pending records a failed attempt: Attempts,
	// LastError and NotBefore change, nothing else, not the tool's Revision.
	Settle(ctx context.Context, verdicts []Verdict) ([]bool, error)

	// Override writes the verdict to its call whatever judged it before: it is how
	// a person corrects a judge. It returns the call as it was. NotFound when the
	// history does not keep the call. The state must be Judged.
	//
	// With an Amendment it also changes what the call holds, as a further source told
	// of it; then any state will do: with Pending the call waits to be judged anew. What
	// was remembered of the call for repeats and runs stays as it was.
	Override(ctx context.Context, v Verdict) (memoryd.Call, error)

	// Claim returns up to limit pending calls of any workspace that may be
	// tried at now (their NotBefore has passed), oldest acceptance first, and
	// moves their NotBefore to now+lease so that nobody else gets them before.
	// A call that Override lets wait anew comes in its old place or behind the
	// others. A lease need not survive a restart.
	Claim(ctx context.Context, now time.Time, lease time.Duration, limit int) ([]memoryd.Call, error)

	// CachedVerdict returns the evaluation kept under key, or NotFound.
	CachedVerdict(ctx context.Context, key [16]byte) (memoryd.Evaluation, error)

	// CacheVerdict keeps a judged evaluation under key. The newest wins. A
	// backend keeps at least the newest 100,000; losing one costs a model call,
	// never a number.
	CacheVerdict(ctx context.Context, key [16]byte, e memoryd.Evaluation) error
}
