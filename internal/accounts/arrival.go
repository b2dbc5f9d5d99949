package accounts

import "encoding/json"

// Moment is when a host calls a hook.
type Moment string

// The moments. A hook at any other moment gets an empty answer.
const (
	// Begins: a session begins or continues after a compaction, or a person asks for
	// something.
	Begins     Moment = "begins"
	BeforeCall Moment = "before"
	AfterCall  Moment = "after"
	// Forgets: the host is about to compact the session, or has just done so.
	Forgets Moment = "forgets"
	// Ends: a turn or the session is over, and its transcript is complete.
	Ends Moment = "ends"
)

// Hook is an event that a host sends to a hook.
type Hook struct {
	Host string
	// Event is the host's own name for the moment.
	Event  string
	Moment Moment
	// Call is the planned or finished call.
	Call Call
	// Forgot reports that a session that Begins has just been compacted.
	Forgot bool
	// Transcript is the path of the session's transcript on the host's machine; "" if
	// there is none.
	Transcript string
	// Elsewhere reports that the transcript holds the call under an id that the hook does not
	// get. The call is then recorded from the transcript.
	Elsewhere bool
	// Reaches reports whether the host shows the answer to this hook to the model, Asks whether it
	// can ask a person about a call, and Repairs whether it accepts another input for one.
	Reaches, Asks, Repairs bool
}

// HookReply is the answer to a hook: context for the model, a reason to refuse the planned
// call or to ask a person about it, or another input for it. The zero value means that there
// is nothing to say.
type HookReply struct {
	Context, Deny, Ask string
	Input              json.RawMessage
}

// Batch is the content of one request of OTLP over HTTP.
type Batch struct {
	// Calls are the tool calls as each span or record reports them; two may report the same
	// call.
	Calls []Call
	// Planned are calls that a model asked for.
	Planned []Call
	// Skipped counts spans and records without a call, by reason.
	Skipped map[string]int
}
