package rules

// rule is one named way to reach an evaluation on a whole call.
type rule struct {
	name string
	doc  string
	find func(*view) (finding, bool)
}

// textRule is one named way to reach an evaluation on a text: an output, or the
// payload inside a structured one.
type textRule struct {
	name string
	doc  string
	find func(*view, *text) (finding, bool)
}

// textRules in the order in which they are asked; the first that finds anything
// decides.
func textRules() []textRule {
	return []textRule{
		{"exit-code", "the text reports the exit status of a process", exitCode},
		{"protocol-error", "a tool protocol or agent framework reports that the call failed", protocolError},
		{"shell-error", "a shell or a command of the command line printed its diagnostic", shellError},
		{"exception", "the text is or ends with a traceback, stack trace or panic", exception},
		{"runtime-error", "a language runtime or library says what it stumbled over", runtimeError},
		{"sql-error", "a database engine rejected the statement", sqlError},
		{"http-status", "a status line or sentence reports an HTTP status of 400 or more", httpStatus},
		{"markup-error", "a web page or XML document is an error page", markupError},
		{"reported-outcome", "a line such as success: false or status: error states the outcome", reportedOutcome},
		{"network-error", "the other side could not be reached, or not in time", networkError},
		{"edit-refused", "an editor says that it changed nothing", editRefused},
		{"compile-error", "a compiler or type checker rejected the source", compileError},
		{"test-failures", "a test run reports failed tests", testFailures},
		{"rejected-request", "the first line tells the caller that the request was rejected", rejectedRequest},
		{"access-blocked", "a site keeps automatic readers out", accessBlocked},
		{"embedded-body", "behind a word or two stands a structure that states a failure", embeddedBody},
		{"tallied", "it counts the things with which it failed", tallied},
		{"error-heading", "the first words say that the call failed", errorHeading},
		{"error-line", "a line of its own, at the end or among others, says that the call failed", errorLine},
		{"unproven", "the command line was to print a text where it succeeds, and did not", unproven},
		{"prompt", "the output ends by asking for an input that nobody gave", openPrompt},
		{"usage", "the tool printed how to use it although nobody asked", usageText},
		{"refusal", "the tool says that it cannot answer", refusal},
		{"unmet-condition", "a short answer denies, demands or deplores something of what the call named", unmetCondition},
		{"no-result", "the tool says that it found nothing", noResult},
		{"warning", "the tool warns about the call", warning},
		{"error-sentence", "a short answer says that something is missing, invalid or impossible", errorSentence},
		{"complaint-abroad", "a short answer says so in another language than English", complaintAbroad},
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
		rules = append(rules, rule{tr.name, tr.doc, func(v *view) (finding, bool) {
			if v.body.OK() {
				return finding{}, false
			}
			return tr.find(v, v.out)
		}})
	}
	return append(rules,
		rule{"empty-output", "there is no output", emptyOutput},
		rule{"hollow", "the output says nothing, or tells its reader how to judge it", hollow},
		rule{"unlike-successes", "the output has not the shape that the tool's successes have", unlikeSuccesses},
		rule{"cost-outlier", "it took far longer than the tool's successes", costOutlier},
		rule{"no-trouble", "nothing speaks against the call", noTrouble},
	)
}
