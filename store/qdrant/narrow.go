package qdrant

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"memoryd"

	qd "github.com/qdrant/go-client/qdrant"
)

// A server reads a point's whole text to give any field of it: a look over a history of
// 100 calls of 2 KB costs it twenty times what their ids cost. So a process remembers
// what it read of a history beside the texts, and asks for ids, which come from an index.

// narrow is a call of a history without its texts. Of these, only a verdict changes
// anything after pending, and each verdict raises their number.
type narrow struct {
	id               string
	seq, stamp, keep int64
	pending          bool
	verdicts         int64
	judged, size     int64
	tokens           int64
	ok               bool
	state            memoryd.EvaluationState
	score, seconds   float64
}

// narrowFields is what a narrow is read from.
var narrowFields = [...]string{
	fieldSeq, fieldStamp, fieldKeep, fieldPending, fieldJudged, fieldSize, fieldState, fieldScore, fieldOK,
	fieldSeconds, fieldTokens, fieldVerdict,
}

func narrowOf(p point) (narrow, error) {
	r := &reader{payload: p.payload}
	n := narrow{
		id: p.id, seq: p.int(fieldSeq), stamp: p.int(fieldStamp), keep: p.int(fieldKeep), pending: p.int(fieldPending) >= 0,
		verdicts: p.int(fieldVerdict), judged: p.int(fieldJudged), size: p.int(fieldSize), tokens: p.int(fieldTokens),
		ok: p.bool(fieldOK), state: memoryd.EvaluationState(p.word(fieldState)), score: r.float(fieldScore), seconds: r.float(fieldSeconds),
	}
	return n, damaged("call", r.err)
}

func (n *narrow) sample() memoryd.Sample {
	return memoryd.Sample{Seq: n.seq, Success: n.ok, State: n.state, Score: n.score, TimeCost: n.seconds, TokenCost: n.tokens}
}

// samples turns a history round.
func samples(kept []narrow) []memoryd.Sample {
	out := make([]memoryd.Sample, len(kept))
	for i := range kept {
		out[len(kept)-1-i] = kept[i].sample()
	}
	return out
}

// looked is what was read of a history's calls, when those of its life had had so many
// verdicts; -1 when these were not counted. It does not change.
type looked struct {
	verdicts int64
	calls    map[string]narrow
}

// looks are histories by life.
type looks struct {
	mu    sync.Mutex
	lives map[string]*looked
	calls int
}

func (l *looks) get(life string) *looked {
	l.mu.Lock()
	defer l.mu.Unlock()
	if known := l.lives[life]; known != nil {
		return known
	}
	return &looked{verdicts: -1}
}

// put remembers a history. What is full begins anew: what is asked often is back at once.
func (l *looks) put(life string, k *looked) {
	const maxCalls = 200_000 // of some 200 bytes
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lives == nil || l.calls > maxCalls {
		l.lives, l.calls = map[string]*looked{}, 0
	}
	if old := l.lives[life]; old != nil {
		l.calls -= len(old.calls)
	}
	l.lives[life] = k
	l.calls += len(k.calls)
}

// seen is a point of a life.
type seen struct {
	narrow
	content bool // not a call, but a content
	gone    bool // a call that has left the history
}

// lifeOf gives the life of a call or a content; a point has one of the fields.
func lifeOf(p point) string { return p.word(fieldLife) + p.word(fieldContent) }

func seenOf(p point) (seen, error) {
	n, err := narrowOf(p)
	return seen{n, p.has(fieldContent), !p.has(fieldContent) && !p.has(fieldSeq)}, err
}

// arrival is a point that this process stored lately. It is known as it was written; what
// changes it later is found as in others.
type arrival struct {
	life string
	seen
}

// maxIDs is how many calls of a history are asked for by their ids. Larger histories are
// read by pages.
const maxIDs = 1024

// keptIDs gives the ids of the calls of a history and of those that it let go and that
// were not cleared away yet, with at least so many verdicts, in no order.
func (s *backend) keptIDs(ctx context.Context, life string, verdicts int64) ([]string, error) {
	f := all(is(fieldKept, life))
	if verdicts > 0 {
		f.Must = append(f.Must, atLeast(fieldVerdict, verdicts))
	}
	found, err := s.scroll(ctx, s.calls, f, nil, maxIDs)
	return idsOf(found), err
}

