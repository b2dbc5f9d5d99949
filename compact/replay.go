package compact

import (
	"context"
	"crypto/sha256"

	"github.com/go-json-experiment/json/jsontext"

	"memoryd/compact/chat"
)

// A client may go on with the compacted conversation, or keep sending its full
// history. For the second kind the Compactor remembers what a beginning became:
// the same beginning with messages added becomes the same bytes with messages
// added, until the next trigger.

// replay is a remembered compaction.
type replay struct {
	n   int // how many messages it replaced
	res Result
}

// replaysKept bounds what is remembered.
const replaysKept = 512

// prefixKeys gives one key for each beginning of the messages: keys[i] is that of
// the first i.
func prefixKeys(settings string, r Request) []string {
	h := newHash("replay", settings, r.Workspace, r.Conversation, r.Model, string(r.Tools))
	state := []byte(h.sum())
	keys := make([]string, len(r.Messages)+1)
	keys[0] = string(state)
	for i, m := range r.Messages {
		sum := sha256.Sum256(append(state, m...))
		state = append(state[:0], sum[:]...)
		keys[i+1] = string(state)
	}
	return keys
}

// replayed finds the longest remembered beginning that is shorter than the
// request's messages.
func (c *Compactor) replayed(r Request, keys []string) (replay, bool) {
	if r.Force || len(r.Pins) > 0 {
		return replay{}, false
	}
	for i := len(keys) - 2; i > 0; i-- {
		if p, ok := c.replays.get(keys[i]); ok {
			return p, true
		}
	}
	return replay{}, false
}

// again compacts what a remembered beginning became, with the new messages behind
// it, and reports it against the messages that were sent.
func (w *run) again(ctx context.Context, prof profile, p replay) (Result, error) {
	sent := w.conv
	base := append(append([]jsontext.Value{}, p.res.Messages...), w.r.Messages[p.n:]...)
	inner := *w
	inner.r.Messages = base
	conv, err := read(inner.r, sent.counter, sent.media)
	if err != nil {
		return Result{}, err
	}
	conv.safe = sent.safe
	inner.conv = conv
	inner.sent = w.conv.messages
	inner.report.TokensBefore, inner.report.MessagesBefore = conv.total, len(base)
	inner.report.TokensAfter, inner.report.MessagesAfter = conv.total, len(base)
	res, err := inner.do(ctx, prof)
	if err != nil {
		return Result{}, err
	}
	if !res.Compacted {
		if res.Reason == StoreFailed {
			return w.unchanged(StoreFailed, res.Detail), nil
		}
		id, err := w.keepAgain(ctx, base, conv)
		if err != nil {
			return w.unchanged(StoreFailed, "the originals could not be stored, so nothing was removed"), nil
		}
		res.Compacted, res.Reason, res.Summary, res.Report.ID = true, p.res.Reason, p.res.Summary, id
		res.Detail = "an earlier compaction of the same beginning was used again"
	}
	res.Report.Messages = w.chain(p, res.Report.Messages)
	res.Report.TokensBefore, res.Report.MessagesBefore = sent.total, len(sent.messages)
	res.Report.Before = w.report.Before
	after := make([]sized, len(res.Messages))
	for i, raw := range res.Messages {
		m, _ := chat.Parse(raw) // was parsed before
		after[i] = sized{raw, conv.messageTokens(&m)}
	}
	res.Report.Cache = cacheOf(sent.sized(), after)
	return res, nil
}

// keepAgain stores the record that lets the new, longer input be had back.
func (w *run) keepAgain(ctx context.Context, base []jsontext.Value, conv *conversation) (string, error) {
	ids := inputIDs(w.conv.messages)
	h := newHash("again", w.settings)
	h.part(ids...)
	id := h.compactionID()
	rec := record{Version: 1, Input: ids, Settings: w.settings, At: -1, Tokens: conv.total}
	for _, m := range base {
		rec.Output = append(rec.Output, canonicalHash(m))
	}
	return id, w.store(ctx, id, &rec, w.conv.messages)
}

// chain follows each sent message through the remembered compaction and then
// through the second run.
func (w *run) chain(p replay, second []Fate) []Fate {
	fs := make([]Fate, len(w.r.Messages))
	shift := len(p.res.Messages) - p.n
	for i := range fs {
		if i >= p.n {
			fs[i] = second[i+shift]
			fs[i].Index = i
			continue
		}
		fs[i] = p.res.Report.Messages[i]
		if out := fs[i].Output; out >= 0 {
			next := second[out]
			fs[i].Output = next.Output
			if next.Disposition != fs[i].Disposition && fs[i].Disposition != Offloaded || next.Output < 0 {
				fs[i].Disposition, fs[i].Why = next.Disposition, next.Why
				fs[i].Original = originalID(w.conv.messages[i].Raw)
			}
		}
	}
	return fs
}
