package guidelines

import (
	"context"
	"slices"

	"memoryd"
	"memoryd/guidelines/evidence"
	"memoryd/guidelines/rules"
	"memoryd/internal/stats"
)

// AuthorRules is the author of a guideline without a model.
const AuthorRules = "rules"

// Writer writes guidelines from the evidence, with a model's choice where there is one. Without
// one, equal calls give equal bytes.
type Writer struct {
	// Window has more calls than the history; nil means there are none. Set it, and the
	// following, before the first Compose.
	Window evidence.Window
	// Observe, if set, is called after each answer of the model with the number of kept
	// statements and the reasons why the others were dropped.
	Observe func(ctx context.Context, tool memoryd.ToolRef, r Review)
	// Barred, if set, names the workspaces of which no model is shown anything.
	Barred func(workspace string) bool

	cfg   Config
	model memoryd.Model
}

// NewWriter returns a Writer that uses m; nil means no model.
func NewWriter(cfg Config, m memoryd.Model) *Writer { return &Writer{cfg: cfg, model: m} }

// Compose writes the guideline of a tool from its stored calls, oldest first. The newest recent
// of them are the recent window; prev is the previous version, or nil.
func (x *Writer) Compose(ctx context.Context, tool memoryd.Tool, calls []memoryd.Call, recent int, prev *Document) (*Document, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	f, err := x.find(ctx, tool, calls, recent)
	if err != nil {
		return nil, err
	}
	if x.model == nil || x.Barred != nil && x.Barred(tool.Workspace) {
		return x.document(f, f.draft()), nil
	}
	return x.choose(ctx, f, f.draft(), prev)
}

// document itemises the draft of the rules.
func (x *Writer) document(f *findings, d draft) *Document {
	doc := &Document{
		Tool: f.tool.Tool, Author: AuthorRules, Fingerprint: d.fingerprint(x.cfg.MaxWords), Items: d,
		Grounds: groundsFor(f, d), Answers: f.answers(), Statistics: statisticsSection(f.stats, f.judgedGood), MaxWords: x.cfg.MaxWords,
	}
	prints := map[string]string{}
	for _, g := range doc.Grounds {
		prints[g.ID] = g.Fingerprint
	}
	for i := range d {
		var parts []string
		for _, id := range d[i].Evidence {
			parts = append(parts, id, prints[id])
		}
		d[i].Fingerprint = fingerprint(parts...)
	}
	return doc
}

// find computes everything that a guideline is worded from.
func (x *Writer) find(ctx context.Context, tool memoryd.Tool, calls []memoryd.Call, recent int) (*findings, error) {
	obs, err := evidence.Gather(ctx, x.Window, tool.ToolRef, calls)
	if err != nil {
		return nil, err
	}
	f := &findings{
		obs:  obs,
		tool: tool, unquoted: x.cfg.Quote == quoteNever,
		stats: statisticsOf(tool, calls, recent), evidence: evidence.Mine(tool.Tool, obs, calls),
	}
	f.goodCosts(calls)
	return f, nil
}

// statisticsOf computes what the wire shows of the same calls.
func statisticsOf(tool memoryd.Tool, calls []memoryd.Call, recent int) stats.Statistics {
	samples := make([]memoryd.Sample, len(calls))
	for i := range calls {
		samples[i] = calls[i].Sample()
	}
	return stats.Of(samples, recent, tool.Counters)
}

// findings is everything that the sections are worded from.
type findings struct {
	tool     memoryd.Tool
	stats    stats.Statistics
	evidence evidence.Evidence
	obs      []evidence.Observation
	// chosen are the rules that a model put first, by their place; proposed are the
	// conditions that it proposed.
	chosen   map[string]int
	proposed []rules.Proposal
	model    string
	// judgedGood counts the calls of the history that scored 1, goodTime and goodTokens
	// are what these cost.
	judgedGood           int
	goodTime, goodTokens float64 // medians; NaN where no call knows them
	unquoted             bool
}

// goodCosts is what the calls that scored 1 cost.
func (f *findings) goodCosts(calls []memoryd.Call) {
	var times, tokens []float64
	for i := range calls {
		c := &calls[i]
		if !c.Evaluation.Good() {
			continue
		}
		f.judgedGood++
		if stats.KnownTime(c.TimeCost) {
			times = append(times, c.TimeCost)
		}
		if stats.KnownTokens(c.TokenCost) {
			tokens = append(tokens, float64(c.TokenCost))
		}
	}
	f.goodTime, f.goodTokens = stats.Median(times), stats.Median(tokens)
}

// draft words all sections.
func (f *findings) draft() draft {
	d := &draft{}
	f.core(d)
	f.practices(d)
	f.successes(d)
	f.issues(d)
	slices.SortStableFunc(*d, bySection)
	return *d
}