// historyCalls gives the calls of a history, newest first.
func (s *backend) historyCalls(ctx context.Context, life string) ([]narrow, error) {
	ids, err := s.keptIDs(ctx, life, 0)
	if err != nil {
		return nil, err
	}
	return s.keptOf(ctx, life, ids, -1)
}

// keptOf is kept for the ids that keptIDs gave, and for the number of verdicts that the
// life's calls had had before that, if it was counted: what was read of them when it was
// the same is still so. Pending calls are read each time.
func (s *backend) keptOf(ctx context.Context, life string, ids []string, verdicts int64) ([]narrow, error) {
	if len(ids) >= maxIDs {
		return s.look(ctx, life)
	}
	known := s.looks.get(life)
	times := map[string]int64{}
	same := verdicts >= 0 && verdicts == known.verdicts
	for n := int64(1); !same; n++ {
		more, err := s.keptIDs(ctx, life, n)
		if err != nil {
			return nil, err
		}
		if len(more) == 0 {
			break
		}
		for _, id := range more {
			times[id] = n
		}
	}
	now := &looked{verdicts: verdicts, calls: make(map[string]narrow, len(ids))}
	var unknown []string
	for _, id := range ids {
		if c, ok := known.calls[id]; ok && !c.pending && (same || c.verdicts == times[id]) {
			now.calls[id] = c
		} else {
			unknown = append(unknown, id)
		}
	}
	found, err := s.gather(ctx, &s.callReads, unknown)
	if err != nil {
		return nil, err
	}
	for _, id := range unknown {
		p := point{id, found[id]}
		if !p.has(fieldSeq) { // let go since: what took its place is not among the ids
			return s.look(ctx, life)
		}
		if now.calls[id], err = narrowOf(p); err != nil {
			return nil, err
		}
	}
	s.looks.put(life, now)
	list := make([]narrow, 0, len(ids))
	for _, c := range now.calls {
		list = append(list, c)
	}
	h := history{bound: math.MaxInt64}
	h.add(newestFirst(list))
	return h.kept, nil
}

// newestFirst orders calls of the same number by id.
func newestFirst(calls []narrow) []narrow {
	slices.SortFunc(calls, func(a, b narrow) int { return cmp.Or(cmp.Compare(b.seq, a.seq), cmp.Compare(b.id, a.id)) })
	return calls
}

// history finds out what a history keeps.
//
// That follows from the calls alone: each says how many were to be kept when it came, so
// a call with n newer ones is kept as long as none of those, nor it, asks for less. The
// points of calls that are no longer kept are cleared away later (see sweep.go); until
// then readers pass over them here. So nobody has to trim in time, and no trim can take
// one of the newest.
type history struct {
	bound int64 // how many it keeps, as far as was seen
	kept  []narrow
}

// add takes further calls, the newest first, and reports whether still older ones may be
// kept.
func (h *history) add(calls []narrow) bool {
	for _, c := range calls {
		rank := int64(len(h.kept))
		if rank >= h.bound {
			return false
		}
		h.bound = min(h.bound, rank+max(1, c.keep))
		h.kept = append(h.kept, c)
	}
	return int64(len(h.kept)) < h.bound
}

// look reads a history page by page, newest first.
func (s *backend) look(ctx context.Context, life string) ([]narrow, error) {
	const firstPage, maxPage = 128, 1024
	h := history{bound: math.MaxInt64}
	seen := map[string]bool{}
	var from *int64
	for page := firstPage; ; {
		found, err := s.scroll(ctx, s.calls, all(is(fieldKept, life)), descending(fieldSeq, from), page, narrowFields[:]...)
		if err != nil {
			return nil, err
		}
		var fresh []narrow
		for _, p := range found {
			if seen[p.id] {
				continue
			}
			seen[p.id] = true
			c, err := narrowOf(p)
			if err != nil {
				return nil, err
			}
			fresh = append(fresh, c)
		}
		if !h.add(newestFirst(fresh)) || len(found) < page {
			return h.kept, nil
		}
		if len(fresh) == 0 {
			page *= 2 // more calls of one number than a page holds
			continue
		}
		page = max(page, min(2*page, maxPage))
		from = &h.kept[len(h.kept)-1].seq
	}
}

// whole and brief ask for all of a call, and for all but its texts.
func whole() *qd.WithPayloadSelector { return qd.NewWithPayload(true) }

func brief() *qd.WithPayloadSelector { return qd.NewWithPayloadExclude(fieldInput, fieldOutput) }
