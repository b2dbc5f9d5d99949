package access

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"memoryd"
	"memoryd/internal/lifecycle"
	"memoryd/internal/textsafe"
	"memoryd/store"

	"golang.org/x/time/rate"
)

// keyKind is the kind of the records that hold keys.
const keyKind = "api_key"

const (
	prefix      = "mrd_"
	idBytes     = 6
	secretBytes = 32
	// maxKeys bounds the keys that are in force or were; all of them are held in
	// memory.
	maxKeys = 10000
	// reread is how often keys are read again: another server on the same store may
	// have changed them.
	reread = 10 * time.Second
)

// maxName limits the name of a key, in bytes.
const maxName = 100

// maxWorkspaces limits the number of workspaces of a key.
const maxWorkspaces = 1000

// Key describes an API key, without its secret.
type Key struct {
	ID    string `json:"-"`
	Name  string `json:"name"` // a name for people
	Roles Role   `json:"roles"`
	// Workspaces are the workspaces that the key can see; nil means all.
	Workspaces []string `json:"workspaces"`
	// Rate is the limit in requests per second; 0 means the server's limit.
	Rate    float64   `json:"rate,omitempty"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"` // zero means never
	Revoked time.Time `json:"revoked,omitzero"` // zero means not revoked
	// By is the source that created the key; "environment" and "start" mean the server.
	By string `json:"by,omitempty"`
	// Used is the time of its last use since the server's start.
	Used time.Time `json:"-"`
}

// live reports whether the key is valid.
func (k *Key) live(now time.Time) bool {
	return k.Revoked.IsZero() && (k.Expires.IsZero() || now.Before(k.Expires))
}

// isAdmin reports whether the key can make others for all workspaces.
func (k *Key) isAdmin(now time.Time) bool {
	return k.Roles&Admin != 0 && k.Workspaces == nil && k.live(now)
}

// stored is a key in its record.
type stored struct {
	Key
	Hash     string    `json:"sha256"`
	OldHash  string    `json:"old_sha256,omitempty"`
	OldUntil time.Time `json:"old_until,omitzero"`
}

// entry is a key in memory.
type entry struct {
	stored
	hash, oldHash []byte
	revision      int64
	principal     Principal
	used          *atomic.Int64 // nanoseconds of the last use
	limiter       *rate.Limiter // nil: no limit
}

// Limits limit the requests of one key.
type Limits struct {
	// Rate is the limit in requests per second for keys without their own, and Burst how many
	// may arrive at once; 0 means no limit.
	Rate  float64
	Burst int
}

// Keys are the API keys of a store. All are kept in memory, so a request costs one hash, and
// an unknown key costs as much as a known one. It is safe for concurrent use.
type Keys struct {
	records store.Records
	limits  Limits
	log     *slog.Logger
	now     func() time.Time
	worker  *lifecycle.Worker

	changing sync.Mutex
	byID     atomic.Pointer[map[string]*entry]
	sessions sessions
}

// NewKeys returns the keys that are stored in records; call Load to read them.
func NewKeys(records store.Records, limits Limits, log *slog.Logger, now func() time.Time) *Keys {
	k := &Keys{records: records, limits: limits, log: log, now: now, worker: lifecycle.NewWorker(log, "keys")}
	_, _ = rand.Read(k.sessions.secret[:]) // never fails
	return k
}

// Start reloads the keys from time to time.
func (k *Keys) Start(ctx context.Context) {
	k.worker.Start(ctx, func(ctx context.Context) {
		for lifecycle.Sleep(ctx, reread) {
			if err := k.Load(ctx); err != nil && ctx.Err() == nil {
				k.log.WarnContext(ctx, "cannot read the API keys", "err", err)
			}
		}
	})
}

// Stop ends that.
func (k *Keys) Stop() { k.worker.Stop() }

// Load reads all keys.
func (k *Keys) Load(ctx context.Context) error {
	k.changing.Lock()
	defer k.changing.Unlock()
	return k.load(ctx)
}

