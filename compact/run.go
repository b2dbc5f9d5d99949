package compact

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"memoryd"
	"memoryd/compact/chat"
)

// run is one compaction: the profile plans for the conversation, the plan is
// applied, what it removes is stored, the report written.
type run struct {
	c        *Compactor
	r        Request
	conv     *conversation
	settings string
	prog     *progress
	report   Report
	// sent is the conversation of the request: conv, unless the run works on what the
	// beginning of it became earlier.
	sent *conversation
}

// refusal is why a conversation is returned as it was.
type refusal struct {
	reason Reason
	detail string
}

func no(reason Reason, format string, args ...any) (*plan, *refusal) {
	return nil, &refusal{reason, fmt.Sprintf(format, args...)}
}

// compactNow is one compaction that no other request shares. earlier is what a
// beginning of the conversation became, nil for nothing.
func (c *Compactor) compactNow(ctx context.Context, r Request, earlier *replay, name string, prof profile, settings string,
	prog *progress,
) (Result, error) {
	began := time.Now()
	if err := ctx.Err(); err != nil {
		return Result{}, context.Cause(ctx)
	}
	conv, err := c.read(ctx, r, prof.excluded())
	if err != nil {
		return Result{}, err
	}
	c.learn(r.Model, conv.total, r.ReportedTokens)
	w := &run{c: c, r: r, conv: conv, settings: settings, prog: prog, sent: conv, report: conv.report(name)}
	var res Result
	if earlier != nil {
		res, err = w.resume(ctx, prof, earlier)
	} else {
		res, err = w.do(ctx, prof)
	}
	if err != nil {
		return Result{}, err
	}
	res.Report.WallSeconds = time.Since(began).Seconds()
	c.log.DebugContext(ctx, "conversation compacted", "profile", name, "reason", string(res.Reason), "compacted", res.Compacted,
		"tokens_before", res.Report.TokensBefore, "tokens_after", res.Report.TokensAfter, "model_calls", res.Report.ModelCalls)
	return res, nil
}

func (w *run) do(ctx context.Context, prof profile) (Result, error) {
	conv := w.conv
	if conv.unread {
		return w.unchanged(StoreFailed, "cannot read the stored originals"), nil
	}
	if v := w.resting(); v != nil {
		return w.unchanged(v.reason, v.detail), nil
	}
	p, v := prof.plan(conv, w.r)
	if v != nil {
		return w.unchanged(v.reason, v.detail), nil
	}
	w.prog.start(len(p.remove), conv.total)
	return w.apply(ctx, prof, p)
}

// resting refuses when too little is new since the last compaction.
func (w *run) resting() *refusal {
	conv := w.conv
	for i := range slices.Backward(conv.messages) {
		rec := conv.recordAt(i)
		if rec == nil {
			continue
		}
		n, ok := conv.since(rec)
		if !ok {
			return nil
		}
		if n == len(conv.messages) && rec.Settings == w.settings {
			return &refusal{AlreadyCompacted, "no message was added since the last compaction"}
		}
		fresh := 0
		for j := n; j < len(conv.messages); j++ {
			fresh += conv.cost[j]
		}
		need := int(w.c.cfg.CoolDownFraction * float64(rec.Tokens))
		over := w.r.MaxInputTokens > 0 && conv.total > w.r.MaxInputTokens && rec.Tokens <= w.r.MaxInputTokens
		if !w.r.Force && rec.Settings == w.settings && fresh < need && !over {
			return &refusal{CoolingDown, fmt.Sprintf("%d tokens were added since the last compaction; the next one starts at %d", fresh, need)}
		}
		return nil
	}
	return nil
}

// unchanged returns the input.
func (w *run) unchanged(reason Reason, detail string) Result {
	conv := w.conv
	rep := w.report
	rep.After = rep.Before
	rep.Messages = make([]Fate, len(conv.messages))
	for i := range conv.messages {
		f := Fate{Index: i, Role: conv.messages[i].Role, Tokens: conv.cost[i], Output: i}
		f.Disposition, f.Why = conv.keptWhy(i)
		rep.Messages[i] = f
	}
	rep.Cache = conv.cache(w.r.Messages, conv.cost)
	out := w.r.Messages
	if out == nil {
		out = []jsontext.Value{}
	}
	return Result{Reason: reason, Detail: detail, Messages: out, Report: rep}
}

