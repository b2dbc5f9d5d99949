package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"memoryd/internal/client"
	"memoryd/internal/lifecycle"
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

// Outbox delivers calls in the background: Put never waits for memoryd. What
// cannot be delivered goes, without its secrets, to a journal on disk and is
// delivered later, by this process or by the next one with the same folder, and to
// the memoryd, workspace and key that it was meant for alone; each call carries an id
// and a time by which memoryd recognises one that it has. Without a folder it stays in
// memory, within bounds, and what does not fit is dropped and counted.
type Outbox struct {
	memory  Memory
	dir     string
	log     *slog.Logger
	owner   string // begins the names of its journals
	told    bool   // of journals that name no owner
	wake    chan struct{}
	worker  *lifecycle.Worker
	journal *os.File // exclusively locked while this process lives; nil: none

	mu      sync.Mutex
	waiting []json.RawMessage
	bytes   int
	dropped int
}

// NewOutbox makes an outbox; Start begins to deliver. dir is the journals'
// folder, made when it is needed; "" means none.
func NewOutbox(memory Memory, dir string, log *slog.Logger) *Outbox {
	return &Outbox{memory: memory, dir: dir, owner: memory.owner(), log: log, wake: make(chan struct{}, 1)}
}

// Put takes one call, an item of the API's call format.
func (o *Outbox) Put(call json.RawMessage) {
	o.mu.Lock()
	full := len(o.waiting) >= outboxCalls || o.bytes+len(call) > outboxBytes
	if full {
		o.dropped++
	} else {
		o.waiting = append(o.waiting, call)
		o.bytes += len(call)
	}
	o.mu.Unlock()
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// Dropped gives how many calls were lost for want of room.
func (o *Outbox) Dropped() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.dropped
}

// Start delivers until ctx ends; Stop waits for it.
func (o *Outbox) Start(ctx context.Context) {
	o.worker = lifecycle.NewWorker(o.log, "outbox")
	o.worker.Start(ctx, o.run)
}

// Stop tries once more, for two seconds at most, puts what is left into the
// journal, and ends.
func (o *Outbox) Stop() {
	o.worker.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = o.deliver(ctx)
	for batch := o.take(); len(batch) > 0; batch = o.take() {
		if err := o.keep(batch); err != nil {
			o.drop(len(batch), err)
		}
	}
	if o.journal == nil {
		return
	}
	if info, err := o.journal.Stat(); err == nil && info.Size() == 0 {
		_ = os.Remove(o.journal.Name())
	}
	_ = o.journal.Close()
}

// Pauses between tries while memoryd is away, and how long a call waits for
// company.
const (
	firstPause = 250 * time.Millisecond
	longPause  = 30 * time.Second
	company    = 100 * time.Millisecond
)

func (o *Outbox) run(ctx context.Context) {
	pause := time.Duration(0)
	for {
		if pause == 0 {
			select {
			case <-o.wake:
				pause = company
			case <-time.After(longPause): // what another process left behind
			case <-ctx.Done():
				return
			}
		}
		if !lifecycle.Sleep(ctx, pause) {
			return
		}
		err := o.deliver(ctx)
		away, ok := errors.AsType[*client.Error](err)
		if !ok {
			pause = 0
			continue
		}
		if pause <= company {
			o.log.WarnContext(ctx, "memoryd is away, calls wait", "url", o.memory.URL, "err", err)
		}
		pause = max(away.RetryAfter, min(longPause, max(firstPause, 2*pause)))
	}
}

// deliver sends everything that waits, in memory first, then the journals of
// this process and of those that ended without delivering.
func (o *Outbox) deliver(ctx context.Context) error {
	for batch := o.take(); len(batch) > 0; batch = o.take() {
		err := o.send(ctx, batch)
		if err == nil {
			continue
		}
		if o.keep(batch) != nil {
			o.putBack(batch)
		}
		return err
	}
	if o.journal != nil {
		if err := o.replay(ctx, o.journal); err != nil {
			return err
		}
	}
	return o.adopt(ctx)
}

