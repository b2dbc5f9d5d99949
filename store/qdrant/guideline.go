package qdrant

import (
	"context"
	"slices"

	"memoryd"

	qd "github.com/qdrant/go-client/qdrant"
)

// rememberedWriters is how many writers of a guideline, or of a record, are
// remembered, so that one that was overtaken before it could look learns that it
// wrote. With 8, a starved one among six that wrote as fast as they could was told
// now and then that it had not.
const rememberedWriters = 64

// PutGuideline implements store.Tools: a write that compares the revision and
// names its writer, and a read that tells who wrote.
func (s *backend) PutGuideline(ctx context.Context, ref memoryd.ToolRef, g memoryd.Guideline, expect int64) error {
	t, err := s.findCounted(ctx, ref)
	if err != nil {
		return err
	}
	if t.info.Guideline.Revision != expect {
		return conflict("guideline")
	}
	nonce := newMark()
	mine := all(qd.NewHasID(qd.NewIDUUID(t.id)), is(fieldLife, t.life))
	compare := all(append(slices.Clone(mine.GetMust()), revisionIs(fieldGuideRev, expect))...)
	err = s.set(ctx, s.tools, compare, payload{
		fieldGuideRev: integer(expect + 1), fieldGuideMarks: words(marks(nonce, t.p.words(fieldGuideMarks))),
		fieldGuideAt: integer(s.clock.next(1)), fieldGuide: object(encodeGuideline(&g)),
	})
	if err != nil {
		return err
	}
	after, err := s.find(ctx, ref)
	if err != nil {
		return err
	}
	if after == nil || after.life != t.life {
		return unknownTool()
	}
	if !slices.Contains(after.p.words(fieldGuideMarks), nonce) {
		return conflict("guideline")
	}
	mine.Must = append(mine.Must, isInt(fieldGuideRev, expect+1))
	return s.index(ctx, t.id, mine, ref.Tool, g.Content)
}

// revisionIs holds for a point of the revision; 0 means that it has none.
func revisionIs(field string, revision int64) *qd.Condition {
	if revision == 0 {
		return qd.NewIsEmpty(field)
	}
	return isInt(field, revision)
}

// marks puts a writer before those who wrote earlier.
func marks(nonce string, earlier []string) []string {
	out := append([]string{nonce}, earlier...)
	return out[:min(len(out), rememberedWriters)]
}

func conflict(what string) error {
	return memoryd.Errorf(memoryd.Conflict, "the %s was replaced in between", what)
}

// findCounted is find for a tool that exists for callers: that has a call.
func (s *backend) findCounted(ctx context.Context, ref memoryd.ToolRef) (*tool, error) {
	t, err := s.find(ctx, ref)
	if err != nil {
		return nil, err
	}
	if t == nil {
		return nil, unknownTool()
	}
	if t.p.int(fieldBaseCalls) > 0 || t.p.int(fieldRestored) > 0 {
		return t, nil
	}
	found, err := s.scroll(ctx, s.calls, all(is(fieldLife, t.life)), nil, 1)
	if err == nil && len(found) == 0 {
		return nil, unknownTool()
	}
	return t, err
}
