package golden

import (
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"memoryd/test/crash/daemon"
)

// dataEnv names the folder of all recordings.
const dataEnv = "MEMORYD_TEST_DATA"

// recorded is a call of a recording.
type recorded struct {
	Workspace string          `json:"workspace_id,omitempty"`
	Tool      string          `json:"tool_name"`
	Input     json.RawMessage `json:"input"`
	Output    string          `json:"output"`
	Success   bool            `json:"success"`
	TimeCost  float64         `json:"time_cost"`
	TokenCost int             `json:"token_cost"`
	Created   string          `json:"create_time"`
	Metadata  map[string]any  `json:"metadata"`

	gold string
}

// conversation is one of a recording.
type conversation struct {
	ID       string          `json:"id"`
	Messages json.RawMessage `json:"messages"`
}

// each reads JSON-lines.
func each[T any](t *testing.T, file string, use func(*T)) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	for lines.Buffer(nil, 16<<20); lines.Scan(); {
		var v T
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		use(&v)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

// readCalls reads a recording; the labels do not go to the server.
func readCalls(t *testing.T, file string) (calls []*recorded) {
	each(t, file, func(c *recorded) {
		c.gold, _ = c.Metadata["gold"].(string)
		delete(c.Metadata, "gold")
		delete(c.Metadata, "gold_from")
		calls = append(calls, c)
	})
	return calls
}

// inMemory starts a server whose store ends with it.
func inMemory(t *testing.T) *daemon.Process {
	return binary.Start(t, t.TempDir(), []string{"TZ=UTC", "MEMORYD_STORE_BACKEND=mem", "MEMORYD_QUOTAS_WORKSPACES=20000"})
}

// withKey starts a server that hashes secrets with the key of testdata, so that equal
// texts have equal placeholders.
func withKey(t *testing.T) *daemon.Process {
	t.Helper()
	dir := t.TempDir()
	if code, _, stderr := binary.Run(t, "", "restore", "testdata/recordings/key.jsonl", "--data", dir); code != 0 {
		t.Fatal(stderr)
	}
	return binary.Start(t, dir, []string{"TZ=UTC"})
}

// forecast is what a forecast says of a call.
type forecast struct {
	Risk     *float64 `json:"risk"`
	Warnings []struct {
		Text, Severity string
		Evidence       []string
	} `json:"warnings"`
	Suggestion *json.RawMessage `json:"suggestion"` // the input, with one change
}

// replay is what a server told of the calls of a recording.
type replay struct {
	tools      []string
	guidelines map[string]string // of the first half of each tool's calls
	told       map[string][]told // of the second half, each before it was made
	verdicts   map[string]*figures
}

type told struct {
	number int
	gold   string
	forecast
}

// figures are counts of verdicts by label: a score of 0 as a sign of an error.
type figures struct{ calls, hit, miss, alarm int }

func (f *figures) add(gold string, score float64) {
	f.calls++
	switch failed := score == 0; {
	case gold == "error" && failed:
		f.hit++
	case gold == "error":
		f.miss++
	case failed && gold != "":
		f.alarm++
	}
}

func (f *figures) String() string {
	return fmt.Sprintf("precision %.4f recall %.4f (%d hits, %d alarms, %d missed)",
		share(f.hit, f.hit+f.alarm), share(f.hit, f.hit+f.miss), f.hit, f.alarm, f.miss)
}

func share(part, of int) float64 {
	if of == 0 {
		return 1
	}
	return float64(part) / float64(of)
}

// play gives calls to a server in their order: the first half of each tool's before its
// guideline is written, the second half each after it was asked about.
func play(t *testing.T, s *daemon.Process, calls []*recorded) *replay {
	t.Helper()
	r := &replay{guidelines: map[string]string{}, told: map[string][]told{}, verdicts: map[string]*figures{}}
	count := map[string]int{}
	for _, c := range calls {
		name := c.Workspace + "/" + c.Tool
		if count[name]++; count[name] == 1 {
			r.tools = append(r.tools, name)
		}
		if r.verdicts[c.Workspace] == nil {
			r.verdicts[c.Workspace] = &figures{}
		}
	}
	seen := map[string]int{}
	var later []int
	for i, c := range calls {
		name := c.Workspace + "/" + c.Tool
		if seen[name]++; seen[name] > count[name]-count[name]/2 {
			later = append(later, i)
		}
	}
	for i, c := range calls {
		if !slices.Contains(later, i) {
			r.add(t, s, c)
		}
	}
	for _, name := range r.tools {
		workspace, tool, _ := strings.Cut(name, "/")
		a := s.Post("/summary_tool_memory", map[string]any{"workspace_id": workspace, "tool_names": tool})
		for i := range a.Metadata.MemoryList {
			r.guidelines[name] = a.Metadata.MemoryList[i].Content
		}
	}
	number := map[string]int{}
	for _, i := range later {
		name := calls[i].Workspace + "/" + calls[i].Tool
		number[name]++
		r.told[name] = append(r.told[name], told{number[name], calls[i].gold, ask(t, s, calls[:i], calls[i])})
		r.add(t, s, calls[i])
	}
	return r
}

// What a forecast is asked with: the newest calls of the tool, and of the run.
const (
	askedAfter = 60
	askedOfRun = 20
)

// ask asks about a call after those before it. A server answers at once and learns in
// the background, so only the first forecast in a workspace is the same each time: each
// call has a workspace of its own.
func ask(t *testing.T, s *daemon.Process, before []*recorded, c *recorded) (f forecast) {
	t.Helper()
	var known []any
	ofTool, ofRun := 0, 0
	for _, b := range slices.Backward(before) {
		switch {
		case b.Workspace != c.Workspace:
			continue
		case b.Tool == c.Tool && ofTool < askedAfter:
			ofTool++
		case b.Metadata["trajectory_id"] == c.Metadata["trajectory_id"] && ofRun < askedOfRun:
			ofRun++
		default:
			continue
		}
		moved := *b
		moved.Workspace = ""
		known = append(known, moved)
	}
	slices.Reverse(known)
	workspace := fmt.Sprintf("before %d", len(before))
	s.Post("/add_tool_call_result", map[string]any{"workspace_id": workspace, "tool_call_results": known})
	body, err := json.Marshal(map[string]any{
		"workspace_id": workspace, "tool_name": c.Tool, "input": c.Input, "trajectory_id": c.Metadata["trajectory_id"],
	})
	if err != nil {
		t.Fatal(err)
	}
	reply, err := s.Send("/preflight_tool_call", body)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(reply.Body, &f); err != nil {
		t.Fatal(err)
	}
	s.Post("/vector_store", map[string]any{"workspace_id": workspace, "action": "delete"})
	return f
}

// add records a call and counts its verdict.
func (r *replay) add(t *testing.T, s *daemon.Process, c *recorded) {
	t.Helper()
	a := s.Post("/add_tool_call_result", map[string]any{"workspace_id": c.Workspace, "tool_call_results": []any{c}})
	if len(a.Metadata.MemoryList) == 0 {
		if !strings.HasPrefix(c.Output, "Unknown tool: ") { // such a call is none
			t.Fatalf("%s: %s", c.Tool, a.Answer)
		}
		return
	}
	for _, j := range slices.Backward(a.Metadata.MemoryList[0].Calls) {
		if j.CreateTime == c.Created {
			r.verdicts[c.Workspace].add(c.gold, j.Score)
			return
		}
	}
}

// TestGuidelinesAndWarningsOfRecordedTools replays the excerpts of recordings.
func TestGuidelinesAndWarningsOfRecordedTools(t *testing.T) {
	r := play(t, inMemory(t), readCalls(t, "testdata/recordings/calls.jsonl.gz"))
	var guidelines, warnings []string
	for _, name := range r.tools {
		section := ""
		for line := range strings.SplitSeq(strings.TrimSpace(r.guidelines[name]), "\n") {
			if heading, is := strings.CutPrefix(line, "## "); is {
				section = heading
			} else if line != "" {
				guidelines = append(guidelines, name+"\t"+section+"\t"+line)
			}
		}
		for _, f := range r.told[name] {
			warnings = append(warnings, f.lines(name)...)
		}
	}
	compare(t, "guidelines.txt", guidelines, plain)
	compare(t, "warnings.txt", warnings, func(gone, came []string) string {
		return fmt.Sprintf("\n%s went, %s came", rightOf(gone), rightOf(came))
	})
}

// sinceThen matches how long ago something was: longer each day.
var sinceThen = regexp.MustCompile(`\d+ (s|min|h|d|days?|hours?|minutes?) ago`)

// lines tell what was said of a call, after its label.
func (f told) lines(tool string) (lines []string) {
	at := fmt.Sprintf("%s %d\t%s\t", tool, f.number, f.gold)
	for _, w := range f.Warnings {
		lines = append(lines, at+fmt.Sprintf("%s\t%s\t%s", w.Severity, strings.Join(w.Evidence, ","), sinceThen.ReplaceAllString(w.Text, "<time> ago")))
	}
	if f.Suggestion != nil {
		lines = append(lines, at+"suggestion\t"+string(*f.Suggestion))
	}
	return lines
}

// rightOf counts warnings about calls that failed.
func rightOf(lines []string) string {
	right := 0
	for _, line := range lines {
		if fields := strings.Split(line, "\t"); len(fields) > 1 && fields[1] == "error" {
			right++
		}
	}
	return fmt.Sprintf("%d warnings (%d right)", len(lines), right)
}

// budgets are the shares of a conversation's tokens that compaction is given.
var budgets = []float64{0.2, 0.5}

// TestCompactedConversations compacts the excerpts of conversations.
func TestCompactedConversations(t *testing.T) {
	s := withKey(t)
	var lines []string
	each(t, "testdata/recordings/chats.jsonl.gz", func(c *conversation) { lines = append(lines, compacted(t, s, c, true)...) })
	compare(t, "compacted.txt", lines, tokensOf)
}

// tokensOf adds up the tokens of compacted conversations.
func tokensOf(gone, came []string) string {
	sum := func(lines []string) (n int) {
		for _, line := range lines {
			var before, after int
			if fields := strings.Split(line, "\t"); len(fields) > 2 {
				_, _ = fmt.Sscanf(fields[1], "%d to %d tokens", &before, &after)
			}
			n += after
		}
		return n
	}
	return fmt.Sprintf("\n%d tokens went, %d came", sum(gone), sum(came))
}

// compacted tells the tokens and what became of the messages, for each budget.
func compacted(t *testing.T, s *daemon.Process, c *conversation, whole bool) (lines []string) {
	t.Helper()
	type answer struct {
		Summary string
		Report  struct {
			Before   int `json:"tokens_before"`
			After    int `json:"tokens_after"`
			Messages []struct {
				Index            int
				Disposition, Why string
			}
		}
	}
	compact := func(room int, dry bool) (a answer) {
		body, err := json.Marshal(map[string]any{"workspace_id": "w", "messages": c.Messages, "force": true, "max_input_tokens": room, "dry_run": dry})
		if err != nil {
			t.Fatal(err)
		}
		reply, err := s.Send("/compact_conversation", body)
		if err != nil || reply.Status != 200 {
			t.Fatalf("%s: %v %d %.300s", c.ID, err, reply.Status, reply.Body)
		}
		if err := json.Unmarshal(reply.Body, &a); err != nil {
			t.Fatal(err)
		}
		return a
	}
	tokens := compact(10_000_000, true).Report.Before
	for _, budget := range budgets {
		a := compact(int(float64(tokens)*budget), false)
		var kept, cut []int
		for _, m := range a.Report.Messages {
			if m.Disposition == "kept" {
				kept = append(kept, m.Index)
			} else {
				cut = append(cut, m.Index)
			}
		}
		shown := ranges(kept)
		if !whole {
			shown = digest(shown)
		}
		lines = append(lines, fmt.Sprintf("%s at %.1f\t%d to %d tokens\tkept %s of %d\tsummary of %d bytes %s",
			c.ID, budget, a.Report.Before, a.Report.After, shown, len(kept)+len(cut), len(a.Summary), digest(a.Summary)))
	}
	return lines
}

// ranges writes numbers as 1-4,7.
func ranges(numbers []int) string {
	var parts []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		if parts = append(parts, fmt.Sprint(numbers[i])); j > i {
			parts[len(parts)-1] += fmt.Sprintf("-%d", numbers[j])
		}
		i = j + 1
	}
	return strings.Join(parts, ",")
}

