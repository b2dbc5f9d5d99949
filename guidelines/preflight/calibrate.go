package preflight

import "math"

// combination turns the parts of a score into log odds. Each part is centred and
// brought to one scale by its spread over predictions within the history; the
// sum is multiplied by slope.
type combination struct {
	mean, spread parts
	slope        float64
}

// The shares of the parts, from comparing halves of recorded tools.
const (
	regressionShare = 0.5
	nearestShare    = 1
	noveltyShare    = 1.2
)

// The chain predicts each of the last chainBlocks-1 parts of the history from
// what came before it. What is to come differs from the past more than one part
// of the past from another: hence drift, the factor on the slope. Even where the
// chain finds nothing, leastSlope of the score is let through: it decides the
// order, and hardly moves the risk.
const (
	chainBlocks  = 5
	drift        = 0.6
	leastSlope   = 0.05
	mostSlope    = 1.5
	slopePenalty = 12
)

// calibrate predicts within the judged calls of the history.
func calibrate(h *history, fresh *novelty) combination {
	var predicted []parts
	var bad []bool
	n := len(h.judged)
	for b := 1; b < chainBlocks; b++ {
		from, to := b*n/chainBlocks, (b+1)*n/chainBlocks
		if !h.varies(from) || to == from {
			continue
		}
		s := newLearner(h, from, fresh)
		for _, call := range h.judged[from:to] {
			predicted = append(predicted, s.parts(call))
			bad = append(bad, h.calls[call].failed())
		}
	}
	if len(predicted) < 2 { // too short a history to look ahead in: look back
		s := newLearner(h, n, fresh)
		for _, call := range h.judged {
			predicted = append(predicted, s.parts(call))
		}
		bad = nil
	}
	c := combination{slope: leastSlope}
	c.scale(predicted)
	if len(bad) > 0 {
		c.slope = min(mostSlope, max(leastSlope, drift*c.bestSlope(predicted, bad)))
	}
	return c
}

// varies reports whether the first judged calls had both outcomes.
func (h *history) varies(first int) bool {
	failed := 0
	for _, call := range h.judged[:first] {
		if h.calls[call].failed() {
			failed++
		}
	}
	return failed > 0 && failed < first
}

func (c *combination) scale(ps []parts) {
	column := func(of func(parts) float64) (mean, spread float64) {
		for _, p := range ps {
			mean += of(p) / float64(len(ps))
		}
		for _, p := range ps {
			spread += (of(p) - mean) * (of(p) - mean) / float64(len(ps))
		}
		return mean, math.Sqrt(spread)
	}
	c.mean.regression, c.spread.regression = column(func(p parts) float64 { return p.regression })
	c.mean.nearest, c.spread.nearest = column(func(p parts) float64 { return p.nearest })
	c.mean.novelty, c.spread.novelty = column(func(p parts) float64 { return p.novelty })
}

// score is the combined score of p, 0 for an average call.
func (c *combination) score(p parts) float64 {
	part := func(v, mean, spread, share float64) float64 {
		if spread < 1e-9 {
			return 0
		}
		return share * min(max((v-mean)/spread, -4), 4)
	}
	return part(p.regression, c.mean.regression, c.spread.regression, regressionShare) +
		part(p.nearest, c.mean.nearest, c.spread.nearest, nearestShare) +
		part(p.novelty, c.mean.novelty, c.spread.novelty, noveltyShare)
}

func (c *combination) offset(p parts) float64 { return c.slope * c.score(p) }

// bestSlope is the slope that predicts best within the history, with a ridge
// towards 0: the smallest penalised logistic loss over a grid, with the level
// fitted beside it.
func (c *combination) bestSlope(ps []parts, bad []bool) float64 {
	scores := make([]float64, len(ps))
	for i, p := range ps {
		scores[i] = c.score(p)
	}
	best, least := 0.0, math.Inf(1)
	for slope := 0.0; slope <= mostSlope/drift; slope += 0.05 {
		if loss := slopePenalty*slope*slope + levelLoss(scores, bad, slope); loss < least {
			best, least = slope, loss
		}
	}
	return best
}

// levelLoss is the logistic loss at a slope with the best level.
func levelLoss(scores []float64, bad []bool, slope float64) float64 {
	level := 0.0
	for range 12 {
		gradient, curve := 0.0, 1e-6
		for i, s := range scores {
			p := logistic(level + slope*s)
			curve += p * (1 - p)
			gradient += p
			if bad[i] {
				gradient--
			}
		}
		level -= min(max(gradient/curve, -2), 2)
	}
	var loss float64
	for i, s := range scores {
		z := level + slope*s
		if bad[i] {
			z = -z
		}
		loss += max(z, 0) + math.Log1p(math.Exp(-math.Abs(z)))
	}
	return loss
}
