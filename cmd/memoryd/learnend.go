package main

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"runtime"
	"time"

	"memoryd"
	"memoryd/api/wire"
	"memoryd/internal/client"
	"memoryd/internal/lifecycle"
)

func (l *learner) post(path string, body map[string]any, out any) error {
	body["workspace_id"] = l.command.Workspace
	return l.ask(l.ctx, client.Request{Method: http.MethodPost, Path: path, Body: body}, out)
}

// conclude has guidelines written of tools with new calls, and sums up.
func (l *learner) conclude() error {
	g, _ := lifecycle.NewGroup(l.ctx, slog.New(slog.DiscardHandler), "concluding", runtime.GOMAXPROCS(0))
	for tool := range l.tools {
		g.Go(func() error {
			return l.post("/summary_tool_memory", map[string]any{"tool_names": []string{tool}}, nil)
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	l.report.sum()
	if err := l.test(); err != nil {
		return err
	}
	l.compare()
	return nil
}

// test holds what may be proposed against the kept good calls of its tool.
func (l *learner) test() error {
	for i := range l.report.Mistakes {
		m := &l.report.Mistakes[i]
		if !m.Fix.Proven() || !m.Fix.Definite {
			continue
		}
		var kept answer[wire.NamesMetadata]
		if err := l.post("/retrieve_tool_memory", map[string]any{"tool_names": []string{m.Tool}}, &kept); err != nil && !refused(err) {
			return err
		}
		var good []json.RawMessage
		for _, memory := range kept.Metadata.MemoryList {
			for _, c := range memory.ToolCallResults {
				if c.Score >= memoryd.ScoreSuccess {
					good = append(good, json.RawMessage(c.Input))
				}
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
func (l *learner) compare() {
	var before struct{ Last, Now lastTime }
	l.before("", &before)
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
	l.remember("", before)
}