func (k *Keys) load(ctx context.Context) error {
	before, after := k.all(), map[string]*entry{}
	for r, err := range store.AllRecords(ctx, k.records, store.RecordKey{Kind: keyKind}) {
		if err != nil {
			return err
		}
		e, err := k.read(r, before[r.ID])
		if err != nil {
			k.log.ErrorContext(ctx, "cannot read a key; it is disabled", "key", r.ID, "err", err)
			continue
		}
		after[r.ID] = e
	}
	k.byID.Store(&after)
	return nil
}

// Any reports whether a key exists, or existed.
func (k *Keys) Any() bool { return len(k.all()) > 0 }

func (k *Keys) all() map[string]*entry {
	if all := k.byID.Load(); all != nil {
		return *all
	}
	return nil
}

// read makes an entry of a record; what is counted of the same key goes on.
func (k *Keys) read(r store.Record, before *entry) (*entry, error) {
	if before != nil && before.revision == r.Revision {
		return before, nil
	}
	e := &entry{revision: r.Revision, used: new(atomic.Int64)}
	if err := json.Unmarshal(r.Data, &e.stored); err != nil {
		return nil, err
	}
	if len(e.Hash) != hex.EncodedLen(sha256.Size) {
		return nil, fmt.Errorf("sha256: not a hash")
	}
	e.ID, e.hash, e.oldHash = r.ID, []byte(e.Hash), []byte(e.OldHash)
	e.principal = Principal{Source: e.ID, Roles: e.Roles.full(), Workspaces: e.Workspaces}
	if before != nil {
		e.used = before.used
	}
	if perSecond := e.Rate; perSecond > 0 {
		e.limiter = rate.NewLimiter(rate.Limit(perSecond), max(1, int(perSecond)))
	} else if k.limits.Rate > 0 {
		e.limiter = rate.NewLimiter(rate.Limit(k.limits.Rate), max(1, k.limits.Burst))
	}
	return e, nil
}

// errUnknown is what every token is answered that does not open anything: nobody
// learns whether an id exists, or why it does not work.
var errUnknown = memoryd.Errorf(memoryd.Unauthenticated, "the API key is not valid")

// Verify returns the caller of a token. It fails with Unauthenticated if the key is unknown,
// wrong, expired or revoked, with Overloaded if the key exceeds its rate, and with
// Unavailable while the keys are not loaded yet.
func (k *Keys) Verify(token string) (*Principal, error) {
	all := k.byID.Load()
	if all == nil {
		return nil, memoryd.Errorf(memoryd.Unavailable, "the API keys are not loaded yet")
	}
	sum := sha256.Sum256([]byte(token))
	hash := hex.AppendEncode(make([]byte, 0, 2*len(sum)), sum[:])
	e := (*all)[idOf(token)]
	if e == nil {
		subtle.ConstantTimeCompare(hash, hash)
		return nil, errUnknown
	}
	now := k.now()
	right := subtle.ConstantTimeCompare(hash, e.hash) == 1
	if !right && now.Before(e.OldUntil) {
		right = subtle.ConstantTimeCompare(hash, e.oldHash) == 1
	}
	if !right || !e.live(now) {
		return nil, errUnknown
	}
	return e.use(now)
}

// use counts a request of a key.
func (e *entry) use(now time.Time) (*Principal, error) {
	e.used.Store(now.UnixNano())
	if e.limiter != nil && !e.limiter.AllowN(now, 1) {
		err := memoryd.Errorf(memoryd.Overloaded, "the API key exceeds its request rate")
		err.RetryAfter = time.Duration(float64(time.Second) / float64(e.limiter.Limit()))
		return nil, err
	}
	return &e.principal, nil
}

// idOf is the id in a token, "" where there is none.
func idOf(token string) string {
	rest, ok := strings.CutPrefix(token, prefix)
	id, secret, cut := strings.Cut(rest, "_")
	if !ok || !cut || secret == "" {
		return ""
	}
	return id
}

