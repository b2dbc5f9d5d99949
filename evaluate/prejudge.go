package evaluate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode"

	"memoryd"
	"memoryd/evaluate/kinds"
	"memoryd/evaluate/rules"
	"memoryd/internal/lifecycle"
	"memoryd/internal/reading"
	"memoryd/internal/textsafe"
)

// handover is how long a pending call is held back from the sweep, so that the
// request that brings it can store it and hand it over first. It is short,
// because it is also how long such a call waits for the next process when this
// one dies.
const handover = 15 * time.Second

// Prejudge fills in the evaluations that need no model: with the judge "rules" all of them;
// otherwise those that the rules are sure of or must decide alone, and those known from an
// equal call. The others stay pending. They are hidden from the sweep for a moment, because
// Await is expected to receive them at once. Calls that have an evaluation keep it.
func (d *Evaluator) Prejudge(ctx context.Context, calls []memoryd.Call) {
	held := d.now().Add(min(handover, d.cfg.Lease))
	room := d.queue.room()
	for i := range calls {
		if i > 0 {
			runtime.Gosched() // small requests need not wait for a whole batch
		}
		c := &calls[i]
		if cmp.Or(c.Evaluation.State, memoryd.Pending) != memoryd.Pending {
			continue
		}
		c.Evaluation.State = memoryd.Pending
		o := d.consider(ctx, c)
		if v, ok := d.withoutModel(ctx, c, &o); ok {
			c.Evaluation = v.e
			d.observe(o.tool, c)
			d.tellPrejudged(c, o, v.said)
			continue
		}
		if room--; room >= 0 {
			c.Evaluation.NotBefore = held
		}
	}
}

// opinion is what is known of a call without a model.
type opinion struct {
	ruled memoryd.Evaluation // by the rules, within the bound
	bound bound
	facts bound // that hold also for what a person says of a kind
	sure  bool
	brief brief
	kind  *reading.Kind  // nil where nobody needs it
	known *kinds.Verdict // on the kind; nil where there is none
	tool  *profile
}

// consider asks the rules, and what is known of the kind.
func (d *Evaluator) consider(ctx context.Context, c *memoryd.Call) opinion {
	return d.considerBy(ctx, c, nil)
}

// considerBy is consider with another book than the tool's, where there is one.
func (d *Evaluator) considerBy(ctx context.Context, c *memoryd.Call, book *kinds.Book) opinion {
	var v rules.Result
	var o opinion
	err := d.profiles.with(ctx, c.ToolRef, func(p *profile) { //nolint:contextcheck // rules take microseconds
		var r *reading.Reading
		if v, r = d.ask(c, p); r != nil {
			defer r.Release()
			o.kind, o.known = d.recall(c, r, cmp.Or(book, p.book), &v)
		}
		o.tool = p
	})
	if err != nil {
		d.counters.count(func(s *Stats) { s.LedgerErrors++ })
		d.log.DebugContext(ctx, "judged without the tool's history", "workspace", c.Workspace, "tool", c.Tool, "err", err)
	}
	v.State, v.JudgedBy, v.JudgedAt = memoryd.Judged, memoryd.JudgedByRules, d.now()
	o.ruled, o.sure = v.Evaluation, v.Sure
	alone := d.judge == JudgeRules || d.cfg.Barred(c.Workspace)
	if alone && o.known == nil {
		o.bound = bound{ceiling: v.Score, alone: true}
		return o
	}
	o.brief = newBrief(c, d.cfg.MaxInput, d.cfg.MaxOutput)
	o.brief.setting = settingOf(c.Metadata, d.cfg.MaxContext)
	o.bound, o.facts = boundOf(c, o.brief, v), factsOf(c, o.brief, v)
	if alone {
		o.bound.alone = true
	}
	o.ruled = o.bound.lower(v.Evaluation)
	return o
}

// ask lets the rules judge. Rules that panic over hostile text are a defect that
// must not take the request with them: such a call counts as a partial success
// that nobody is sure of. The reading is nil where already that panicked.
func (d *Evaluator) ask(c *memoryd.Call, p *profile) (v rules.Result, r *reading.Reading) {
	err := lifecycle.Do(context.Background(), d.log, "rules", func() error {
		r = reading.Read(c.Input, c.Output)
		v = d.rules.JudgeRead(c, r, p.rules)
		return nil
	})
	if err == nil {
		return v, r
	}
	d.log.Error("the rules could not read a call", "workspace", c.Workspace, "tool", c.Tool, "key", c.Key.String(), "err", err)
	return rules.Result{Evaluation: memoryd.Evaluation{
		Score: memoryd.ScorePartial, Rule: "none", JudgeVersion: d.rules.Version(),
		Summary: "The rules could not read this call.", Evaluation: "The rules failed on this call.",
	}}, r
}

// decision is an evaluation and what its judge said before it was bounded.
type decision struct{ e, said memoryd.Evaluation }

