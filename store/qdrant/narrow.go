package qdrant

import (
	"cmp"
	"context"
	"math"
	"slices"

	"memoryd"
	"memoryd/internal/lifecycle"

	qd "github.com/qdrant/go-client/qdrant"
)

// A server reads a point's whole text to give any field of it: a look over a history of
// 100 calls of 2 KB costs it twenty times what their ids cost. So a process remembers
// what it read or wrote of points beside the texts, and asks for ids, which come from an index.

// narrow is a point of a call without its texts. Of these, only a verdict changes anything after
// pending, and each verdict raises their number.
type narrow struct {
	memoryd.Sample

	id, life                            string
	stamp, keep, verdicts, judged, size int64
	pending                             bool
}

// narrowFields is what a narrow is read from.
var narrowFields = [...]string{
	fieldLife, fieldSeq, fieldStamp, fieldKeep, fieldPending, fieldJudged, fieldSize, fieldState, fieldScore, fieldOK,
	fieldSeconds, fieldTokens, fieldVerdict,
}

func narrowOf(p point) (narrow, error) {
	r := &reader{payload: p.payload}
	n := narrow{
		id: p.id, life: p.word(fieldLife), stamp: p.int(fieldStamp), keep: p.int(fieldKeep), verdicts: p.int(fieldVerdict),
		judged: p.int(fieldJudged), size: p.int(fieldSize), pending: p.int(fieldPending) >= 0,
		Sample: memoryd.Sample{
			Seq: p.int(fieldSeq), Success: p.bool(fieldOK), State: memoryd.EvaluationState(p.word(fieldState)),
			Score: r.float(fieldScore), TimeCost: r.float(fieldSeconds), TokenCost: p.int(fieldTokens),
		},
	}
	return n, damaged("call", r.err)
}

// samples turns a history round.
func samples(kept []narrow) []memoryd.Sample {
	out := make([]memoryd.Sample, len(kept))
	for i := range kept {
		out[len(kept)-1-i] = kept[i].Sample
	}
	return out
}

// lifeOf gives the life of a call or a content; a point has one of the fields.
func lifeOf(p point) string { return p.word(fieldLife) + p.word(fieldContent) }

// maxIDs is above the number of calls in the longest history that the settings allow, and of those that it let
// go and that were not cleared away yet.
const maxIDs = 1 << 18

// keptIDs gives the ids of the calls of a history and of those that it let go and that
// were not cleared away yet, in no order.
func (s *backend) keptIDs(ctx context.Context, life string) ([]string, error) {
	found, err := s.scroll(ctx, s.calls, all(is(fieldKept, life)), nil, maxIDs)
	return idsOf(found), err
}

// verdictsOf tells how many verdicts the calls of a history had, without those that had none.
func (s *backend) verdictsOf(ctx context.Context, life string) (map[string]int64, error) {
	found, err := s.scroll(ctx, s.calls, all(is(fieldKept, life)), ascending(fieldVerdict), maxIDs)
	verdicts := make(map[string]int64, len(found))
	for _, p := range found { // the server gives what it ordered by, from its index
		verdicts[p.id] = p.order
	}
	return verdicts, err
}

// historyCalls gives the calls of a history, newest first.
func (s *backend) historyCalls(ctx context.Context, life string) ([]narrow, error) {
	for range maxAttempts {
		calls, whole, err := s.keptCallsOf(ctx, life)
		if whole || err != nil {
			return kept(newestFirst(calls)), err
		}
	}
	return nil, memoryd.Errorf(memoryd.Unavailable, "a history changes faster than it can be read")
}

// keptCallsOf gives the calls of a history and those that were not cleared away yet. It reads those
// that are not known, that got a verdict since, or that wait for one. When one was let go while it
// read, what took its place is not among them.
func (s *backend) keptCallsOf(ctx context.Context, life string) (calls []narrow, whole bool, err error) {
	var ids []string
	var verdicts map[string]int64
	g, gctx := lifecycle.NewGroup(ctx, s.log, "qdrant", 0)
	g.Go(func() (err error) { ids, err = s.keptIDs(gctx, life); return err })
	g.Go(func() (err error) { verdicts, err = s.verdictsOf(gctx, life); return err })
	if err := g.Wait(); err != nil {
		return nil, false, err
	}
	calls = make([]narrow, 0, len(ids))
	var unknown []string
	for _, id := range ids {
		if c, ok := s.known.Get(id); ok && c.life == life && !c.pending && c.verdicts == verdicts[id] {
			calls = append(calls, c)
		} else {
			unknown = append(unknown, id)
		}
	}
	found, err := s.gather(ctx, &s.pointReads, unknown)
	if err != nil {
		return nil, false, err
	}
	for _, id := range unknown {
		p := point{id: id, payload: found[id]}
		if !p.has(fieldSeq) {
			return nil, false, nil
		}
		c, err := narrowOf(p)
		if err != nil {
			return nil, false, err
		}
		s.known.Add(id, c)
		calls = append(calls, c)
	}
	return calls, true, nil
}

// byID is some calls by their ids.
func byID(calls []narrow) map[string]narrow {
	out := make(map[string]narrow, len(calls))
	for _, c := range calls {
		out[c.id] = c
	}
	return out
}

// newestFirst orders calls of the same number by id.
func newestFirst(calls []narrow) []narrow {
	slices.SortFunc(calls, func(a, b narrow) int { return cmp.Or(cmp.Compare(b.Seq, a.Seq), cmp.Compare(b.id, a.id)) })
	return calls
}

// kept gives those calls, the newest first, that a history keeps.
//
// That follows from the calls alone: each says how many were to be kept when it came, so
// a call with n newer ones is kept as long as none of those, nor it, asks for less. The
// points of calls that are no longer kept are cleared away later (see sweep.go); until
// then readers pass over them here. So nobody has to trim in time, and no trim can take
// one of the newest.
func kept(calls []narrow) []narrow {
	bound := int64(math.MaxInt64)
	for i, c := range calls {
		if int64(i) >= bound {
			return calls[:i]
		}
		bound = min(bound, int64(i)+max(1, c.keep))
	}
	return calls
}

// whole and brief ask for all of a call, and for all but its texts.
func whole() *qd.WithPayloadSelector { return qd.NewWithPayload(true) }

func brief() *qd.WithPayloadSelector { return qd.NewWithPayloadExclude(fieldInput, fieldOutput) }
