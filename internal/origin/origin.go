// Package origin decides what may be shown where. Every value that can reach a reader has an
// origin, and each place accepts some origins and not others. That follows from the table,
// not from the value's content. If the table permits a value, its form decides how it is
// written.
package origin

// Origin is where a value came from.
type Origin uint8

// The origins, most trusted first.
const (
	Ours    Origin = iota // words, numbers and counts of this program
	Name                  // a name of a tool, or of a parameter that calls gave
	Caller                // the caller's own input, now
	Run                   // an answer of the caller's own run, now
	Shared                // a value of successful inputs, in enough calls, runs and sources
	Refused               // a value of failed inputs, in as many
	Private               // any other value of an input
	Slot                  // a bound, supported by calls on both sides, or the ends of a range
	Message               // what a tool answered, in enough calls, runs and sources
	Answer                // what a tool answered otherwise
	Model                 // what a model wrote
	origins
)

// Place is where a value is shown.
type Place uint8

// The places.
const (
	Recommendation Place = iota // a line of the guideline, and what it says of parameters
	Warning                     // the text of a warning about a planned call
	Suggestion                  // an input proposed instead of the planned one
	Typical                     // the typical good call
	Fence                       // the section that quotes the tool
	Verdict                     // the summary and the evaluation of a call
	Dashboard                   // a page
	Compaction                  // the summary of a conversation
	Terminal                    // what a command prints
	places
)

// Form is how a value is written at a place.
type Form uint8

// The forms.
const (
	Never  Form = iota // not at all
	Shape              // only how it is written, as "<date YYYY-MM-DD>"
	Word               // as it is, if it is a short word or number; otherwise not at all
	Size               // as it is, if it is a number that counts or measures; otherwise not at all
	Code               // as a name between backticks, if it has the form of a name
	Bare               // as Code without the backticks
	Masked             // as it is, on one line, cut, without secrets, addresses and marks
	Common             // as Masked, or only its shape if it identifies one of many or is a sentence
	Quoted             // on one line, cut, between “ and ”, which stand nowhere in it
	Print              // without what steers a terminal or hides; on one line and cut where there is a limit
	Whole              // as it is
)

// The rows that places share: what speaks in our voice, and what shows people the record.
var (
	advice = [origins]Form{Ours: Whole, Name: Code, Shared: Word, Refused: Word, Slot: Size}
	record = [origins]Form{Print, Print, Print, Print, Print, Print, Print, Print, Print, Print, Print}
)

// table is the one home of the rule.
var table = [places][origins]Form{
	Recommendation: advice,
	Warning:        advice,
	Suggestion:     {Ours: Whole, Name: Whole, Caller: Whole, Run: Whole, Shared: Whole},
	Typical:        {Ours: Whole, Name: Bare, Shared: Common, Private: Shape},
	Fence:          {Ours: Whole, Message: Masked},
	Verdict:        {Ours: Whole, Message: Quoted, Answer: Quoted, Model: Print},
	Dashboard:      record,
	Compaction:     {Ours: Whole, Caller: Whole, Run: Print, Model: Print},
	Terminal:       record,
}

// May returns how a value of an origin is written at a place.
func May(at Place, of Origin) Form { return table[at][of] }
