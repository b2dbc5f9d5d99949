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
	Format    string    `json:"format"`
	Version   int       `json:"version"`
	Scope     string    `json:"scope"`
	Workspace string    `json:"workspace,omitzero"`
	Created   time.Time `json:"created,omitzero"`
	Kinds     []string  `json:"kinds,omitempty"` // of the records that were exported
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
	Created    time.Time      `json:"created,omitzero"`
	Modified   time.Time      `json:"modified,omitzero"`
	Guideline  *guidelineLine `json:"guideline,omitzero"`
}

type guidelineLine struct {
	Revision   int64     `json:"revision"`
	Content    *string   `json:"content,omitzero"`
	Author     string    `json:"author,omitzero"`
	BasedOn    int64     `json:"based_on"`
	ThroughSeq int64     `json:"through_seq"`
	Written    time.Time `json:"written,omitzero"`
}

func toolLineOf(t *memoryd.Tool, calls int) *toolLine {
	l := &toolLine{
		Workspace: t.Workspace, Tool: t.Tool, Calls: calls, Lifetime: t.Lifetime, Duplicates: t.Duplicates,
		Revision: t.Revision, Created: t.Created, Modified: t.Modified,
	}
	if g := &t.Guideline; g.Revision > 0 {
		l.Guideline = &guidelineLine{g.Revision, &g.Content, g.Author, g.BasedOn, g.ThroughSeq, g.Written}
	}
	return l
}

func (l *toolLine) tool() memoryd.Tool {
	t := memoryd.Tool{
		ToolRef:  memoryd.ToolRef{Workspace: l.Workspace, Tool: l.Tool},
		Counters: memoryd.Counters{Lifetime: l.Lifetime, Duplicates: l.Duplicates},
		Kept:     l.Calls, Revision: l.Revision, Created: l.Created, Modified: l.Modified,
	}
	if g := l.Guideline; g != nil {
		t.Guideline = memoryd.Guideline{
			Revision: g.Revision, Content: string(bytesOf(g.Content)), Author: g.Author, BasedOn: g.BasedOn,
			ThroughSeq: g.ThroughSeq, Written: g.Written,
		}
	}
	return t
}

type recordLine struct {
	Workspace string    `json:"workspace,omitzero"`
	Tool      string    `json:"tool,omitzero"`
	Kind      string    `json:"kind"`
	ID        string    `json:"id"`
	Expires   time.Time `json:"expires,omitzero"`
	Data      []byte    `json:"data"`
}

func recordLineOf(r *store.Record) *recordLine {
	return &recordLine{r.Workspace, r.Tool, r.Kind, r.ID, r.Expires, r.Data}
}

func (l *recordLine) record() store.Record {
	ref := memoryd.ToolRef{Workspace: l.Workspace, Tool: l.Tool}
	return store.Record{RecordKey: store.RecordKey{ToolRef: ref, Kind: l.Kind, ID: l.ID}, Expires: l.Expires, Data: l.Data}
}

type callLine struct {
	Key        memoryd.CallKey `json:"key"`
	Seq        int64           `json:"seq"`
	Input      *string         `json:"input,omitzero"`
	Output     *string         `json:"output,omitzero"`
	Success    bool            `json:"success"`
	TimeCost   float64         `json:"time_cost"`
	TokenCost  int64           `json:"token_cost"`
	CreateTime string          `json:"create_time,omitzero"`
	Time       time.Time       `json:"time,omitzero"`
	Metadata   *string         `json:"metadata,omitzero"`
	Hash       string          `json:"hash,omitzero"`
	Evaluation evaluationLine  `json:"evaluation"`
}

// evaluationLine converts to memoryd.Evaluation, and back.
type evaluationLine struct {
	State        memoryd.EvaluationState `json:"state"`
	Score        float64                 `json:"score,omitzero"`
	Summary      string                  `json:"summary,omitzero"`
	Evaluation   string                  `json:"evaluation,omitzero"`
	JudgedBy     string                  `json:"judged_by,omitzero"`
	Rule         string                  `json:"rule,omitzero"`
	JudgeVersion string                  `json:"judge_version,omitzero"`
	JudgedAt     time.Time               `json:"judged_at,omitzero"`
	FailedChecks string                  `json:"failed_checks,omitzero"`
	Cost         memoryd.Cost            `json:"cost,omitzero"`      // as costLine
	Overruled    *memoryd.Overruled      `json:"overruled,omitzero"` // as overruledLine
	Attempts     int                     `json:"attempts,omitzero"`
	LastError    string                  `json:"last_error,omitzero"`
	NotBefore    time.Time               `json:"not_before,omitzero"`
}

type costLine struct {
	Requests         float64 `json:"requests"`
	PromptTokens     int64   `json:"prompt_tokens"`
	CompletionTokens int64   `json:"completion_tokens"`
}

type overruledLine struct {
	State        memoryd.EvaluationState `json:"state"`
	Score        float64                 `json:"score"`
	JudgedBy     string                  `json:"judged_by,omitzero"`
	Rule         string                  `json:"rule,omitzero"`
	JudgeVersion string                  `json:"judge_version,omitzero"`
}

// stringOf is JSON text of a caller's as it was sent; nothing stands for nothing.
func stringOf(b []byte) *string {
	if len(b) == 0 {
		return nil
	}
	return new(string(b))
}

func bytesOf(s *string) []byte {
	if s == nil || *s == "" {
		return nil
	}
	return []byte(*s)
}

func callLineOf(c *memoryd.Call) *callLine {
	l := &callLine{
		Key: c.Key, Seq: c.Seq, Input: stringOf(c.Input), Output: stringOf([]byte(c.Output)), Success: c.Success,
		TimeCost: c.TimeCost, TokenCost: c.TokenCost, CreateTime: c.CreateTime, Time: c.Time,
		Metadata: stringOf(c.Metadata), Hash: c.Hash, Evaluation: evaluationLine(c.Evaluation),
	}
	l.Evaluation.Score += 0 // of -0 that is 0
	return l
}

func (l *callLine) call(ref memoryd.ToolRef) memoryd.Call {
	return memoryd.Call{
		Key: l.Key, ToolRef: ref, Seq: l.Seq, Input: bytesOf(l.Input), Output: string(bytesOf(l.Output)),
		Success: l.Success, TimeCost: l.TimeCost, TokenCost: l.TokenCost, CreateTime: l.CreateTime,
		Time: l.Time, Metadata: bytesOf(l.Metadata), Hash: l.Hash, Evaluation: memoryd.Evaluation(l.Evaluation),
	}
}
