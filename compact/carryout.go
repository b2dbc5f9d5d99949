package compact

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"memoryd/compact/chat"
)

// carryOut executes a plan: first without a model, to see whether it helps at
// all; then with one, where the plan asks for it.
func (w *work) carryOut(ctx context.Context, p *plan) (Result, error) {
	t := w.t
	var s *summary
	if len(p.remove) > 0 || p.room >= leastRoom {
		s = t.newSummary(p)
	}
	ids := inputIDs(t.c.messages)
	a := w.build(p, s, ids)
	if v := w.helps(p, &a); v != nil {
		return w.unchanged(v.reason, v.detail), nil
	}
	w.report.Groups = len(p.remove)
	if len(p.remove) > 0 && p.model && !w.r.DryRun && len(w.c.models) > 0 {
		d, err := w.c.describe(ctx, t, p, w.r, w.prog)
		if err != nil {
			return Result{}, err
		}
		w.note(d)
		w.prog.units(len(p.remove) - d.groups)
		if len(d.failures) > 0 && w.c.cfg.Model.OnFailure == "keep" {
			return w.unchanged(ModelFailed, strings.Join(d.failures, "; ")), nil
		}
		if len(d.lines) > 0 {
			s.told, s.covered = d.lines, d.covered
			if b := w.build(p, s, ids); b.at >= 0 && w.helps(p, &b) == nil {
				a = b
			} else {
				w.report.ModelFailures = append(w.report.ModelFailures, "the description did not fit")
			}
		}
	} else {
		w.prog.units(len(p.remove))
	}
	w.prog.units(len(p.edits))
	return w.finish(ctx, p, &a, ids)
}

func (w *work) note(d described) {
	w.report.ModelCalls = d.calls
	w.report.ModelPromptTokens, w.report.ModelCompletionTokens = d.usage.PromptTokens, d.usage.CompletionTokens
	w.report.ModelFailures = d.failures
	w.report.ReusedSummaries = d.reused
	w.report.Batches = d.batches
	w.report.ModelSeconds = d.seconds
}

// build makes the new list for what the summary holds now.
func (w *work) build(p *plan, s *summary, ids []string) assembled {
	if s == nil {
		return w.t.assemble(p, "", nil)
	}
	h := newHash()
	h.part(w.settings)
	h.part(ids...)
	h.part(s.told...)
	s.id = "c_" + h.sum()[:14]
	text := s.text(p.room)
	if text == "" {
		return w.t.assemble(p, "", nil)
	}
	return w.t.assemble(p, text, s.message(text))
}

// helps says what stands against the new list, or nil.
func (w *work) helps(p *plan, a *assembled) *verdict {
	conv := w.t.c
	if len(p.remove) > 0 && a.at < 0 {
		return &verdict{GainTooSmall, "there is no room for a summary"}
	}
	if a.tokens >= conv.total {
		return &verdict{GainTooSmall, "the result would not be smaller"}
	}
	bytesBefore, charsBefore := sizeOf(w.r.Messages)
	if b, ch := sizeOf(a.messages); b >= bytesBefore || ch >= charsBefore {
		return &verdict{GainTooSmall, "the result would not be smaller"}
	}
	if gain := conv.total - a.tokens; !w.r.Force && float64(gain) < w.c.cfg.MinGainFraction*float64(conv.total) {
		return &verdict{GainTooSmall, fmt.Sprintf("%d of %d tokens would be freed, the minimum is %.0f %%", gain, conv.total, 100*w.c.cfg.MinGainFraction)}
	}
	if p.limit > 0 && a.tokens > p.limit {
		return &verdict{TailTooLarge, fmt.Sprintf("the result would still have %d tokens and the limit is %d", a.tokens, p.limit)}
	}
	if a.broken {
		return &verdict{InvalidResult, "the result would not be valid JSON"}
	}
	if ps := chat.Introduced(conv.messages, a.parsed); len(ps) > 0 {
		return &verdict{InvalidResult, "the result would not be valid: " + ps[0].String()}
	}
	return nil
}

// sizeOf counts bytes and characters of the messages.
func sizeOf(ms []jsontext.Value) (bytes, chars int) {
	for _, m := range ms {
		bytes += len(m)
		chars += utf8.RuneCount(m)
	}
	return bytes, chars
}

// finish stores the originals and the record, then gives the answer. Nothing is
// removed unless everything is stored.
func (w *work) finish(ctx context.Context, p *plan, a *assembled, ids []string) (Result, error) {
	conv := w.t.c
	rec := record{Version: 1, Input: ids, Settings: w.settings, At: a.at, Tokens: a.tokens}
	input := conv.messages
	if w.sent != nil {
		input, rec.Input = w.sent, inputIDs(w.sent)
	}
	for _, m := range a.messages {
		rec.Output = append(rec.Output, canonicalHash(m))
	}
	id := ""
	if a.at >= 0 {
		id = idIn(a.text)
		rec.Summary = shortHash([]byte(a.text))
	} else {
		h := newHash()
		h.part(w.settings)
		h.part(ids...)
		id = "c_" + h.sum()[:14]
	}
	if !w.r.DryRun {
		if err := w.store(ctx, id, &rec, input); err != nil {
			if ctx.Err() != nil {
				return Result{}, context.Cause(ctx)
			}
			w.c.log.WarnContext(ctx, "originals not stored, conversation left as it is", "err", err)
			return w.unchanged(StoreFailed, "the originals could not be stored, so nothing was removed"), nil
		}
	}
	return w.result(conv, p, a, id), nil
}

func (w *work) result(conv *conversation, p *plan, a *assembled, id string) Result {
	rep := w.report
	rep.ID = id
	rep.TokensAfter, rep.MessagesAfter = a.tokens, len(a.messages)
	rep.Target = p.target
	rep.OverTarget = max(0, a.tokens-p.target)
	if p.target == 0 {
		rep.OverTarget = 0
	}
	rep.Messages = w.t.fates(p, a)
	after := &conversation{messages: a.parsed, cost: a.cost, tools: conv.tools, known: map[int]*record{}}
	if a.at >= 0 {
		after.known[a.at] = &record{}
	}
	rep.After = after.breakdown()
	rep.Cache = cacheOf(conv.sized(), after.sized())
	return Result{Compacted: true, Reason: p.reason, Messages: a.messages, Summary: a.text, Report: rep}
}

// store puts every message of the input and the record.
func (w *work) store(ctx context.Context, id string, rec *record, input []chat.Message) error {
	raw, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	items := make([]Original, 0, len(rec.Input)+1)
	seen := map[string]bool{}
	for i, oid := range rec.Input {
		if !seen[oid] {
			seen[oid] = true
			items = append(items, Original{ID: oid, Data: input[i].Raw})
		}
	}
	return w.c.store.Put(ctx, w.r.Workspace, append(items, Original{ID: id, Data: raw}))
}

func inputIDs(ms []chat.Message) []string {
	ids := make([]string, len(ms))
	for i := range ms {
		ids[i] = originalID(ms[i].Raw)
	}
	return ids
}

// hasher hashes parts so that their borders count.
type hasher struct{ h hash.Hash }

func newHash() hasher { return hasher{sha256.New()} }

func (h hasher) part(parts ...string) {
	for _, p := range parts {
		h.bytes([]byte(p))
	}
}

// bytes hashes one part.
func (h hasher) bytes(p []byte) {
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(len(p)))
	h.h.Write(n[:])
	h.h.Write(p)
}

func (h hasher) sum() string { return hex.EncodeToString(h.h.Sum(nil)[:12]) }
