package guidelines

import "memoryd/guidelines/evidence"

// Phrase words facts as a property of a call, cleaned for an agent to read; ""
// when none of them may be shown.
func Phrase(fs []evidence.Fact) string { return facts(fs, factPhrase, shownFacts) }

// Quote is an error message between quotation marks, cleaned; false when it may
// not be shown.
func Quote(template string) (string, bool) { return quotedMessage(template) }

// Name is a parameter as it stands in a guideline.
func Name(path string) string { return pathName(path) }

// Amount writes a cost with its unit.
func Amount(r evidence.Resource, v float64) string { return amount(r, v) }
