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
	// null where it was too long to be kept with the run.
	Input any `json:"input"`
}

// NewLine is a line that a person adds to a guideline.
type NewLine struct {
	Section *string `json:"section" enum:"Core Function,Success Patterns,Common Issues,Best Practices"`
	// One line, not a heading.
	Text *string `json:"text" minLength:"1" maxLength:"600" pattern:"^ *[^\\s#\\x00-\\x1f\\x7f-\\x9f][^\\x00-\\x1f\\x7f-\\x9f]*$"`
	// Who sets it.
	By *string `json:"by,omitzero" maxLength:"100" pattern:"^[^\\x00-\\x1f\\x7f-\\x9f]*$"`
}

// LineDecision is a decision on a line of a guideline, or on a statement that waits.
type LineDecision struct {
	Decision *string `json:"decision" enum:"set,remove,undo,accept,refuse,wait"`
	// One line, not a heading.
	Text *string `json:"text,omitzero" minLength:"1" maxLength:"600" pattern:"^ *[^\\s#\\x00-\\x1f\\x7f-\\x9f][^\\x00-\\x1f\\x7f-\\x9f]*$"`
	// Who decides.
	By *string `json:"by,omitzero" maxLength:"100" pattern:"^[^\\x00-\\x1f\\x7f-\\x9f]*$"`
}
