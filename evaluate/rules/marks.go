package rules

import (
	"memoryd/internal/errortext"
	"memoryd/internal/phrases"
)

// The lists of phrases that a line is searched for, all at once.
const (
	hasExit phrases.Marks = 1 << iota
	hasShellComplaint
	hasPlainComplaint
	hasParseFailure
	hasHarmless
	hasComplaintWord
)

// trouble is a list that others share.
var trouble = errortext.TroubleWords()

// lineIndex covers those lists.
var lineIndex = phrases.NewIndex(map[phrases.Marks][]string{
	hasExit:           exitPhrases,
	hasShellComplaint: shellComplaints,
	hasPlainComplaint: shellComplaints[:plainComplaints],
	hasParseFailure:   parseComplaints,
	hasHarmless:       harmless,
	hasComplaintWord:  trouble,
})
