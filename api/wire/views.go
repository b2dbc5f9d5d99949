package wire

// Seen says when a view of all tools of a workspace was read.
type Seen struct {
	At      string `json:"at"`
	Reading bool   `json:"reading"` // the first reading is in progress, and the figures are incomplete
	Lines   int    `json:"lines"`   // calls in the view, of the Kept stored calls
	Kept    int    `json:"kept"`
	Error   string `json:"error,omitempty"` // why the last reading failed
}

// Overview shows what goes wrong in a workspace.
type Overview struct {
	Seen
	Tools         int     `json:"tools"`
	LifetimeCalls int64   `json:"lifetime_calls"`
	PendingCalls  int64   `json:"pending_calls"`
	Judged        int     `json:"judged"`
	Good          int     `json:"good"`
	Partial       int     `json:"partial"`
	Failed        int     `json:"failed"`
	Unsure        int     `json:"unsure"`
	Corrected     int     `json:"corrected"`
	SecondsLost   float64 `json:"seconds_lost"` // of calls with scores below 1
	TokensLost    int64   `json:"tokens_lost"`
	Causes        []Cause `json:"causes"` // at most ten
	CauseCount    int     `json:"cause_count"`
	// Worse and Better are tools whose newest calls differ from earlier ones. NewCauses and
	// NewTools first appeared in the week before Until.
	Until     string       `json:"until"`
	Worse     []RankedTool `json:"worse"`
	Better    []RankedTool `json:"better"`
	NewCauses []Cause      `json:"new_causes"`
	NewTools  []RankedTool `json:"new_tools"`
	Unwritten int          `json:"unwritten"` // tools with failures but no guideline
	Effect    Effect       `json:"effect"`    // of all tools
	Periods   []Period     `json:"periods"`   // judged calls in equal periods, oldest first
	ThisWeek  Period       `json:"this_week"` // the seven days before Until
	LastWeek  Period       `json:"last_week"`
}

// Effect compares runs that got advice with others: see docs/effect.md.
type Effect struct {
	Basis           string `json:"basis"` // held_out, before_after (an estimate) or not_enough
	Told            Side   `json:"told"`
	Untold          Side   `json:"untold"`
	Before          Side   `json:"before"`
	Less            Range  `json:"less"` // the reduction of the failure rate in runs that got advice
	FailuresAvoided Range  `json:"failures_avoided"`
	SecondsSaved    Range  `json:"seconds_saved"`
	TokensSaved     Range  `json:"tokens_saved"`
}

// Side has the judged calls of runs with advice, or of runs without.
type Side struct {
	Runs            int       `json:"runs"`
	Calls           int       `json:"calls"`
	Failed          int       `json:"failed"`
	Partial         int       `json:"partial"`
	ByWording       int       `json:"by_wording"`
	FailureRate     float64   `json:"failure_rate"`
	FailureRateCI95 *Interval `json:"failure_rate_ci95"`
}

// Range is an estimate with its 95 % interval.
type Range struct {
	Low  float64 `json:"low"`
	Best float64 `json:"best"`
	High float64 `json:"high"`
}

// Period is a period of time.
type Period struct {
	From    string `json:"from"`
	Calls   int    `json:"calls"`
	Failed  int    `json:"failed"`
	Written int    `json:"guidelines_written"` // tools whose guideline was written in this period
}

// Cause is a group of failed calls of a tool with the same message.
type Cause struct {
	ToolName   string  `json:"tool_name"`
	Text       string  `json:"text"`
	Calls      int     `json:"calls"`
	Seconds    float64 `json:"seconds"`
	Tokens     int64   `json:"tokens"`
	First      string  `json:"first"`
	Last       string  `json:"last"`
	Newest     string  `json:"newest"` // the id of the newest call
	Week       int     `json:"week"`   // calls in the week before the workspace's newest call
	WeekBefore int     `json:"week_before"`
}

