package preflight

import "math"

// example is an input with its outcome and its weight among the examples.
type example struct {
	x      []entry
	bad    float64 // from 0 to 1
	weight float64
}

// regression is a logistic regression: the log odds of failure are
// bias + weights·x.
type regression struct {
	weights []float64
	bias    float64
}

// penalty is the strength of the ridge, half of which times the squared length
// of the weights is added to the loss.
const penalty = 0.2

const (
	newtonSteps   = 8
	gradientSteps = 20
)

// fit minimises the weighted logistic loss with a ridge by Newton's method, each
// step solved by conjugate gradients (Lin, Weng and Keerthi, "Trust region Newton
// method for large-scale logistic regression", JMLR 9, 2008, without the trust
// region, which the ridge and vectors of length 1 make unnecessary; a step that
// does not lower the loss is halved).
func fit(xs []example, size int) regression {
	f := fitter{xs: xs, size: size, at: make([]float64, size+1)}
	var bad, all float64
	for _, e := range xs {
		bad += e.bad * e.weight
		all += e.weight
	}
	f.at[size] = logit((bad + 0.5) / (all + 1))
	loss := f.loss(f.at)
	for range newtonSteps {
		step := f.step()
		next := make([]float64, size+1)
		better := false
		for scale := 1.0; scale > 0.05 && !better; scale /= 2 {
			for i := range next {
				next[i] = f.at[i] - scale*step[i]
			}
			if l := f.loss(next); l < loss {
				better = true
				if loss-l < 1e-6*loss {
					return regression{next[:size], next[size]}
				}
				loss = l
			}
		}
		if !better {
			break
		}
		f.at = next
	}
	return regression{f.at[:size], f.at[size]}
}

func (r *regression) of(x []entry) float64 { return r.bias + dot(x, r.weights) }

// fitter works on a point that holds the weights and, last, the bias.
type fitter struct {
	xs   []example
	size int
	at   []float64
}

func (f *fitter) loss(at []float64) float64 {
	var sum float64
	for _, w := range at[:f.size] {
		sum += penalty / 2 * w * w
	}
	for _, e := range f.xs {
		z := at[f.size] + dot(e.x, at)
		sum += e.weight * (max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))) - e.bad*z)
	}
	return sum
}

// step solves Hessian·s = gradient.
func (f *fitter) step() []float64 {
	gradient := make([]float64, f.size+1)
	curve := make([]float64, len(f.xs))
	for i, w := range f.at[:f.size] {
		gradient[i] = penalty * w
	}
	for i, e := range f.xs {
		p := logistic(f.at[f.size] + dot(e.x, f.at))
		curve[i] = e.weight * max(p*(1-p), 1e-6)
		f.spread(gradient, e.x, e.weight*(p-e.bad))
	}
	s := make([]float64, f.size+1)
	rest, direction := gradient, append([]float64(nil), gradient...)
	norm := square(rest)
	enough := 1e-6 * norm
	for n := 0; n < gradientSteps && norm > enough; n++ {
		h := f.hessian(curve, direction)
		var along float64
		for i := range h {
			along += h[i] * direction[i]
		}
		if along <= 0 {
			break
		}
		a, old := norm/along, norm
		for i := range s {
			s[i] += a * direction[i]
			rest[i] -= a * h[i]
		}
		norm = square(rest)
		for i := range direction {
			direction[i] = rest[i] + norm/old*direction[i]
		}
	}
	return s
}

// hessian multiplies the Hessian with d.
func (f *fitter) hessian(curve, d []float64) []float64 {
	h := make([]float64, f.size+1)
	for i, v := range d[:f.size] {
		h[i] = penalty * v
	}
	for i, e := range f.xs {
		f.spread(h, e.x, curve[i]*(d[f.size]+dot(e.x, d)))
	}
	return h
}

// spread adds by times the example to a point.
func (f *fitter) spread(point []float64, x []entry, by float64) {
	for _, e := range x {
		point[e.feature] += by * e.weight
	}
	point[f.size] += by
}

func square(v []float64) float64 {
	var sum float64
	for _, x := range v {
		sum += x * x
	}
	return sum
}
