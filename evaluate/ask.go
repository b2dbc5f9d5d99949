package evaluate

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"

	"memoryd"
	"memoryd/internal/textsafe"
)

// unusable is an answer that came but could not be read. Its text is ours.
type unusable struct{ err error }

func (u *unusable) Error() string { return u.err.Error() }
func (u *unusable) Unwrap() error { return u.err }

// askModel asks the model about one call: again with much less of the call if it
// was too long, and again with the reason if the answer was of no use, each once.
// An answer that told of an earlier call is asked for again without those.
func (d *Evaluator) askModel(ctx context.Context, j *job, examples []example) outcome {
	b, remark, shrunk := j.brief, "", false
	for {
		e, err := d.request(ctx, j, b, examples, remark)
		unread, isUnread := errors.AsType[*unusable](err)
		switch {
		case err == nil:
			return outcome{j: j, known: known{e: e}}
		case isUnread && remark == "":
			remark = wantSingle(unread.err)
			if errors.Is(err, errForeign) {
				examples = nil
			}
			d.counters.count(func(s *Stats) { s.Reasked++ })
		case isUnread:
			return outcome{j: j, err: &memoryd.ModelError{Reason: reasonBadReply, Temporary: true, Err: unread}}
		case reasonOf(err) == reasonTooLong && !shrunk:
			b, examples, shrunk = b.shrunk(), nil, true
		default:
			return outcome{j: j, err: err}
		}
	}
}

// request makes one request about one call.
func (d *Evaluator) request(ctx context.Context, j *job, b brief, examples []example, remark string) (memoryd.Evaluation, error) {
	p, nonce := request(d.prompt, j.ref, examples, b, remark)
	c, err := d.complete(ctx, p, j)
	if err != nil {
		return memoryd.Evaluation{}, err
	}
	v, used, err := readReply(c.Text, nonce)
	if err == nil && leaks(v, b.text(), examples) {
		err = errForeign
	}
	if err != nil {
		return memoryd.Evaluation{}, &unusable{err}
	}
	d.counters.repaired(used)
	return d.evaluation(v, c.Model), nil
}

// complete sends a request and counts it. One that the budget refuses was none.
func (d *Evaluator) complete(ctx context.Context, p memoryd.Prompt, j *job) (memoryd.Completion, error) {
	ctx, cancel := context.WithTimeout(onBehalf{ctx, j.from}, d.cfg.RequestTimeout)
	defer cancel()
	c, err := d.model.Complete(ctx, p) //nolint:contextcheck // it is ctx, with values of another
	if reasonOf(err) == reasonBudget {
		return c, err
	}
	d.counters.request(c.Usage)
	j.spent = j.spent.Add(costOf(c.Usage))
	if err == nil {
		d.health.well(d.log)
	}
	return c, err
}

// onBehalf is a worker's context with the values of the request that brought the
// work. Only the worker's end ends it.
type onBehalf struct {
	context.Context
	from context.Context
}

// Value implements context.Context.
func (c onBehalf) Value(key any) any {
	if v := c.Context.Value(key); v != nil || c.from == nil {
		return v
	}
	return c.from.Value(key)
}

// evaluation is an evaluation as it is stored.
func (d *Evaluator) evaluation(v answer, model string) memoryd.Evaluation {
	if v.summary == "" {
		v.summary = plainSummary(v.score)
	}
	if v.evaluation == "" {
		v.evaluation = "The model gave no reason."
	}
	return memoryd.Evaluation{
		State: memoryd.Judged, Score: v.score,
		Summary: v.summary, Evaluation: v.evaluation, FailedChecks: strings.Join(v.failedChecks, " "),
		JudgedBy: "llm:" + d.modelName(model), JudgeVersion: d.version, JudgedAt: d.now(),
	}
}

func plainSummary(score float64) string {
	switch score {
	case memoryd.ScoreSuccess:
		return "The call succeeded."
	case memoryd.ScorePartial:
		return "The call succeeded in part."
	}
	return "The call failed."
}

// modelName is the name of the model that answered: the configured one, also
// where the server adds a date or a path to it; else the one that the server
// names, such as a fallback.
func (d *Evaluator) modelName(answered string) string {
	asked := d.model.Name()
	answered = textsafe.Line(answered, 100)
	switch {
	case answered == "", dated.MatchString(strings.TrimPrefix(answered, asked)),
		strings.HasSuffix(answered, "/"+asked), strings.HasSuffix(asked, "/"+answered):
		return asked
	}
	return answered
}

// dated is what servers add to the name of a model.
var dated = regexp.MustCompile(`^(?:$|[:@]|-20)`)

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
			repeats := func(text string) bool { return strings.Contains(text, piece) }
			if !repeats(own) && slices.ContainsFunc(foreign, repeats) {
				return true
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
