package evaluate_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"memoryd"
	"memoryd/evaluate"
)

func scored(by string, score float64) memoryd.Evaluation {
	return memoryd.Evaluation{State: memoryd.Judged, Score: score, JudgedBy: by}
}

func TestAgreementIsCounted(t *testing.T) {
	a := evaluate.NewAgreement(slog.New(slog.DiscardHandler))
	for i, score := range []float64{1, 1, 0.5, 0} {
		a.Judged(scored("llm:m", score), scored("rules", []float64{1, 0, 0.5, 0.5}[i]))
	}
	a.Judged(scored("rules", 1), scored("rules", 1)) // they agree with themselves
	a.Judged(scored("llm:m", 1), memoryd.Evaluation{})
	a.Overruled(scored("llm:m", 1), scored("person:a", 0))
	a.Overruled(scored("person:a", 1), scored("person:b", 0)) // is no judge's
	if n := a.Counts(); n.Agreed["rules"] != 2 || n.Differed["rules"] != 2 || n.Agreed["people"] != 0 || n.Differed["people"] != 1 {
		t.Errorf("%v", n)
	}
}

func TestAJudgeThatAgreesLessIsNoticedOnce(t *testing.T) {
	var log bytes.Buffer
	a := evaluate.NewAgreement(slog.New(slog.NewTextHandler(&log, nil)))
	feed := func(n, agreeing int) int {
		for i := range n {
			a.Judged(scored("llm:m", 1), scored("rules", map[bool]float64{true: 1}[i%10 < agreeing]))
		}
		return strings.Count(log.String(), "agrees less")
	}
	if n := feed(1000, 9); n != 0 {
		t.Fatalf("a steady judge was warned of %d times", n)
	}
	if n := feed(1000, 5); n != 1 {
		t.Fatalf("a drop was told %d times, want 1", n)
	}
	feed(1000, 9)
	if n := feed(1000, 5); n != 2 {
		t.Errorf("a second drop was not told: %d", n)
	}
}
