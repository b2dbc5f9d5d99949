package sqlite

import (
	"container/heap"
	"sync"
	"time"

	"memoryd"
)

// pendingCall is a kept call that waits for its verdict.
type pendingCall struct {
	id   int64 // row of pending: the order of acceptance
	tool uint32
	slot int64
	seq  int64
	key  memoryd.CallKey
	// notBefore is when it may be tried; a lease moves it in memory only.
	notBefore time.Time
	place     int // in its heap
	waiting   bool
}

// byKey and bySeq find a pending call.
type (
	keyRef struct {
		tool uint32
		key  memoryd.CallKey
	}
	seqRef struct {
		tool uint32
		seq  int64
	}
)

// pendingSet holds all pending calls: those that may be tried by age, those
// that must wait by the end of their wait. Each operation costs O(log n).
type pendingSet struct {
	mu    sync.Mutex
	byKey map[keyRef]*pendingCall
	bySeq map[seqRef]*pendingCall
	ready callHeap // ordered by id
	later callHeap // ordered by notBefore
}

func newPendingSet() *pendingSet {
	older := func(a, b *pendingCall) bool { return a.id < b.id }
	sooner := func(a, b *pendingCall) bool {
		if !a.notBefore.Equal(b.notBefore) {
			return a.notBefore.Before(b.notBefore)
		}
		return a.id < b.id
	}
	return &pendingSet{
		byKey: map[keyRef]*pendingCall{}, bySeq: map[seqRef]*pendingCall{},
		ready: callHeap{less: older}, later: callHeap{less: sooner},
	}
}

func (p *pendingSet) findKey(tool uint32, key memoryd.CallKey) *pendingCall {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.byKey[keyRef{tool, key}]
}

func (p *pendingSet) findSeq(tool uint32, seq int64) *pendingCall {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bySeq[seqRef{tool, seq}]
}

func (p *pendingSet) add(c *pendingCall) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.byKey[keyRef{c.tool, c.key}] = c
	p.bySeq[seqRef{c.tool, c.seq}] = c
	p.push(c)
}

func (p *pendingSet) remove(c *pendingCall) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.byKey, keyRef{c.tool, c.key})
	delete(p.bySeq, seqRef{c.tool, c.seq})
	p.pull(c)
}

// retryAt says when the call may be tried again.
func (p *pendingSet) retryAt(c *pendingCall, notBefore time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bySeq[seqRef{c.tool, c.seq}] != c {
		return
	}
	p.pull(c)
	c.notBefore = notBefore
	p.push(c)
}

// claim leases up to limit calls that may be tried at now, oldest first. The
// copies carry the time before the lease.
func (p *pendingSet) claim(now time.Time, lease time.Duration, limit int) []pendingCall {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.later.Len() > 0 && !p.later.calls[0].notBefore.After(now) {
		c := p.later.calls[0]
		p.pull(c)
		c.waiting = false
		heap.Push(&p.ready, c)
	}
	var out []pendingCall
	for len(out) < limit && p.ready.Len() > 0 {
		c := p.ready.calls[0]
		p.pull(c)
		if !c.notBefore.After(now) { // else the clock went back
			out = append(out, *c)
			c.notBefore = now.Add(lease)
		}
		c.waiting = true
		heap.Push(&p.later, c)
	}
	return out
}

// release takes leases back that were not used.
func (p *pendingSet) release(claimed []pendingCall) {
	for i := range claimed {
		if c := p.findSeq(claimed[i].tool, claimed[i].seq); c != nil {
			p.retryAt(c, claimed[i].notBefore)
		}
	}
}

func (p *pendingSet) push(c *pendingCall) {
	c.waiting = !c.notBefore.IsZero()
	heap.Push(p.heapOf(c), c)
}

func (p *pendingSet) pull(c *pendingCall) { heap.Remove(p.heapOf(c), c.place) }

func (p *pendingSet) heapOf(c *pendingCall) *callHeap {
	if c.waiting {
		return &p.later
	}
	return &p.ready
}

// callHeap implements heap.Interface.
type callHeap struct {
	calls []*pendingCall
	less  func(a, b *pendingCall) bool
}

func (h *callHeap) Len() int           { return len(h.calls) }
func (h *callHeap) Less(i, j int) bool { return h.less(h.calls[i], h.calls[j]) }
func (h *callHeap) Swap(i, j int) {
	h.calls[i], h.calls[j] = h.calls[j], h.calls[i]
	h.calls[i].place, h.calls[j].place = i, j
}

func (h *callHeap) Push(x any) {
	c := x.(*pendingCall)
	c.place = len(h.calls)
	h.calls = append(h.calls, c)
}

func (h *callHeap) Pop() any {
	last := len(h.calls) - 1
	c := h.calls[last]
	h.calls[last] = nil
	h.calls = h.calls[:last]
	return c
}
