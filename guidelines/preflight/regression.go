package preflight

import (
	"math"
	"slices"
)

// examples are inputs with their outcomes, from 0 to 1, and their weights among
// the examples.
type examples struct {
	matrix
	bad    []float64
	weight []float64
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
func fit(xs examples, size int) regression {
	f := newFitter(xs, size)
	var bad, all float64
	for i, w := range xs.weight {
		bad += xs.bad[i] * w
		all += w
	}
	f.at[size] = logit((bad + 0.5) / (all + 1))
	loss := f.loss(f.at)
	f.sums, f.tried = f.tried, f.sums
	next := make([]float64, size+1)
	for range newtonSteps {
		step := f.step()
		better := false
		for scale := 1.0; scale > 0.05 && !better; scale /= 2 {
			for i := range next {
				next[i] = f.at[i] - scale*step[i]
			}
			if l := f.loss(next); l < loss {
				better = true
				if loss-l < 1e-6*loss {
					return regression{slices.Clone(next[:size]), next[size]}
				}
				loss = l
			}
		}
		if !better {
			break
		}
		f.at, next = next, f.at
		f.sums, f.tried = f.tried, f.sums
	}
	return regression{slices.Clone(f.at[:size]), f.at[size]}
}

func (r *regression) of(x vector) float64 { return r.bias + x.dot(r.weights) }

// fitter works on a point that holds the weights and, last, the bias.
type fitter struct {
	examples
	size int
	at   []float64
	// sums are the products of the examples with at, tried those with the point
	// whose loss was asked for last.
	sums, tried []float64
	// Room for a step.
	curve, by, room, s, gradient, direction, h []float64
}

func newFitter(xs examples, size int) *fitter {
	rows, points := make([]float64, 5*xs.rows()), make([]float64, 5*(size+1))
	row := func(k int) []float64 { return rows[k*xs.rows() : (k+1)*xs.rows()] }
	point := func(k int) []float64 { return points[k*(size+1) : (k+1)*(size+1)] }
	return &fitter{
		examples: xs, size: size, at: point(0), sums: row(0), tried: row(1), curve: row(2), by: row(3), room: row(4),
		s: point(1), gradient: point(2), direction: point(3), h: point(4),
	}
}

func (f *fitter) loss(at []float64) float64 {
	var sum float64
	for _, w := range at[:f.size] {
		sum += penalty / 2 * w * w
	}
	f.times(at, f.tried, f.room)
	for i, product := range f.tried {
		z := at[f.size] + product
		sum += f.weight[i] * (max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))) - f.bad[i]*z)
	}
	return sum
}

// step solves Hessian·s = gradient. The answer is valid until the next.
func (f *fitter) step() []float64 {
	gradient := f.gradient
	for i, w := range f.at[:f.size] {
		gradient[i] = penalty * w
	}
	gradient[f.size] = 0
	for i, product := range f.sums {
		p := logistic(f.at[f.size] + product)
		f.curve[i] = f.weight[i] * max(p*(1-p), 1e-6)
		f.by[i] = f.weight[i] * (p - f.bad[i])
	}
	f.add(gradient)
	s := f.s
	clear(s)
	rest, direction := gradient, f.direction
	copy(direction, gradient)
	norm := square(rest)
	enough := 1e-6 * norm
	for n := 0; n < gradientSteps && norm > enough; n++ {
		h := f.hessian(direction)
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

// hessian multiplies the Hessian with d. The answer is valid until the next.
func (f *fitter) hessian(d []float64) []float64 {
	h := f.h
	for i, v := range d[:f.size] {
		h[i] = penalty * v
	}
	h[f.size] = 0
	f.times(d, f.by, f.room)
	for i, product := range f.by {
		f.by[i] = f.curve[i] * (d[f.size] + product)
	}
	f.add(h)
	return h
}

// add adds the examples to a point, each as often as by says.
func (f *fitter) add(point []float64) {
	f.spread(point, f.by)
	for _, by := range f.by {
		point[f.size] += by
	}
}

func square(v []float64) float64 {
	var sum float64
	for _, x := range v {
		sum += x * x
	}
	return sum
}
