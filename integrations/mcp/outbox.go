package mcp

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"memoryd/internal/client"
	"memoryd/internal/lifecycle"
	"memoryd/internal/loosejson"
	"memoryd/internal/textsafe"

	"github.com/google/uuid"
)

// Bounds of what an outbox holds in memory and sends at once.
const (
	outboxCalls = 10_000
	outboxBytes = 64 << 20
	batchCalls  = 100
	batchBytes  = 4 << 20
)

// Outbox delivers calls in the background: Put never waits for memoryd. After keepWithin or
// keepCalls calls, waiting calls are saved to a journal on disk, without their secrets, so
// that the end of the process loses no more than that. Delivered calls are removed from it at
// once. The others are delivered later, by this process or the next one with the same folder,
// and only to the memoryd, workspace and key that they were meant for. Each call carries an
// id and a time, by which memoryd recognises repeats. Without a folder, calls wait in memory,
// within limits; calls that do not fit are dropped and counted.
type Outbox struct {
	memory Memory
	dir    string
	log    *slog.Logger
	to     Destination
	put    chan struct{}
	kept   chan struct{}
	worker *lifecycle.Worker

	mu      sync.Mutex
	journal *os.File          // exclusively locked while this process lives; nil: none
	waiting []json.RawMessage // not delivered, the oldest first
	inFile  int               // how many of these stand in the journal too
	bytes   int
	dropped int
}

// NewOutbox returns an outbox; Start begins to deliver. dir is the folder for journals,
// created if needed; "" means none.
func NewOutbox(memory Memory, dir string, log *slog.Logger) *Outbox {
	return &Outbox{
		memory: memory, dir: dir, to: memory.destination(), log: log, put: make(chan struct{}, 1), kept: make(chan struct{}, 1),
		worker: lifecycle.NewWorker(log, "outbox"),
	}
}

// Put adds one call, an item in the API's call format.
func (o *Outbox) Put(call json.RawMessage) {
	o.mu.Lock()
	if len(o.waiting) >= outboxCalls || o.bytes+len(call) > outboxBytes {
		o.dropped++
	} else {
		o.waiting = append(o.waiting, call)
		o.bytes += len(call)
	}
	many := len(o.waiting)-o.inFile >= keepCalls
	o.mu.Unlock()
	if many {
		_ = o.keep() // what cannot be kept goes on waiting
	}
	signal(o.put)
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Dropped returns the number of calls that were lost because there was no room.
func (o *Outbox) Dropped() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.dropped
}

// Start delivers until ctx ends. Stop waits for it.
func (o *Outbox) Start(ctx context.Context) { o.worker.Start(ctx, o.keeping, o.run) }

// Stop tries once more, for at most two seconds, leaves the rest in the journal, and ends.
func (o *Outbox) Stop() {
	o.worker.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = o.deliver(ctx)
	err := o.keep()
	o.mu.Lock()
	defer o.mu.Unlock()
	if n := len(o.waiting) - o.inFile; n > 0 {
		o.dropped += n
		o.log.Warn("calls were lost", "calls", n, "err", err)
	}
	if o.journal == nil {
		return
	}
	if o.inFile == 0 {
		_ = os.Remove(o.journal.Name())
	} else {
		_ = o.journal.Sync()
	}
	_ = o.journal.Close()
}

// How long a call may wait until it stands in the journal, and how many calls may; the
// pauses between tries while memoryd is away.
const (
	keepWithin = 40 * time.Millisecond
	keepCalls  = 16
	firstPause = 250 * time.Millisecond
	longPause  = 30 * time.Second
)

// keeping writes what waits into the journal.
func (o *Outbox) keeping(ctx context.Context) {
	for {
		select {
		case <-o.put:
		case <-ctx.Done():
			return
		}
		lifecycle.Sleep(ctx, keepWithin) // company may come
		_ = o.keep()
		signal(o.kept)
	}
}