// withoutModel decides the call if no model is needed.
func (d *Evaluator) withoutModel(ctx context.Context, c *memoryd.Call, o *opinion) (decision, bool) {
	if d.holds(c, o) {
		d.counters.count(func(s *Stats) { s.KindVerdicts++ })
		return d.asKind(o.known, o), true
	}
	if o.bound.alone || o.sure && d.judge == JudgeCascade {
		d.counters.count(func(s *Stats) { s.RuleVerdicts[o.ruled.Rule]++ })
		return decision{o.ruled, o.ruled}, true
	}
	known, ok := d.cache.find(ctx, d.keysOf(c), d.now())
	if !ok {
		return decision{}, false
	}
	return d.bounded(known, o.bound, o.ruled), true
}

// bounded counts an evaluation of the model or of the cache, and brings it within
// what the rules know. A person's evaluation is above that.
func (d *Evaluator) bounded(k known, b bound, ruled memoryd.Evaluation) decision {
	said := k.e
	e, bounded := said, false
	if !k.byPerson {
		e, bounded = b.apply(said, ruled)
	}
	d.counters.count(func(s *Stats) {
		switch {
		case said.JudgedBy == memoryd.JudgedByCache:
			s.CacheHits++
		case !strings.HasPrefix(said.JudgedBy, memoryd.KindPrefix): // counted as such
			s.ModelVerdicts++
		}
		if bounded {
			s.Bounded++
		}
	})
	return decision{e, said}
}

// observe lets the tool's profile learn from a judged call.
func (d *Evaluator) observe(p *profile, c *memoryd.Call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d.profiles.observe(p, c)
}

// factsOf finds the bound that also holds for what a person says of a kind: what the
// caller or the call itself reports, and texts that address their judge.
func factsOf(c *memoryd.Call, b brief, v rules.Result) bound {
	switch {
	case v.Fact && v.Score < memoryd.ScoreSuccess:
		return bound{v.Score, "the call itself reports it", false}
	case !c.Success:
		return bound{memoryd.ScorePartial, "the caller reported a failure", false}
	case addressesJudge(b):
		return bound{memoryd.ScorePartial, "the call's text addresses its judge", true}
	}
	return bound{ceiling: memoryd.ScoreSuccess}
}

// bound is what the server knows of a call for a fact, whatever a model says.
type bound struct {
	// ceiling is the highest score that the call can have.
	ceiling float64
	// reason says why there is a ceiling; "" when there is none.
	reason string
	// alone means that the rules decide and no model is asked.
	alone bool
}

// boundOf finds the bound of a call that the rules rated v and the model would
// be shown as b. The package comment lists the cases.
func boundOf(c *memoryd.Call, b brief, v rules.Result) bound {
	switch {
	case addressesJudge(b):
		ceiling := memoryd.ScorePartial
		if v.Sure {
			ceiling = v.Score
		}
		return bound{ceiling, "the call's text addresses the judge", true}
	case rules.IsBlank(strings.TrimSpace(c.Output)):
		return bound{v.Score, "the output is empty", true}
	case v.Sure && v.Score < memoryd.ScoreSuccess:
		return bound{v.Score, "the rules are sure", false}
	case !v.Sure && saysNothing(c.Output):
		return bound{memoryd.ScorePartial, "the output says almost nothing", true}
	case !c.Success:
		return bound{memoryd.ScorePartial, "the caller reported a failure", false}
	}
	return bound{ceiling: memoryd.ScoreSuccess}
}

// apply gives the model's evaluation if it stays within the bound, else the
// rules' one, brought within it.
func (b bound) apply(model, ruled memoryd.Evaluation) (e memoryd.Evaluation, bounded bool) {
	if model.Score <= b.ceiling {
		return model, false
	}
	e = b.lower(ruled)
	e.Evaluation = textsafe.Line(e.Evaluation+" A model's higher score was reduced: "+b.reason+".", maxEvaluation)
	return e, true
}

// lower brings the rules' own evaluation within the bound.
func (b bound) lower(ruled memoryd.Evaluation) memoryd.Evaluation {
	if ruled.Score > b.ceiling {
		ruled.Score = b.ceiling
		ruled.Evaluation = textsafe.Line(ruled.Evaluation+" The score is limited: "+b.reason+".", maxEvaluation)
	}
	return ruled
}

// saysNothing reports outputs that models are known to reward although they say
// nothing: punctuation alone, and the opening phrases that "One Token to Fool
// LLM-as-a-Judge" (arXiv 2507.08794) calls master keys.
func saysNothing(output string) bool {
	s := strings.TrimSpace(output)
	if len(s) > 200 { // a page of dashes or zero bytes is something
		return false
	}
	switch strings.ToLower(strings.TrimFunc(s, func(r rune) bool { return !unicode.In(r, unicode.Letter, unicode.Digit) })) {
	case "", "thought process", "solution", "answer", "final answer", "reasoning", "explanation", "output", "response", "result",
		"let's solve this problem step by step", "let’s solve this problem step by step", "let's think step by step",
		"solución", "lösung", "解", "解答", "答案", "かいせつ":
		return true
	}
	return false
}

