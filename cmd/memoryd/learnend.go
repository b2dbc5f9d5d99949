package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"memoryd"
	"memoryd/api/wire"
	"memoryd/guidelines/mistakes"
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

// The marks between which lines are proposed; what stands outside is a person's.
const (
	proposedFrom = "<!-- memoryd learn: what worked, from recorded calls; memoryd replaces what is between these marks -->"
	proposedTo   = "<!-- /memoryd learn -->"
)

// maxProposals bounds what an instructions file is asked to take: all of it stands in
// each conversation.
const maxProposals = 20

// proposals are lines for an instructions file: fixes that can be told without an
// example and that more than one session shows.
func proposals(of []mistake) []string {
	lines := []string{}
	for i := range of {
		m := &of[i]
		if !m.Fix.Proven() || !m.Fix.Definite || len(lines) == maxProposals {
			continue
		}
		if m.Fix.Kind == mistakes.ByTime {
			continue
		}
		tool := strings.ReplaceAll(m.Tool, "`", "'")
		lines = append(lines, fmt.Sprintf("- `%s`: %s (%s in %s; this worked in %s).", tool, m.Fix.Says, counted(m.Calls, "failed call"),
			counted(m.Runs, "session"), counted(m.Fix.Runs, "session")))
	}
	return lines
}

// instructions is the file that proposals go into.
func (c learnCmd) instructions() string {
	if c.Into != "" {
		return c.Into
	}
	for _, name := range []string{"AGENTS.md", "CLAUDE.md"} {
		if _, err := os.Stat(name); err == nil {
			return name
		}
	}
	return "AGENTS.md"
}

// propose prints what the instructions file would be asked to say, and writes it where
// that is asked for.
func (c learnCmd) propose(out io.Writer, lines []string) error {
	if len(lines) == 0 {
		_, err := fmt.Fprintln(out, "Nothing to propose: no fix worked in two sessions.")
		return err
	}
	name := c.instructions()
	old, err := os.ReadFile(name) //nolint:gosec // the user names the file
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	now := withProposals(string(old), lines)
	if now == string(old) {
		_, err := fmt.Fprintf(out, "%s already contains all of this.\n", name)
		return err
	}
	if _, err := io.WriteString(out, patch(filepath.ToSlash(name), string(old), now)); err != nil || !c.Apply {
		return err
	}
	if err := writeInstructions(name, now); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "Written to %s.\n", name)
	return err
}

// writeInstructions replaces the file in one step; its permissions stay.
func writeInstructions(name, text string) error {
	mode := os.FileMode(0o644)
	if real, err := filepath.EvalSymlinks(name); err == nil { // CLAUDE.md is often a link to AGENTS.md
		name = real
	}
	if info, err := os.Stat(name); err == nil {
		mode = info.Mode().Perm()
	}
	err := replaceFile(name, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
	return errors.Join(err, os.Chmod(name, mode))
}

// withProposals puts lines between the marks of a text, or at its end.
func withProposals(old string, lines []string) string {
	block := proposedFrom + "\n## Tools: what failed, and what worked instead\n\n" + strings.Join(lines, "\n") + "\n" + proposedTo + "\n"
	before, rest, found := strings.Cut(old, proposedFrom)
	if _, after, closed := strings.Cut(rest, proposedTo+"\n"); found && closed {
		return before + block + after
	}
	switch {
	case old == "":
		return block
	case !strings.HasSuffix(old, "\n"):
		old += "\n"
	}
	return old + "\n" + block
}

// patch is the difference of two texts of one file as patch(1) and git apply take it, in
// one hunk.
func patch(name, old, now string) string {
	const around = 3
	a, b := strings.SplitAfter(old, "\n"), strings.SplitAfter(now, "\n")
	a, b = a[:len(a)-1:len(a)-1], b[:len(b)-1]
	if tail := old[strings.LastIndexByte(old, '\n')+1:]; tail != "" {
		a = append(a, tail+"\n\\ No newline at end of file\n")
	}
	head := 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	from := max(0, head-around)
	endA, endB := min(len(a), len(a)-tail+around), min(len(b), len(b)-tail+around)
	var p strings.Builder
	was, start := "a/"+name, from+1
	if old == "" {
		was, start = "/dev/null", 0
	}
	if filepath.IsAbs(name) {
		was = strings.Replace(was, "a//", "/", 1)
		fmt.Fprintf(&p, "--- %s\n+++ %s\n", was, name)
	} else {
		fmt.Fprintf(&p, "--- %s\n+++ b/%s\n", was, name)
	}
	fmt.Fprintf(&p, "@@ -%d,%d +%d,%d @@\n", start, endA-from, from+1, endB-from)
	write := func(sign string, lines []string) {
		for _, l := range lines {
			p.WriteString(sign + l)
		}
	}
	write(" ", a[from:head])
	write("-", a[head:len(a)-tail])
	write("+", b[head:len(b)-tail])
	write(" ", a[len(a)-tail:endA])
	return p.String()
}
