package rules

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"

	"memoryd"
)

// ruleSet changes with every change to what the rules decide.
const ruleSet = "2"

// Judge rates calls. It is immutable and safe for concurrent use.
type Judge struct {
	cfg     Config
	version string
	rules   []rule
	texts   []textRule
	pool    *sync.Pool // of *scratch
}

// Verdict is what the rules say of a call.
type Result struct {
	memoryd.Evaluation
	// Sure is true where the rules are expected to be right in at least 99 of
	// 100 cases, so that asking a model would not pay.
	Sure bool
}

// New makes a judge. The configuration is expected to be valid; see
// Config.Validate.
func New(cfg Config) *Judge {
	sum := sha256.New()
	fmt.Fprintf(sum, "%s %+v", ruleSet, cfg)
	rules := catalogue()
	for _, r := range rules {
		fmt.Fprintf(sum, " %s", r.name)
	}
	version := "rules-" + hex.EncodeToString(sum.Sum(nil)[:6])
	return &Judge{cfg: cfg, version: version, rules: rules, texts: textRules(), pool: &sync.Pool{New: func() any { return &scratch{shell: newShellParser()} }}}
}

// Version identifies the rule set and its settings: evaluations of judges with
// equal versions agree on equal calls and profiles.
func (j *Judge) Version() string { return j.version }

// Judge rates c. The profile holds what is known of the tool's earlier calls;
// nil means nothing. Neither is changed. The time of the evaluation is left to the
// caller.
func (j *Judge) Judge(c *memoryd.Call, p *Profile) Result {
	v := newView(j, c, p)
	defer v.release()
	return j.result(v, decide(v))
}

func (j *Judge) result(v *view, f finding) Result {
	return Result{
		Evaluation: memoryd.Evaluation{
			State:        memoryd.Judged,
			Score:        f.score,
			Summary:      summaryOf(v, f),
			Evaluation:   evaluationOf(v, f),
			JudgedBy:     memoryd.JudgedByRules,
			Rule:         f.rule,
			JudgeVersion: j.version,
		},
		Sure: f.sure,
	}
}
