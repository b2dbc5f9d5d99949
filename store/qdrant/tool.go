package qdrant

import (
	"context"
	"slices"
	"time"

	"memoryd"
	"memoryd/internal/lifecycle"
	"memoryd/store"

	"github.com/google/uuid"
	qd "github.com/qdrant/go-client/qdrant"
)

// description is a tool and its history, newest first.
type description struct {
	memoryd.Tool
	kept []narrow
}

// Tool implements store.Tools.
func (s *backend) Tool(ctx context.Context, ref memoryd.ToolRef) (memoryd.Tool, error) {
	d, err := s.described(ctx, ref)
	return d.Tool, err
}

// described reads a tool.
func (s *backend) described(ctx context.Context, ref memoryd.ToolRef) (description, error) {
	t, err := s.find(ctx, ref)
	if err != nil {
		return description{}, err
	}
	if t == nil {
		return description{}, store.UnknownTool()
	}
	d, err := s.describe(ctx, t)
	if err == nil && d.Lifetime == 0 {
		return description{}, store.UnknownTool() // made, but its first call did not arrive
	}
	return d, err
}

// describe counts what is not settled and reads what is not known of the history. Counters are
// the numbers of the points there are, and so count a call once however often it is written,
// plus what was folded before.
func (s *backend) describe(ctx context.Context, t *tool) (description, error) {
	var sum callCounts
	var kept []narrow
	g, gctx := lifecycle.NewGroup(ctx, s.log, "qdrant", 0)
	g.Go(func() (err error) { kept, err = s.historyCalls(gctx, t.life); return err })
	g.Go(func() (err error) {
		sum, err = s.countUpTo(gctx, t.life, s.most(t, endOfStamps), endOfStamps)
		return err
	})
	if err := g.Wait(); err != nil {
		return description{}, err
	}
	s.settleWhenDue(t, sum.calls)
	out := t.info
	out.Lifetime, out.Duplicates, out.Revision = sum.calls, max(0, sum.duplicates), sum.revision
	out.Kept = len(kept)
	changed := t.p.int(fieldGuideAt)
	for i := range kept {
		if kept[i].pending {
			out.Pending++
		}
		s.clock.see(kept[i].stamp)
		if kept[i].stamp > t.p.int(fieldRestored) {
			changed = max(changed, kept[i].stamp)
		}
		changed = max(changed, kept[i].judged)
	}
	out.Modified = latest(out.Created, out.Modified, changed)
	return description{out, kept}, nil
}

// latest gives the later of two times and a stamp.
func latest(a, b time.Time, stamp int64) time.Time {
	if b.After(a) {
		a = b
	}
	if at := instant(stamp); stamp > 0 && at.After(a) {
		a = at
	}
	return a.UTC()
}

// Fields of a tool's point, beside fieldLife, fieldNonce, fieldSpace and
// fieldTool.
const (
	fieldSpaceID   = "workspace_id"
	fieldCreated   = "created" // microseconds, as all times that are no stamps
	fieldModified  = "modified"
	fieldRestored  = "restored"   // the newest stamp of the calls that were restored
	fieldBaseCalls = "base_calls" // what is counted no more by its points: see counts.go
	fieldBaseDups  = "base_duplicates"
	fieldBaseRev   = "base_revision"
	fieldCut       = "cut"     // the newest stamp of what the base counts
	fieldCutAt     = "cut_at"  // a stamp: when the cut moved
	fieldCutRev    = "cut_rev" // how often it moved

	fieldGuideRev   = "guideline_revision"
	fieldGuideMarks = "guideline_writers" // nonces of the newest writers, newest first
	fieldGuideAt    = "guideline_put"     // a stamp
	fieldGuide      = "guideline"
)

// Fields of other points in the collection of tools: of a workspace, and of a
// life of a tool that was ended.
const (
	fieldAllSpaces = "of_all"
	fieldTombstone = "ended" // a stamp
)

// allSpaces is the value of fieldAllSpaces.
const allSpaces = "6d656d6f-7279-8d64-8f6f-6c6d656d6f72"

