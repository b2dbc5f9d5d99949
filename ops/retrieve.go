package ops

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"memoryd"
)

// charsPerToken is the usual estimate for English text: four characters are
// about one token.
const charsPerToken = 4

// cutMark ends an answer that did not fit its budget.
const cutMark = "[cut to fit max_tokens]"

// Shelf holds the versions of guidelines.
type Shelf interface {
	// Show is the guideline that a session is shown, in at most maxTokens if that
	// is more than 0.
	Show(ctx context.Context, tool memoryd.Tool, session string, maxTokens int) (memoryd.Guideline, error)
}

// RetrieveToolMemory answers with the guidelines of the loaded tools.
type RetrieveToolMemory struct {
	Reader MemoryReader
	Shelf  Shelf
}

// Name implements Op.
func (RetrieveToolMemory) Name() string { return "retrieve_tool_memory_op" }

// Run implements Op.
func (o RetrieveToolMemory) Run(ctx context.Context, st *State) error {
	calls := NoCalls
	if st.Names.WholeHistory || st.Names.RecentCalls > 0 {
		calls = 0
	}
	budget := share(st.Names.MaxTokens, st.Result.Memories)
	for i, m := range st.Result.Memories {
		shown, err := o.Shelf.Show(ctx, m.Tool, st.Names.Session, budget)
		if err != nil {
			return fmt.Errorf("guideline of %q: %w", m.Tool.Tool, err)
		}
		full, err := o.Reader.Complete(ctx, m.Tool, calls)
		if err != nil {
			return fmt.Errorf("memory of %q: %w", m.Tool.Tool, err)
		}
		full.Tool.Guideline = shown
		if !st.Names.WholeHistory {
			full.Calls = examples(full.Calls, st.Names.RecentCalls)
		}
		st.Result.Memories[i] = full
	}
	st.Result.Success = true
	st.Result.Answer = fit(render(st.Result.Memories), st.Names.MaxTokens)
	return nil
}

// examples are n calls that show both sides: the newest that went well and the
// newest that did not, half and half where there are enough of both, in the order
// of the history.
func examples(calls []memoryd.Call, n int) []memoryd.Call {
	if len(calls) <= n {
		return calls
	}
	var good, bad int
	for i := range calls {
		if wentBadly(&calls[i]) {
			bad++
		} else {
			good++
		}
	}
	wantBad := min(bad, n/2)
	wantGood := min(good, n-wantBad)
	wantBad = n - wantGood
	var picked []memoryd.Call
	for i := len(calls) - 1; i >= 0; i-- {
		want := &wantGood
		if wentBadly(&calls[i]) {
			want = &wantBad
		}
		if *want > 0 {
			*want--
			picked = append(picked, calls[i])
		}
	}
	slices.Reverse(picked)
	return picked
}

func wentBadly(c *memoryd.Call) bool {
	return c.Evaluation.State == memoryd.Judged && c.Evaluation.Score < memoryd.ScoreSuccess
}

// share is what each of the memories may take of a budget for the answer, once
// its frame is paid for; 0 where there is no budget.
func share(maxTokens int, memories []Memory) int {
	if maxTokens <= 0 || len(memories) == 0 {
		return 0
	}
	frame := len("Retrieved 00 tool memory(ies):\n\n") - len("\n\n---\n\n")
	for _, m := range memories {
		frame += len("\n\n---\n\nTool: \n") + len(m.Tool.Tool)
	}
	return max(1, (maxTokens-(frame+charsPerToken-1)/charsPerToken)/len(memories))
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
		b = append(b, "\nTool: "...)
		b = append(b, m.Tool.Tool...)
		b = append(b, '\n')
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
	budget := max(0, maxTokens*charsPerToken-len(cutMark)-1)
	end, runes := 0, 0
	for i, r := range text {
		if runes++; runes > budget {
			break
		}
		if r == '\n' {
			end = i
		}
	}
	return strings.TrimRight(text[:end], "\n -") + "\n" + cutMark
}
