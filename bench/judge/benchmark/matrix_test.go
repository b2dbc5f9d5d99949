package benchmark

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// near compares a figure with one computed by hand; NaN stands for none.
func near(t *testing.T, what string, got *float64, want float64) {
	t.Helper()
	switch {
	case got == nil && !math.IsNaN(want):
		t.Errorf("%s: no value, want %v", what, want)
	case got != nil && (math.IsNaN(want) || math.Abs(*got-want) > 5e-5):
		t.Errorf("%s: %v, want %v", what, *got, want)
	}
}

func TestFiguresOfMatricesWorkedOutByHand(t *testing.T) {
	nan := math.NaN()
	tests := map[string]struct {
		m        Matrix
		unjudged int // errors without evaluation

		precision, recall, f1 float64
		level, errorOrNot     float64
		kappa, errorKappa     float64
	}{
		"nothing": {
			precision: nan, recall: nan, f1: nan, level: nan, errorOrNot: nan, kappa: nan, errorKappa: nan,
		},
		"some of each": {
			m:         Matrix{{8, 1, 1}, {0, 4, 0}, {1, 0, 5}},
			precision: 8.0 / 9, recall: 8.0 / 10, f1: 16.0 / 19,
			level: 17.0 / 20, errorOrNot: 17.0 / 20,
			// 3 levels: pe = (10*9 + 4*5 + 6*6)/400 = 0.365, kappa = 0.485/0.635.
			kappa: 0.763780,
			// two: pe = (10*9 + 10*11)/400 = 0.5, kappa = 0.35/0.5.
			errorKappa: 0.7,
		},
		"errors without verdict count against recall only": {
			m: Matrix{{8, 1, 1}, {0, 4, 0}, {1, 0, 5}}, unjudged: 6,
			precision: 8.0 / 9, recall: 8.0 / 16, f1: 16.0 / 25,
			level: 17.0 / 20, errorOrNot: 17.0 / 20, kappa: 0.763780, errorKappa: 0.7,
		},
		"always right": {
			m:         Matrix{{3, 0, 0}, {0, 2, 0}, {0, 0, 5}},
			precision: 1, recall: 1, f1: 1, level: 1, errorOrNot: 1, kappa: 1, errorKappa: 1,
		},
		"no error and none found": {
			m:         Matrix{{}, {0, 2, 0}, {0, 1, 7}},
			precision: nan, recall: nan, f1: nan, level: 0.9, errorOrNot: 1,
			// pe = (2*3 + 8*7)/100 = 0.62, kappa = 0.28/0.38.
			kappa: 0.736842, errorKappa: nan,
		},
		"as good as chance": {
			m:         Matrix{{4, 0, 4}, {}, {4, 0, 4}},
			precision: 0.5, recall: 0.5, f1: 0.5, level: 0.5, errorOrNot: 0.5, kappa: 0, errorKappa: 0,
		},
		"always wrong": {
			m:         Matrix{{0, 0, 5}, {}, {5, 0, 0}},
			precision: 0, recall: 0, f1: 0, level: 0, errorOrNot: 0, kappa: -1, errorKappa: -1,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			near(t, "precision", tc.m.Precision().Value, tc.precision)
			near(t, "recall", tc.m.Recall(tc.unjudged).Value, tc.recall)
			near(t, "F1", tc.m.F1(tc.unjudged).Value, tc.f1)
			near(t, "agreement on the level", tc.m.Agreement().Value, tc.level)
			near(t, "agreement on error or not", tc.m.ErrorAgreement().Value, tc.errorOrNot)
			near(t, "kappa", tc.m.Kappa().Value, tc.kappa)
			near(t, "kappa of error or not", tc.m.ErrorKappa().Value, tc.errorKappa)
		})
	}
}

// The example of Fleiss, Levin and Paik, "Statistical Methods for Rates and
// Proportions", table 18.1: 100 subjects, three diagnoses, two raters; the book
// gives kappa .68. With po = 89/100, whose interval by Wilson is 0.813687 to
// 0.937458, and pe = 0.66 the digits beyond follow.
func TestKappaAgreesWithAPublishedExample(t *testing.T) {
	m := Matrix{{75, 1, 4}, {5, 4, 1}, {0, 0, 10}}
	k := m.Kappa()
	near(t, "kappa", k.Value, 0.676471)
	near(t, "low", &k.CI95[0], 0.452021)
	near(t, "high", &k.CI95[1], 0.816053)
	if k.N != 100 {
		t.Errorf("n is %d", k.N)
	}
}

// F* of 8 in 11 has Wilson's interval 0.43436 to 0.90255, which F1 = 2F/(1+F)
// turns into 0.60564 to 0.94878.
func TestTheIntervalOfF1IsThatOfTheShareBehindIt(t *testing.T) {
	m := Matrix{{8, 1, 1}, {0, 4, 0}, {1, 0, 5}}
	f1 := m.F1(0)
	near(t, "low", &f1.CI95[0], 0.60564)
	near(t, "high", &f1.CI95[1], 0.94878)
	if f1.N != 11 {
		t.Errorf("n is %d", f1.N)
	}
}

func TestFiguresStayWithinTheirBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m Matrix
		for gold := range m {
			for score := range m[gold] {
				m[gold][score] = rapid.IntRange(0, 50).Draw(t, "count")
			}
		}
		unjudged := rapid.IntRange(0, 20).Draw(t, "unjudged")
		for _, s := range []Share{m.Precision(), m.Recall(unjudged), m.Agreement(), m.ErrorAgreement()} {
			if s.K < 0 || s.K > s.N || (s.Value == nil) != (s.N == 0) {
				t.Fatalf("a share of %d in %d, value %v", s.K, s.N, s.Value)
			}
		}
		for _, e := range []Estimate{m.F1(unjudged), m.Kappa(), m.ErrorKappa()} {
			if e.Value != nil && (e.CI95[0] > *e.Value || e.CI95[1] < *e.Value || *e.Value > 1+1e-12 || *e.Value < -1-1e-12) {
				t.Fatalf("%v is not within %v", *e.Value, *e.CI95)
			}
		}
		if p, r, f := m.Precision(), m.Recall(unjudged), m.F1(unjudged); p.K > 0 {
			if harmonic := 2 * *p.Value * *r.Value / (*p.Value + *r.Value); math.Abs(harmonic-*f.Value) > 1e-12 {
				t.Fatalf("F1 is %v, the harmonic mean %v", *f.Value, harmonic)
			}
		}
	})
}
