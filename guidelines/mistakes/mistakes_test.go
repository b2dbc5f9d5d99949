package mistakes

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// told follows calls of runs and merges what failed. A call is "run tool input output",
// parted by bars; an output that begins with "!" failed.
func told(t *testing.T, calls ...string) []Mistake {
	t.Helper()
	var m Merger
	f := Follower{Failed: func(f Failure) { m.Add("file", &f) }}
	for i, text := range calls {
		p := strings.SplitN(text, "|", 4)
		bad := strings.HasPrefix(p[3], "!")
		f.Add(p[0], uint64(i), &Call{
			Tool: p[1], Input: json.RawMessage(p[2]), Output: strings.TrimPrefix(p[3], "!"), Bad: bad, Good: !bad, Line: i + 1,
			Begun: time.Date(2026, 1, 1, 0, 0, 10*i, 0, time.UTC),
		})
	}
	f.Flush()
	return m.Mistakes()
}

func TestWhatFixedAMistakeIsTheDifferenceToTheNextGoodCall(t *testing.T) {
	for _, tc := range []struct {
		name, bad, good, want string
	}{
		{"another name of a parameter", `{"path":"/a.txt","n":1}`, `{"file_path":"/a.txt","n":1}`, "name the parameter `file_path`, not `path`"},
		{"a parameter that was missing, within a list", `{"files":[{"p":"x"}]}`, `{"files":[{"p":"x","start":1}]}`, "give `files[].start`"},
		{"a parameter too many", `{"q":"x","page":0}`, `{"q":"x"}`, "leave out `page`"},
		{"another program in a command", `{"command":"python -m pytest tests"}`, `{"command":"python3 -m pytest tests"}`, "in `command` write `python3`, not `python`"},
		{"an input that is a text", `"git comit -m x"`, `"git commit -m x"`, "in the input write `commit`, not `comit`"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var calls []string
			for run := range 3 {
				calls = append(calls, fmt.Sprintf("r%d|t|%s|!Error: no such thing %d", run, tc.bad, run), fmt.Sprintf("r%d|t|%s|fine", run, tc.good))
			}
			got := told(t, calls...)
			if len(got) != 1 || got[0].Calls != 3 || got[0].Runs != 3 || !got[0].Fix.Proven() || !strings.HasPrefix(got[0].Fix.Says, tc.want) || !got[0].Fix.Definite {
				t.Fatalf("%+v, %+v", got, got[0].Fix)
			}
			if got[0].Where[0].Line != 1 || got[0].Cost != 30 || got[0].Turns != 3 {
				t.Errorf("%+v", got[0])
			}
		})
	}
}

func TestWhatOneRunShowsIsNotProvenAndAnotherTaskIsNoFix(t *testing.T) {
	one := told(t, `a|t|{"path":"x"}|!Error: bad`, `a|t|{"file":"x"}|fine`)[0]
	if one.Fix == nil || one.Fix.Proven() {
		t.Errorf("%+v", one.Fix)
	}
	other := told(t, `a|sh|{"c":"make install"}|!Error: bad`, `a|sh|{"c":"ls -l"}|fine`, `b|sh|{"c":"make install"}|!Error: bad`, `b|sh|{"c":"date"}|fine`)[0]
	if other.Fix == nil || other.Fix.Kind != Unlike || other.Fix.Proven() {
		t.Errorf("%+v", other.Fix)
	}
	if none := told(t, `a|t|{"path":"x"}|!Error: bad`, `b|t|{"file":"x"}|fine`)[0]; none.Fix != nil {
		t.Errorf("a call of another run fixed it: %+v", none.Fix)
	}
}

func TestAnExampleOfAFixShowsADifference(t *testing.T) {
	blanks := []string{
		`a|edit|{"s":"if x:  return   y and more of the same, which is long enough to be shown around its difference, as all long texts are, here"}|!Error: bad indent`,
		`a|edit|{"s":"if x: return y and more of the same, which is long enough to be shown around its difference, as all long texts are, here"}|ok`,
	}
	if f := told(t, blanks...)[0].Fix; f == nil || f.Says != "change blanks and line breaks in `s`" || f.Definite || f.Good != "" {
		t.Errorf("%+v", f)
	}
}

func TestTheSameCallThatWorksLaterNamesWhatCameBetween(t *testing.T) {
	for between, want := range map[string]string{"": "make the same call again later", `a|edit|{}|ok`: "make the same call again after `edit`", `a|edit|{}|!no`: "make the same call again later"} {
		calls := []string{`a|sh|{"c":"make test"}|!Error: two tests failed`, between, `a|sh|{"c":"make test"}|all passed`}
		got := told(t, slices.DeleteFunc(calls, func(c string) bool { return c == "" })...)
		if f := got[0].Fix; f == nil || f.Kind != ByTime || f.Says != want {
			t.Errorf("after %q: %+v", between, f)
		}
	}
}

func TestAChangeThatGoodCallsDoNotNeedIsNoAdvice(t *testing.T) {
	var calls []string
	for run := range 3 {
		calls = append(calls, fmt.Sprintf(`r%d|book|{"cabin":"business","to":"X"}|!Error: balance`, run), fmt.Sprintf(`r%d|book|{"cabin":"economy","to":"X"}|ok`, run))
	}
	f := told(t, calls...)[0].Fix
	economy, business := json.RawMessage(`{"cabin":"economy","to":"Y"}`), json.RawMessage(`{"cabin":"business","to":"Y"}`)
	if f.Refuted([]json.RawMessage{economy, economy}) || !f.Refuted([]json.RawMessage{economy, business}) {
		t.Errorf("%+v", f)
	}
}

func TestAMistakeIsNeverABareNumber(t *testing.T) {
	for output, want := range map[string]string{"0": "", "\n 17\n": "", "ok?\n0\nexit status 3\n": "exit status 3", `{"error": "", "response": "{\"status\":\"401\",\"msg\":\"Authentication required\"}"}`: "Authentication required", "Error:\nno such host\n": "Error: no such host"} {
		if got := said(output); got != want {
			t.Errorf("%q: %q", output, got)
		}
	}
	if a, b := Form("line 12: syntax error near `x'"), Form("line 7: syntax error near `y z'"); a != b {
		t.Errorf("%q is not %q", a, b)
	}
	if a, b := Form("exit code 1"), Form("exit code 127"); a == b {
		t.Errorf("exit codes are one: %q", a)
	}
}

func TestACallThatTwoFilesTellOfCountsOnce(t *testing.T) {
	var m Merger
	f := Failure{ID: 7, Tool: "t", Kind: "k", Run: 1}
	m.Add("a", &f)
	m.Add("b", &f)
	f.ID = 8
	m.Add("b", &f)
	if got := m.Mistakes(); len(got) != 1 || got[0].Calls != 2 {
		t.Errorf("%+v", got)
	}
}
