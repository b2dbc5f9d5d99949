// Package window keeps what mining needs of more calls than a tool's history has: the newest
// Calls of each tool as compact observations. The history itself does not change. Accepted
// calls are queued, and one goroutine that works a small part of the time reads them later,
// so adding does not wait.
//
// Folded calls are durable: they are records of the tool (kind "observations"), in pieces of
// up to 128 calls, and are deleted with the tool. Calls that are not folded yet (half a
// minute of calls at most) are read again from the history after a restart, as far as it
// still has them.
package window

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"time"

	"memoryd"
	"memoryd/guidelines/evidence"
	"memoryd/internal/lifecycle"
	"memoryd/store"

	lru "github.com/hashicorp/golang-lru/v2"
)

// Limits on memory and on what is kept.
const (
	maxQueued    = 64 << 20 // bytes of calls that wait to be read: what comes beyond is left to the history
	maxSpaces    = 64       // workspaces whose runs are remembered
	maxFresh     = 32768    // observations that wait to be written
	pieceCalls   = 128      // of a record
	maxToolBytes = 2 << 20  // of a tool's records
	foldEvery    = 2 * time.Second
	foldAge      = 30 * time.Second      // after which few observations are written too
	readAtOnce   = 64                    // calls between two rests
	rest         = 10 * time.Millisecond // some four times as long as reading so many takes
	bytesOfACall = 512                   // what a waiting call takes beside its bodies
	maxDecoded   = 96                    // pieces: those of four to six tools with 2,000 observations each, some 25 MiB
)

// Window holds the observations of all tools. It is safe for concurrent use.
type Window struct {
	store  store.Store
	calls  int
	log    *slog.Logger
	now    func() time.Time
	worker *lifecycle.Worker

	// reading is held while calls are observed, taken before mu and after writing.
	reading sync.Mutex
	readers map[string]*evidence.Observer // by workspace

	mu      sync.Mutex
	queue   []*evidence.Observation // calls that wait to be read, in the order of acceptance
	queued  int                     // their bytes
	fresh   map[memoryd.ToolRef]*batch
	waiting int                                       // observations in fresh
	late    map[memoryd.CallKey]*evidence.Observation // those of all these that came without a verdict

	// anew are calls that were judged when their observations were judged or written already.
	anew map[memoryd.ToolRef]map[memoryd.CallKey]bool

	who map[string]*sources // by workspace

	worlds  *lru.Cache[string, *world] // by workspace
	worldAt time.Time                  // when one was read from the store last

	writing sync.Mutex // held while records are written
	// decoded has the pieces that were read last: whoever writes guidelines of a busy tool reads
	// its pieces again and again, and all but the newest stay as they are.
	decoded *lru.Cache[store.RecordKey, decodedPiece]
}

// batch is observations of a tool that are not written yet.
type batch struct {
	since time.Time
	list  []*evidence.Observation
}

// decodedPiece is what a record held, and its observations, which nobody may change.
type decodedPiece struct {
	data []byte
	list []evidence.Observation
}

// New returns a window of the newest calls of each tool in a store.
func New(s store.Store, calls int, log *slog.Logger, now func() time.Time) *Window {
	decoded, _ := lru.New[store.RecordKey, decodedPiece](maxDecoded) // it fails for no size
	worlds, _ := lru.New[string, *world](maxWorlds)
	return &Window{
		store: s, calls: calls, log: log, now: now, worker: lifecycle.NewWorker(log, "mining window"),
		readers: map[string]*evidence.Observer{}, fresh: map[memoryd.ToolRef]*batch{}, decoded: decoded,
		late: map[memoryd.CallKey]*evidence.Observation{}, anew: map[memoryd.ToolRef]map[memoryd.CallKey]bool{},
		who: map[string]*sources{}, worlds: worlds,
	}
}

// Start begins to fold. Stop ends it and writes what waits.
func (w *Window) Start(ctx context.Context) { w.worker.Start(ctx, w.run) }