// apply executes a plan: first without a model, to see whether it helps at all;
// then with one, where the plan asks for it.
func (w *run) apply(ctx context.Context, prof profile, p *plan) (Result, error) {
	s := newSummary(w, p)
	ids := w.conv.inputIDs()
	a := w.build(p, s, ids)
	if (p.aims || p.most > 0) && p.room < smallRoom && !s.whole {
		p.holds = w.smallest(prof, p.target, ids)
		if more := w.raised(prof, p, min(p.most, p.holds)); p.most > p.target && more != nil {
			p, s = more, newSummary(w, more)
			a = w.build(p, s, ids)
		}
	}
	if v := w.objection(&a); v != nil {
		return w.unchanged(v.reason, v.detail), nil
	}
	w.report.Groups = len(p.remove)
	if p.model && !w.r.DryRun && w.c.model != nil {
		d, err := w.narrate(ctx, p, s)
		if err != nil {
			return Result{}, err
		}
		if len(w.report.ModelFailures) > 0 && w.c.cfg.Model.OnFailure == "keep" {
			return w.unchanged(ModelFailed, strings.Join(w.report.ModelFailures, "; ")), nil
		}
		if len(d) > 0 {
			s.told = d
			s.records.Pick(d)
			if b := w.build(p, s, ids); w.objection(&b) == nil {
				a = b
			} else {
				w.report.ModelFailures = append(w.report.ModelFailures, "the model's selection was too large")
			}
		}
	} else {
		w.prog.units(len(p.remove))
	}
	p.whole = s.whole
	return w.finish(ctx, p, &a)
}

// build makes the new list for what the summary holds now.
func (w *run) build(p *plan, s *summary, ids []string) assembled {
	s.id = compactionID(slices.Concat([]string{w.settings}, ids, s.told)...)
	room := p.room
	a := assemble(w.conv, p, s.text(room))
	for over := a.tokens - p.target; p.aims && over > 0 && room > leastRoom; over = a.tokens - p.target {
		room = max(leastRoom, room-over) // what keeps speakers in turn costs some tokens as well
		a = assemble(w.conv, p, s.text(room))
	}
	return a
}

// smallest is the least size above the target, to a hundredth, at which the same request
// holds all that was said and done.
func (w *run) smallest(prof profile, target int, ids []string) int {
	x := *w
	size := &x.r.MaxInputTokens
	if x.r.TargetTokens > 0 {
		size = &x.r.TargetTokens
	}
	fixed, _, _ := w.conv.fixed()
	low, least := max(target, fixed+leastRoom), w.conv.total
	for least-low > 1+least/100 {
		*size = (low + least) / 2
		x.settings = settingsKey(x.report.Profile, x.r)
		if p, _ := prof.plan(w.conv, x.r); p != nil {
			s := newSummary(&x, p)
			if x.build(p, s, ids); !s.whole {
				low = *size
				continue
			}
		}
		least = *size
	}
	return least
}

// raised is the plan with another target, nil where that asks for nothing.
func (w *run) raised(prof profile, p *plan, target int) *plan {
	r := w.r
	r.TargetTokens = target
	more, _ := prof.plan(w.conv, r)
	if more != nil {
		more.reason, more.holds, more.asked = p.reason, p.holds, p.target
	}
	return more
}

