package hosts

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"memoryd/test/crash/daemon"
)

// mistake is one that a scripted model makes with a tool, and what prevents it.
type mistake struct {
	tool        string
	used, often float64 // in which share of the sessions the tool is used, and of its calls goes wrong
	right       func(n int) map[string]any
	wrong       func(n int) map[string]any
	says        string
	prevents    *regexp.Regexp // a line that does
}

func project() []mistake {
	file := func(n int) string { return fmt.Sprintf("/p/src/file%d.go", n) }
	return []mistake{
		{
			"Read", 1, 0.6, func(n int) map[string]any { return map[string]any{"file_path": file(n)} }, func(n int) map[string]any { return map[string]any{"path": file(n)} },
			"InputValidationError: the required parameter `file_path` is missing", regexp.MustCompile("`file_path`"),
		},
		{
			"mcp__tickets__search", 0.95, 0.5, func(n int) map[string]any {
				return map[string]any{"status": []string{"open", "closed"}[n%2], "page": n}
			},
			func(n int) map[string]any { return map[string]any{"status": "done", "page": n} }, "Error: status must be one of: open, closed", regexp.MustCompile("`status`"),
		},
		{
			"Edit", 0.9, 0.5, func(n int) map[string]any {
				return map[string]any{"file_path": file(n), "old_string": fmt.Sprint("a", n), "new_string": fmt.Sprint("b", n)}
			},
			func(n int) map[string]any {
				return map[string]any{"file_path": file(n), "old_str": fmt.Sprint("a", n), "new_str": fmt.Sprint("b", n)}
			},
			"InputValidationError: the required parameter `old_string` is missing", regexp.MustCompile("`old_string`|`new_string`"),
		},
		{
			"mcp__crm__lookup", 0.5, 0.2, func(n int) map[string]any { return map[string]any{"customer": fmt.Sprintf("C-%04d", n)} },
			func(n int) map[string]any { return map[string]any{"customer": fmt.Sprintf("%04d", n)} }, "Error: bad customer number", regexp.MustCompile("`customer`"),
		},
		{
			"Grep", 0.7, 0.08, func(n int) map[string]any { return map[string]any{"pattern": fmt.Sprint("word", n)} },
			func(n int) map[string]any { return map[string]any{"query": fmt.Sprint("word", n)} }, "InputValidationError: the required parameter `pattern` is missing", regexp.MustCompile("`pattern`"),
		},
	}
}

// planned is a call of a script.
type planned struct {
	of    *mistake
	wrong bool
	n     int
}

func (p planned) input() map[string]any {
	if p.wrong {
		return p.of.wrong(p.n)
	}
	return p.of.right(p.n)
}

// script is a session that nobody tells anything: the calls of a model that does not read.
// As in public recordings, of failed calls .57 are followed by one that fails in the same
// way; what was sent once, twice or more is sent again unchanged .19, .40 and .61 of the times.
func script(dice *rand.Rand, all []mistake) (calls []planned) {
	var once []planned
	for i := range all {
		if dice.Float64() >= all[i].used {
			continue
		}
		for range 2 + dice.IntN(4) {
			once = append(once, planned{&all[i], dice.Float64() < all[i].often, dice.IntN(9000)})
		}
	}
	dice.Shuffle(len(once), func(a, b int) { once[a], once[b] = once[b], once[a] })
	for _, c := range once {
		equal := 0
		for calls = append(calls, c); c.wrong && dice.Float64() < 0.57; calls = append(calls, c) {
			if equal++; dice.Float64() >= []float64{0, 0.19, 0.4, 0.61}[min(equal, 3)] {
				c.n, equal = dice.IntN(9000), 0
			}
		}
	}
	return calls
}

// posts hands a hook's event to the server, as the program does that a host calls.
func posts(t *testing.T, s *daemon.Process) func(event string) string {
	return func(event string) string {
		t.Helper()
		r, err := s.Send("/v1/hooks/claude-code", []byte(event))
		if err != nil || r.Status >= 300 {
			t.Fatalf("%v: %d %s", err, r.Status, r.Body)
		}
		return string(r.Body)
	}
}

// event gives what a hook's answer puts before the model, and whether the call was changed.
func event(t *testing.T, ask func(event string) string, members map[string]any) (context string, changed bool) {
	t.Helper()
	body, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	said := ask(string(body))
	var answer struct {
		Out struct {
			Context  string          `json:"additionalContext"`
			Decision string          `json:"permissionDecision"`
			Input    json.RawMessage `json:"updatedInput"`
		} `json:"hookSpecificOutput"`
	}
	if said != "" {
		if err := json.Unmarshal([]byte(said), &answer); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
	}
	return answer.Out.Context, answer.Out.Decision != "" || len(answer.Out.Input) > 0
}

// told is a line that was put before a model, and before which call.
type told struct {
	line string
	at   int
}

// played is what came of a session: what was told, of how many good calls something was
// said, and how many calls failed, of which equal ones had failed before.
type played struct {
	lines               []told
	good, failed, equal int
}

