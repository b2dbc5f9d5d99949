package wire

// Run has the calls of one run, oldest first.
type Run struct {
	Calls []RunCall `json:"calls"`
}

// RunCall is a call of a run.
type RunCall struct {
	ID       string  `json:"id"`
	ToolName string  `json:"tool_name"`
	Time     string  `json:"time"`
	State    string  `json:"state"`
	Score    float64 `json:"score"`
	Input    any     `json:"input"`
}

// LineRequest sets or adds a line of a guideline.
type LineRequest struct {
	Section  *string `json:"section"`  // of a new line
	Decision *string `json:"decision"` // for an existing line: "set", "remove" or "undo"
	Text     *string `json:"text"`
	By       *string `json:"by"`
}
