package qdrant

import (
	"context"

	"memoryd"
	"memoryd/store"

	qd "github.com/qdrant/go-client/qdrant"
)

// Override implements store.Verdicts: it writes on the condition that nobody
// wrote since it read, and tries again when somebody did.
func (s *backend) Override(ctx context.Context, v store.Verdict) (memoryd.Call, error) {
	id := callID(v.Workspace, v.Key)
	for range maxAttempts {
		kept, err := s.keptCalls(ctx, []store.Verdict{v})
		if err != nil {
			return memoryd.Call{}, err
		}
		if kept[id] == "" {
			return memoryd.Call{}, notKept()
		}
		found, err := s.getMap(ctx, s.calls, []string{id}, qd.NewWithPayload(true))
		if err != nil {
			return memoryd.Call{}, err
		}
		old := found[id]
		if !old.has(fieldKept) {
			return memoryd.Call{}, notKept()
		}
		was, err := decodeCall(old)
		if err != nil {
			return memoryd.Call{}, err
		}
		if won, err := s.replaceVerdict(ctx, id, old, &v.Evaluation); won || err != nil {
			return was, err
		}
	}
	return memoryd.Call{}, memoryd.Errorf(memoryd.Unavailable, "the call is judged again and again")
}

func notKept() error { return memoryd.Errorf(memoryd.NotFound, "the history does not keep this call") }

// replaceVerdict writes an evaluation if that of old is there still.
func (s *backend) replaceVerdict(ctx context.Context, id string, old payload, e *memoryd.Evaluation) (bool, error) {
	nonce := newNonce()
	p := encodeEvaluation(e)
	p[fieldWriter] = word(nonce)
	p[fieldVerdict] = integer(old.int(fieldVerdict) + 1)
	p[fieldJudged] = integer(s.clock.next(1))
	unchanged := qd.NewIsEmpty(fieldWriter)
	if old.has(fieldWriter) {
		unchanged = is(fieldWriter, old.word(fieldWriter))
	}
	if err := s.set(ctx, s.calls, all(qd.NewHasID(qd.NewIDUUID(id)), unchanged), p); err != nil {
		return false, err
	}
	found, err := s.getMap(ctx, s.calls, []string{id}, include(fieldWriter))
	return found[id].word(fieldWriter) == nonce, err
}
