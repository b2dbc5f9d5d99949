package ops

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"memoryd"
	"memoryd/internal/textsafe"
	"memoryd/store"
)

// Privacy is the privacy section of the configuration.
type Privacy struct {
	// PersonalData also removes e-mail addresses, telephone numbers and card numbers from what is
	// stored. Secrets are always removed.
	PersonalData bool `yaml:"personal_data"`
	// NoContentToModels lists workspaces whose texts are never sent to a model; "*" means all.
	// There, rules judge calls, write guidelines and compact.
	NoContentToModels []string `yaml:"no_content_to_models"`
}

// Barred reports whether the texts of a workspace must not be sent to models.
func (p Privacy) Barred(workspace string) bool {
	return slices.Contains(p.NoContentToModels, workspace) || slices.Contains(p.NoContentToModels, "*")
}

// RedactionKind is the kind of the record that holds the key of placeholder hashes.
const RedactionKind = "redaction"

func redactionKey() store.RecordKey { return store.RecordKey{Kind: RedactionKind, ID: "key"} }

// keyBytes is the length of an installation's key, and keyPause the wait after a failed attempt to
// read it.
const (
	keyBytes = 32
	keyPause = 5 * time.Second
)

// Redaction removes secrets from what will be stored. The store holds the key of its placeholders:
// all servers on the store share it, and exports contain it. While the key cannot be read, because
// a remote store is away, placeholders have no hash.
type Redaction struct {
	records store.Records
	privacy Privacy
	log     *slog.Logger
	now     func() time.Time

	keyed atomic.Pointer[textsafe.Redactor]
	mu    sync.Mutex
	tried time.Time
}

// NewRedaction returns a redaction whose key is kept in a store.
func NewRedaction(records store.Records, p Privacy, log *slog.Logger, now func() time.Time) *Redaction {
	return &Redaction{records: records, privacy: p, log: log, now: now}
}

// redactor gives the redactor, with its key if that can be had.
func (x *Redaction) redactor(ctx context.Context) *textsafe.Redactor {
	if r := x.keyed.Load(); r != nil {
		return r
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if r := x.keyed.Load(); r != nil {
		return r
	}
	r := &textsafe.Redactor{Personal: x.privacy.PersonalData}
	if now := x.now(); now.Sub(x.tried) >= keyPause || now.Before(x.tried) {
		x.tried = now
		key, err := x.key(context.WithoutCancel(ctx))
		if err == nil {
			r.Key = key
			x.keyed.Store(r)
			return r
		}
		x.log.WarnContext(ctx, "cannot read the redaction key: placeholders have no hash", "err", err)
	}
	return r
}

// key reads the key, or makes it; of several servers that do so one wins.
func (x *Redaction) key(ctx context.Context) ([]byte, error) {
	r, err := x.records.Record(ctx, redactionKey())
	if memoryd.IsKind(err, memoryd.NotFound) {
		fresh := make([]byte, keyBytes)
		rand.Read(fresh)
		_, err = x.records.PutRecord(ctx, store.Record{RecordKey: redactionKey(), Data: fresh})
		if err = memoryd.Except(err, memoryd.Conflict); err == nil {
			r, err = x.records.Record(ctx, redactionKey())
		}
	}
	return r.Data, err
}

// Seal returns a keyed hash, by which this installation recognises what it wrote.
func (x *Redaction) Seal(ctx context.Context, b []byte) ([]byte, error) {
	key, err := x.key(ctx)
	if err != nil {
		return nil, err
	}
	derived := hmac.New(sha256.New, key)
	derived.Write([]byte("dump seal"))
	h := hmac.New(sha256.New, derived.Sum(nil))
	h.Write(b)
	return h.Sum(nil), nil
}

// Text redacts a text.
func (x *Redaction) Text(ctx context.Context, s string) string { return x.redactor(ctx).Text(s) }

// JSON redacts valid JSON, which stays valid.
func (x *Redaction) JSON(ctx context.Context, v json.RawMessage) json.RawMessage {
	if len(v) == 0 {
		return v
	}
	return x.redactor(ctx).JSON(v)
}

// call redacts what a call holds, and its evaluation if it brings one. A call_hash
// that is the call's own is made anew: a digest of a text tells a short secret.
func (x *Redaction) call(ctx context.Context, c *memoryd.Call) {
	r := x.redactor(ctx)
	input, output := json.RawMessage(r.JSON(c.Input)), r.Text(c.Output)
	if c.Hash != "" && (output != c.Output || !bytes.Equal(input, c.Input)) && c.Hash == memoryd.HashOf(c.Input, c.Output) {
		c.Hash = memoryd.HashOf(input, output)
	}
	c.Input, c.Output = input, output
	if len(c.Metadata) > 0 {
		c.Metadata = r.JSON(c.Metadata)
	}
	c.Hash = r.Text(c.Hash)
	e := &c.Evaluation
	for _, s := range []*string{&e.Summary, &e.Evaluation, &e.LastError} {
		*s = r.Text(*s)
	}
}

// Over returns a store that redacts whole items: tools of dumps, exports and other servers, and
// originals of compaction.
func (x *Redaction) Over(s store.Store) store.Store { return redactedStore{s, x} }

type redactedStore struct {
	store.Store
	x *Redaction
}

// Append implements store.Calls.
func (s redactedStore) Append(ctx context.Context, b store.Batch) ([]store.Appended, error) {
	b.Calls = s.calls(ctx, b.Calls)
	return s.Store.Append(ctx, b)
}

// RestoreTool implements store.Tools.
func (s redactedStore) RestoreTool(ctx context.Context, t memoryd.Tool, calls []memoryd.Call) error {
	t.Guideline.Content = s.x.Text(ctx, t.Guideline.Content)
	return s.Store.RestoreTool(ctx, t, s.calls(ctx, calls))
}

// PutGuideline implements store.Tools.
func (s redactedStore) PutGuideline(ctx context.Context, ref memoryd.ToolRef, g memoryd.Guideline, expect int64) error {
	g.Content = s.x.Text(ctx, g.Content)
	return s.Store.PutGuideline(ctx, ref, g, expect)
}

// PutRecord implements store.Records. It keeps the key of an export if there is none yet.
func (s redactedStore) PutRecord(ctx context.Context, r store.Record) (int64, error) {
	if r.Kind == RedactionKind {
		r.Revision = 0
		revision, err := s.Store.PutRecord(ctx, r)
		return revision, memoryd.Except(err, memoryd.Conflict)
	}
	r.Data = s.data(ctx, &r)
	return s.Store.PutRecord(ctx, r)
}

// PutRecords implements store.Records.
func (s redactedStore) PutRecords(ctx context.Context, rs []store.Record) error {
	rs = slices.Clone(rs)
	for i := range rs {
		rs[i].Data = s.data(ctx, &rs[i])
	}
	return s.Store.PutRecords(ctx, rs)
}

func (s redactedStore) data(ctx context.Context, r *store.Record) []byte {
	if json.Valid(r.Data) {
		return s.x.JSON(ctx, r.Data)
	}
	return []byte(s.x.Text(ctx, string(r.Data)))
}

func (s redactedStore) calls(ctx context.Context, calls []memoryd.Call) []memoryd.Call {
	calls = slices.Clone(calls)
	for i := range calls {
		s.x.call(ctx, &calls[i])
	}
	return calls
}
