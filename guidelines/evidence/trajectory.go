package evidence

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// Trajectory is metadata.trajectory_id, by which calls of one run of an agent are
// known to belong together; "" when there is none.
func Trajectory(metadata []byte) string {
	return trajectoryIn(metadata, jsontext.NewDecoder(bytes.NewReader(nil)))
}

// trajectoryIn is Trajectory, read with dec.
func trajectoryIn(metadata []byte, dec *jsontext.Decoder) string {
	if !bytes.Contains(metadata, []byte(`trajectory_id`)) {
		return ""
	}
	dec.Reset(bytes.NewReader(metadata), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	if dec.PeekKind() != '{' {
		return ""
	}
	if _, err := dec.ReadToken(); err != nil {
		return ""
	}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return ""
		}
		if name.String() == "trajectory_id" && dec.PeekKind() == '"' {
			id, err := dec.ReadToken()
			if err != nil {
				return ""
			}
			return id.String()
		}
		if dec.SkipValue() != nil {
			return ""
		}
	}
	return ""
}
