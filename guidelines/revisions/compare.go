package revisions

import (
	"crypto/sha256"
	"encoding/binary"
	"math"

	"memoryd/internal/stats"
)

// Counts counts the judged calls of agents that were shown a version, and those
// of them that scored 0.
type Counts struct {
	Calls int `json:"calls"`
	Bad   int `json:"bad"`
}

// Decision is what the outcomes of two versions say.
type Decision struct {
	// Worse says that the newer version does harm: roll it back. Better says that
	// it helps. Neither may hold.
	Worse  bool `json:"worse"`
	Better bool `json:"better"`
	// Probability is the posterior probability that the newer one's share of bad
	// calls is higher, with uniform priors; 0.5 without calls.
	Probability float64 `json:"probability"`
	// Evidence is the factor by which the outcomes speak for "higher" against
	// "equal"; EvidenceBetter for "lower".
	Evidence       float64 `json:"evidence"`
	EvidenceBetter float64 `json:"evidence_better"`
	// Prev and Cur are the shares of bad calls with Wilson's 95 % intervals, nil
	// without calls.
	Prev, Cur         float64
	PrevCI95, CurCI95 *stats.Interval
}

// ErrorRate bounds the probability that Worse is ever true, however often one
// looks while calls come in, if the two versions are equally good; the same holds
// for Better.
const ErrorRate = 0.05

// leastCompared is how many calls of each version a decision needs.
const leastCompared = 10

// Compare compares the version cur with the one before it, prev.
//
// It is a sequential test: the Bayes factor of "the share of bad calls is higher"
// (independent uniform priors, restricted to cur > prev) against "it is equal"
// (one uniform prior), which under the latter exceeds 1/ErrorRate at any time with
// probability at most ErrorRate (Ville's inequality; Robbins, "Statistical methods
// related to the law of the iterated logarithm", Annals of Mathematical Statistics
// 41, 1970), on average over the prior of the common share. How often it errs at
// given shares is simulated in the tests.
func Compare(prev, cur Counts) Decision {
	d := Decision{
		Probability: 0.5, Evidence: 1, EvidenceBetter: 1,
		PrevCI95: stats.Wilson(prev.Bad, prev.Calls), CurCI95: stats.Wilson(cur.Bad, cur.Calls),
	}
	if prev.Calls > 0 {
		d.Prev = float64(prev.Bad) / float64(prev.Calls)
	}
	if cur.Calls > 0 {
		d.Cur = float64(cur.Bad) / float64(cur.Calls)
	}
	if prev.Calls == 0 || cur.Calls == 0 {
		return d
	}
	d.Probability = higher(prev, cur)
	factor := math.Exp(marginal(prev) + marginal(cur) - marginal(Counts{prev.Calls + cur.Calls, prev.Bad + cur.Bad}))
	d.Evidence, d.EvidenceBetter = 2*factor*d.Probability, 2*factor*(1-d.Probability)
	if prev.Calls >= leastCompared && cur.Calls >= leastCompared {
		d.Worse, d.Better = d.Evidence >= 1/ErrorRate, d.EvidenceBetter >= 1/ErrorRate
	}
	return d
}

// marginal is the logarithm of the Beta function B(1+bad, 1+good): the probability
// of the outcomes, in their order, under a uniform prior.
func marginal(o Counts) float64 {
	a, _ := math.Lgamma(float64(o.Bad + 1))
	b, _ := math.Lgamma(float64(o.Calls - o.Bad + 1))
	c, _ := math.Lgamma(float64(o.Calls + 2))
	return a + b - c
}

// gridSteps is on how many points the posteriors are added up, gridReach how many standard
// deviations around their means.
const (
	gridSteps = 600
	gridReach = 9
)

// around is where the posterior of o lies.
func around(o Counts) (low, high float64) {
	a, b := float64(o.Bad+1), float64(o.Calls-o.Bad+1)
	mean, spread := a/(a+b), math.Sqrt(a*b/((a+b)*(a+b)*(a+b+1)))
	return max(0, mean-gridReach*spread), min(1, mean+gridReach*spread)
}

// higher is the probability that a share with the posterior of cur is higher than
// one with that of prev: the sum over a grid of the density of the one times the
// distribution of the other.
func higher(prev, cur Counts) float64 {
	lp, lc := marginal(prev), marginal(cur)
	density := func(o Counts, norm, x float64) float64 {
		return math.Exp(float64(o.Bad)*math.Log(x) + float64(o.Calls-o.Bad)*math.Log1p(-x) - norm)
	}
	lowPrev, highPrev := around(prev)
	lowCur, highCur := around(cur)
	low, high := min(lowPrev, lowCur), max(highPrev, highCur)
	var below, sum, all float64
	for i := range gridSteps {
		x := low + (high-low)*(float64(i)+0.5)/gridSteps
		dp, dc := density(prev, lp, x)/gridSteps, density(cur, lc, x)/gridSteps
		sum += dc * (below + dp/2)
		below += dp
		all += dc
	}
	if below == 0 || all == 0 {
		return 0.5
	}
	return min(1, max(0, sum/(below*all)))
}

// Arm is one of the two versions of a comparison side by side.
type Arm string

// The arms.
const (
	PrevArm Arm = "prev"
	CurArm  Arm = "cur"
)

// Assign deals a version to a session: always the same for the same experiment
// and session key, CurArm for a share of the keys. An empty key, an agent that does
// not say which session it belongs to, gets PrevArm.
func Assign(experiment, session string, share float64) Arm {
	if session == "" {
		return PrevArm
	}
	sum := sha256.Sum256([]byte(experiment + "\x00" + session))
	if float64(binary.BigEndian.Uint64(sum[:8])>>11)/(1<<53) < share {
		return CurArm
	}
	return PrevArm
}
