package preflight

import "math"

// index finds, for a vector, the calls like it.
type index struct {
	calls int
	columns
}

// cosines gives the similarity of x to every call, in room if there is enough.
func (n *index) cosines(x vector, room []float64) []float64 {
	if cap(room) < n.calls {
		room = make([]float64, n.calls)
	}
	out := room[:n.calls]
	clear(out)
	for k, f := range x.features {
		w := x.weights[k]
		in, with := n.column(f)
		with = with[:len(in)]
		for i, call := range in {
			out[call] += w * with[i]
		}
	}
	return out
}

// outcomes is an index that knows how the calls came out.
type outcomes struct {
	index
	bad    []float64
	weight []float64
	rate   float64
}

func newOutcomes(xs examples, features int) outcomes {
	n := outcomes{index: index{xs.rows(), xs.transposed(features)}, bad: xs.bad, weight: xs.weight}
	var sum float64
	for i, w := range xs.weight {
		n.rate += xs.bad[i] * w
		sum += w
	}
	n.rate = (n.rate + 0.5) / (sum + 1)
	return n
}

// The kernel exp(sharpness·cosine) weighs the calls; inertia is the weight, in
// calls, of the failure rate beside them.
const (
	sharpness = 8
	inertia   = 5
)

// odds are the log odds of failure among calls of these similarities.
func (n *outcomes) odds(cosines []float64) float64 {
	bad, all := inertia*n.rate, float64(inertia)
	for i, c := range cosines {
		w := n.weight[i] * math.Exp(sharpness*c)
		bad += w * n.bad[i]
		all += w
	}
	return logit(min(max(bad/all, 1e-6), 1-1e-6))
}
