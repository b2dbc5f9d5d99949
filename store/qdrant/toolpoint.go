package qdrant

import (
	"context"
	"time"

	"memoryd"

	"github.com/google/uuid"
	qd "github.com/qdrant/go-client/qdrant"
)

// Fields of a tool's point, beside fieldLife, fieldNonce, fieldSpace and
// fieldTool.
const (
	fieldSpaceID   = "workspace_id"
	fieldCreated   = "created" // microseconds, as all times that are no stamps
	fieldModified  = "modified"
	fieldRestored  = "restored"   // the newest stamp of the calls that were restored
	fieldBaseCalls = "base_calls" // what is counted no more by its points: see fold.go
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
	fieldGrave     = "ended" // a stamp
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
	pt := newPoint(toolID(ref), p)
	pt.Vectors = searchVectors(ref.Tool, "")
	return pt
}

func newWorkspacePoint(workspace string) *qd.PointStruct {
	p := payload{fieldAllSpaces: word(allSpaces), fieldSpace: word(workspace)}
	putOrder(p, workspace)
	return newPoint(workspaceID(workspace), p)
}

func newLife() string { return uuid.NewString() }

// decodeTool reads a tool's point.
func decodeTool(p point) (*tool, error) {
	r := &reader{payload: p.payload}
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
	r.keep(g.err)
	if r.err != nil {
		return nil, memoryd.Wrap(memoryd.Internal, r.err, "a stored tool is damaged")
	}
	return t, nil
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
	found, err := s.get(ctx, s.tools, pointIDs([]string{toolID(ref)}), qd.NewWithPayload(true))
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return decodeTool(found[0])
}

func unknownTool() error { return memoryd.Errorf(memoryd.NotFound, "there is no such tool") }