// RankedTool is a tool in a list; counts are of its newest calls.
type RankedTool struct {
	ToolName         string    `json:"tool_name"`
	LifetimeCalls    int64     `json:"lifetime_calls"`
	PendingCalls     int64     `json:"pending_calls"`
	Kept             int       `json:"kept"`
	Judged           int       `json:"judged"`
	Good             int       `json:"good"`
	Partial          int       `json:"partial"`
	Failed           int       `json:"failed"`
	Rate             float64   `json:"rate"` // the share of Judged that scored 1
	RateCI95         *Interval `json:"rate_ci95"`
	P50              float64   `json:"p50"` // seconds
	P95              float64   `json:"p95"`
	Tokens           int64     `json:"tokens"`
	Trend            []float64 `json:"trend"` // shares of failed calls, oldest first
	Drift            string    `json:"drift"` // worse, better or ""
	GuidelineVersion int64     `json:"guideline_version"`
	GuidelineWritten string    `json:"guideline_written"`
	Behind           int64     `json:"behind"` // calls since the guideline
	Newest           string    `json:"newest"`
	Effect           Effect    `json:"effect"`
}

// FoundCalls is a page of calls of all tools, newest first.
type FoundCalls struct {
	Seen
	Calls []StoredCall `json:"calls"`
	// Total is the number of calls that match the filters, whatever their text. Searched is the
	// number whose text was searched for this page.
	Total      int    `json:"total"`
	Searched   int    `json:"searched"`
	NextCursor string `json:"next_cursor,omitempty"`
}

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

// Runs is a page of runs, those without progress first.
type Runs struct {
	Seen
	Runs       []RankedRun `json:"runs"`
	Total      int         `json:"total"`
	Thrashing  int         `json:"thrashing"`
	NextCursor string      `json:"next_cursor,omitempty"`
}

// RankedRun is a run, as far as its calls are still stored.
type RankedRun struct {
	Run      string   `json:"run"`
	Agent    string   `json:"agent_id"`
	Calls    int      `json:"calls"`
	Tools    int      `json:"tools"`
	Judged   int      `json:"judged"`
	Failed   int      `json:"failed"`
	Repeats  int      `json:"repeats"` // failed calls that repeat an earlier call of the run
	Seconds  float64  `json:"seconds"`
	Tokens   int64    `json:"tokens"`
	First    string   `json:"first"`
	Last     string   `json:"last"`
	Told     string   `json:"told"` // told, untold (control group) or "" (unknown)
	Thrashes bool     `json:"thrashes"`
	Why      []string `json:"why"`
	Turned   RunStep  `json:"turned"` // the start of the longest series of failures
	Ended    RunStep  `json:"ended"`  // the call after it
}

// RunStep is a call of a run; its members are "" if there is none.
type RunStep struct {
	ToolName string `json:"tool_name"`
	ID       string `json:"id"`
	Time     string `json:"time"`
}

// Sources lists the ways in other than the API.
type Sources struct {
	Sources []Source `json:"sources"`
}

// Source counts what came one way since the server started.
type Source struct {
	Name     string           `json:"name"`
	LastSeen string           `json:"last_seen"`
	Recorded int64            `json:"recorded"`
	Known    int64            `json:"known"` // recorded before
	Dropped  int64            `json:"dropped"`
	Reasons  map[string]int64 `json:"reasons"` // why they were dropped
}

// LineRequest sets or adds a line of a guideline.
type LineRequest struct {
	Section  *string `json:"section"`  // of a new line
	Decision *string `json:"decision"` // for an existing line: "set", "remove" or "undo"
	Text     *string `json:"text"`
	By       *string `json:"by"`
}

// EditedLine is the version with the edit, and the id of the line.
type EditedLine struct {
	Line    string           `json:"line"`
	Version GuidelineVersion `json:"version"`
}

// LineOutcomes says what happened with the lines of a guideline.
type LineOutcomes struct {
	Lines []LineOutcome `json:"lines"`
}

// LineOutcome compares the stored calls before a line was published with those since.
type LineOutcome struct {
	Line   string     `json:"line"`
	Since  int64      `json:"since"` // the version
	Tells  bool       `json:"tells"` // whether the evidence shows which calls broke it
	Before LineCounts `json:"before"`
	After  LineCounts `json:"after"`
	Shown  LineCounts `json:"shown"`  // of After: by agents that got the line
	Untold LineCounts `json:"untold"` // of After: of runs in the control group
}

// LineCounts counts judged calls. Those that did not break the line followed it.
type LineCounts struct {
	Calls       int `json:"calls"`
	Failed      int `json:"failed"`
	Broke       int `json:"broke"`
	BrokeFailed int `json:"broke_failed"`
}
