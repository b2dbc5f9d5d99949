package compact_test

import (
	"math"
	"math/rand/v2"
	"sync"

	"memoryd/compact/facts"
)

// sample is a fact and whether a later call passed it; sight is what a
// conversation showed up to one place, and counts as much as weight says.
type (
	sample struct {
		x      facts.Features
		passed bool
	}
	sight struct {
		samples []sample
		weight  float64
	}
)

// How the weights are fitted: Adam on the logistic loss in which each sight's
// facts share the weight of its passed ones, with decoupled weight decay and a
// rate that falls along a cosine. A sight shows at most mostRejects facts that
// were not passed, drawn anew in every round. The units are nets of unitsPerNet
// that are fitted apart from different beginnings and averaged, which errs less on
// conversations of a new kind than one net of as many units.
const (
	nets        = 2
	unitsPerNet = facts.Units / nets
	rounds      = 45
	batch       = 16
	rate        = 5e-3
	decay       = 0.085
	mostRejects = 250
)

// net is one net in the making. Its parameters stand in one row: for each unit its
// weights, then biases, outputs and the bias of the output.
type net struct {
	p, grad, mean, square []float64
	units                 [unitsPerNet]float64
	steps                 int
}

const (
	biasAt  = unitsPerNet * facts.FeatureCount
	outAt   = biasAt + unitsPerNet
	lastAt  = outAt + unitsPerNet
	netSize = lastAt + 1
)

func newNet(rng *rand.Rand) *net {
	n := &net{p: make([]float64, netSize), grad: make([]float64, netSize), mean: make([]float64, netSize), square: make([]float64, netSize)}
	for i := range biasAt {
		n.p[i] = rng.NormFloat64() * math.Sqrt(2/float64(facts.FeatureCount))
	}
	for i := outAt; i < lastAt; i++ {
		n.p[i] = rng.NormFloat64() * math.Sqrt(1/float64(unitsPerNet))
	}
	n.p[lastAt] = -4
	return n
}

// odds gives the log odds of a fact and leaves what the units gave.
func (n *net) odds(x *facts.Features) float64 {
	sum := n.p[lastAt]
	for h := range n.units {
		u := n.p[biasAt+h]
		for i, w := range n.p[h*facts.FeatureCount : (h+1)*facts.FeatureCount] {
			u += w * x[i]
		}
		n.units[h] = max(0, u)
		sum += n.units[h] * n.p[outAt+h]
	}
	return sum
}

// learn adds the gradient of one sample.
func (n *net) learn(s *sample, weight float64) {
	slope := weight / (1 + math.Exp(-n.odds(&s.x)))
	if s.passed {
		slope -= weight
	}
	for h, u := range n.units {
		if u == 0 {
			continue
		}
		n.grad[outAt+h] += slope * u
		d := slope * n.p[outAt+h]
		n.grad[biasAt+h] += d
		row := n.grad[h*facts.FeatureCount : (h+1)*facts.FeatureCount]
		for i := range row {
			row[i] += d * s.x[i]
		}
	}
	n.grad[lastAt] += slope
}

// step moves the parameters against the gradient of a batch.
func (n *net) step(rate float64) {
	n.steps++
	c1, c2 := 1-math.Pow(0.9, float64(n.steps)), 1-math.Pow(0.999, float64(n.steps))
	for k, g := range n.grad {
		g /= batch
		n.mean[k] += 0.1 * (g - n.mean[k])
		n.square[k] += 0.001 * (g*g - n.square[k])
		n.p[k] -= rate * n.mean[k] / c1 / (math.Sqrt(n.square[k]/c2) + 1e-8)
		if k != lastAt {
			n.p[k] -= rate * decay * n.p[k]
		}
	}
	clear(n.grad)
}

// round shows every sight once, in random order.
func (n *net) round(sights []sight, rate float64, rng *rand.Rand) {
	for seen, k := range rng.Perm(len(sights)) {
		s := &sights[k]
		taken := float64(count(s.samples))
		share := min(1, mostRejects/max(1, float64(len(s.samples))-taken))
		for i := range s.samples {
			switch ex := &s.samples[i]; {
			case ex.passed:
				n.learn(ex, s.weight/taken)
			case share == 1 || rng.Float64() < share:
				n.learn(ex, s.weight/taken/share)
			}
		}
		if (seen+1)%batch == 0 || seen+1 == len(sights) {
			n.step(rate)
		}
	}
}

func count(samples []sample) (passed int) {
	for i := range samples {
		if samples[i].passed {
			passed++
		}
	}
	return passed
}

// fit gives the weights for sights whose features were scaled with sc.
func fit(sights []sight, sc scale) *facts.Weights {
	fitted := make([]*net, nets)
	var wg sync.WaitGroup
	for k := range fitted {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(k+1), 11)) //nolint:gosec // the same on every run, on purpose
			fitted[k] = newNet(rng)
			for r := range rounds {
				fitted[k].round(sights, rate*(1+math.Cos(math.Pi*float64(r)/rounds))/2, rng)
			}
		})
	}
	wg.Wait()
	return merge(fitted, sc)
}

// merge averages nets into one and takes the scale of the features into the
// weights, rounded to what the table shows.
func merge(fitted []*net, sc scale) *facts.Weights {
	var w facts.Weights
	for k, n := range fitted {
		for h := range unitsPerNet {
			u := k*unitsPerNet + h
			w.Bias[u] = n.p[biasAt+h]
			for i := range facts.FeatureCount {
				v := n.p[h*facts.FeatureCount+i] / sc.width[i]
				w.Hidden[i][u] = rounded(v)
				w.Bias[u] -= v * sc.middle[i]
			}
			w.Bias[u] = rounded(w.Bias[u])
			w.Out[u] = rounded(n.p[outAt+h] / nets)
		}
		w.OutBias += n.p[lastAt] / nets
	}
	w.OutBias = rounded(w.OutBias)
	return &w
}

func rounded(v float64) float64 { return math.Round(v*1000)/1000 + 0 }

// scale brings features to a middle of 0 and a width of 1.
type scale struct{ middle, width facts.Features }

func scaleOf(sights []sight) (sc scale) {
	n := 0.0
	for _, s := range sights {
		for k := range s.samples {
			n++
			for i, v := range s.samples[k].x {
				sc.middle[i] += v
				sc.width[i] += v * v
			}
		}
	}
	for i := range sc.middle {
		sc.middle[i] /= n
		if sc.width[i] = math.Sqrt(max(0, sc.width[i]/n-sc.middle[i]*sc.middle[i])); sc.width[i] < 0.01 {
			sc.width[i] = 1
		}
	}
	return sc
}

// scaled gives copies of the sights with scaled features.
func (sc *scale) scaled(sights []sight) []sight {
	out := make([]sight, len(sights))
	for k, s := range sights {
		out[k] = sight{make([]sample, len(s.samples)), s.weight}
		for j, ex := range s.samples {
			for i := range ex.x {
				ex.x[i] = (ex.x[i] - sc.middle[i]) / sc.width[i]
			}
			out[k].samples[j] = ex
		}
	}
	return out
}