// keep appends what waits to this process's journal.
func (o *Outbox) keep() error {
	if o.dir == "" {
		return errors.New("memoryd is unreachable and there is no journal")
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.inFile == len(o.waiting) {
		return nil
	}
	if o.journal == nil {
		var err error
		if o.journal, err = o.to.create(o.dir); err != nil {
			return err
		}
	}
	var lines bytes.Buffer
	for _, call := range o.waiting[o.inFile:] {
		lines.Write((&textsafe.Redactor{}).JSON(call))
		lines.WriteByte('\n')
	}
	if _, err := o.journal.Write(lines.Bytes()); err != nil {
		return err
	}
	o.inFile = len(o.waiting)
	return nil
}

func (o *Outbox) run(ctx context.Context) {
	for pause := time.Duration(0); ; {
		if pause == 0 {
			select {
			case <-o.kept:
			case <-time.After(longPause): // what another process left behind
			case <-ctx.Done():
				return
			}
		} else if !lifecycle.Sleep(ctx, pause) {
			return
		}
		err := o.deliver(ctx)
		if ctx.Err() != nil {
			return
		}
		away, ok := errors.AsType[*client.Error](err)
		if !ok {
			pause = 0
			continue
		}
		if pause == 0 {
			o.log.WarnContext(ctx, "memoryd is unreachable; calls wait", "url", o.to.To, "err", err)
		}
		pause = max(away.RetryAfter, min(longPause, max(firstPause, 2*pause)))
	}
}

// deliver sends everything that waits, in memory first, then the journals that nobody holds.
func (o *Outbox) deliver(ctx context.Context) error {
	for {
		batch := o.next()
		if len(batch) == 0 {
			break
		}
		if err := o.send(ctx, batch); err != nil {
			o.rely()
			return err
		}
		o.done(len(batch))
	}
	return o.adopt(ctx)
}

// next gives the calls that are sent next; they go on waiting.
func (o *Outbox) next() []json.RawMessage {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, size := 0, 0
	for n < len(o.waiting) && n < batchCalls && (n == 0 || size+len(o.waiting[n]) <= batchBytes) {
		size += len(o.waiting[n])
		n++
	}
	return o.waiting[:n:n]
}

// done takes the first n of those that wait out, and all of the journal once it holds
// nothing else.
func (o *Outbox) done(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.forget(n)
	if o.inFile == 0 && o.journal != nil {
		_ = o.to.empty(o.journal)
	}
}

// forget takes the first n of those that wait out of memory.
func (o *Outbox) forget(n int) {
	for _, call := range o.waiting[:n] {
		o.bytes -= len(call)
	}
	o.waiting, o.inFile = o.waiting[n:], max(0, o.inFile-n)
}

// rely takes out of memory what the journal holds, and lets go of that: adopt delivers it.
func (o *Outbox) rely() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.inFile > 0 {
		o.forget(o.inFile)
		_ = o.journal.Close()
		o.journal = nil
	}
}

// send records a batch. Calls that memoryd refuses are counted as dropped, with
// its reason: sending them again does not help.
func (o *Outbox) send(ctx context.Context, batch []json.RawMessage) error {
	rejected, err := o.memory.Record(ctx, batch)
	if refusal, ok := errors.AsType[*client.Error](err); ok && !refusal.Away() {
		o.drop(len(batch), refusal)
		return nil
	}
	if len(rejected) > 0 {
		o.drop(len(rejected), errors.New(rejected[0].Reason))
	}
	return err
}

func (o *Outbox) drop(n int, why error) {
	o.mu.Lock()
	o.dropped += n
	o.mu.Unlock()
	o.log.Warn("calls were lost", "calls", n, "err", why)
}

// adopt delivers the journals that nobody holds locked: those of processes that are gone, and
// those that were let go of while memoryd was away.
func (o *Outbox) adopt(ctx context.Context) error {
	paths, _ := filepath.Glob(filepath.Join(o.dir, o.to.mark()+"*.jsonl"))
	for _, path := range paths {
		err := Journal{Path: path}.Deliver(func(batch []json.RawMessage) error { return o.send(ctx, batch) })
		if err != nil && !errors.Is(err, errHeld) {
			return fmt.Errorf("journal %s: %w", path, err)
		}
	}
	return nil
}

