package facts

import "math"

// need estimates the probability that a later tool call passes the value. The
// form is a logistic regression on the features below; the weights were fitted
// on the first parts of recorded conversations against the arguments of their
// later calls, and rounded.
func (s *Set) need(f *Fact, fan int) float64 {
	x := s.features(f, fan)
	sum := 0.0
	for i, w := range weights {
		sum += w * x[i]
	}
	return 1 / (1 + math.Exp(-sum))
}

const featureCount = 24

//nolint:gochecknoglobals // a constant table
var weights = [featureCount]float64{
	-4.45,                             // bias
	0.58,                              // recency
	0.57,                              // stood behind the name of a parameter
	0.42, 0.95, 0.26, 1.0, -0.34, 1.3, // sources
	-0.1, 0.24, 0.77, 0.18, // repeats, siblings, length, kinds of source
	-0.38, 0.52, 0.93, -0.67, 0.21, 1.13, 0.23, -2.33, -0.55, -3.0, -0.54, // shapes
}

func (s *Set) features(f *Fact, fan int) [featureCount]float64 {
	total, kinds := 0, 0
	for _, n := range f.count {
		total += n
		if n > 0 {
			kinds++
		}
	}
	has := func(src Source) float64 { return flag(f.count[src] > 0) }
	return [featureCount]float64{
		1,
		-math.Log1p(float64(s.end - 1 - f.last)),
		flag(s.behindParameter(f)),
		has(FromArgs), math.Log1p(float64(f.count[FromArgs])), has(FromAssistant), has(FromUser), has(FromResult), has(FromLedger),
		math.Log1p(float64(total)), math.Log1p(float64(fan)), math.Log(float64(len(f.Value))), float64(kinds),
		flag(f.shape == plain), flag(f.shape == joined), flag(f.shape == ident), flag(f.shape == capsID),
		flag(f.shape == number), flag(f.shape == date), flag(f.shape == location), flag(f.shape == phrase), flag(f.shape == stamp), flag(f.shape == errText), flag(f.count[FromArgs] > 1 && f.shape != number),
	}
}

func (s *Set) behindParameter(f *Fact) bool {
	for _, l := range f.labels {
		if s.argNames[l.label] {
			return true
		}
	}
	return false
}

func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