// NewToken generates a key for MEMORYD_ADMIN_KEY, which no store knows yet.
func NewToken() string { return newToken(newID()) }

func newID() string {
	id := make([]byte, idBytes)
	_, _ = rand.Read(id) // never fails
	return hex.EncodeToString(id)
}

func newToken(id string) string {
	secret := make([]byte, secretBytes)
	_, _ = rand.Read(secret) // never fails
	return prefix + id + "_" + hex.EncodeToString(secret)
}

func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// Wanted describes a key to create.
type Wanted struct {
	Name       string
	Roles      Role
	Workspaces []string // nil means all
	Rate       float64
	Expires    time.Time
}

func (w *Wanted) check(now time.Time) error {
	switch {
	case !textsafe.IsLabel(w.Name, maxName):
		return memoryd.Errorf(memoryd.Invalid, "name: at most %d bytes without control characters", maxName)
	case len(w.Roles.Names()) == 0:
		return memoryd.Errorf(memoryd.Invalid, "roles: at least one of record, read, curate and admin")
	case w.Workspaces != nil && len(w.Workspaces) == 0 || len(w.Workspaces) > maxWorkspaces:
		return memoryd.Errorf(memoryd.Invalid, "workspaces: 1 to %d names, or * for all", maxWorkspaces)
	case !w.Expires.IsZero() && !w.Expires.After(now):
		return memoryd.Errorf(memoryd.Conflict, "expires: must be in the future")
	case w.Rate < 0 || w.Rate > 1e6:
		return memoryd.Errorf(memoryd.Invalid, "rate: 0 to 1000000 requests per second")
	}
	for _, name := range w.Workspaces {
		if name == "" || len(name) > memoryd.MaxNameBytes {
			return memoryd.Errorf(memoryd.Invalid, "workspaces: a name must be 1 to %d bytes long", memoryd.MaxNameBytes)
		}
	}
	return nil
}

// Create creates a key. It returns the token only once, and stores it nowhere.
func (k *Keys) Create(ctx context.Context, w Wanted, by string) (Key, string, error) {
	if err := w.check(k.now()); err != nil {
		return Key{}, "", err
	}
	id := newID()
	token := newToken(id)
	made, err := k.put(ctx, id, 0, storedOf(w, token, by, k.now()))
	return made, token, err
}

func storedOf(w Wanted, token, by string, now time.Time) stored {
	return stored{Hash: hashOf(token), Key: Key{
		Name: w.Name, Roles: w.Roles, Workspaces: slices.Clone(w.Workspaces), Rate: w.Rate, Expires: w.Expires,
		Created: now.UTC().Truncate(time.Second), By: by,
	}}
}

// put writes a key and takes it into force.
func (k *Keys) put(ctx context.Context, id string, revision int64, s stored) (Key, error) {
	k.changing.Lock()
	defer k.changing.Unlock()
	if len(k.all()) >= maxKeys && k.all()[id] == nil {
		return Key{}, memoryd.Errorf(memoryd.Conflict, "there are %d keys already", maxKeys)
	}
	if err := store.WriteJSON(ctx, k.records, store.Record{RecordKey: store.RecordKey{Kind: keyKind, ID: id}, Revision: revision},
		s); err != nil {
		return Key{}, err
	}
	if err := k.load(ctx); err != nil {
		return Key{}, err
	}
	if e := k.all()[id]; e != nil {
		return e.Key, nil
	}
	return Key{}, memoryd.Errorf(memoryd.Internal, "cannot read the key back")
}

// find gives a key by its id.
func (k *Keys) find(id string) (*entry, error) {
	if e := k.all()[id]; e != nil {
		return e, nil
	}
	return nil, memoryd.Errorf(memoryd.NotFound, "there is no such key")
}

