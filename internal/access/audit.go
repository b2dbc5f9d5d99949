package access

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"memoryd"
	"memoryd/store"
)

// AuditKind is the kind of the records that hold the audit log. auditHead is the kind of the
// record with its length.
const (
	AuditKind = "audit"
	auditHead = "audit_head"
)

// Entry records who did what. It is stored as JSON text; the next entry holds the hash of
// that text.
type Entry struct {
	Seq  int64     `json:"seq"` // from 1
	Time time.Time `json:"time"`
	// Source is the id of the key, "local" without one, or "server".
	Source string `json:"source"`
	// Action is what was done: key.create, key.rotate, key.revoke, login, settings, correct,
	// pin, unpin, rollback, delete, delete_ids, copy, dump, load, export, forget, review.
	Action    string `json:"action"`
	Workspace string `json:"workspace,omitempty"`
	Tool      string `json:"tool,omitempty"`
	// Subject is the object of the action: the id of a key or a call, or a revision.
	Subject string `json:"subject,omitempty"`
	Detail  string `json:"detail,omitempty"`
	// Outcome is "failed" in a second entry about an action that was begun but not completed.
	Outcome string `json:"outcome,omitempty"`
	// Previous is the SHA-256 of the text of the previous entry; "" in the first.
	Previous string `json:"previous,omitempty"`

	// Anyway permits an action while the log cannot be written, because deletions make room
	// on a full disk. Its entry follows when the log can be written again.
	Anyway bool `json:"-"`
}

// head is how long the log is: without it nobody would miss its end.
type head struct {
	Seq  int64  `json:"seq"`
	Hash string `json:"sha256"`
}

// Audit is the audit log. Entries are only appended, and each holds the hash of the one
// before. It is safe for concurrent use, also by several servers on one store.
type Audit struct {
	records store.Records
	log     *slog.Logger
	now     func() time.Time

	mu   sync.Mutex
	tail *head // nil: not read yet
	late []Entry
}

// NewAudit returns the log that is stored in records.
func NewAudit(records store.Records, log *slog.Logger, now func() time.Time) *Audit {
	return &Audit{records: records, log: log, now: now}
}

// Do logs an action of the context's caller and performs it. An action that cannot be logged
// is not performed; one that then fails is logged as failed.
func (a *Audit) Do(ctx context.Context, e Entry, do func(context.Context) error) error {
	if e.Source == "" {
		e.Source = Of(ctx).Source
	}
	e.Time = a.now().UTC().Truncate(time.Millisecond)
	if err := a.append(ctx, e); err != nil && (!e.Anyway || !memoryd.IsKind(err, memoryd.Unavailable)) {
		return err
	} else if err != nil {
		a.owe(ctx, e)
	}
	err := do(ctx)
	if err != nil {
		_, e.Detail = memoryd.KindOf(err)
		e.Outcome = "failed"
		if failed := a.append(context.WithoutCancel(ctx), e); failed != nil {
			a.log.ErrorContext(ctx, "cannot record in the audit log that an action failed", "action", e.Action, "err", failed)
		}
	}
	return err
}

// Note logs an entry that needs no action.
func (a *Audit) Note(ctx context.Context, e Entry) error {
	return a.Do(ctx, e, func(context.Context) error { return nil })
}

// maxLate bounds the entries that wait to be written.
const maxLate = 10000

func (a *Audit) owe(ctx context.Context, e Entry) {
	a.log.ErrorContext(ctx, "cannot write the audit log now; the entry follows", "source", e.Source, "action", e.Action,
		"workspace", e.Workspace)
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.late) < maxLate {
		a.late = append(a.late, e)
	}
}

// auditTries bounds how often an entry is numbered anew because another server was
// faster.
const auditTries = 20

func (a *Audit) append(ctx context.Context, e Entry) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.late) > 0 {
		if err := a.write(ctx, a.late[0]); err != nil {
			return err
		}
		a.late = a.late[1:]
	}
	return a.write(ctx, e)
}

