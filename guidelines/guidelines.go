// Package guidelines writes the text that tells an agent how to use a tool: Core Function,
// Success Patterns, Common Issues and Best Practices, followed by the statistics. A Writer
// writes it from the evidence; a model may choose what comes first.
//
// Everything that came out of a tool call is untrusted. None of it reaches a guideline
// without the cleaning in this package: no addresses, no secrets, no invisible characters,
// nothing that reads like an instruction to the reader.
package guidelines

// Config is the configuration of guideline writing.
type Config struct {
	// MaxWords limits the four sections, without the statistics.
	MaxWords int `yaml:"max_words" must:"at least 80"`
	// Quote decides when words of a tool's messages are shown: when three calls of two runs got them,
	// or quoteNever.
	Quote string `yaml:"quote" must:"quorum or never"`
}

// Of a request to a model: tokenBudget bounds the prompt, at four characters a token, and
// answerTokens the answer, so that small models can be asked too.
const (
	tokenBudget  = 8000
	answerTokens = 1200
)

// MineCalls is the number of a tool's newest calls that are mined, as compact observations
// beside the history: beyond it no recorded tool had another rule, and 2 MiB per tool are enough.
const MineCalls = 2000

// quoteNever names the class of a tool's message instead.
const quoteNever = "never"

// The sections of a guideline, in order.
const (
	coreFunction    = "Core Function"
	successPatterns = "Success Patterns"
	commonIssues    = "Common Issues"
	bestPractices   = "Best Practices"

	toolAnswered = "What the tool answered" // foreign text, fenced
	statistics   = "Statistics"
)

// Sections returns the names of a guideline's sections, in order.
func Sections() []string {
	return []string{coreFunction, successPatterns, commonIssues, bestPractices}
}
