package facts

import "math"

// crowded notes for the facts of one text how many they are.
func (s *Set) crowded(seq []int32) {
	for _, k := range seq {
		if f := &s.facts[k]; f.crowd == 0 || int32(len(seq)) < f.crowd {
			f.crowd = int32(len(seq))
		}
	}
}

// besideReach is how many values away two values still stand beside each other.
const besideReach = 5

// neighbours notes which facts stood beside one that was passed to a tool or that
// a user named.
func (s *Set) neighbours() {
	last := -1 << 30
	mark := func(i int, k int32) {
		switch {
		case k < 0:
			last = -1 << 30
		case s.facts[k].count[FromArgs] > 0 || s.facts[k].count[FromUser] > 0:
			last = i
		case i-last <= besideReach:
			s.facts[k].beside = true
		}
	}
	for i, k := range s.seq {
		mark(i, k)
	}
	last = -1 << 30
	for i := range s.seq {
		mark(i, s.seq[len(s.seq)-1-i])
	}
}

// settle chooses labels once everything was seen, and what the scores rest on.
func (s *Set) settle() {
	s.neighbours()
	s.chooseLabels()
	s.compare()
}

// rate scores a fact. Those that nobody asks for are not scored.
func (s *Set) rate(f *Fact) {
	if f.rated {
		return
	}
	x := s.features(f)
	f.score, f.rated = s.weights.Need(&x), true
	if f.count[FromLedger] > 0 { // an earlier compaction thought it worth its space
		f.score *= math.E / (1 + f.score*(math.E-1))
	}
}