// Destination is where the calls of a journal must be delivered.
type Destination struct {
	To        string `json:"to"` // an address, or the name of a memory on this machine
	Workspace string `json:"workspace"`
	Key       string `json:"key,omitempty"` // the id of the key; "" for none
}

// destination is where the calls of a memory go.
func (m Memory) destination() Destination {
	d := Destination{To: cmp.Or(m.Name, strings.TrimRight(m.URL, "/")), Workspace: m.workspace()}
	if id, secret, ok := strings.Cut(strings.TrimPrefix(m.Key, "mrd_"), "_"); ok && secret != "" {
		d.Key = id
	} else if m.Key != "" {
		d.Key = fingerprint([]byte(m.Key)) // of which nothing can be read
	}
	return d
}

// mark begins the names of its journals.
func (d Destination) mark() string {
	return fingerprint([]byte(strings.Join([]string{d.To, d.Workspace, d.Key}, "\x00"))) + "-"
}

// errHeld says that the process that writes a journal lives, and delivers it.
var errHeld = errors.New("another process is writing it, and will deliver it")

// head is the first line of a journal.
type head struct {
	For *Destination `json:"memoryd_journal"`
}

// create makes a journal and locks it.
func (d Destination) create(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, d.mark()+uuid.NewString()+".jsonl"), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err == nil {
		if err = errors.Join(lock(f), d.empty(f)); err != nil {
			err = errors.Join(err, f.Close())
		}
	}
	return f, err
}

// empty leaves nothing in a journal but whom it is for.
func (d Destination) empty(f *os.File) error {
	err := f.Truncate(0)
	if err == nil {
		_, err = f.Write(append(jsonOf(head{&d}), '\n'))
	}
	return err
}

// Journal is a file of calls that wait for delivery.
type Journal struct {
	Path string `json:"path"`
	Destination
	Calls int       `json:"calls"`
	Since time.Time `json:"since"` // when the last call was added
	Held  bool      `json:"held"`  // by a running process, which delivers it
}

// Journals returns the journals in a folder. A journal without a destination is from an
// earlier version.
func Journals(dir string) (all []Journal) {
	paths, _ := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	for _, path := range paths {
		if j, err := ReadJournal(path); err == nil {
			all = append(all, j)
		}
	}
	return all
}

// ReadJournal reads one journal.
func ReadJournal(path string) (j Journal, err error) {
	f, err := os.Open(path) //nolint:gosec // the user's own
	if err != nil {
		return j, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	info, err := f.Stat()
	if err != nil {
		return j, err
	}
	j = Journal{Path: path, Since: info.ModTime(), Held: lock(f) != nil}
	in := bufio.NewReader(f)
	line, _ := in.ReadBytes('\n')
	var h head
	if json.Unmarshal(line, &h) == nil && h.For != nil {
		j.Destination = *h.For
	}
	err = replay(io.MultiReader(bytes.NewReader(line), in), func(batch []json.RawMessage) error {
		j.Calls += len(batch)
		return nil
	})
	return j, err
}

// Deliver sends the calls of a journal and removes it, unless a running process holds it.
func (j Journal) Deliver(send func([]json.RawMessage) error) error {
	f, err := os.OpenFile(j.Path, os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil // another process delivered it meanwhile
	}
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	if lock(f) != nil {
		return errHeld
	}
	if err := replay(f, send); err != nil {
		return err
	}
	return os.Remove(j.Path)
}

// replay gives what a journal holds to send. A line that a crash cut is left out.
func replay(f io.Reader, send func([]json.RawMessage) error) error {
	var batch []json.RawMessage
	flush := func() error {
		defer func() { batch = nil }()
		if len(batch) == 0 {
			return nil
		}
		return send(batch)
	}
	size := 0
	for line, readErr := range loosejson.NewLines(f, math.MaxInt, nil).All() {
		if json.Valid(line) && !bytes.HasPrefix(line, []byte(`{"memoryd_journal":`)) {
			batch = append(batch, bytes.Clone(bytes.TrimSpace(line)))
			size += len(line)
		}
		if readErr != nil {
			return cmp.Or(flush(), readErr)
		}
		if len(batch) == batchCalls || size > batchBytes {
			size = 0
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}
