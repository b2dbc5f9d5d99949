package guidelines_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"memoryd"
)

// inRuns makes calls of a tool, each of a run of its own; those whose output is an error
// failed.
func inRuns(tool string, calls ...[2]string) (all []memoryd.Call) {
	for i, c := range calls {
		score := 1.0
		if strings.HasPrefix(c[1], "Error") {
			score = 0
		}
		one := made(i, tool, c[0], strings.TrimPrefix(c[1], "Error: "), score, 0.1)
		one.Metadata = fmt.Appendf(nil, `{"trajectory_id":"run-%d"}`, i)
		all = append(all, one)
	}
	return all
}

// W5: of a file that is missing three times and a parameter that is misnamed three times
// nobody is told to leave the tool alone.
func TestNoToolIsGivenUpWhileACauseCanBeMended(t *testing.T) {
	t.Parallel()
	var calls [][2]string
	for i := range 3 {
		calls = append(calls, [2]string{fmt.Sprintf(`{"file_path":"/p/none%d.go"}`, i), "Error: File does not exist."},
			[2]string{fmt.Sprintf(`{"path":"/p/a%d.go"}`, i), "Error: InputValidationError: The required parameter `file_path` is missing"})
	}
	got := write(t, inRuns("Read", calls...))
	for _, want := range []string{
		"1. Give `file_path`, not `path`: 3 calls were refused for this",
		"2. Look for the file first, by listing the directory or by a search, and give `file_path` as you found it: 3 calls failed",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if strings.Contains(got, "another tool") || strings.Contains(got, "Do not call") {
		t.Error(got)
	}
	var unknown [][2]string
	for range 6 {
		unknown = append(unknown, [2]string{`{"a":1}`, "Error: kaput"})
	}
	if got := write(t, inRuns("t", unknown...)); !strings.Contains(got, "another tool") {
		t.Errorf("the control: %s", got)
	}
}

// W13: a command that worked is no example, and what hosts document is what is said.
func TestACommandThatWorkedIsNoExample(t *testing.T) {
	t.Parallel()
	var calls [][2]string
	for _, c := range []string{"rm reproduce.py", "rm reproduce.py", "rm reproduce.py", "ls", "go vet ./...", "cat a | wc -l", "rm reproduce.py", "pwd"} {
		calls = append(calls, [2]string{fmt.Sprintf(`{"command":%q}`, c), "done"})
	}
	for i := range 3 {
		calls = append(calls, [2]string{fmt.Sprintf(`{"command":"make %d"}`, i), "Error: Command timed out after 2m 0.0s"})
	}
	got := write(t, inRuns("Bash", calls...))
	if strings.Contains(got, "reproduce") || !strings.Contains(got, "1. Set a longer timeout, run it in the background, or let the command do less: 3 calls failed") {
		t.Error(got)
	}
}

// W16: where no caller reports a failure, none is said to be reported as a success.
func TestWhereNothingIsReportedNothingIsSaidOfReports(t *testing.T) {
	t.Parallel()
	calls := func(reported int) (all []memoryd.Call) {
		for i := range 13 {
			c := made(i, "t", fmt.Sprintf(`{"a":%d}`, i), "kaput", 0, 0.1)
			c.Success = i >= reported
			all = append(all, c)
		}
		return all
	}
	if got := write(t, calls(0)); strings.Contains(got, "reported as successful") {
		t.Error(got)
	}
	if got := write(t, calls(3)); !strings.Contains(got, "10 of 13 failed calls were reported as successful") {
		t.Error(got)
	}
}

// Of tools that fail by chance, whatever is sent, hardly any is said to refuse what is sent again.
func TestRepeatsThatFailByChanceAreHardlyEverTold(t *testing.T) {
	t.Parallel()
	r, told := rand.New(rand.NewPCG(5, 7)), 0
	const tools = 300
	for range tools {
		var calls []memoryd.Call
		for i := range 20 {
			score := 1.0
			if r.Float64() < 0.6 {
				score = 0
			}
			one := made(i, "t", fmt.Sprintf(`{"n":%d}`, r.IntN(10)), map[bool]string{true: "fine", false: "kaput"}[score > 0], score, 0.1)
			one.Metadata = fmt.Appendf(nil, `{"trajectory_id":"run-%d"}`, i/10)
			calls = append(calls, one)
		}
		if strings.Contains(write(t, calls), "Never send") {
			told++
		}
	}
	if t.Logf("told of %d of %d", told, tools); 20*told > tools {
		t.Error("too often")
	}
}
