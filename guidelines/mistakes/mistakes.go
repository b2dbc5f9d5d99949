// Package mistakes follows the runs of agents. For each failed call it finds what was done,
// what the tool said, what the run cost until the tool was called again, and which change of
// the input then worked. It relies on calls: the fix of a mistake is the difference from the
// next good call of the tool in the run, never what a message suggests.
package mistakes

import (
	"cmp"
	"encoding/json"
	"hash/fnv"
	"slices"
	"strings"
	"time"
	"unicode"

	"memoryd/internal/errortext"
	"memoryd/internal/textsafe"
)

// Call is one call of a run, in order.
type Call struct {
	Tool, Output string
	Summary      string // the judge's summary; "" if it was not judged
	Input        json.RawMessage
	// Bad reports that the call failed, and Good that it succeeded; both are false for a call
	// without a verdict.
	Bad, Good bool
	Begun     time.Time
	Seconds   float64 // the call's duration
	Line      int     // the line in its file; 0 means unknown
}

// Failure is one failed call.
type Failure struct {
	// ID distinguishes it from all others, even in a file that repeats another.
	ID   uint64 `json:"id"`
	Tool string `json:"tool"`
	// Said is the tool's message, Did the input; both are untrusted text on one line. Kind is
	// equal for failures with the same message.
	Said string    `json:"said"`
	Did  string    `json:"did"`
	Kind string    `json:"kind"`
	Run  uint64    `json:"run"`
	Line int       `json:"line,omitempty"`
	At   time.Time `json:"at,omitzero"`
	// Turns counts the calls of the run until the tool was called again, including this one;
	// Seconds is their duration.
	Turns   int     `json:"turns"`
	Seconds float64 `json:"seconds"`
	// Changes are the differences in the next good call of the tool. Then is its input and
	// ThenLine its place; Then is "" if the run has none. Near reports that enough of the
	// input stayed the same for the changes to matter.
	Changes  []Change `json:"changes,omitempty"`
	Then     string   `json:"then,omitempty"`
	ThenLine int      `json:"then_line,omitempty"`
	Near     bool     `json:"near,omitempty"`
	// Between are other tools that succeeded before the tool was called again. Again reports
	// that it then worked.
	Between []string `json:"between,omitempty"`
	Again   bool     `json:"again,omitempty"`
}

// Limits on what is remembered and shown.
const (
	within     = 6 // calls of the tool after a failure that may be its repair
	maxOpen    = 64
	maxRuns    = 256
	maxChanges = 4
	maxSaid    = 240
	maxDid     = 240
	maxInput   = 16 << 10
	longTurn   = 2 * time.Minute // else somebody went for a coffee
)

// Follower follows the runs of a file.
type Follower struct {
	// Failed receives each failure when its end is known.
	Failed func(Failure)

	runs  map[string]*run
	order []string
}

type run struct {
	id   uint64
	open []*open
	last *open // the failure right before, whose turn ends with the next call
}

// open is a failure of which it is not known yet what came of it.
type open struct {
	Failure
	input json.RawMessage
	tries int // calls of the tool since
	begun time.Time
}

// Add adds the next call of a run. It returns the number of the run, and whether the run is
// new.
func (f *Follower) Add(name string, id uint64, c *Call) (number uint64, first bool) {
	r, first := f.run(name)
	if r.last != nil && !c.Begun.IsZero() && !r.last.begun.IsZero() {
		if d := c.Begun.Sub(r.last.begun); d > 0 {
			r.last.Seconds = max(r.last.Seconds, min(d, longTurn).Seconds())
		}
	}
	r.last = nil
	left := r.open[:0]
	for _, o := range r.open {
		if f.meet(o, c) {
			f.Failed(o.Failure)
		} else {
			left = append(left, o)
		}
	}
	r.open = left
	if !c.Bad {
		return r.id, first
	}
	o := &open{
		Failure: Failure{ID: id, Tool: c.Tool, Run: r.id, Line: c.Line, At: c.Begun, Turns: 1, Seconds: c.Seconds},
		begun:   c.Begun, input: c.Input,
	}
	o.Said = said(c.Output)
	o.Kind = Form(cmp.Or(c.Summary, o.Said))
	o.Did = shown(c.Input)
	r.open, r.last = append(r.open, o), o
	if len(r.open) > maxOpen {
		f.Failed(r.open[0].Failure)
		r.open = r.open[1:]
	}
	return r.id, first
}

