package linear

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// keep is how many calls the histories hold, and keys how many different calls
// there are for each tool, so that calls are sent again and let go all the time.
const (
	keep = 6
	keys = 40
)

// verb is a method of the store.
type verb int

const (
	appendCalls verb = iota
	readTool
	readHistory
	putGuideline
	settle
	verbs
)

// request is one operation on a tool.
type request struct {
	tool   int
	verb   verb
	keys   [3]byte // of the calls to append, 0 for none; the first is the one to settle
	limit  int     // of a history
	expect int64   // revision of the guideline
}

// response is what the store said. It is comparable.
type response struct {
	appended [3]int64 // number of each new call, 0 for a known one
	kept     string   // per call: key, whether judged
	first    int64    // number of the first of them
	counts   counts
	done     bool // the guideline was put, the verdict written
}

type counts struct{ lifetime, pending, kept, revision, guideline int64 }

// tool is the sequential specification: what one tool is after some operations.
type tool struct {
	known     [keys + 1]bool
	kept      string // two bytes a call: key, whether judged
	lifetime  int64
	verdicts  int64
	guideline int64
}

const (
	waiting = '?'
	judged  = '!'
)

// step does one operation on the tool and gives the only right response.
func (t tool) step(r request) (response, tool) {
	switch r.verb {
	case appendCalls:
		return t.append(r)
	case readTool:
		return response{counts: t.counts()}, t
	case readHistory:
		kept := t.kept
		if n := 2 * r.limit; n > 0 && n < len(kept) {
			kept = kept[len(kept)-n:]
		}
		out := response{kept: kept}
		if kept != "" {
			out.first = t.lifetime - int64(len(kept)/2) + 1
		}
		return out, t
	case putGuideline:
		if t.lifetime == 0 || t.guideline != r.expect {
			return response{}, t
		}
		t.guideline++
		return response{done: true}, t
	}
	return t.settle(r.keys[0])
}

func (t tool) append(r request) (response, tool) {
	var out response
	for i, k := range r.keys {
		if k == 0 || t.known[k] {
			continue
		}
		t.known[k] = true
		t.lifetime++
		out.appended[i] = t.lifetime
		t.kept += string([]byte{k, waiting})
	}
	if over := len(t.kept) - 2*keep; over > 0 {
		t.kept = t.kept[over:]
	}
	return out, t
}

func (t tool) settle(key byte) (response, tool) {
	b := []byte(t.kept)
	for i := 0; i < len(b); i += 2 {
		if b[i] == key && b[i+1] == waiting {
			b[i+1] = judged
			t.kept = string(b)
			t.verdicts++
			return response{done: true}, t
		}
	}
	return response{}, t
}

func (t tool) counts() counts {
	if t.lifetime == 0 {
		return counts{}
	}
	c := counts{lifetime: t.lifetime, kept: int64(len(t.kept) / 2), revision: t.lifetime + t.verdicts, guideline: t.guideline}
	for i := 1; i < len(t.kept); i += 2 {
		if t.kept[i] == waiting {
			c.pending++
		}
	}
	return c
}

// model is the specification as the checker wants it, for the operations of one
// tool each.
func model() porcupine.Model {
	return porcupine.Model{
		Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
			parts := make([][]porcupine.Operation, tools)
			for _, op := range history {
				n := op.Input.(request).tool
				parts[n] = append(parts[n], op)
			}
			return parts
		},
		Init: func() any { return tool{} },
		Step: func(state, input, output any) (bool, any) {
			want, next := state.(tool).step(input.(request))
			return want == output.(response), next
		},
		DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v: %+v", input, output) },
	}
}