// Signs that a text speaks to the judge. One alone is common in honest text;
// see addressesJudge.
var (
	signOverride = regexp.MustCompile(`\b(?:ignore|disregard|forget|override|bypass)\b(?:\W+\w+){0,4}?\W+(?:above|previous|prior|preceding|earlier|before|instructions?|rules?|guidelines?|criteria|prompt)\b`)
	signNaming   = regexp.MustCompile(`\b(?:evaluator|judge|grader|reviewer|language model|llm|ai (?:model|assistant)|assistant)s?\b ?[:,!]|` +
		`\b(?:dear|note to|attention|message to|instructions? (?:to|for)|as) (?:an? |the |all )?(?:evaluator|judge|grader|reviewer|llm|ai)\b|` +
		`\bsystem (?:note|message|prompt|override|update)\b|\byou are (?:an?|the|now) (?:\w+ )?(?:judge|evaluator|grader)\b`)
	signScore = regexp.MustCompile(`\b(?:scored?|scores|rate|rated|rating|grade|graded|mark|evaluate|evaluation|judge)\b(?:\W+\w+){0,6}?\W+(?:1\.0|0\.5|0\.0|[01]|10/10|100|full|maximum|perfect|highest|lowest|success(?:ful)?|fail(?:ed|ure)?)\b|` +
		`\b(?:assign|give|return|award|set)\b(?:\W+\w+){0,6}?\W+(?:scores?|ratings?|grade|marks?)\b|` +
		`\bcall (?:was|is|should be|must be)(?: \w+){0,3}? (?:perfect|successful|a success|flawless|correct)\b`)
	signForged = regexp.MustCompile(`"score" ?: ?"?(?:0|1|0\.5|0\.0|1\.0)\b`)
	signFields = regexp.MustCompile(`"(?:failed_checks|evaluation|verdicts)" ?:`)
	signMarks  = regexp.MustCompile(`(?:^|[^<])<<<(?:data|end) \w+>>>`)
)

// addressesJudge reports text that tries to set its own evaluation: an order about
// scores together with an address or a call to forget the rules, a forged answer
// in our own format, or our own marks. It looks at what the model would see. It
// is a hint that spares a model call, not the defence: that is the bound, the
// closed schema and the envelope, which hold for text that no pattern knows.
func addressesJudge(b brief) bool {
	in, _ := b.Input.MarshalJSON()
	return textAddressesJudge(string(in)) || textAddressesJudge(b.Output.Head+"\n"+b.Output.Tail)
}

func textAddressesJudge(s string) bool {
	s = strings.ToLower(textsafe.Visible(s))
	return slices.ContainsFunc(addresses[:], func(signs []*regexp.Regexp) bool {
		return !slices.ContainsFunc(signs, func(sign *regexp.Regexp) bool { return !sign.MatchString(s) })
	})
}

// addresses are the signs that, all of one row together, show that a text speaks to the judge.
var addresses = [...][]*regexp.Regexp{
	{signScore, signOverride},
	{signScore, signNaming},
	{signForged, signFields},
	{signMarks},
}

// errForeign is an evaluation that tells of another call. Its text goes back to the
// model, so it holds nothing of the reply.
var errForeign = errors.New("the answer repeats text of another call")

// How much of another call's text an evaluation may repeat, in bytes: a piece that
// begins at every so many bytes of the evaluation is looked for, so that nothing of
// leakPiece + leakStep bytes gets through.
const (
	leakPiece = 32
	leakStep  = 8
)

// leaks reports whether an evaluation repeats, word for word, text that its own call
// does not hold but an earlier one of the tool does that stood in the same request. A model
// that obeys a tool's output would write such text.
func leaks(v answer, own string, earlier []example) bool {
	foreign := make([]string, len(earlier))
	for i, e := range earlier {
		foreign[i] = e.text()
	}
	for _, said := range []string{plain(v.summary), plain(v.evaluation)} {
		for i := 0; i+leakPiece <= len(said); i += leakStep {
			piece := said[i : i+leakPiece]
			if strings.Contains(own, piece) {
				continue
			}
			for _, text := range foreign {
				if strings.Contains(text, piece) {
					return true
				}
			}
		}
	}
	return false
}

// plain makes texts comparable: as an evaluation's text is cleaned, in lower case.
func plain(s string) string { return strings.ToLower(textsafe.Visible(s)) }

// text is what a model may quote of a call.
func (b brief) text() string {
	parts := []string{b.Output.Head, b.Output.Tail}
	for _, m := range []json.Marshaler{b.Input, b.Tool, b.Task} {
		if e, ok := m.(excerpt); ok {
			parts = append(parts, e.Head, e.Tail)
		}
		if m != nil {
			raw, _ := m.MarshalJSON() // it was encoded when the request was made
			parts = append(parts, string(raw))
		}
	}
	return plain(strings.Join(parts, " \n"))
}

func (e example) text() string {
	return plain(strings.Join([]string{e.Input.Head, e.Input.Tail, e.Output.Head, e.Output.Tail}, " \n"))
}
