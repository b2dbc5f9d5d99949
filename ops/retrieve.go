package ops

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"
)

// charsPerToken is the usual estimate for English text: four characters are
// about one token.
const charsPerToken = 4

// cutMark ends an answer that did not fit its budget.
const cutMark = "[cut to fit max_tokens]"

// RetrieveToolMemory answers with the guidelines of the loaded tools.
type RetrieveToolMemory struct {
	Reader MemoryReader
}

// Name implements Op.
func (RetrieveToolMemory) Name() string { return "retrieve_tool_memory_op" }

// Run implements Op.
func (o RetrieveToolMemory) Run(ctx context.Context, st *State) error {
	calls := NoCalls
	switch {
	case st.Names.WholeHistory:
		calls = 0
	case st.Names.RecentCalls > 0:
		calls = st.Names.RecentCalls
	}
	for i, m := range st.Result.Memories {
		full, err := o.Reader.Complete(ctx, m.Tool, calls)
		if err != nil {
			return fmt.Errorf("memory of %q: %w", m.Tool.Tool, err)
		}
		st.Result.Memories[i] = full
	}
	st.Result.Success = true
	st.Result.Answer = fit(render(st.Result.Memories), st.Names.MaxTokens)
	return nil
}

func render(memories []Memory) string {
	parts := make([]string, len(memories))
	for i, m := range memories {
		text := m.Tool.Guideline.Content
		if text == "" {
			text = fmt.Sprintf("No guideline yet: %d call(s) recorded, not summarised.", m.Statistics.TotalCalls)
		}
		parts[i] = fmt.Sprintf("Tool: %s\n%s", m.Tool.Tool, text)
	}
	return fmt.Sprintf("Retrieved %d tool memory(ies):\n\n%s", len(memories), strings.Join(parts, "\n\n---\n\n"))
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
