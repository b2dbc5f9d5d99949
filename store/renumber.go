package store

import "memoryd"

// Renumber numbers the stored calls of a tool, oldest first, as a single process would: the newest
// gets the lifetime number of the tool, the others the numbers before it. ThroughSeq of the
// guideline keeps pointing at its call. A tool with these numbers does not change.
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
