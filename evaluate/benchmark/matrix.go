package benchmark

import "memoryd/internal/stats"

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

// labels is how many calls have the label.
func (m *Matrix) labels(gold Level) (n int) {
	for _, count := range m[gold] {
		n += count
	}
	return n
}

// scores is how many calls have the score.
func (m *Matrix) scores(score Level) (n int) {
	for gold := range m {
		n += m[gold][score]
	}
	return n
}

// Precision is the share of scores of 0.0 that stand at a call labelled error.
func (m *Matrix) Precision() Share { return shareOf(m[Error][Error], m.scores(Error)) }

// Recall is the share of the calls labelled error that got 0.0; unjudged is how
// many of them got no evaluation at all.
func (m *Matrix) Recall(unjudged int) Share {
	return shareOf(m[Error][Error], m.labels(Error)+unjudged)
}

// F1 is the harmonic mean of Precision and Recall, with n = TP + FP + FN.
func (m *Matrix) F1(unjudged int) Estimate {
	tp := m[Error][Error]
	n := m.labels(Error) + unjudged + m.scores(Error) - tp
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
	return shareOf(m.N()-m.labels(Error)-m.scores(Error)+2*m[Error][Error], m.N())
}

// Kappa is Cohen's kappa over the three levels.
func (m *Matrix) Kappa() Estimate {
	return kappa([][]int{m[0][:], m[1][:], m[2][:]})
}

// ErrorKappa is Cohen's kappa over error and not an error.
func (m *Matrix) ErrorKappa() Estimate {
	hit := m[Error][Error]
	missed, wrong := m.labels(Error)-hit, m.scores(Error)-hit
	return kappa([][]int{{hit, missed}, {wrong, m.N() - hit - missed - wrong}})
}
