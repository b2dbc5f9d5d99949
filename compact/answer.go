package compact

import (
	"errors"
	"strings"

	"memoryd/compact/facts"
)

// errors of an answer.
var (
	errEmpty     = errors.New("the answer says nothing")
	errTooLong   = errors.New("the answer is longer than its share")
	errTruncated = errors.New("the answer was cut off")
	errToolCall  = errors.New("the answer is a tool call")
	errInvented  = errors.New("the answer names things that the conversation does not")
)

// checkAnswer turns a model's answer into lines that may stand in a summary, or
// says why it may not. source are the texts that it was asked to describe.
func (t *tiers) checkAnswer(text string, completion, limit int, source []facts.Span) ([]string, error) {
	if completion > 0 && completion >= limit {
		return nil, errTruncated
	}
	text = dropThinking(text)
	trimmed := strings.TrimSpace(text)
	if strings.HasPrefix(trimmed, "{") && strings.HasSuffix(trimmed, "}") || strings.Contains(trimmed, "<tool_call>") || strings.Contains(trimmed, "<function=") {
		return nil, errToolCall
	}
	if t.c.count(trimmed) > limit {
		return nil, errTooLong
	}
	seen := facts.NewSeen()
	for _, sp := range source {
		seen.Add(sp.Text)
	}
	var lines []string
	invented := false
	for l := range strings.SplitSeq(trimmed, "\n") {
		heading := strings.HasPrefix(strings.TrimSpace(l), "#")
		l = oneLine(strings.TrimLeft(strings.TrimSpace(l), "-*•>#| "))
		if heading || emptyLine(l) || strings.HasPrefix(strings.TrimSpace(l), "BEGIN-DATA-") || strings.HasPrefix(l, "END-DATA-") {
			continue
		}
		if !facts.Grounded(l, seen) {
			invented = true
			continue
		}
		lines = append(lines, "> "+t.clean(t.redact(l)))
	}
	switch {
	case len(lines) > 0:
		return lines, nil
	case invented:
		return nil, errInvented
	}
	return nil, errEmpty
}

// emptyLine reports lines that say nothing: headings, "None", "N/A".
func emptyLine(l string) bool {
	s := strings.ToLower(strings.Trim(l, " .:*_#`-"))
	if i := strings.LastIndexByte(s, ':'); i >= 0 && i < 40 {
		s = strings.TrimSpace(s[i+1:])
	}
	switch s {
	case "", "none", "n/a", "na", "nothing", "null", "unknown", "not applicable", "no information", "(none)", "...", "summary":
		return true
	}
	return strings.HasSuffix(strings.TrimSpace(l), ":") && len(l) < 60
}

// dropThinking removes what a reasoning model put between think tags.
func dropThinking(s string) string {
	for {
		i := strings.Index(s, "<think>")
		if i < 0 {
			return s
		}
		j := strings.Index(s[i:], "</think>")
		if j < 0 {
			return s[:i]
		}
		s = s[:i] + s[i+j+len("</think>"):]
	}
}
