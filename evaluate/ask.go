package evaluate

import (
	"context"
	"errors"
	"regexp"
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
