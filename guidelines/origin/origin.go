// Package origin decides what may be shown where. Every value that can reach a reader has
// an origin, and each place takes some origins and not others: that follows from the
// table, not from what a value says. Within what the table lets through, the form of a
// value decides how it is written.
package origin

// Origin says where a value came from.
type Origin uint8

// The origins, the most trusted first.
const (
	Ours    Origin = iota // words, numbers and counts of this program
	Name                  // a name of a tool, or of a parameter that calls gave
	Caller                // the caller's own input, now
	Run                   // an answer of the caller's own run, now
	Shared                // a value of inputs that worked, in enough calls, runs and sources
	Refused               // a value of inputs that failed, in as many
	Private               // any other value of an input
	Slot                  // a number or a form in messages, that calls on both sides vouch for
	Message               // what a tool answered, in enough calls, runs and sources
	Answer                // what a tool answered otherwise
	Model                 // what a model wrote
	origins
)

// Place is where something is shown.
type Place uint8

// The places.
const (
	Advice     Place = iota // a line of the guideline, and the text of a warning
	Suggestion              // an input that is proposed in place of the planned one
	Example                 // the typical good call
	Fence                   // the section that quotes the tool
	places
)

// Form is how a value is written at a place.
type Form uint8

// The forms.
const (
	Never  Form = iota // not at all
	Shape              // only how it is written, as "<date YYYY-MM-DD>"
	Word               // as it is, where it is a short word or number; not at all otherwise
	Code               // as a name between backticks, where it has a name's form
	Masked             // as it is, on one line, cut, without secrets, addresses and marks
	Common             // as Masked, but only its shape where it identifies one of many, by its digits
	Whole              // as it is
)

// table is the one home of the rule.
var table = [places][origins]Form{
	Advice:     {Ours: Whole, Name: Code, Shared: Word, Refused: Word, Slot: Word},
	Suggestion: {Ours: Whole, Name: Whole, Caller: Whole, Run: Whole, Shared: Whole},
	Example:    {Ours: Whole, Name: Code, Shared: Common, Private: Shape},
	Fence:      {Ours: Whole, Name: Code, Message: Masked},
}

// May is how a value of an origin is written at a place.
func May(at Place, of Origin) Form { return table[at][of] }
