package transcripts

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"memoryd/internal/accounts"
	"memoryd/internal/loosejson"
	"memoryd/internal/reading"

	"github.com/go-json-experiment/json/jsontext"
)

// result is what a host's text about a call says, without the host's own words.
type result struct {
	output    string
	outcome   accounts.Outcome
	exit      *int
	took      time.Duration
	errorType string
	id        string // of the call, where only its result names it
}

// end puts a result into a call. What the host's text shows beats the flags beside
// it where it shows a failure.
func end(c *accounts.Call, r result) {
	c.Output, c.Ended = reading.WithoutNotes(r.output), true
	c.Outcome = max(c.Outcome, r.outcome)
	if r.exit != nil {
		c.ExitCode = r.exit
	}
	if r.took > 0 {
		c.Duration = r.took
	}
	if r.errorType != "" {
		c.ErrorType = r.errorType
	}
}

// exited notes the exit code of a command.
func (r *result) exited(code string) {
	n, err := strconv.Atoi(strings.TrimSpace(code))
	if err != nil {
		return
	}
	r.exit = &n
	if r.outcome = accounts.Succeeded; n != 0 {
		r.outcome = accounts.Failed
	}
}

var (
	toolUseError = regexp.MustCompile(`(?s)^\s*<tool_use_error>(.*)</tool_use_error>\s*$`)
	leadingExit  = regexp.MustCompile(`^(?:Error: )?Exit code (\d{1,3})(?:\n|$)`)
	returnCode   = regexp.MustCompile(`(?s)^\s*<returncode>\s*(-?\d+)\s*</returncode>\s*(.*)$`)
	outputTags   = regexp.MustCompile(`(?s)^<output>\n?(.*?)\n?</output>\s*$`)
	codexHead    = regexp.MustCompile(`(?s)^((?:(?:Chunk ID|Wall time|Process exited with code|Process running with session ID|Exit code|Total output lines|Original token count)\b[^\n]*\n)+)Output:\n?(.*)$`)
	codexExit    = regexp.MustCompile(`(?m)^(?:Process exited with code|Exit code:) (-?\d+)`)
	codexWall    = regexp.MustCompile(`(?m)^Wall time: ([0-9.]+) seconds`)
	geminiField  = regexp.MustCompile(`(?m)^(Command|Directory|Output|Stdout|Stderr|Error|Exit Code|Signal|Background PIDs|Process Group PGID): ?`)
	endNotes     = regexp.MustCompile(`\n*(?:\[(?:The command completed with exit code (-?\d+)|Current working directory: [^\n]*|Python [Ii]nterpreter: [^\n]*|Command finished with exit code (-?\d+))\.?\]\s*)+$|\n*<exited with exit code (-?\d+)>\s*$`)
	sweagentEnd  = regexp.MustCompile(`\n\(Open file: [^\n]*\)\n\(Current directory: [^\n]*\)\nbash-\$\s*$`)
)

// schemaRemark is what Claude Code appends to failures of tools whose schema its model
// has not read.
var schemaRemark = regexp.MustCompile(`(?s)\s*(?:<system-reminder>\s*)?This tool's input schema was not in your prompt.*?(</tool_use_error>)?$`)

// unwrapClaude reads the text of a tool_result of Claude Code.
func unwrapClaude(s string, failed bool) (r result) {
	r.output, r.outcome = s, accounts.Succeeded
	if !failed {
		return r
	}
	r.outcome = accounts.Failed
	s = schemaRemark.ReplaceAllString(s, "$1")
	r.output = s
	if m := toolUseError.FindStringSubmatch(s); m != nil {
		r.output, r.errorType = m[1], "invalid_call"
		return r
	}
	if m := leadingExit.FindStringSubmatchIndex(s); m != nil {
		r.exited(s[m[2]:m[3]])
		r.output, r.outcome = s[m[1]:], accounts.Failed
	}
	if stopped(s) {
		r.outcome = accounts.Cancelled
	}
	return r
}

// stops begin what hosts say of calls that a person or a policy did not let happen.
var stops = []string{
	"The user doesn't want to proceed with this tool use", "The user doesn't want to take this action right now",
	"[Request interrupted by user",
	"Interrupted by user", "User rejected", "Tool use was rejected", "Permission to use ", "Claude requested permissions to ",
	"aborted by user", "exec command rejected by user", "rejected by user", "patch rejected by user", "[Operation Cancelled]",
	"User denied execution", "Tool execution denied by policy", "Operation cancelled by user",
}

