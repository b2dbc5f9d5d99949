package wire

// KindList is the answer of GET .../tools/{tool}/kinds.
type KindList struct {
	Kinds []OutputKind `json:"kinds"`
}

// OutputKind is a kind of output of a tool.
type OutputKind struct {
	ID       string     `json:"id"`
	Template string     `json:"template"`
	Calls    int        `json:"calls"`
	Good     int        `json:"good"`
	Partial  int        `json:"partial"`
	Failed   int        `json:"failed"`
	First    string     `json:"first"`
	Last     string     `json:"last"`
	Score    float64    `json:"score"`
	By       string     `json:"by"`
	Sure     bool       `json:"sure"`
	Split    bool       `json:"split"`
	Labelled bool       `json:"labelled"`
	Example  StoredCall `json:"example"`
}

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
