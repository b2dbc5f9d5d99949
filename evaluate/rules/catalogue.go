package rules

// rule is one named way to reach an evaluation on a whole call.
type rule struct {
	name string
	doc  string
	find func(*view) finding
}

// textRule is one named way to reach an evaluation on a text: an output, or the
// payload inside a structured one.
type textRule struct {
	name string
	doc  string
	find func(*view, *text) finding
}

// textRules in the order in which they are asked; the first that finds anything
// decides.
func textRules() []textRule {
	return []textRule{
		{"exit-code", "the text reports the exit status of a process", exitCode},
		{"protocol-error", "a tool protocol or agent framework reports that the call failed", protocolError},
		{"shell-error", "a shell or a command of the command line printed its diagnostic", shellError},
		{"exception", "the text is or ends with a traceback, stack trace or panic", exception},
		{"http-status", "a status line or sentence reports an HTTP status of 400 or more", httpStatus},
		{"usage", "the tool printed how it is used: a success if that was asked for", usageText},
	}
}

// catalogue lists the rules in the order in which they are asked.
func catalogue() []rule {
	rules := []rule{
		{"success-flag", "the caller says that the call failed", successFlag},
		{"echo", "the output repeats the input", echo},
		{"structured-body", "a structured output states its outcome; see structuredBody for the names of its findings", structuredBody},
	}
	for _, tr := range textRules() {
		rules = append(rules, rule{tr.name, tr.doc, func(v *view) finding {
			if v.body.OK() {
				return finding{}
			}
			return tr.find(v, v.out)
		}})
	}
	return append(rules,
		rule{"empty-output", "there is no output", emptyOutput},
		rule{"score", "the learned score says that the call failed, or found nothing", scored},
		rule{"condition", "the output is the name of an error, as systems share it, and nothing else", condition},
		rule{"no-trouble", "nothing speaks against the call", noTrouble},
	)
}
