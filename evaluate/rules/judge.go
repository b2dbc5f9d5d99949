package rules

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"

	"memoryd"
	"memoryd/evaluate/score"
	"memoryd/internal/reading"
)

// ruleSet changes with every change to what the rules decide.
const ruleSet = "26"

// Judge judges calls. It is immutable and safe for concurrent use.
type Judge struct {
	version string
	rules   []rule
	model   *score.Model
	pool    *sync.Pool // of *scratch
}

// Result is the verdict of the rules on a call.
type Result struct {
	memoryd.Evaluation
	// Sure reports that the rules are expected to be right in at least 99 of 100 cases, so
	// that asking a model would not pay.
	Sure bool
	// Fact reports that the call itself reports its outcome, by a flag or by the exit status
	// of a process. No verdict on outputs of its kind overrides that.
	Fact  bool
	Doubt Doubt
}

// New returns a judge.
func New() *Judge {
	sum := sha256.New()
	fmt.Fprintf(sum, "%s %s", ruleSet, score.Version())
	rules := catalogue()
	for _, r := range rules {
		fmt.Fprintf(sum, " %s", r.name)
	}
	version := "rules-" + hex.EncodeToString(sum.Sum(nil)[:6])
	return &Judge{
		version: version, rules: rules, model: score.Default(),
		pool: &sync.Pool{New: func() any { return &scratch{shell: shellProgram{parser: newShellParser()}} }},
	}
}

// Version identifies the set of rules: judges with equal versions agree on equal calls and
// profiles.
func (j *Judge) Version() string { return j.version }

// With returns a judge with another learned score.
func (j *Judge) With(m *score.Model) *Judge {
	other := *j
	other.model = m
	return &other
}

// Features fills in the features of a call for the learned score.
func (j *Judge) Features(c *memoryd.Call, f *score.Features) {
	r := reading.Read(c.Input, c.Output)
	defer r.Release()
	v := newView(j, c, r, nil)
	defer v.release()
	v.readFeatures(f)
}

// Judge judges c. The profile describes the tool's earlier calls; nil means nothing is known.
// Neither is changed. The caller sets the time of the evaluation.
func (j *Judge) Judge(c *memoryd.Call, p *Profile) Result {
	r := reading.Read(c.Input, c.Output)
	defer r.Release()
	return j.JudgeRead(c, r, p)
}

// JudgeRead is Judge for a call that was read.
func (j *Judge) JudgeRead(c *memoryd.Call, r *reading.Reading, p *Profile) Result {
	v := newView(j, c, r, p)
	defer v.release()
	return j.result(v, decide(v))
}

func (j *Judge) result(v *view, f finding) Result {
	said := f.said(v)
	e := memoryd.Evaluation{
		State: memoryd.Judged, Score: f.score, Summary: summaryOf(v, f, said), Evaluation: evaluationOf(v, f, said),
		JudgedBy: memoryd.JudgedByRules, Rule: f.rule, JudgeVersion: j.version,
	}
	return Result{Evaluation: e, Sure: f.sure, Fact: e.Reported(), Doubt: v.doubt}
}
