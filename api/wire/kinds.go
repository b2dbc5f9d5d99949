package wire

// Label is a person's verdict on a kind of output.
//
// Example:
//
//	{"score":0,"evaluation":"It found nothing.","by":"ann","preview":true}
type Label struct {
	Score *float64 `json:"score,omitzero" minimum:"0" maximum:"1" multipleOf:"0.5"` // 0, 0.5 or 1
	// The reason.
	Evaluation *string `json:"evaluation,omitzero" maxLength:"4000"`
	// Who says so.
	By *string `json:"by,omitzero" maxLength:"100" pattern:"^[^\\x00-\\x1f\\x7f-\\x9f]*$"`
	// Take the score back.
	Withdraw *bool `json:"withdraw,omitzero"`
	// Change nothing.
	Preview *bool `json:"preview,omitzero"`
}

// LabelledKind is the effect of a label.
type LabelledKind struct {
	// Kept calls of the kind.
	Calls int `json:"calls"`
	// Those whose score changed or would change.
	Changes  int            `json:"changes"`
	Examples []RescoredCall `json:"examples" maxItems:"20"`
}

// RescoredCall is a call with its scores before and after.
type RescoredCall struct {
	ID     string  `json:"id"`
	Before float64 `json:"before"`
	After  float64 `json:"after"`
	// Its beginning.
	Output string `json:"output"`
}
