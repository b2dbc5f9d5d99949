package monitor

import (
	"cmp"
	"slices"

	"memoryd"
	"memoryd/internal/stats"
)

// Judge is what is known of one judge.
type Judge struct {
	Version string `json:"version"`
	// Name is the judge as Evaluation.JudgedBy names it.
	Name string `json:"name"`
	// Evaluations counts its evaluations, Scores by score ("0.0", "0.5", "1.0"), Recent
	// those of the newest window.
	Verdicts int64            `json:"verdicts"`
	Scores   map[string]int64 `json:"scores"`
	Recent   map[string]int64 `json:"recent"`
	// AgreementRules compares a model with what the rules said of the same calls;
	// it is empty for the rules. AgreementPeople counts what people looked at.
	AgreementRules  Agreement `json:"agreement_rules"`
	AgreementPeople Agreement `json:"agreement_people"`
	Warnings        []string  `json:"warnings"`
	// Tools are those with the most evaluations, the most first.
	Tools []ToolScores `json:"tools"`
}

// Agreement is how often a judge gave the score that another gave.
type Agreement struct {
	N     int64 `json:"n"`
	Agree int64 `json:"agree"`
	// Rate is Agree of N with Wilson's 95 % interval; 0 and nil when N is 0.
	Rate float64         `json:"rate"`
	CI95 *stats.Interval `json:"ci95"`
}

// ToolScores is how a judge's scores for one tool are spread.
type ToolScores struct {
	Workspace string           `json:"workspace"`
	Tool      string           `json:"tool"`
	Scores    map[string]int64 `json:"scores"`
}

// maxReported bounds the tools in a report, for each judge.
const maxReported = 50

// Report gives all judges, in the order of version and name.
func (w *Monitor) Report() []Judge {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make([]Judge, 0, len(w.judges))
	for id, j := range w.judges {
		r := Judge{
			Version: id.version, Name: id.name, Verdicts: j.scores.sum(), Scores: j.scores.named(),
			AgreementRules: j.withRules.all.report(), AgreementPeople: j.withPeople.all.report(),
			Warnings: []string{}, Tools: j.report(),
		}
		var recent levels
		for _, level := range j.recent.values {
			recent[level]++
		}
		r.Recent = recent.named()
		for _, topic := range []string{"scores", "rules", "people"} {
			if warning := j.warnings[topic]; warning != "" {
				r.Warnings = append(r.Warnings, warning)
			}
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b Judge) int {
		return cmp.Or(cmp.Compare(a.Version, b.Version), cmp.Compare(a.Name, b.Name))
	})
	return all
}

func (t *agreements) report() Agreement {
	a := Agreement{N: int64(t.n), Agree: int64(t.agree)}
	if t.n > 0 {
		a.Rate, a.CI95 = t.rate(), stats.Wilson(t.agree, t.n)
	}
	return a
}

// report gives the tools with the most evaluations.
func (j *judge) report() []ToolScores {
	refs := make([]memoryd.ToolRef, 0, len(j.tools))
	for ref := range j.tools {
		refs = append(refs, ref)
	}
	slices.SortFunc(refs, func(a, b memoryd.ToolRef) int {
		return cmp.Or(
			cmp.Compare(j.tools[b].sum(), j.tools[a].sum()),
			cmp.Compare(a.Workspace, b.Workspace), cmp.Compare(a.Tool, b.Tool),
		)
	})
	refs = refs[:min(len(refs), maxReported)]
	list := make([]ToolScores, len(refs))
	for i, ref := range refs {
		list[i] = ToolScores{ref.Workspace, ref.Tool, j.tools[ref].named()}
	}
	return list
}
