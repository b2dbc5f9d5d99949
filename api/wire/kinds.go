package wire

// LabelRequest is a person's verdict on a kind of output.
type LabelRequest struct {
	Score      *float64 `json:"score,omitzero"` // 0, 0.5 or 1
	Evaluation *string  `json:"evaluation,omitzero"`
	By         *string  `json:"by,omitzero"`
	Withdraw   *bool    `json:"withdraw,omitzero"`
	Preview    *bool    `json:"preview,omitzero"`
}

// LabelledKind is the effect of a label.
type LabelledKind struct {
	Calls    int            `json:"calls"`
	Changes  int            `json:"changes"`
	Examples []RescoredCall `json:"examples"`
}

// RescoredCall is a call with its scores before and after.
type RescoredCall struct {
	ID     string  `json:"id"`
	Before float64 `json:"before"`
	After  float64 `json:"after"`
	Output string  `json:"output"`
}
