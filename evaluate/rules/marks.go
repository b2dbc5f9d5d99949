package rules

// The lists of phrases that a line is searched for, all at once.
const (
	hasExit marks = 1 << iota
	hasProtocol
	hasShellComplaint
	hasPlainComplaint
	hasParseFailure
	hasNotFoundForm
	hasHarmless
	hasTrace
	hasRuntime
	hasSQL
	hasNetwork
	hasEdit
	hasCompile
	hasRejection
	hasRelief
	hasHedge
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
)

// lineIndex covers those lists.
var lineIndex = newPhraseIndex(map[marks][]string{
	hasExit:           exitPhrases,
	hasProtocol:       protocolPhrases,
	hasShellComplaint: shellComplaints,
	hasPlainComplaint: shellComplaints[:plainComplaints],
	hasParseFailure:   parseComplaints,
	hasNotFoundForm:   notRecognized,
	hasHarmless:       harmless,
	hasTrace:          traceHeads[:insideHeads],
	hasRuntime:        runtimePhrases,
	hasSQL:            sqlPhrases,
	hasNetwork:        networkPhrases,
	hasEdit:           editPhrases,
	hasCompile:        compilePhrases,
	hasRejection:      rejections,
	hasRelief:         relief,
	hasHedge:          hedges,
	hasWall:           walls,
	hasComplaint:      complaints,
	hasSoftComplaint:  softComplaints,
	hasDemand:         demands,
	hasDoubt:          doubtful,
	hasComplaintWord:  complaintWords,
	hasRefusal:        refusalPhrases,
	hasNoResult:       noResultPhrases,
	hasZeroResults:    zeroResults,
	hasGoodAbsence:    goodAbsences,
	hasNoError:        {"no error"},
	hasRobots:         {"robots.txt"},
	hasWarningAfter:   {": warning: "},
	hasToAnswer:       {" to answer"},
})

// troubleIndex covers the words in a request that mean that it may be about
// errors.
var troubleIndex = newPhraseIndex(map[marks][]string{1: troubleWords})
