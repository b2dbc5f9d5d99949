package memoryd

import (
	"bytes"
	"encoding/json"
)

// Run names the run of an agent that the call belongs to; see RunOf.
func (c *Call) Run() string { return RunOf(c.Metadata) }

// RunOf reads the run of a call from its metadata: trajectory_id, else
// session_id, a text or a number of at most MaxNameBytes. It returns "" when the
// metadata names none.
func RunOf(metadata json.RawMessage) string {
	if !bytes.Contains(metadata, []byte(`trajectory_id`)) && !bytes.Contains(metadata, []byte(`session_id`)) {
		return ""
	}
	dec := BorrowDecoder(metadata)
	defer ReturnDecoder(dec)
	if dec.PeekKind() != '{' {
		return ""
	}
	if _, err := dec.ReadToken(); err != nil {
		return ""
	}
	session := ""
	for dec.PeekKind() == '"' {
		token, err := dec.ReadToken()
		if err != nil {
			return session
		}
		name := token.String()
		if kind := dec.PeekKind(); name != "trajectory_id" && name != "session_id" || kind != '"' && kind != '0' {
			if dec.SkipValue() != nil {
				return session
			}
			continue
		}
		if token, err = dec.ReadToken(); err != nil {
			return session
		}
		switch id := token.String(); {
		case id == "" || len(id) > MaxNameBytes:
		case name == "trajectory_id":
			return id
		case session == "":
			session = id
		}
	}
	return session
}
