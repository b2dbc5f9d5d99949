package compact

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"memoryd"

	"github.com/go-json-experiment/json/jsontext"
	lru "github.com/hashicorp/golang-lru/v2"

	"memoryd/internal/lifecycle"
)

// memo remembers the newest values for a while. It is safe for concurrent use.
type memo[V any] struct {
	keep  time.Duration
	items *lru.Cache[string, memoItem[V]]
}

type memoItem[V any] struct {
	value V
	at    time.Time
}

func newMemo[V any](limit int, keep time.Duration) *memo[V] {
	items, _ := lru.New[string, memoItem[V]](limit) // fails for no limit only
	return &memo[V]{keep, items}
}

func (m *memo[V]) get(key string) (v V, ok bool) {
	it, ok := m.items.Get(key)
	if !ok || time.Since(it.at) >= m.keep {
		return v, false
	}
	return it.value, true
}

func (m *memo[V]) put(key string, v V) { m.items.Add(key, memoItem[V]{v, time.Now()}) }

// runFirst runs for all who join under the key, and lets them go whatever happens.
// run gets what a beginning of the request became earlier, nil for nothing.
func (c *Compactor) runFirst(ctx context.Context, r Request, k keys, prog *progress,
	run func(*replay) (Result, error),
) (res Result, err error) {
	defer func() { prog.end(res, err) }()
	earlier := c.replayed(r, k)
	err = lifecycle.Do(ctx, c.log, "compaction", func() (err error) {
		res, err = run(earlier)
		return err
	})
	if err == nil && res.Compacted && !r.DryRun {
		c.replays.put(k.beginnings[len(r.Messages)], replay{len(r.Messages), res})
	}
	if err == nil && res.Reason != StoreFailed && len(res.Report.ModelFailures) == 0 {
		c.results.put(k.request, res)
	}
	return res, err
}

// keys tell requests apart: settings is equal for those that ask for the same,
// whatever the messages; beginnings[i] is that of the first i messages, request
// that of the whole.
type keys struct {
	settings   string
	beginnings []string
	request    string
}

func settingsKey(profile string, r Request) string {
	return shortHash(fmt.Appendf(nil, "%s\x00%d\x00%d\x00%s", profile, r.MaxInputTokens, r.TargetTokens, r.Overrides))
}

func keysOf(profile string, r Request) keys {
	k := keys{settings: settingsKey(profile, r)}
	state := []byte(digest(k.settings, r.Workspace, r.Conversation, r.Model, string(r.Tools)))
	k.beginnings = make([]string, len(r.Messages)+1)
	k.beginnings[0] = string(state)
	for i, m := range r.Messages {
		sum := sha256.Sum256(append(state, m...))
		state = append(state[:0], sum[:]...)
		k.beginnings[i+1] = string(state)
	}
	k.request = digest(string(state), fmt.Sprint(r.Pins, r.Force, r.DryRun))
	return k
}

// replay is a remembered compaction. A client may go on with the compacted
// conversation, or keep sending its full history. For the second kind the Compactor
// remembers what a beginning became: the same beginning with messages added becomes
// the same bytes with messages added, until the next trigger.
type replay struct {
	n   int // how many messages it replaced
	res Result
}

// replaysKept bounds what is remembered.
const replaysKept = 512

// replayed finds the longest remembered beginning that is shorter than the
// request's messages.
func (c *Compactor) replayed(r Request, k keys) *replay {
	if r.Force || len(r.Pins) > 0 {
		return nil
	}
	for i := len(k.beginnings) - 2; i > 0; i-- {
		if p, ok := c.replays.get(k.beginnings[i]); ok {
			return &p
		}
	}
	return nil
}

// canonicalHash is the same for two messages that differ in white space, key order
// or escapes only, so that it survives a client that decodes and encodes again.
func canonicalHash(raw jsontext.Value) string {
	v := raw.Clone()
	if v.Canonicalize(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil {
		v = raw
	}
	return shortHash(v)
}

func shortHash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:12])
}

// digest hashes parts so that their borders count.
func digest(parts ...string) string {
	sum := memoryd.SumOf(parts...)
	return hex.EncodeToString(sum[:12])
}

// compactionID derives the id of a compaction.
func compactionID(parts ...string) string { return "c_" + digest(parts...)[:14] }