// Stop stops folding and writes what waits. It may be called twice.
func (w *Window) Stop(ctx context.Context) {
	w.worker.Stop()
	if err := w.fold(ctx, true); err != nil {
		w.log.WarnContext(ctx, "cannot write observations; they will be read from the history", "err", err)
	}
}

func (w *Window) run(ctx context.Context) {
	for folded := w.now(); ; {
		pause := foldEvery
		if w.read(ctx) {
			pause = rest
		} else if began := w.now(); w.readWorlds(ctx) {
			pause = max(rest, w.now().Sub(began)) // half of a processor
		}
		if !lifecycle.Sleep(ctx, pause) {
			return
		}
		if w.now().Sub(folded) < foldEvery {
			continue
		}
		if err := w.fold(ctx, false); err != nil && ctx.Err() == nil {
			w.log.WarnContext(ctx, "cannot write observations; they wait", "err", err)
		}
		folded = w.now()
	}
}

// Over returns the store wrapped so that the window sees what it accepts, judges and deletes.
func (w *Window) Over() store.Store { return watched{w.store, w} }

// watched tells the window of changes.
type watched struct {
	store.Store
	window *Window
}

// Append implements store.Calls.
func (s watched) Append(ctx context.Context, b store.Batch) ([]store.Appended, error) {
	done, err := s.Store.Append(ctx, b)
	if err == nil {
		s.window.note(ctx, b.Workspace, b.Calls)
		s.window.take(b, done)
	}
	return done, err
}

// Settle implements store.Verdicts.
func (s watched) Settle(ctx context.Context, verdicts []store.Verdict) ([]bool, error) {
	written, err := s.Store.Settle(ctx, verdicts)
	if err == nil {
		s.window.judged(verdicts)
	}
	return written, err
}

// DeleteTool implements store.Tools.
func (s watched) DeleteTool(ctx context.Context, ref memoryd.ToolRef) error {
	s.window.forget(ref.Workspace, func(r memoryd.ToolRef, _ uint64) bool { return r == ref })
	defer s.window.worlds.Remove(ref.Workspace) // it may have been read meanwhile
	return s.Store.DeleteTool(ctx, ref)
}

// DeleteWorkspace implements store.Tools.
func (s watched) DeleteWorkspace(ctx context.Context, workspace string) (int, error) {
	s.window.forget(workspace, func(r memoryd.ToolRef, _ uint64) bool { return r.Workspace == workspace })
	defer s.window.worlds.Remove(workspace)
	s.window.mu.Lock()
	delete(s.window.who, workspace)
	s.window.mu.Unlock()
	return s.Store.DeleteWorkspace(ctx, workspace)
}

// Forget drops what a source recorded of a tool, in memory and in its records. What others
// recorded stays known.
func (w *Window) Forget(ctx context.Context, ref memoryd.ToolRef, source string) error {
	w.writing.Lock()
	defer w.writing.Unlock()
	gone := func(r memoryd.ToolRef, writer uint64) bool { return r == ref && writer == evidence.WriterOf(source) }
	w.forget(ref.Workspace, gone)
	pieces, err := w.pieces(ctx, ref)
	if err != nil {
		return err
	}
	var left []evidence.Observation
	for i := range pieces {
		left = append(left, w.observations(ctx, &pieces[i])...)
	}
	all := len(left)
	left = slices.DeleteFunc(inOrder(left), func(ob evidence.Observation) bool { return gone(ref, ob.Writer) })
	if len(left) == all {
		return nil
	}
	_, err = w.rewrite(ctx, ref, pieces, left)
	return err
}