// Waits reports whether a run has failed calls of a tool whose next good call is awaited.
func (f *Follower) Waits(name, tool string) bool {
	r := f.runs[name]
	return r != nil && slices.ContainsFunc(r.open, func(o *open) bool { return o.Tool == tool })
}

// meet tells an open failure of a call that came after it, and whether it is settled.
func (f *Follower) meet(o *open, c *Call) bool {
	if c.Tool != o.Tool {
		if o.tries > 0 {
			return false
		}
		o.Turns = min(o.Turns+1, within)
		if c.Good && len(o.Between) < within {
			o.Between = append(o.Between, c.Tool)
		}
		return false
	}
	if o.tries++; o.tries == 1 {
		o.Again = c.Good
	}
	if !c.Good {
		return o.tries >= within
	}
	o.Changes, o.Near = diff(o.input, c.Input)
	o.Then, o.ThenLine = shown(c.Input), c.Line
	return true
}

// Flush completes the open failures.
func (f *Follower) Flush() {
	for _, name := range f.order {
		f.end(name)
	}
	f.order = nil
}

func (f *Follower) end(name string) {
	for _, o := range f.runs[name].open {
		if o.tries == 0 {
			o.Turns, o.Between = 1, nil // the run went on without the tool
		}
		f.Failed(o.Failure)
	}
	delete(f.runs, name)
}

func (f *Follower) run(name string) (r *run, first bool) {
	if f.runs == nil {
		f.runs = map[string]*run{}
	}
	r = f.runs[name]
	if first = r == nil; first {
		if len(f.order) >= maxRuns {
			f.end(f.order[0])
			f.order = f.order[1:]
		}
		r = &run{id: hashOf(name)}
		f.runs[name] = r
		f.order = append(f.order, name)
	}
	return r, first
}

func hashOf(s string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s)) // it cannot fail
	return h.Sum64()
}

// said is the line of an output that says what went wrong, else its last; "" where the
// output says nothing in words.
func said(output string) string {
	line := errortext.Message(output)
	if !worded(line) {
		text := textsafe.Tail(output, 4<<10)
		if _, rest, more := strings.Cut(text, "\n"); more && len(text) < len(output) {
			text = rest // what is before it is the end of a line
		}
		for l := range strings.Lines(text) {
			if worded(l) {
				line = l
			}
		}
	}
	if !worded(line) {
		return ""
	}
	if len(strings.Fields(line)) < 3 { // a heading: what it heads says more
		if _, rest, more := strings.Cut(output, line); more {
			line += " " + textsafe.Head(strings.TrimSpace(rest), maxSaid)
		}
	}
	if strings.ContainsAny(line, "}]") && !strings.ContainsAny(line, "{[") {
		line = strings.TrimRight(line, `\"'}] `) // what ends the JSON around it
	}
	return textsafe.Line(textsafe.Mask(line), maxSaid)
}

// worded reports whether a text holds a word: two letters beside each other.
func worded(s string) bool {
	before := false
	for _, r := range s {
		is := unicode.IsLetter(r)
		if is && (before || r > unicode.MaxLatin1) {
			return true
		}
		before = is
	}
	return false
}

func shown(input json.RawMessage) string {
	text := string(input)
	if len(input) > 0 && input[0] == '"' {
		_ = json.Unmarshal(input, &text) // else as it stands
	}
	return textsafe.Line(textsafe.Mask(text), maxDid)
}

// maxForm bounds a form, in characters.
const maxForm = 120

// Form is a judge's summary of a failed call without its variable parts: failed calls of a
// tool with the same form are one mistake. A summary that would lose all its words stays
// whole, because its numbers distinguish it.
func Form(summary string) string {
	said := textsafe.HeadRunes(strings.NewReplacer("“", "", "”", "").Replace(summary), 4*maxForm)
	bare := strings.Join(strings.Fields(errortext.Masked(said)), " ")
	if len(strings.Fields(bare)) <= 3 && strings.ContainsAny(said, "0123456789") && !strings.ContainsAny(said, "/\\\"'`") || !worded(bare) {
		bare = said
	}
	return textsafe.Line(bare, maxForm)
}