func stopped(s string) bool {
	return begins(strings.TrimPrefix(strings.TrimSpace(s), "Error: "), stops)
}

func begins(s string, with []string) bool {
	return slices.ContainsFunc(with, func(w string) bool { return strings.HasPrefix(s, w) })
}

// codexFailures begin what Codex CLI itself says of a call that it could not make.
var codexFailures = []string{
	"failed in sandbox", "failed to parse function arguments", "unsupported call: ", "unsupported custom tool call: ",
	"apply_patch verification failed", "execution error: ", "exec_command failed", "tool call error: ", "command timed out after",
}

// unwrapCodex reads the text of a function_call_output of Codex CLI, of any of its
// versions.
func unwrapCodex(s string) (r result) {
	r.output = s
	if stopped(s) {
		r.outcome = accounts.Cancelled
		return r
	}
	if begins(s, codexFailures) {
		r.outcome = accounts.Failed
	}
	if strings.HasPrefix(s, "{") {
		old := loosejson.MembersOf(jsontext.Value(s))
		if code := old.At("metadata.exit_code"); old["output"].Kind() == '"' && loosejson.There(code) {
			r.output = loosejson.Text(old["output"])
			r.exited(string(code))
			r.took = secondsOf(old, 1, "metadata.duration_seconds")
		}
		return r
	}
	m := codexHead.FindStringSubmatch(s)
	if m == nil {
		if e := codexExit.FindStringSubmatchIndex(s); e != nil && e[0] == 0 {
			r.exited(s[e[2]:e[3]])
		}
		return r
	}
	r.output = m[2]
	if e := codexExit.FindStringSubmatch(m[1]); e != nil {
		r.exited(e[1])
	}
	if w := codexWall.FindStringSubmatch(m[1]); w != nil {
		f, _ := strconv.ParseFloat(w[1], 64)
		r.took = loosejson.Seconds(f)
	}
	return r
}

// unwrapGemini reads what Gemini CLI tells the model of a shell command, or gives
// the text of any other tool without the tag around it.
func unwrapGemini(s string) (r result) {
	s = strings.TrimSpace(s)
	if inner, ok := strings.CutPrefix(s, "<untrusted_context>"); ok {
		s = strings.TrimSpace(strings.TrimSuffix(inner, "</untrusted_context>"))
	}
	r.output = s
	if !strings.HasPrefix(s, "Command: ") && !strings.HasPrefix(s, "Output: ") && !strings.HasPrefix(s, "Stdout: ") {
		return r
	}
	fields := map[string]string{}
	at := geminiField.FindAllStringSubmatchIndex(s, -1)
	for i, m := range at {
		end := len(s)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		if v := strings.TrimRight(s[m[1]:end], "\n"); v != "(none)" && v != "(empty)" {
			fields[s[m[2]:m[3]]] = v
		}
	}
	var parts []string
	for _, name := range []string{"Output", "Stdout", "Stderr", "Error"} {
		if fields[name] != "" {
			parts = append(parts, fields[name])
		}
	}
	r.output = strings.Join(parts, "\n")
	switch {
	case fields["Exit Code"] != "":
		r.exited(fields["Exit Code"])
	case fields["Signal"] != "":
		r.outcome, r.errorType = accounts.Failed, "signal"
	case fields["Error"] != "":
		r.outcome = accounts.Failed
	default: // no exit code is shown when it is 0
		r.outcome = accounts.Claimed
	}
	return r
}

// unwrapMini reads an observation of mini-swe-agent; ok is false when it is none.
func unwrapMini(s string) (r result, ok bool) {
	m := returnCode.FindStringSubmatch(s)
	if m == nil {
		return result{output: s}, false
	}
	r.exited(m[1])
	r.output = strings.TrimSpace(m[2])
	if o := outputTags.FindStringSubmatch(r.output); o != nil {
		r.output = o[1]
	}
	return r, true
}

// unwrapEnd takes from the end of an output what OpenHands and Copilot CLI note there.
func unwrapEnd(s string) (r result) {
	r.output = s
	m := endNotes.FindStringSubmatchIndex(s)
	if m == nil {
		return r
	}
	r.output = s[:m[0]]
	for _, g := range []int{2, 4, 6} {
		if m[g] >= 0 {
			r.exited(s[m[g]:m[g+1]])
		}
	}
	return r
}
