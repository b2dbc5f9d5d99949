package evidence

// parties tells who is behind calls, for the quorum: the API keys that recorded them
// where these are several, else the agents that the calls name themselves. A key cannot
// be forged, the name of an agent can: whoever holds one key is one party whatever its
// calls say. It is one of several also where the others use other tools of the workspace.
type parties struct {
	of    []uint64 // of each observation; 0: unknown
	known int
}

func partiesOf(obs []Observation) parties {
	writers, agents, shared := map[uint64]bool{}, map[uint64]bool{}, false
	for i := range obs {
		shared = shared || obs[i].Shared
		writers[obs[i].Writer] = true
		if obs[i].Agent != 0 {
			agents[obs[i].Agent] = true
		}
	}
	p := parties{make([]uint64, len(obs)), len(agents)}
	byKey := shared || len(writers) > 1
	if byKey {
		p.known = max(2, len(writers))
	}
	for i := range obs {
		if p.of[i] = obs[i].Agent; byKey {
			p.of[i] = max(obs[i].Writer, 1)
		}
	}
	return p
}

// Share says of observations that several sources recorded calls in their workspace.
func Share(obs []Observation) {
	for i := range obs {
		obs[i].Shared = true
	}
}

// Sole reports whether, of several parties, one alone is behind the observations that of
// picks.
func Sole(obs []Observation, of func(i int) bool) bool {
	p, b := partiesOf(obs), backers{}
	for i := range obs {
		if of(i) {
			b.add(p.of[i])
		}
	}
	return p.sole(b)
}

// backers collects the parties behind something.
type backers map[uint64]bool

func (b backers) add(party uint64) {
	if party != 0 {
		b[party] = true
	}
}

// sole reports whether one party of several is behind it all.
func (p *parties) sole(b backers) bool { return p.known > 1 && len(b) == 1 }

// alone is sole for the calls of a set.
func (p *parties) alone(calls set) bool {
	if p.known < 2 {
		return false
	}
	b := backers{}
	calls.each(func(i int) { b.add(p.of[i]) })
	return p.sole(b)
}
