package reading

import (
	"sync"

	"memoryd/internal/loosejson"
)

// Reading is a call whose input and output were read, once for all that ask. It is valid
// until it is released.
type Reading struct {
	In     string        // the input, cut
	Input  loosejson.Doc // the input as a structure
	Text   string        // the output without its wrapping
	Output loosejson.Doc // the output as a structure; without nodes where it is none

	builder builder
}

var readings = sync.Pool{New: func() any { return &Reading{builder: builder{given: map[ID]bool{}}} }}

// Read reads a call.
func Read(input []byte, output string) *Reading {
	r := readings.Get().(*Reading) //nolint:forcetypeassert // the pool makes nothing else
	r.In, r.Text = string(input[:min(len(input), maxInput)]), Bare(output)
	r.Input.Parse(r.In)
	r.Output.Parse(r.Text)
	return r
}

// Release gives the room back, with nothing of the call left in it.
func (r *Reading) Release() {
	r.Input.Clear()
	r.Output.Clear()
	r.builder.clear()
	r.In, r.Text = "", ""
	readings.Put(r)
}