func (a *Audit) write(ctx context.Context, e Entry) error {
	for range auditTries {
		if err := a.readTail(ctx); err != nil {
			return err
		}
		e.Seq, e.Previous = a.tail.Seq+1, a.tail.Hash
		text, err := json.Marshal(e)
		if err != nil {
			return err
		}
		_, err = a.records.PutRecord(ctx, store.Record{RecordKey: auditKey(e.Seq), Data: text})
		if memoryd.IsKind(err, memoryd.Conflict) {
			continue // another server wrote this number
		}
		if err != nil {
			a.tail = nil // it may have been written all the same
			return err
		}
		a.log.InfoContext(ctx, "audit", "seq", e.Seq, "source", e.Source, "action", e.Action, "outcome", e.Outcome, "sha256",
			hashOf(string(text)))
		return a.keepHead(ctx, &head{e.Seq, hashOf(string(text))})
	}
	return memoryd.Errorf(memoryd.Unavailable, "the audit log is too busy")
}

func (a *Audit) keepHead(ctx context.Context, h *head) error {
	a.tail = h
	return store.WriteJSON(ctx, a.records, store.Record{
		RecordKey: store.RecordKey{Kind: auditHead, ID: auditHead},
		Revision:  store.AnyRevision,
	}, h)
}

func auditKey(seq int64) store.RecordKey {
	return store.RecordKey{Kind: AuditKind, ID: fmt.Sprintf("%019d", seq)}
}

// readTail finds the end of the log: what is known of it, and what others wrote
// since.
func (a *Audit) readTail(ctx context.Context) error {
	if a.tail == nil {
		h, err := readHead(ctx, a.records)
		if err != nil {
			return err
		}
		a.tail = &h
	}
	for r, err := range store.AllRecords(ctx, a.records, auditKey(a.tail.Seq)) {
		if err != nil {
			return err
		}
		var e Entry
		if err := json.Unmarshal(r.Data, &e); err != nil {
			return err
		}
		a.tail = &head{e.Seq, hashOf(string(r.Data))}
	}
	return nil
}

func readHead(ctx context.Context, records store.Records) (h head, err error) {
	_, err = store.ReadJSON(ctx, records, store.RecordKey{Kind: auditHead, ID: auditHead}, &h)
	return h, err
}

// List returns the texts of up to limit entries after a number.
func (a *Audit) List(ctx context.Context, after int64, limit int) (entries []json.RawMessage, err error) {
	rs, err := a.records.ListRecords(ctx, auditKey(after), limit)
	for _, r := range rs {
		entries = append(entries, r.Data)
	}
	return entries, err
}

// errTampered is part of the errors that Verify returns.
var errTampered = errors.New("the audit log was changed")

// VerifyAudit reads the whole log and returns the number of its entries. The error names the
// entry at which the chain breaks, or says that entries are missing at the end.
func VerifyAudit(ctx context.Context, records store.Records) (n int64, err error) {
	h, err := readHead(ctx, records)
	if err != nil {
		return 0, fmt.Errorf("%w: its head cannot be read: %w", errTampered, err)
	}
	var chain Chain
	atHead := chain.hash
	for r, err := range store.AllRecords(ctx, records, store.RecordKey{Kind: AuditKind}) {
		if err != nil {
			return chain.Length, err
		}
		if err := chain.Add(r.Data); err != nil {
			return chain.Length, err
		}
		if chain.Length == h.Seq {
			atHead = chain.hash
		}
	}
	// One entry more than the head is what a server leaves that dies between both.
	if chain.Length < h.Seq || atHead != h.Hash || h.Seq == 0 && chain.Length > 1 {
		return chain.Length, fmt.Errorf("%w: its last entry should be %d, but is %d", errTampered, h.Seq, chain.Length)
	}
	return chain.Length, nil
}

// Chain verifies entries one after another, from the first.
type Chain struct {
	Length int64
	hash   string
}

// Add adds the text of the next entry. The error names the first entry that does not fit.
func (c *Chain) Add(text []byte) error {
	var e Entry
	if err := json.Unmarshal(text, &e); err != nil {
		return fmt.Errorf("%w: entry %d cannot be read", errTampered, c.Length+1)
	}
	if e.Seq != c.Length+1 {
		return fmt.Errorf("%w: entry %d follows entry %d", errTampered, e.Seq, c.Length)
	}
	if e.Previous != c.hash {
		return fmt.Errorf("%w: entry %d does not follow from the one before it", errTampered, e.Seq)
	}
	c.Length, c.hash = e.Seq, hashOf(string(text))
	return nil
}
