package main

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"runtime"

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
	return l.test()
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
