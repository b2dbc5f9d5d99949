package sqlite

import (
	"cmp"
	"slices"
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
}

// keyRef and seqRef find a pending call.
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

// pendingSet holds all pending calls. A claim looks at each: a model takes longer over one.
type pendingSet struct {
	mu    sync.Mutex
	byKey map[keyRef]*pendingCall
	bySeq map[seqRef]*pendingCall
}

func newPendingSet() *pendingSet {
	return &pendingSet{byKey: map[keyRef]*pendingCall{}, bySeq: map[seqRef]*pendingCall{}}
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
}

func (p *pendingSet) remove(c *pendingCall) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.byKey, keyRef{c.tool, c.key})
	delete(p.bySeq, seqRef{c.tool, c.seq})
}

// retryAt says when the call may be tried again.
func (p *pendingSet) retryAt(c *pendingCall, notBefore time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.notBefore = notBefore
}

// claim leases up to limit calls that may be tried at now, oldest first.
func (p *pendingSet) claim(now time.Time, lease time.Duration, limit int) []pendingCall {
	p.mu.Lock()
	defer p.mu.Unlock()
	var due []*pendingCall
	for _, c := range p.bySeq {
		if !c.notBefore.After(now) {
			due = append(due, c)
		}
	}
	slices.SortFunc(due, func(a, b *pendingCall) int { return cmp.Compare(a.id, b.id) })
	out := make([]pendingCall, min(limit, len(due)))
	for i := range out {
		out[i] = *due[i]
		due[i].notBefore = now.Add(lease)
	}
	return out
}
