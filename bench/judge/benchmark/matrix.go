package benchmark

import (
	"fmt"

	"memoryd"
	"memoryd/internal/stats"
)

// Matrix is a confusion table: its rows are labels, its columns scores.
type Matrix [levels][levels]int

// N is how many calls were counted.
func (m *Matrix) N() (n int) {
	for _, row := range m {
		for _, count := range row {
			n += count
		}
	}
	return n
}

// add counts all of o.
func (m *Matrix) add(o *Matrix) {
	for gold := range o {
		for score := range o[gold] {
			m[gold][score] += o[gold][score]
		}
	}
}

// labelled is how many calls have the label error.
func (m *Matrix) labelled() (n int) {
	for _, count := range m[Error] {
		n += count
	}
	return n
}

// scored is how many calls have the score of an error.
func (m *Matrix) scored() (n int) {
	for gold := range m {
		n += m[gold][Error]
	}
	return n
}

// Precision is the share of scores of 0.0 that stand at a call labelled error.
func (m *Matrix) Precision() Share { return shareOf(m[Error][Error], m.scored()) }

// Recall is the share of the calls labelled error that got 0.0; unjudged is how
// many of them got no evaluation at all.
func (m *Matrix) Recall(unjudged int) Share {
	return shareOf(m[Error][Error], m.labelled()+unjudged)
}

// F1 is the harmonic mean of Precision and Recall, with n = TP + FP + FN.
func (m *Matrix) F1(unjudged int) Estimate {
	tp := m[Error][Error]
	n := m.labelled() + unjudged + m.scored() - tp
	if n == 0 {
		return Estimate{}
	}
	f1 := func(star float64) float64 { return 2 * star / (1 + star) }
	ci := stats.Wilson(tp, n)
	return estimate(f1(float64(tp)/float64(n)), n, &stats.Interval{f1(ci[0]), f1(ci[1])})
}

// Agreement is the share of calls whose score has the label's level.
func (m *Matrix) Agreement() Share {
	return shareOf(m[Error][Error]+m[Partial][Partial]+m[OK][OK], m.N())
}

// ErrorAgreement is the share of calls for which label and score agree on
// whether the call is an error.
func (m *Matrix) ErrorAgreement() Share {
	return shareOf(m.N()-m.labelled()-m.scored()+2*m[Error][Error], m.N())
}

// Kappa is Cohen's kappa over the three levels.
func (m *Matrix) Kappa() Estimate {
	return kappa([][]int{m[0][:], m[1][:], m[2][:]})
}

// ErrorKappa is Cohen's kappa over error and not an error.
func (m *Matrix) ErrorKappa() Estimate {
	hit := m[Error][Error]
	missed, wrong := m.labelled()-hit, m.scored()-hit
	return kappa([][]int{{hit, missed}, {wrong, m.N() - hit - missed - wrong}})
}

// Level is one of the three levels of a call's outcome, as a label or as a
// score.
type Level int

// The levels, in the order of a Matrix.
const (
	Error   Level = iota // label error, score 0.0
	Partial              // label partial, score 0.5
	OK                   // label ok, score 1.0
)

// levels is how many there are.
const levels = 3

// String gives the label's word.
func (l Level) String() string { return [levels]string{"error", "partial", "ok"}[l] }

// score gives the score as it is written.
func (l Level) score() string { return [levels]string{"0.0", "0.5", "1.0"}[l] }

// LevelOf gives the level that a score stands for.
func LevelOf(score float64) Level {
	switch {
	case score <= memoryd.ScoreFailure:
		return Error
	case score < memoryd.ScoreSuccess:
		return Partial
	}
	return OK
}

// labelled reads a label; "" is none.
func labelled(word string) (l Level, known bool, err error) {
	for l := range Level(levels) {
		if l.String() == word {
			return l, true, nil
		}
	}
	if word == "" {
		return 0, false, nil
	}
	return 0, false, fmt.Errorf("metadata.gold: %q is none of ok, partial, error", word)
}

// kappa is Cohen's for a square table of counts, with the interval that the
// package comment describes. It has no value where nothing was counted or where
// both raters used a single level, the same one: then agreement by chance is
// certain.
func kappa(counts [][]int) Estimate {
	rows, cols := make([]int, len(counts)), make([]int, len(counts))
	n, same := 0, 0
	for i, row := range counts {
		for j, c := range row {
			rows[i] += c
			cols[j] += c
			n += c
		}
		same += row[i]
	}
	if n == 0 {
		return Estimate{}
	}
	total := float64(n)
	var chance float64
	for i := range counts {
		chance += float64(rows[i]) / total * (float64(cols[i]) / total)
	}
	if chance >= 1 {
		return Estimate{N: n}
	}
	beyond := func(agreement float64) float64 { return (agreement - chance) / (1 - chance) }
	ci := stats.Wilson(same, n)
	return estimate(beyond(float64(same)/total), n, &stats.Interval{beyond(ci[0]), beyond(ci[1])})
}

// Share is k of n with Wilson's 95 % interval. Without n it has no value.
type Share struct {
	Value *float64        `json:"value"` // 0 to 1; null where n is 0
	K     int             `json:"k"`
	N     int             `json:"n"`
	CI95  *stats.Interval `json:"ci95"`
}

func shareOf(k, n int) Share {
	s := Share{K: k, N: n, CI95: stats.Wilson(k, n)}
	if n > 0 {
		value := float64(k) / float64(n)
		s.Value = &value
	}
	return s
}

// Estimate is a figure over n calls with a 95 % interval, where it is defined.
type Estimate struct {
	Value *float64        `json:"value"`
	N     int             `json:"n"`
	CI95  *stats.Interval `json:"ci95"`
}

func estimate(value float64, n int, ci *stats.Interval) Estimate {
	return Estimate{Value: &value, N: n, CI95: ci}
}