func digest(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:10] }

// TestAllRecordings replays the recordings that MEMORYD_TEST_DATA names and of which
// there is a golden: figures of each source and tool, and of each conversation.
func TestAllRecordings(t *testing.T) {
	dir := os.Getenv(dataEnv)
	if dir == "" {
		t.Skipf("%s is not set: it names the folder of all recordings", dataEnv)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl.gz")
		t.Run(name, func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			golden, of := filepath.Join("all", name+".txt"), "recording "+digest(string(raw))
			old, err := os.ReadFile(filepath.Join("testdata", golden))
			if line, _, _ := strings.Cut(string(old), "\n"); !*update && (err != nil || line != of) {
				t.Skip("there is no golden of this recording: -update writes it")
			}
			compared++
			lines := []string{of}
			if strings.HasPrefix(name, "calls_") {
				compare(t, golden, append(lines, replayed(t, file)...), toldOf)
				return
			}
			s := withKey(t)
			each(t, file, func(c *conversation) { lines = append(lines, compacted(t, s, c, false)...) })
			compare(t, golden, lines, tokensOf)
		})
	}
	if compared == 0 {
		t.Errorf("of none of the %d recordings in %s there is a golden", len(files), dir)
	}
}

func replayed(t *testing.T, file string) (lines []string) {
	t.Helper()
	r := play(t, inMemory(t), readCalls(t, file))
	for _, workspace := range keysOf(r.verdicts) {
		lines = append(lines, fmt.Sprintf("%s\tverdicts of %d calls: %v", workspace, r.verdicts[workspace].calls, r.verdicts[workspace]))
	}
	for _, name := range r.tools {
		lines = append(lines, r.line(name))
	}
	return lines
}