// objection says what stands against the new list, or nil.
func (w *run) objection(a *assembled) *refusal {
	conv := w.conv
	bytesBefore, charsBefore := sizeOf(w.r.Messages)
	if b, ch := sizeOf(a.messages); a.tokens >= conv.total || b >= bytesBefore || ch >= charsBefore {
		return &refusal{GainTooSmall, "the result would not be smaller"}
	}
	gain, least := conv.total-a.tokens, w.c.cfg.MinGainFraction
	if !w.r.Force && float64(gain) < least*float64(conv.total) {
		return &refusal{GainTooSmall, fmt.Sprintf("%d of %d tokens would be freed, the minimum is %.0f %%", gain, conv.total, 100*least)}
	}
	if ps := chat.Introduced(conv.messages, a.parsed); len(ps) > 0 {
		return &refusal{InvalidResult, "the result would not be valid: " + ps[0].String()}
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
func (w *run) finish(ctx context.Context, p *plan, a *assembled) (Result, error) {
	rec := record{Version: 1, Input: w.sent.inputIDs(), Settings: w.settings, At: a.at, Tokens: a.tokens, Summary: shortHash([]byte(a.text))}
	for _, m := range a.messages {
		rec.Output = append(rec.Output, canonicalHash(m))
	}
	id := idIn(a.text)
	if !w.r.DryRun {
		if err := w.store(ctx, id, &rec); err != nil {
			if ctx.Err() != nil {
				return Result{}, context.Cause(ctx)
			}
			w.c.log.WarnContext(ctx, "cannot store the originals; the conversation stays unchanged", "err", err)
			return w.unchanged(StoreFailed, notStored(err)), nil
		}
	}
	return w.result(p, a, id), nil
}

// notStored says that originals could not be stored, and why where the caller can help.
func notStored(err error) string {
	const text = "the originals could not be stored, so nothing was removed"
	if kind, msg := memoryd.KindOf(err); kind == memoryd.OverQuota {
		return text + ": " + msg
	}
	return text
}

func (w *run) result(p *plan, a *assembled, id string) Result {
	rep := w.report
	rep.ID = id
	rep.TokensAfter, rep.MessagesAfter = a.tokens, len(a.messages)
	if rep.Target = cmp.Or(p.asked, p.target); rep.Target > 0 {
		rep.OverTarget = max(0, a.tokens-rep.Target)
	}
	rep.Messages = a.dispositions(w.conv)
	after := &conversation{messages: a.parsed, cost: a.cost, tools: w.conv.tools, known: map[int]*record{a.at: {}}}
	rep.After = after.breakdown()
	rep.Cache = w.conv.cache(a.messages, a.cost)
	res := Result{Compacted: true, Reason: p.reason, Messages: a.messages, Summary: a.text, Report: rep}
	switch {
	case p.limit > 0 && a.tokens > p.limit:
		sum, parts, largest := w.conv.fixed()
		res.Reason = largest
		res.Detail = fmt.Sprintf("%d tokens must stay (%s), the limit is %d, and the result has %d", sum, parts, p.limit, a.tokens)
	case p.holds > 0 && p.whole:
		res.Detail = fmt.Sprintf("%d tokens have no room for all that was said and done: the result has %d", p.asked, a.tokens)
	case p.holds > 0:
		res.Detail = fmt.Sprintf("there is no room for all that was said and done: %d tokens would hold it", p.holds)
	}
	return res
}

// store puts every message of the input and the record, and notes the compaction
// as the newest of its conversation.
func (w *run) store(ctx context.Context, id string, rec *record) error {
	raw, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	items := make([]Original, 0, len(rec.Input)+2)
	seen := map[string]bool{}
	for i, oid := range rec.Input {
		if !seen[oid] {
			seen[oid] = true
			items = append(items, Original{ID: oid, Data: w.sent.sentRaw(i)})
		}
	}
	items = append(items, Original{ID: id, Data: raw})
	if w.r.Conversation != "" {
		items = append(items, newestOf(w.r.Conversation, id))
	}
	return w.c.store.Put(ctx, w.r.Workspace, items)
}

// resume compacts what a remembered beginning became, with the new messages behind
// it, and reports it against the messages that were sent.
func (w *run) resume(ctx context.Context, prof profile, p *replay) (Result, error) {
	inner := *w
	inner.r.Messages = append(slices.Clone(p.res.Messages), w.r.Messages[p.n:]...)
	conv, err := w.c.read(ctx, inner.r, prof.excluded())
	if err != nil {
		return Result{}, err
	}
	inner.conv, inner.report = conv, conv.report(w.report.Profile)
	res, err := inner.do(ctx, prof)
	if err != nil {
		return Result{}, err
	}
	if !res.Compacted {
		if res.Reason == StoreFailed {
			return w.unchanged(StoreFailed, res.Detail), nil
		}
		id, err := inner.keepAgain(ctx)
		if err != nil {
			return w.unchanged(StoreFailed, notStored(err)), nil
		}
		res.Compacted, res.Reason, res.Summary, res.Report.ID = true, p.res.Reason, p.res.Summary, id
		res.Detail = "reused an earlier compaction of the same beginning"
	}
	res.Report.Messages = w.chain(p, res.Report.Messages)
	res.Report.TokensBefore, res.Report.MessagesBefore, res.Report.Before = w.report.TokensBefore, w.report.MessagesBefore, w.report.Before
	cost := make([]int, len(res.Messages))
	for i, raw := range res.Messages {
		m, _ := chat.Parse(raw) // was parsed before
		cost[i] = conv.messageTokens(&m)
	}
	res.Report.Cache = w.conv.cache(res.Messages, cost)
	return res, nil
}

// keepAgain stores the record that lets the new, longer input be had back.
func (w *run) keepAgain(ctx context.Context) (string, error) {
	rec := record{Version: 1, Input: w.sent.inputIDs(), Settings: w.settings, At: -1, Tokens: w.conv.total}
	for _, m := range w.r.Messages {
		rec.Output = append(rec.Output, canonicalHash(m))
	}
	id := compactionID(append([]string{"again", w.settings}, rec.Input...)...)
	return id, w.store(ctx, id, &rec)
}

// chain follows each sent message through the remembered compaction and then
// through the second run.
func (w *run) chain(p *replay, second []Fate) []Fate {
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
				fs[i].Original = originalID(w.conv.sentRaw(i))
			}
		}
	}
	return fs
}
