package rules

// rule is one named way to reach an evaluation on a whole call.
type rule struct {
	name string
	find func(*view) finding
}

// catalogue lists the rules in the order in which they are asked; the first that finds anything
// decides.
func catalogue() []rule {
	return []rule{
		{"success-flag", successFlag}, // the caller says that the call failed
		{"structured-body", structuredBody},
		{"protocol-error", protocolError},
		{"exit-code", exitCode},
		{"shell-error", func(v *view) finding { return shellError(v, v.out) }},
		{"exception", exception},
		{"http-status", httpStatus},
		{"usage", usage},
		{"empty-output", emptyOutput},
		{"score", scored},
		{"no-trouble", noTrouble},
	}
}