// play runs a session through the hooks of a host. A model that reads mends the calls of
// which it was told, and sends none again of which it was told that it goes in circles.
func play(t *testing.T, ask func(event string) string, session string, calls []planned, reads bool) (p played) {
	t.Helper()
	failed, mended := map[planned]bool{}, planned{}
	note := func(context string, at int) {
		for line := range strings.Lines(context) {
			p.lines = append(p.lines, told{line, at})
		}
	}
	start, _ := event(t, ask, map[string]any{"session_id": session, "hook_event_name": "SessionStart", "source": "startup", "cwd": "/p"})
	note(start, 0)
	for i, c := range calls {
		if reads && c.wrong && slices.ContainsFunc(p.lines, func(l told) bool { return l.prevents(c, calls) }) {
			if c.wrong = false; c.of == mended.of {
				continue // it was a second try, of what went well
			}
			mended = c
		} else if !c.wrong {
			mended = planned{}
		}
		members := map[string]any{"session_id": session, "hook_event_name": "PreToolUse", "cwd": "/p", "tool_name": c.of.tool, "tool_input": c.input(), "tool_use_id": fmt.Sprintf("toolu_%s%016d", session, i)}
		context, changed := event(t, ask, members)
		if note(context, i+1); !c.wrong && (context != "" || changed) {
			p.good++
		}
		if members["hook_event_name"] = "PostToolUse"; c.wrong {
			members["hook_event_name"], members["error"] = "PostToolUseFailure", c.of.says
			p.failed++
			if failed[c] {
				p.equal++
			}
			failed[c] = true
		} else {
			members["tool_response"] = fmt.Sprintf("%d lines", 7+c.n%5)
		}
		context, _ = event(t, ask, members)
		note(context, i+1)
	}
	return p
}

// prevents reports whether a line keeps a model that reads it from making a wrong call.
func (l *told) prevents(c planned, calls []planned) bool {
	loop := l.at > 0 && strings.Contains(l.line, "You have sent this") && c == calls[l.at-1]
	return c.wrong && strings.Contains(l.line, "`"+c.of.tool+"`") && (loop || c.of.prevents.MatchString(l.line))
}

// share counts the characters of a line, and again if it prevents a mistake that the session
// made after it was told.
func (l *told) share(calls []planned) (useful, all int) {
	all = utf8.RuneCountInString(l.line)
	if slices.ContainsFunc(calls[l.at:], func(c planned) bool { return l.prevents(c, calls) }) {
		useful = all
	}
	return useful, all
}

// Of the characters that are put before a model four in five belong to lines that prevent a
// mistake which the model, told nothing, would have made later in the session. Nothing is
// said about a good call, and none is changed.
func TestWhatIsPutBeforeAModelPreventsMistakes(t *testing.T) {
	t.Parallel()
	var start, at, sum [2]int // useful, all
	mistakes, good, last := 0, 0, ""
	for _, seed := range []uint64{1, 2, 3} {
		s := binary.Start(t, t.TempDir(), nil)
		dice, all := rand.New(rand.NewPCG(seed, 7)), project() //nolint:gosec // a script
		for i := range 30 {
			calls := script(dice, all)
			p := play(t, posts(t, s), fmt.Sprintf("s%d", i), calls, false)
			if good += p.good; i < 15 { // the first sessions teach
				continue
			}
			last = ""
			for _, l := range p.lines {
				u, n := l.share(calls)
				part := &at
				if l.at == 0 {
					part = &start
				}
				part[0], part[1], sum[0], sum[1] = part[0]+u, part[1]+n, sum[0]+u, sum[1]+n
				last += fmt.Sprintf("%d %s\n", l.at, strings.TrimSpace(l.line))
			}
			mistakes += p.failed
		}
	}
	of := func(p [2]int) float64 { return float64(p[0]) / float64(p[1]) }
	t.Logf("useful: %.3f of %d characters (at the start %.2f of %d, at calls %.2f of %d) in 45 sessions with %d mistakes; %d good calls spoken of. One session:\n%s",
		of(sum), sum[1], of(start), start[1], of(at), at[1], mistakes, good, last)
	// What is learned of a call is sometimes known one call later: .800 to .816 in ten runs.
	if of(sum) < 0.78 || sum[1] == 0 || good > 0 {
		t.Error("want 0.80, or a little less by chance, and no good call")
	}
}

// A model that reads what the hooks say, of the program itself, repeats at most half as many
// failed calls unchanged as one that does not; fewer of its calls fail at all.
func TestAModelThatReadsRepeatsHalfAsManyFailures(t *testing.T) {
	t.Parallel()
	s := binary.Start(t, t.TempDir(), nil)
	all := project()
	dice := rand.New(rand.NewPCG(9, 9)) //nolint:gosec // a script
	for i := range 20 {
		play(t, posts(t, s), fmt.Sprintf("teaches-%d", i), script(dice, all), false)
	}
	var deaf, reader played
	for i := range 4 {
		calls := script(dice, all)
		ask := func(event string) string { return hook(t, s, "claude-code", event) }
		a, b := play(t, ask, fmt.Sprintf("deaf-%d", i), calls, false), play(t, ask, fmt.Sprintf("reader-%d", i), calls, true)
		deaf.failed, deaf.equal, reader.failed, reader.equal = deaf.failed+a.failed, deaf.equal+a.equal, reader.failed+b.failed, reader.equal+b.equal
		if reader.good += b.good; reader.good > 0 {
			t.Error("something is said of a good call")
		}
	}
	t.Logf("failed calls: %d, of a model that reads %d; repeated unchanged: %d and %d", deaf.failed, reader.failed, deaf.equal, reader.equal)
	if 2*reader.equal > deaf.equal || 2*reader.failed > deaf.failed || deaf.equal < 5 {
		t.Error("want at most half")
	}
}
