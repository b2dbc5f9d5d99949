package store

import "memoryd"

// Renumber gives the kept calls of a tool, oldest first, the numbers that they
// have where one process accepts all calls: the newest has the number of the
// tool's lifetime, the others those before it. The guideline's ThroughSeq keeps
// pointing at its call. A tool that is numbered so already stays as it is.
func Renumber(t *memoryd.Tool, calls []memoryd.Call) {
	n := len(calls)
	first := t.Lifetime - int64(n) + 1
	if n == 0 || calls[0].Seq == first && calls[n-1].Seq == t.Lifetime {
		return
	}
	read := 0 // the calls that the guideline was written from
	for i := range calls {
		if calls[i].Seq <= t.Guideline.ThroughSeq {
			read++
		}
		calls[i].Seq = first + int64(i)
	}
	if t.Guideline.Revision > 0 {
		t.Guideline.ThroughSeq = first + int64(read) - 1
	}
}
