package main

import (
	"encoding/json"
	"runtime"
	"time"

	"memoryd"
	"memoryd/internal/lifecycle"
	"memoryd/ops"
	"memoryd/store"
)

// conclude writes the guidelines of tools with new calls, and sums up.
func (l *learner) conclude() error {
	g, ctx := lifecycle.NewGroup(l.ctx, l.app.log, "concluding", runtime.GOMAXPROCS(0))
	for tool := range l.tools {
		g.Go(func() error {
			_, err := l.app.face.Flows.SummaryToolMemory.Run(ctx, ops.NamesRequest{Workspace: l.command.Workspace, Tools: []string{tool}})
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	l.report.sum()
	if err := l.test(); err != nil {
		return err
	}
	return l.compare()
}

// test holds what may be proposed against the kept good calls of its tool.
func (l *learner) test() error {
	for i := range l.report.Mistakes {
		m := &l.report.Mistakes[i]
		if !m.Fix.Proven() || !m.Fix.Definite {
			continue
		}
		calls, err := l.app.store.History(l.ctx, memoryd.ToolRef{Workspace: l.command.Workspace, Tool: m.Tool}, 0)
		if err != nil && !memoryd.IsKind(err, memoryd.NotFound) {
			return err
		}
		var good []json.RawMessage
		for j := range calls {
			if e := &calls[j].Evaluation; e.State == memoryd.Judged && e.Score >= memoryd.ScoreSuccess {
				good = append(good, calls[j].Input)
			}
		}
		m.Fix.Definite = !m.Fix.Refuted(good)
	}
	l.report.Proposals = proposals(l.report.Mistakes)
	return nil
}

// lastTime is what a run of learn found, to compare the next one with.
type lastTime struct {
	At       time.Time      `json:"at"`
	Judged   int            `json:"judged"`
	Failed   int            `json:"failed"`
	Mistakes map[string]int `json:"mistakes"` // failed calls
}

// compare says what changed since the last time, and remembers this one. A run that
// found nothing new stays compared with the one before.
func (l *learner) compare() error {
	key := store.RecordKey{ToolRef: memoryd.ToolRef{Workspace: l.command.Workspace}, Kind: "learned_before", ID: "last"}
	kept, err := l.app.store.Record(l.ctx, key)
	var before struct{ Last, Now lastTime }
	if err == nil {
		err = json.Unmarshal(kept.Data, &before)
	}
	if memoryd.IsKind(err, memoryd.NotFound) {
		err = nil
	}
	if err != nil {
		return err
	}
	now := lastTime{At: l.report.Written, Judged: l.report.Judged, Failed: l.report.Failed, Mistakes: map[string]int{}}
	for i := range l.report.Mistakes {
		now.Mistakes[l.report.Mistakes[i].ID] = l.report.Mistakes[i].Calls
	}
	if now.Judged != before.Now.Judged {
		before.Last = before.Now
	} else {
		now.At = before.Now.At
	}
	before.Now = now
	l.report.since(&before.Last)
	data, err := json.Marshal(before)
	if err != nil {
		return err
	}
	_, err = l.app.store.PutRecord(l.ctx, store.Record{RecordKey: key, Revision: store.AnyRevision, Data: data})
	return err
}
