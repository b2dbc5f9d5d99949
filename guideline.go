package memoryd

import "time"

// Guideline is the text that tells an agent how to use a tool.
type Guideline struct {
	// Revision counts the guidelines of the tool from 1; 0 means none yet. The
	// store compares it when a guideline is replaced.
	Revision int64
	Content  string
	// Author is a model's name or "rules".
	Author string
	// BasedOn is the tool's Revision, and ThroughSeq the newest call's Seq,
	// that the text was written from.
	BasedOn    int64
	ThroughSeq int64
	Written    time.Time
}
