package evaluate

import (
	"context"
	"slices"
	"sync"
	"time"

	"memoryd"
	"memoryd/evaluate/kinds"
	"memoryd/evaluate/rules"

	lru "github.com/hashicorp/golang-lru/v2"
)

// example is an earlier evaluation as the model is shown it.
type example struct {
	Input  excerpt `json:"input"`
	Output excerpt `json:"output"`
	Score  float64 `json:"score"`
}

// exampleText bounds an example's input and its output, in bytes each.
const exampleText = 120

// profile is what is remembered of one tool: its history as the rules see it,
// and the newest evaluation at each level.
type profile struct {
	mu      sync.Mutex
	expires time.Time // zero: not loaded
	rules   *rules.Profile
	newest  [3]*example // failure, partial, success
	book    *kinds.Book
	// questions is how many the tool may ask the model; see questionsAtOnce.
	questions float64
	calls     int64 // of the tool
}

// profiles remembers the profiles of the tools used last. Each is read from the
// history when it is first needed and again when its time is up, so that what
// other processes did, or a deletion, shows in the end.
type profiles struct {
	ledger Ledger
	doubt  func(*memoryd.Call) rules.Doubt
	now    func() time.Time
	// examples: is there a model that will be shown any?
	examples bool

	byTool *lru.Cache[memoryd.ToolRef, *profile]
}

func newProfiles(cfg Config, examples bool, l Ledger, doubt func(*memoryd.Call) rules.Doubt, now func() time.Time) *profiles {
	byTool, _ := lru.New[memoryd.ToolRef, *profile](cfg.ProfileTools) // fails of no size only
	return &profiles{ledger: l, doubt: doubt, now: now, examples: examples, byTool: byTool}
}

func (ps *profiles) of(ref memoryd.ToolRef) *profile {
	if p, ok := ps.byTool.Get(ref); ok {
		return p
	}
	made := &profile{book: &kinds.Book{}, questions: questionsAtOnce}
	if p, known, _ := ps.byTool.PeekOrAdd(ref, made); known {
		return p // another call made it meanwhile
	}
	return made
}

// with calls do with the tool's profile, loaded and for its own use. Without
// its history the profile is empty and err says why.
func (ps *profiles) with(ctx context.Context, ref memoryd.ToolRef, do func(*profile)) (err error) {
	p := ps.of(ref)
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := ps.now(); !now.Before(p.expires) {
		err = ps.load(ctx, ref, p, now)
	}
	do(p)
	return err
}

// profileRetry is how long after a failure a history is not read again.
const profileRetry = 5 * time.Second

func (ps *profiles) load(ctx context.Context, ref memoryd.ToolRef, p *profile, now time.Time) error {
	calls, err := ps.ledger.History(ctx, ref, profileCalls)
	if err == nil {
		var book *kinds.Book
		if book, err = kinds.Read(ctx, ps.ledger, ref); err == nil {
			p.book = book
		}
	}
	if err != nil {
		if p.rules == nil {
			p.rules = new(rules.Profile)
		}
		// An old profile is better than none. Others wait for this one, so a store
		// that is away is not asked again for each call.
		p.expires = ps.now().Add(profileRetry)
		return err
	}
	p.rules, p.newest = new(rules.Profile), [3]*example{}
	for i := range calls {
		p.rules.Observe(&calls[i], ps.doubt(&calls[i]))
		p.calls = max(p.calls, calls[i].Seq)
	}
	for i := range slices.Backward(calls) {
		if p.newest[levelIndex(calls[i].Evaluation.Score)] == nil {
			ps.show(p, &calls[i])
		}
	}
	p.expires = now.Add(profileTTL)
	return nil
}

// soon makes the tool's profile be read again before long, because the history
// changed in a way that was not observed.
func (ps *profiles) soon(ref memoryd.ToolRef) {
	p := ps.of(ref)
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := ps.now().Add(profileTTL / 10); at.Before(p.expires) {
		p.expires = at
	}
}

// drop makes the tool's profile be read again when it is next needed.
func (ps *profiles) drop(ref memoryd.ToolRef) {
	p := ps.of(ref)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expires = time.Time{}
}

// forget lets go of the profiles of a workspace's tools.
func (ps *profiles) forget(workspace string) {
	for _, ref := range ps.byTool.Keys() {
		if ref.Workspace == workspace {
			ps.byTool.Remove(ref)
		}
	}
}

// observe adds a call to its tool's profile, as its newest.
func (ps *profiles) observe(o *opinion, c *memoryd.Call) {
	o.tool.rules.Observe(c, o.doubt)
	o.tool.earn()
	ps.show(o.tool, c)
}

// show makes a call the newest example of its level, if it was judged. The profile's lock is
// held.
func (ps *profiles) show(p *profile, c *memoryd.Call) {
	if !ps.examples || c.Evaluation.State != memoryd.Judged {
		return
	}
	p.newest[levelIndex(c.Evaluation.Score)] = &example{
		Input:  excerptOf(string(memoryd.InputText(c.Input)), exampleText),
		Output: excerptOf(c.Output, exampleText),
		Score:  c.Evaluation.Score,
	}
}

func levelIndex(score float64) int {
	switch {
	case score <= memoryd.ScoreFailure:
		return 0
	case score < memoryd.ScoreSuccess:
		return 1
	}
	return 2
}

// examples gives up to n of the newest evaluations, one for each level: success
// and failure before partial, which lies between them. Calls whose text addresses
// the judge are no examples.
func (p *profile) examples(n int) []example {
	var list []example
	for _, i := range []int{2, 0, 1} {
		if e := p.newest[i]; e != nil && !textAddressesJudge(e.text()) {
			list = append(list, *e)
		}
	}
	return list[:min(n, len(list))]
}
