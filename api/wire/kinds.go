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
