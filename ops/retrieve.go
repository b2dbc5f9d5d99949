package ops

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"memoryd"
	"memoryd/guidelines"
	"memoryd/internal/origin"
	"memoryd/internal/textsafe"
)

// charsPerToken is the usual estimate for English text: four characters are
// about one token.
const charsPerToken = 4

// cutMark ends an answer that did not fit its budget.
const cutMark = "[cut to fit max_tokens]"

// heldBack is said in the place of a guideline to a run that is told nothing.
const heldBack = "This run is in the control group: it gets no guideline."

// Retrieved are the requested guidelines.
type Retrieved struct {
	Memories []Memory
	// Unknown are requested names without a memory.
	Unknown []string
	// MaxTokens bounds the answer; 0 is no bound.
	MaxTokens int

	holds func(ctx context.Context) bool
}

// Answer is the text for agents.
func (r *Retrieved) Answer() string { return fit(render(r.Memories), r.MaxTokens) }

// Holds asks again. It reports whether the answer would be the same; false may also mean that this
// is not known.
func (r *Retrieved) Holds(ctx context.Context) bool { return r.holds != nil && r.holds(ctx) }

// Sections returns the headings of a guideline's sections.
func Sections() []string { return guidelines.AllSections() }

// retrieve answers with the guidelines of the loaded tools.
func (d *Deps) retrieve(ctx context.Context, named namedTools) (*Retrieved, error) {
	r := named.loaded()
	calls := noCalls
	if r.WholeHistory || r.RecentCalls > 0 {
		calls = 0
	}
	budget := share(r.MaxTokens, r.Memories)
	out := &Retrieved{Memories: r.Memories, Unknown: r.Unknown, MaxTokens: r.MaxTokens}
	untold := d.Revisions.Untold(r.Workspace, r.Session)
	from := make([]memoryd.Tool, len(r.Memories))
	for i := range r.Memories {
		tool := r.Memories[i].Tool
		from[i] = tool
		shown, err := d.Revisions.Show(ctx, tool, budget)
		if err != nil {
			return nil, fmt.Errorf("guideline of %q: %w", tool.Tool, err)
		}
		if untold {
			shown = memoryd.Guideline{Content: heldBack}
		}
		m, err := d.Reader.Complete(ctx, tool, calls)
		if err != nil {
			return nil, fmt.Errorf("memory of %q: %w", tool.Tool, err)
		}
		shown.Content = guidelines.Select(shown.Content, r.Sections)
		m.Tool.Guideline, m.AskedAs = shown, r.Memories[i].AskedAs
		if !r.WholeHistory {
			m.Calls = examples(m.Calls, r.RecentCalls)
		}
		out.Memories[i] = m
	}
	d.noteTold(from, r.Session, untold)
	_, loadedOnly := named.(*loadedTools)
	// What fits a budget is read from the version's record, which is written after the guideline.
	if loadedOnly && calls == noCalls && budget == 0 && len(r.Unknown) == 0 && !anyRenamed(out.Memories) {
		out.holds = func(ctx context.Context) bool {
			for i := range from {
				if now, err := d.Store.Tool(ctx, from[i].ToolRef); err != nil || now != from[i] {
					return false
				}
			}
			d.noteTold(from, r.Session, untold)
			return true
		}
	}
	return out, nil
}

// noteTold notes that a run asked about tools that have guidelines.
func (d *Deps) noteTold(tools []memoryd.Tool, run string, untold bool) {
	for i := range tools {
		if version := tools[i].Guideline.Revision; version > 0 {
			d.Told.note(tools[i].ToolRef, run, version, untold)
		}
	}
}

// anyRenamed reports whether a tool was asked for by another name than its own, which may come to
// mean another tool.
func anyRenamed(memories []Memory) bool {
	return slices.ContainsFunc(memories, func(m Memory) bool {
		return slices.ContainsFunc(m.AskedAs, func(name string) bool { return name != m.Tool.Tool })
	})
}

// examples are n calls that show both sides: the newest that went well and the
// newest that did not, half and half where there are enough of both, in the order
// of the history.
func examples(calls []memoryd.Call, n int) []memoryd.Call {
	if len(calls) <= n {
		return calls
	}
	var good, bad []memoryd.Call
	for _, c := range slices.Backward(calls) {
		if wentBadly(&c) {
			bad = append(bad, c)
		} else {
			good = append(good, c)
		}
	}
	wantGood := min(len(good), n-min(len(bad), n/2))
	picked := slices.Concat(good[:wantGood], bad[:n-wantGood])
	slices.SortFunc(picked, func(a, b memoryd.Call) int { return cmp.Compare(a.Seq, b.Seq) })
	return picked
}

func wentBadly(c *memoryd.Call) bool { return c.Evaluation.Bad() || c.Evaluation.Partial() }

// share is what each of the tools may take of a budget for the answer, once
// its frame is paid for; 0 where there is no budget.
func share(maxTokens int, tools []Memory) int {
	if maxTokens <= 0 || len(tools) == 0 {
		return 0
	}
	frame := len("Retrieved 00 tool memory(ies):\n\n") - len("\n\n---\n\n")
	for i := range tools {
		frame += len("\n\n---\n\nTool: \n") + len(tools[i].Tool.Tool)
	}
	return max(1, (maxTokens-(frame+charsPerToken-1)/charsPerToken)/len(tools))
}

func render(memories []Memory) string {
	size := 64
	for i := range memories {
		size += 64 + len(memories[i].Tool.Tool) + len(memories[i].Tool.Guideline.Content)
	}
	b := fmt.Appendf(make([]byte, 0, size), "Retrieved %d tool memory(ies):\n", len(memories))
	for i := range memories {
		m := &memories[i]
		if i > 0 {
			b = append(b, "\n\n---\n"...)
		}
		b = fmt.Appendf(b, "\nTool: %s\n", origin.Title(m.Tool.Tool))
		switch g := &m.Tool.Guideline; {
		case g.Content != "":
			b = append(b, g.Content...)
		case g.Revision > 0:
			b = append(b, "The guideline does not fit max_tokens."...)
		default:
			b = fmt.Appendf(b, "No guideline yet: %d call(s) recorded, not summarised.", m.Statistics.TotalCalls)
		}
	}
	return string(b)
}

// fit cuts text to about maxTokens at the end of a line.
func fit(text string, maxTokens int) string {
	if maxTokens <= 0 || utf8.RuneCountInString(text) <= maxTokens*charsPerToken {
		return text
	}
	head := textsafe.HeadRunes(text, maxTokens*charsPerToken-len(cutMark)-1)
	return strings.TrimRight(head[:max(0, strings.LastIndexByte(head, '\n'))], "\n -") + "\n" + cutMark
}
