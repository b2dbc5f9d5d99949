package evaluate_test

import (
	"testing"

	"memoryd"
	"memoryd/evaluate"
)

func scored(by string, score float64) memoryd.Evaluation {
	return memoryd.Evaluation{State: memoryd.Judged, Score: score, JudgedBy: by}
}

func TestAgreementIsCounted(t *testing.T) {
	a := evaluate.NewAgreement()
	for i, score := range []float64{1, 1, 0.5, 0} {
		a.Judged(scored("llm:m", score), scored("rules", []float64{1, 0, 0.5, 0.5}[i]))
	}
	a.Judged(scored("rules", 1), scored("rules", 1)) // they agree with themselves
	a.Judged(scored("llm:m", 1), memoryd.Evaluation{})
	a.Overruled(scored("llm:m", 1), scored("person:a", 0))
	a.Overruled(scored("person:a", 1), scored("person:b", 0)) // is no judge's
	agreed, differed := a.Counts()
	if agreed["rules"] != 2 || differed["rules"] != 2 || agreed["people"] != 0 || differed["people"] != 1 {
		t.Errorf("agreed %v, differed %v", agreed, differed)
	}
}
