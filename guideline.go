package memoryd

import "time"

// Guideline is the text that tells an agent how to use a tool. The JSON names are those
// of exports.
type Guideline struct {
	// Revision numbers the guidelines of a tool from 1; 0 means none. The store compares it when it
	// replaces a guideline.
	Revision int64  `json:"revision"`
	Content  string `json:"content,omitzero"`
	// Author is the name of a model, or "rules".
	Author string `json:"author,omitzero"`
	// BasedOn is the Revision of the tool, and ThroughSeq the Seq of its newest call, when the text
	// was written.
	BasedOn    int64     `json:"based_on"`
	ThroughSeq int64     `json:"through_seq"`
	Written    time.Time `json:"written,omitzero"`
}
