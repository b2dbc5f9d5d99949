package rules

import (
	"memoryd/internal/errortext"
	"memoryd/internal/phrases"
)

// The lists of phrases that a line is searched for, all at once.
const (
	hasExit phrases.Marks = 1 << iota
	hasProtocol
	hasShellComplaint
	hasPlainComplaint
	hasParseFailure
	hasHarmless
	hasTrace
	hasRuntime
	hasSQL
	hasNetwork
	hasEdit
	hasCompile
	hasRejection
	hasRelief
	hasWall
	hasComplaint
	hasSoftComplaint
	hasDemand
	hasDoubt
	hasComplaintWord
	hasRefusal
	hasNoResult
	hasZeroResults
	hasGoodAbsence
	hasNoError
	hasRobots
	hasWarningAfter
	hasToAnswer
	hasJudging
	hasAbroad
)

// uncaught and trouble are lists that others share.
var (
	uncaught = errortext.UncaughtHeads()
	trouble  = errortext.TroubleWords()
)

// lineIndex covers those lists.
var lineIndex = phrases.NewIndex(map[phrases.Marks][]string{
	hasExit:           exitPhrases,
	hasProtocol:       protocolPhrases,
	hasShellComplaint: shellComplaints,
	hasPlainComplaint: shellComplaints[:plainComplaints],
	hasParseFailure:   parseComplaints,
	hasHarmless:       harmless,
	hasTrace:          uncaught,
	hasRuntime:        runtimePhrases,
	hasSQL:            sqlPhrases,
	hasNetwork:        networkPhrases,
	hasEdit:           editPhrases,
	hasCompile:        compilePhrases,
	hasRejection:      rejections,
	hasRelief:         relief,
	hasWall:           walls,
	hasComplaint:      complaints,
	hasSoftComplaint:  softComplaints,
	hasDemand:         demands,
	hasDoubt:          doubtful,
	hasComplaintWord:  trouble,
	hasRefusal:        refusalPhrases,
	hasNoResult:       noResultPhrases,
	hasZeroResults:    zeroResults,
	hasGoodAbsence:    goodAbsences,
	hasNoError:        {"no error"},
	hasRobots:         {"robots.txt"},
	hasWarningAfter:   {": warning: "},
	hasToAnswer:       {" to answer"},
	hasAbroad:         plainAbroad,
	hasJudging:        {"score", "evaluat", "judge", "grade", "rating", "rate this"},
})

// troubleIndex covers the words in a request that mean that it may be about
// errors.
var troubleIndex = phrases.NewIndex(map[phrases.Marks][]string{1: troubleWords})