func (o *Outbox) take() []json.RawMessage {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, size := 0, 0
	for n < len(o.waiting) && n < batchCalls && (n == 0 || size+len(o.waiting[n]) <= batchBytes) {
		size += len(o.waiting[n])
		n++
	}
	batch := o.waiting[:n:n]
	o.waiting, o.bytes = o.waiting[n:], o.bytes-size
	return batch
}

// putBack returns a batch to the head of the line; what has no room any more is
// dropped.
func (o *Outbox) putBack(batch []json.RawMessage) {
	o.mu.Lock()
	defer o.mu.Unlock()
	room := max(0, outboxCalls-len(o.waiting))
	if len(batch) > room {
		o.dropped += len(batch) - room
		batch = batch[len(batch)-room:]
	}
	for _, call := range batch {
		o.bytes += len(call)
	}
	o.waiting = append(batch, o.waiting...)
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
	o.log.Warn("calls were not recorded", "calls", n, "err", why)
}

// keep appends a batch to this process's journal.
func (o *Outbox) keep(batch []json.RawMessage) error {
	if o.dir == "" {
		return errors.New("memoryd is away and there is no journal")
	}
	if o.journal == nil {
		if err := os.MkdirAll(o.dir, 0o700); err != nil {
			return err
		}
		f, err := os.OpenFile(filepath.Join(o.dir, o.owner+uuid.NewString()+".jsonl"), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
		if err != nil {
			return err
		}
		if err := lock(f); err != nil {
			return errors.Join(err, f.Close())
		}
		o.journal = f
	}
	var lines bytes.Buffer
	for _, call := range batch {
		lines.Write((&textsafe.Redactor{}).JSON(call))
		lines.WriteByte('\n')
	}
	if _, err := o.journal.Write(lines.Bytes()); err != nil {
		return err
	}
	return o.journal.Sync()
}

// replay sends what a journal holds and empties it. A line that a crash cut is
// left out.
func (o *Outbox) replay(ctx context.Context, f *os.File) error {
	if info, err := f.Stat(); err != nil || info.Size() == 0 {
		return err
	}
	if _, err := f.Seek(0, 0); err != nil {
		return err
	}
	var batch []json.RawMessage
	for lines := bufio.NewReader(f); ; {
		line, err := lines.ReadBytes('\n')
		if json.Valid(line) {
			batch = append(batch, bytes.TrimSpace(line))
		}
		if len(batch) == batchCalls || (err != nil && len(batch) > 0) {
			if err := o.send(ctx, batch); err != nil {
				return err
			}
			batch = nil
		}
		if err != nil {
			return f.Truncate(0)
		}
	}
}

// adopt delivers the journals of processes that are gone: those that nobody
// holds locked.
func (o *Outbox) adopt(ctx context.Context) error {
	if o.dir == "" {
		return nil
	}
	entries, err := os.ReadDir(o.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		path := filepath.Join(o.dir, e.Name())
		if _, err := uuid.Parse(strings.TrimSuffix(e.Name(), ".jsonl")); err == nil && !o.told {
			o.told = true
			o.log.WarnContext(ctx, "a journal of an earlier version does not say whom it is for: it is kept and not delivered", "journal", path)
		}
		if !strings.HasPrefix(e.Name(), o.owner) || !strings.HasSuffix(path, ".jsonl") || (o.journal != nil && path == o.journal.Name()) {
			continue
		}
		if err := o.adoptOne(ctx, path); err != nil {
			return err
		}
	}
	return err
}

func (o *Outbox) adoptOne(ctx context.Context, path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil // another process adopted it meanwhile
	}
	defer f.Close() //nolint:errcheck // it was only read
	if lock(f) != nil {
		return nil // its owner lives
	}
	if err := o.replay(ctx, f); err != nil {
		return fmt.Errorf("journal %s: %w", path, err)
	}
	return os.Remove(path)
}
