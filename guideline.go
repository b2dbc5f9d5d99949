package memoryd

import "time"

// Guideline is the text that tells an agent how to use a tool.
type Guideline struct {
	// Revision numbers the guidelines of a tool from 1; 0 means none. The store compares it when it
	// replaces a guideline.
	Revision int64
	Content  string
	// Author is the name of a model, or "rules".
	Author string
	// BasedOn is the Revision of the tool, and ThroughSeq the Seq of its newest call, when the text
	// was written.
	BasedOn    int64
	ThroughSeq int64
	Written    time.Time
}
