package backup

import (
	"time"

	"memoryd"
	"memoryd/store"
)

// line is one line of the file; exactly one member is set.
type line struct {
	Manifest *manifest   `json:"manifest,omitzero"`
	Tool     *toolLine   `json:"tool,omitzero"`
	Call     *callLine   `json:"call,omitzero"`
	Record   *recordLine `json:"record,omitzero"`
	Trailer  *trailer    `json:"trailer,omitzero"`
}

// The scopes of a file.
const (
	scopeStore     = "store"
	scopeWorkspace = "workspace"
)

type manifest struct {
	Format    string   `json:"format"`
	Version   int      `json:"version"`
	Scope     string   `json:"scope"`
	Workspace string   `json:"workspace,omitzero"`
	Created   instant  `json:"created,omitzero"`
	Kinds     []string `json:"kinds,omitempty"` // of the records that were exported
}

type trailer struct {
	Tools   int    `json:"tools"`
	Calls   int    `json:"calls"`
	Records int    `json:"records"`
	SHA256  string `json:"sha256"`
}

type toolLine struct {
	Workspace  string         `json:"workspace"`
	Tool       string         `json:"tool"`
	Calls      int            `json:"calls"` // how many call lines follow
	Lifetime   int64          `json:"lifetime"`
	Duplicates int64          `json:"duplicates"`
	Revision   int64          `json:"revision"`
	Created    instant        `json:"created,omitzero"`
	Modified   instant        `json:"modified,omitzero"`
	Guideline  *guidelineLine `json:"guideline,omitzero"`
}

type guidelineLine struct {
	Revision   int64   `json:"revision"`
	Content    *text   `json:"content,omitzero"`
	Author     text    `json:"author,omitzero"`
	BasedOn    int64   `json:"based_on"`
	ThroughSeq int64   `json:"through_seq"`
	Written    instant `json:"written,omitzero"`
}

func toolLineOf(t *memoryd.Tool, calls int) *toolLine {
	l := &toolLine{
		Workspace: t.Workspace, Tool: t.Tool, Calls: calls, Lifetime: t.Lifetime, Duplicates: t.Duplicates,
		Revision: t.Revision, Created: instantOf(t.Created), Modified: instantOf(t.Modified),
	}
	if g := &t.Guideline; g.Revision > 0 {
		l.Guideline = &guidelineLine{
			Revision: g.Revision, Content: new(text(g.Content)), Author: text(g.Author), BasedOn: g.BasedOn,
			ThroughSeq: g.ThroughSeq, Written: instantOf(g.Written),
		}
	}
	return l
}

func (l *toolLine) tool() memoryd.Tool {
	t := memoryd.Tool{
		ToolRef:  memoryd.ToolRef{Workspace: l.Workspace, Tool: l.Tool},
		Counters: memoryd.Counters{Lifetime: l.Lifetime, Duplicates: l.Duplicates},
		Kept:     l.Calls, Revision: l.Revision, Created: time.Time(l.Created), Modified: time.Time(l.Modified),
	}
	if g := l.Guideline; g != nil {
		t.Guideline = memoryd.Guideline{
			Revision: g.Revision, Content: string(g.Content.bytes()), Author: string(g.Author), BasedOn: g.BasedOn,
			ThroughSeq: g.ThroughSeq, Written: time.Time(g.Written),
		}
	}
	return t
}

type recordLine struct {
	Workspace string  `json:"workspace,omitzero"`
	Tool      string  `json:"tool,omitzero"`
	Kind      string  `json:"kind"`
	ID        string  `json:"id"`
	Expires   instant `json:"expires,omitzero"`
	Data      []byte  `json:"data"`
}

func recordLineOf(r *store.Record) *recordLine {
	return &recordLine{
		Workspace: r.Workspace, Tool: r.Tool, Kind: r.Kind, ID: r.ID, Expires: instantOf(r.Expires), Data: r.Data,
	}
}

func (l *recordLine) record() store.Record {
	return store.Record{
		RecordKey: store.RecordKey{
			ToolRef: memoryd.ToolRef{Workspace: l.Workspace, Tool: l.Tool}, Kind: l.Kind, ID: l.ID,
		},
		Expires: time.Time(l.Expires), Data: l.Data,
	}
}
