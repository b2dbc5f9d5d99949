package memoryd

import (
	"bytes"
	"encoding/json"
)

// Run returns the run that the call belongs to; see RunOf.
func (c *Call) Run() string { return RunOf(c.Metadata) }

// RunOf returns the run that the metadata of a call name: trajectory_id, otherwise session_id. It
// is a text or a number of at most MaxNameBytes; "" if there is none.
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