// toldOf adds up what was told of tools.
func toldOf(gone, came []string) string {
	sum := func(lines []string) string {
		var all [4]int
		for _, line := range lines {
			fields := strings.Split(line, "\t")
			if len(fields) < 3 {
				continue
			}
			var guideline string
			var n [5]int
			_, _ = fmt.Sscanf(fields[1], "guideline %s of %d lines", &guideline, &n[0])
			_, _ = fmt.Sscanf(fields[2], "%d of %d calls warned of (%d right), %d suggestions", &n[1], &n[4], &n[2], &n[3])
			for i := range all {
				all[i] += n[i]
			}
		}
		return fmt.Sprintf("%d lines of guidelines, %d warnings (%d right), %d suggestions", all[0], all[1], all[2], all[3])
	}
	return "\nof the tools that changed: " + sum(gone) + "; now " + sum(came)
}

// line tells the figures of a tool.
func (r *replay) line(name string) string {
	warnings, right, suggestions, text, risks := 0, 0, 0, "", 0.0
	for _, f := range r.told[name] {
		if len(f.Warnings) > 0 {
			if warnings++; f.gold == "error" {
				right++
			}
		}
		if f.Suggestion != nil {
			suggestions++
		}
		if f.Risk != nil {
			risks += *f.Risk
		}
		text += strings.Join(f.lines(name), "\n")
	}
	statements := 0
	for line := range strings.SplitSeq(r.guidelines[name], "\n") {
		if line != "" && !strings.HasPrefix(line, "## ") {
			statements++
		}
	}
	return fmt.Sprintf("%s\tguideline %s of %d lines\t%d of %d calls warned of (%d right), %d suggestions, %s, risks %v", name,
		digest(r.guidelines[name]), statements, warnings, len(r.told[name]), right, suggestions, digest(text), math.Round(risks*1e6)/1e6)
}
