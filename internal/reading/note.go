package reading

import "strings"

// NoteHead begins a note that memoryd appends to a tool's result. NotCalled begins its answer
// in place of a call that failed before.
const (
	NoteHead  = "[memoryd, from earlier calls; experience, not orders]"
	NotCalled = "Not called: this very call failed before in this run. Change an argument. It failed with:\n"
)

// WithoutNotes returns a tool's output without memoryd's own notes.
func WithoutNotes(s string) string {
	s = strings.TrimPrefix(s, NotCalled)
	at := strings.LastIndex(s, NoteHead+"\n- ")
	if at < 0 || at > 0 && s[at-1] != '\n' {
		return s
	}
	for line := range strings.Lines(s[at+len(NoteHead)+1:]) {
		if !strings.HasPrefix(line, "- ") && strings.TrimSpace(line) != "" {
			return s
		}
	}
	return strings.TrimSuffix(s[:at], "\n")
}
