package preflight

import "strings"

// voices is who said a message: in how many calls, of which runs and sources, of both
// at most the two that the quorum asks for. Calls that name no run are each of one.
type voices struct {
	calls, nameless int
	runs, sources   map[string]bool
}

func newVoices() voices { return voices{runs: map[string]bool{}, sources: map[string]bool{}} }

// add counts a call.
func (v *voices) add(run, source string) {
	v.calls++
	if run == "" {
		v.nameless++
	} else if len(v.runs) < quorumOf {
		v.runs[run] = true
	}
	if len(v.sources) < quorumOf {
		v.sources[source] = true
	}
}

// meets reports whether the quorum is met.
func (m *Model) meets(v *voices) bool {
	return v.calls >= quorumCalls && len(v.runs)+v.nameless >= quorumOf && (len(v.sources) >= quorumOf || len(m.sources) < quorumOf)
}

// The quorum that a message needs before its words are quoted and its numbers, values
// and names stand in an advice, and that a value needs before it is suggested.
const (
	quorumCalls = 3
	quorumOf    = 2 // runs, and sources where there are several
)

// quorate reports whether a message meets the quorum.
func (m *Model) quorate(message string) bool {
	v := m.heard[messageHash(message)]
	return v != nil && m.meets(v)
}

// hear keeps the message of a failed call.
func (m *Model) hear(l *learned, said message, source string) {
	if said.isOne {
		l.class = said.asks.Class
	}
	l.message = strings.Clone(said.text)
	h := messageHash(l.message)
	v := m.heard[h]
	if v == nil {
		fresh := newVoices()
		v = &fresh
		m.heard[h] = v
	}
	v.add(l.run, source)
}