// Rotate replaces the token of a key. The old one stays valid for a while.
func (k *Keys) Rotate(ctx context.Context, id string, grace time.Duration) (Key, string, error) {
	e, err := k.find(id)
	if err != nil {
		return Key{}, "", err
	}
	now := k.now()
	if !e.live(now) {
		return Key{}, "", memoryd.Errorf(memoryd.Conflict, "the key is revoked or has expired")
	}
	token, s := newToken(id), e.stored
	s.OldHash, s.OldUntil = "", time.Time{}
	if grace > 0 {
		s.OldHash, s.OldUntil = s.Hash, now.Add(grace).UTC()
	}
	s.Hash = hashOf(token)
	made, err := k.put(ctx, id, e.revision, s)
	return made, token, err
}

// Revoke permanently disables a key. It stays in the list, to explain what it recorded.
// Revoking it again does nothing.
func (k *Keys) Revoke(ctx context.Context, id string) (Key, error) {
	e, err := k.find(id)
	if err != nil || !e.Revoked.IsZero() {
		return keyOf(e), err
	}
	s := e.stored
	s.Revoked = k.now().UTC().Truncate(time.Second)
	return k.put(ctx, id, e.revision, s)
}

func keyOf(e *entry) Key {
	if e == nil {
		return Key{}
	}
	key := e.Key
	if used := e.used.Load(); used > 0 {
		key.Used = time.Unix(0, used)
	}
	return key
}

// List returns all keys, oldest first.
func (k *Keys) List() []Key {
	var list []Key
	for _, e := range k.all() {
		list = append(list, keyOf(e))
	}
	slices.SortFunc(list, func(a, b Key) int { return cmp.Or(a.Created.Compare(b.Created), strings.Compare(a.ID, b.ID)) })
	return list
}

// The makers of keys that no caller asked for.
const (
	byEnvironment = "environment"
	byStart       = "start"
)

// firstID is the id of the key that the first start makes: of servers that start
// at once on one store, one makes it.
const firstID = "first"

// First makes sure that somebody can create keys. token, if not "", becomes valid as an admin
// key, and keys from earlier environments become invalid. If there is no admin key for all
// workspaces, First creates and returns one.
func (k *Keys) First(ctx context.Context, token string) (made string, err error) {
	if err := k.Load(ctx); err != nil {
		return "", err
	}
	admin := Wanted{Name: "admin", Roles: Admin}
	id := idOf(token)
	for _, e := range k.all() {
		if e.By == byEnvironment && e.ID != id && e.Revoked.IsZero() {
			if _, err := k.Revoke(ctx, e.ID); err != nil {
				return "", err
			}
		}
	}
	if token != "" {
		if err := CheckToken(token); err != nil {
			return "", err
		}
		revision := int64(0)
		if e := k.all()[id]; e != nil {
			if e.Hash == hashOf(token) && e.isAdmin(k.now()) {
				return "", nil
			}
			revision = e.revision
		}
		_, err := k.put(ctx, id, revision, storedOf(admin, token, byEnvironment, k.now()))
		return "", err
	}
	revision := int64(0)
	for _, e := range k.all() {
		if e.isAdmin(k.now()) {
			return "", nil
		}
		if e.ID == firstID {
			revision = e.revision
		}
	}
	made = newToken(firstID)
	if _, err = k.put(ctx, firstID, revision, storedOf(admin, made, byStart, k.now())); memoryd.IsKind(err, memoryd.Conflict) {
		return "", k.Load(ctx) // another server was first, and told its token
	}
	return made, err
}

// tokenForm is the form of a key that an operator may choose.
var tokenForm = regexp.MustCompile(`^` + prefix + `[0-9A-Za-z]{1,32}_[0-9A-Za-z]{` + strconv.Itoa(secretBytes) + `,}$`)

// CheckToken reports what is wrong with a key that an operator chose.
func CheckToken(token string) error {
	if !tokenForm.MatchString(token) {
		return fmt.Errorf("must be mrd_<id>_<secret> with letters and digits, the secret of at least %d: `memoryd keys new` prints one",
			secretBytes)
	}
	return nil
}