// take notes the new calls of a batch.
func (w *Window) take(b store.Batch, done []store.Appended) {
	size := 0
	for i := range b.Calls {
		size += len(b.Calls[i].Input) + len(b.Calls[i].Metadata)
	}
	bodies := make([]byte, 0, size) // copies: the sender's buffers are its own
	own := func(raw json.RawMessage) json.RawMessage {
		bodies = append(bodies, raw...)
		return json.RawMessage(bodies[len(bodies)-len(raw) : len(bodies) : len(bodies)])
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range b.Calls {
		if !done[i].New || w.queued > maxQueued {
			continue
		}
		ob := &evidence.Observation{Call: b.Calls[i]}
		ob.Workspace, ob.Seq = b.Workspace, done[i].Seq
		ob.Input, ob.Metadata = own(ob.Input), own(ob.Metadata)
		w.queue = append(w.queue, ob)
		w.queued += sizeOf(&ob.Call)
		if ob.Evaluation.State == memoryd.Pending {
			w.late[ob.Key] = ob
		}
	}
}

func sizeOf(c *memoryd.Call) int {
	return len(c.Input) + len(c.Output) + len(c.Metadata) + bytesOfACall
}

// judged brings verdicts to the observations that wait for them, and notes the others.
func (w *Window) judged(verdicts []store.Verdict) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, v := range verdicts {
		if ob := w.late[v.Key]; ob != nil {
			ob.Judge(v.Evaluation)
		} else if v.Evaluation.State != memoryd.Pending {
			w.judgedAnew(v.ToolRef, v.Key)
		}
	}
}

// forget drops of the tools and writers for which gone holds what waits in memory.
func (w *Window) forget(workspace string, gone func(ref memoryd.ToolRef, writer uint64) bool) {
	w.decoded.Purge()
	w.reading.Lock() // what is being observed is forgotten too
	defer w.reading.Unlock()
	w.worlds.Remove(workspace)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queue = slices.DeleteFunc(w.queue, func(ob *evidence.Observation) bool {
		out := gone(ob.ToolRef, evidence.WriterOf(ob.Source()))
		if out {
			delete(w.late, ob.Key)
			w.queued -= sizeOf(&ob.Call)
		}
		return out
	})
	for ref, b := range w.fresh {
		before := len(b.list)
		b.list = slices.DeleteFunc(b.list, func(ob *evidence.Observation) bool {
			out := gone(ref, ob.Writer)
			if out {
				delete(w.late, ob.Key)
			}
			return out
		})
		if w.waiting -= before - len(b.list); len(b.list) == 0 {
			delete(w.fresh, ref)
		}
	}
}

// read observes some of the calls that wait; false when none is left. Requests do not
// wait for it.
func (w *Window) read(ctx context.Context) bool {
	w.reading.Lock()
	defer w.reading.Unlock()
	for range readAtOnce {
		w.mu.Lock()
		if len(w.queue) == 0 {
			w.mu.Unlock()
			return false
		}
		ob := w.queue[0]
		call := ob.Call
		w.mu.Unlock()
		w.keep(ob, w.observe(ctx, &call))
	}
	return true
}

func (w *Window) observe(ctx context.Context, c *memoryd.Call) evidence.Observation {
	r := w.readers[c.Workspace]
	if r == nil {
		if len(w.readers) >= maxSpaces {
			clear(w.readers)
		}
		r = evidence.NewObserver()
		w.readers[c.Workspace] = r
	}
	if world, err := w.World(ctx, c.Workspace); err == nil {
		r.Teach(world)
	} else if ctx.Err() == nil {
		w.log.WarnContext(ctx, "cannot read what a workspace knows; which values are strange there is not said", "workspace", c.Workspace, "err", err)
	}
	ob := r.Observe(c)
	ob.Trim()
	return ob
}

// keep puts what was observed in the place of the call that waits first. Its verdict may
// have come meanwhile.
func (w *Window) keep(ob *evidence.Observation, seen evidence.Observation) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queued -= sizeOf(&ob.Call)
	w.queue[0] = nil // the queue's array may stay for long
	w.queue = w.queue[1:]
	ref := ob.ToolRef
	seen.Judge(ob.Evaluation)
	*ob = seen
	b := w.fresh[ref]
	if b == nil {
		b = &batch{since: w.now()}
		w.fresh[ref] = b
	}
	b.list = append(b.list, ob)
	w.waiting++
}
