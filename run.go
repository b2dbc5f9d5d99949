package memoryd

import (
	"bytes"
	"cmp"
	"encoding/json"
)

// Run returns the run that the call belongs to; see RunOf.
func (c *Call) Run() string { return RunOf(c.Metadata) }

// RunOf returns the run that the metadata of a call name: trajectory_id, otherwise session_id. It
// is a text or a number of at most MaxNameBytes; "" if there is none.
func RunOf(metadata json.RawMessage) string {
	n := NamesOf(metadata)
	return cmp.Or(n.Trajectory, n.Session)
}

// Names are the run, the session and the agent that the metadata of a call name: texts or numbers
// of at most MaxNameBytes, "" where there is none.
type Names struct{ Trajectory, Session, Agent string }

// NamesOf reads the names in the metadata of a call. The first of a name counts.
func NamesOf(metadata json.RawMessage) (n Names) {
	if !bytes.Contains(metadata, []byte(`_id`)) {
		return n
	}
	dec := BorrowDecoder(metadata)
	defer ReturnDecoder(dec)
	if dec.PeekKind() != '{' {
		return n
	}
	_, err := dec.ReadToken()
	for err == nil && dec.PeekKind() == '"' {
		token, failed := dec.ReadToken()
		if failed != nil {
			break
		}
		var into *string
		switch token.String() {
		case "trajectory_id":
			into = &n.Trajectory
		case "session_id":
			into = &n.Session
		case "agent_id":
			into = &n.Agent
		}
		if kind := dec.PeekKind(); into == nil || kind != '"' && kind != '0' {
			err = dec.SkipValue()
			continue
		}
		if token, err = dec.ReadToken(); err == nil && *into == "" && len(token.String()) <= MaxNameBytes {
			*into = token.String()
		}
	}
	return n
}
