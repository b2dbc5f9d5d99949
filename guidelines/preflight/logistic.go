package preflight

import "math"

// fitted is a logistic regression.
type fitted struct {
	level   float64
	weights []float64
}

// ridge is the strength of the penalty on squared weights.
const ridge = 1

// fitLogistic minimises the logistic loss with a ridge on the weights by Newton's
// method; few columns. Without rows it is the level alone.
func fitLogistic(rows [][]float64, bad []bool) fitted {
	columns := 0
	if len(rows) > 0 {
		columns = len(rows[0])
	}
	f := fitted{weights: make([]float64, columns)}
	var failed, all float64
	for _, b := range bad {
		all++
		if b {
			failed++
		}
	}
	f.level = logit((failed + 0.5) / (all + 1))
	for range 12 {
		if columns == 0 || !f.step(rows, bad) {
			break
		}
	}
	return f
}

// step makes one step of Newton's method; false when it led nowhere any more.
func (f *fitted) step(rows [][]float64, bad []bool) bool {
	n := len(f.weights) + 1
	var gradient [scores + 1]float64
	var hessian [scores + 1][scores + 1]float64
	hessian[0][0] = 1e-6
	for k, w := range f.weights {
		gradient[k+1], hessian[k+1][k+1] = ridge*w, ridge
	}
	x := [scores + 1]float64{0: 1}
	for i, row := range rows {
		copy(x[1:], row)
		p := logistic(f.z(row))
		off, curve := p, p*(1-p)
		if bad[i] {
			off--
		}
		for a := range n {
			gradient[a] += off * x[a]
			for b := range n {
				hessian[a][b] += curve * x[a] * x[b]
			}
		}
	}
	solve(&hessian, &gradient, n)
	f.level -= gradient[0]
	moved := math.Abs(gradient[0])
	for k := range f.weights {
		f.weights[k] -= gradient[k+1]
		moved += math.Abs(gradient[k+1])
	}
	return moved > 1e-6
}

// solve solves a small positive definite system by elimination; the answer stands
// in v.
func solve(m *[scores + 1][scores + 1]float64, v *[scores + 1]float64, n int) {
	for a := range n {
		for b := a + 1; b < n; b++ {
			factor := m[b][a] / m[a][a]
			for c := a; c < n; c++ {
				m[b][c] -= factor * m[a][c]
			}
			v[b] -= factor * v[a]
		}
	}
	for a := n - 1; a >= 0; a-- {
		for b := a + 1; b < n; b++ {
			v[a] -= m[a][b] * v[b]
		}
		v[a] /= m[a][a]
	}
}

func (f *fitted) z(row []float64) float64 {
	z := f.level
	for k, w := range f.weights {
		z += w * row[k]
	}
	return z
}

// losses are the logistic losses of calls.
func losses(f fitted, rows [][]float64, bad []bool) []float64 {
	out := make([]float64, len(bad))
	for i := range bad {
		z := f.level
		if rows != nil {
			z = f.z(rows[i])
		}
		if bad[i] {
			z = -z
		}
		out[i] = max(z, 0) + math.Log1p(math.Exp(-math.Abs(z)))
	}
	return out
}

func square(x float64) float64 { return x * x }

func logit(p float64) float64 { return math.Log(p / (1 - p)) }

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