// tool is a tool's point. Its life is drawn when the tool is made: what belongs
// to an earlier tool of the same name has another.
type tool struct {
	id, life string
	p        payload
	info     memoryd.Tool // without what is counted
}

func newToolPoint(ref memoryd.ToolRef, life, nonce string, now time.Time) *qd.PointStruct {
	p := payload{
		fieldLife: word(life), fieldNonce: word(nonce), fieldSpace: word(ref.Workspace), fieldTool: word(ref.Tool),
		fieldSpaceID: word(workspaceID(ref.Workspace)), fieldCreated: integer(now.UnixMicro()),
	}
	putOrder(p, ref.Tool)
	return newPoint(toolID(ref), p)
}

func newWorkspacePoint(workspace string) *qd.PointStruct {
	p := payload{fieldAllSpaces: word(allSpaces), fieldSpace: word(workspace)}
	putOrder(p, workspace)
	return newPoint(workspaceID(workspace), p)
}

func newLife() string { return uuid.NewString() }

// decodeTool reads a tool's point.
func decodeTool(p point) (*tool, error) {
	g := &reader{payload: p.object(fieldGuide)}
	t := &tool{id: p.id, life: p.word(fieldLife), p: p.payload}
	t.info = memoryd.Tool{
		ToolRef: memoryd.ToolRef{Workspace: p.word(fieldSpace), Tool: p.word(fieldTool)},
		Created: p.time(fieldCreated), Modified: p.time(fieldModified),
		Guideline: memoryd.Guideline{
			Revision: p.int(fieldGuideRev), Content: g.text("content"), Author: g.text("author"),
			BasedOn: g.int("based_on"), ThroughSeq: g.int("through"), Written: g.time("written"),
		},
	}
	return t, damaged("tool", g.err)
}

func encodeGuideline(g *memoryd.Guideline) payload {
	p := payload{}
	p.putText("content", g.Content)
	p.putText("author", g.Author)
	p.putInt("based_on", g.BasedOn)
	p.putInt("through", g.ThroughSeq)
	p.putTime("written", g.Written)
	return p
}

// find reads a tool's point; nil if there is none.
func (s *backend) find(ctx context.Context, ref memoryd.ToolRef) (*tool, error) {
	id := toolID(ref)
	found, err := s.gather(ctx, &s.toolReads, []string{id})
	if err != nil || found[id] == nil {
		return nil, err
	}
	return decodeTool(point{id: id, payload: found[id]})
}

// rememberedWriters is how many writers of a guideline, or of a record, are
// remembered, so that one that was overtaken before it could look learns that it
// wrote. With 8, a starved one among six that wrote as fast as they could was told
// now and then that it had not.
const rememberedWriters = 64

// PutGuideline implements store.Tools: a write that compares the revision and names its
// writer, and a read that shows who wrote.
func (s *backend) PutGuideline(ctx context.Context, ref memoryd.ToolRef, g memoryd.Guideline, expect int64) error {
	t, err := s.findCounted(ctx, ref)
	if err != nil {
		return err
	}
	if t.info.Guideline.Revision != expect {
		return store.Replaced("guideline")
	}
	nonce := newMark()
	compare := all(qd.NewHasID(qd.NewIDUUID(t.id)), is(fieldLife, t.life), revisionIs(fieldGuideRev, expect))
	err = s.set(ctx, s.tools, s.compareOrder(), compare, payload{
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
		return store.UnknownTool()
	}
	if !slices.Contains(after.p.words(fieldGuideMarks), nonce) {
		return store.Replaced("guideline")
	}
	return nil
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

// findCounted is find for a tool that exists for callers: that has a call.
func (s *backend) findCounted(ctx context.Context, ref memoryd.ToolRef) (*tool, error) {
	t, err := s.find(ctx, ref)
	if err != nil {
		return nil, err
	}
	if t == nil {
		return nil, store.UnknownTool()
	}
	if t.p.int(fieldBaseCalls) > 0 || t.p.int(fieldRestored) > 0 {
		return t, nil
	}
	found, err := s.scroll(ctx, s.calls, all(is(fieldLife, t.life)), nil, 1)
	if err == nil && len(found) == 0 {
		return nil, store.UnknownTool()
	}
	return t, err
}
