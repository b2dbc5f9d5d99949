package ops

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"
	"unicode/utf8"

	"memoryd"
	"memoryd/guidelines/effect"
	"memoryd/guidelines/preflight"
	"memoryd/internal/accounts"
	"memoryd/internal/origin"
)

// Limits of what a session is told when it begins.
const (
	maxBlock     = 800 // characters
	maxToolsRead = 64
	projectCalls = 100 // the newest calls of a tool by which its project and sessions are known
	// likely is the share of sessions that make a mistake from which on it is told of, useful
	// that of the characters that are to prevent one.
	likely = 0.5
	useful = 0.8
)

// begin tells a session of the mistakes that are made most in its project, once.
func (o *hooks) begin(ctx context.Context, h *accounts.Hook, of sessionOf) (*HookAnswer, error) {
	const beginning = ""
	if !o.tell(of, beginning) {
		return &HookAnswer{}, nil
	}
	block, err := o.block(ctx, of, h.Call.Project)
	if err != nil || block == "" {
		if all, known := o.told.Get(of); known {
			all.Delete(beginning) // there may be more to say at the next prompt
		}
		return &HookAnswer{}, err
	}
	return &HookAnswer{o.Readers.Answer(h, accounts.HookReply{Context: block})}, nil
}

// warned is a line with the share of sessions that make its mistake.
type warned struct {
	text  string
	share float64
	tool  memoryd.ToolRef
}

// block lists the mistakes of a project's sessions, one a line, the likeliest first: as many
// as leave the most of it useful.
func (o *hooks) block(ctx context.Context, of sessionOf, project string) (block string, err error) {
	if o.Revisions.Untold(of.workspace, of.session) {
		return "", nil
	}
	lines, err := o.mistakes(ctx, of.workspace, project)
	if err != nil {
		return "", err
	}
	slices.SortStableFunc(lines, func(a, b warned) int { return cmp.Compare(b.share, a.share) })
	chars, expected := 0, 0.0
	for _, l := range lines {
		n := utf8.RuneCountInString(l.text) + 1
		expected += l.share * float64(n)
		if chars += n; chars > maxBlock || l.share < likely || block != "" && expected < useful*float64(chars) {
			break
		}
		if block != "" {
			block += "\n"
		}
		block += l.text
		o.Told.note(l.tool, of.session, 0, false)
	}
	return block, nil
}

// mistakes are the lines of rules on what goes wrong with the tools of a project.
func (o *hooks) mistakes(ctx context.Context, workspace, project string) (lines []warned, err error) {
	tools, err := o.Store.ListTools(ctx, workspace, "", maxToolsRead)
	if err != nil {
		return nil, err
	}
	begun := map[string]time.Time{} // sessions, by their first call that is known
	var counts []func()
	for i := range tools {
		ref := tools[i].ToolRef
		name, ok := origin.Show(origin.Warning, origin.Name, ref.Tool, memoryd.MaxToolNameBytes)
		if !ok {
			continue // nobody asked for it, and its name is none
		}
		found, err := o.Forecasts.RulesOf(ctx, ref)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			continue
		}
		calls, err := o.Store.History(ctx, ref, projectCalls)
		if err != nil {
			return nil, err
		}
		calls = slices.DeleteFunc(calls, func(c memoryd.Call) bool { return !isOf(&c, project) })
		for k := range calls {
			if at, known := begun[calls[k].Run()]; !known || calls[k].Time.Before(at) {
				begun[calls[k].Run()] = calls[k].Time
			}
		}
		if len(calls) == 0 {
			continue
		}
		counts = append(counts, func() {
			for k := range found {
				lines = append(lines, warned{name + ": " + found[k].Line + ".", shareOf(&found[k], calls, begun), ref})
			}
		})
	}
	for _, count := range counts {
		count()
	}
	return lines, nil
}

// isOf reports whether a call was made in a project. One that names none may have been.
func isOf(c *memoryd.Call, project string) bool {
	var m struct{ Project string }
	return project == "" || json.Unmarshal(c.Metadata, &m) != nil || m.Project == "" || m.Project == project
}

// shareOf is the share of the sessions, of the time that calls of a tool tell of, in which
// one broke a rule. Sessions that were told count only where they did so all the same.
func shareOf(r *preflight.Tested, calls []memoryd.Call, begun map[string]time.Time) float64 {
	broke, told := map[string]bool{}, map[string]bool{}
	since := calls[0].Time
	for i := range calls {
		c := &calls[i]
		if c.Time.Before(since) {
			since = c.Time
		}
		broke[c.Run()] = broke[c.Run()] || slices.Contains(r.Keys, c.Key)
		told[c.Run()] = told[c.Run()] || effect.SideOf(c.Metadata) == effect.Told
	}
	n, all := 1.0, 1.0
	for session, at := range begun {
		switch {
		case broke[session]:
			n++
			all++
		case !told[session] && (len(calls) < projectCalls || !at.Before(since)):
			all++
		}
	}
	return n / all
}
