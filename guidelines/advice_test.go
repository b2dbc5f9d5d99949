package guidelines_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"memoryd"
)

// log is a workspace's calls under construction.
type journal struct {
	t     *testing.T
	calls []memoryd.Call
}

func (j *journal) add(run, tool string, input any, output string, score float64) {
	j.t.Helper()
	c := call(j.t, tool, len(j.calls), input, output, score, 0, -1)
	meta, err := json.Marshal(object{"trajectory_id": run})
	if err != nil {
		j.t.Fatal(err)
	}
	c.Metadata = meta
	j.calls = append(j.calls, c)
}

func (j *journal) tells(tool string, wants ...string) string {
	j.t.Helper()
	x := tell(j.t, j.calls, tool)
	for _, want := range wants {
		x.holds("%s", want)
	}
	return x.text
}

// A call before is told of where leaving it out failed in many runs, and not where the
// runs with it are the harder ones, nor where nothing is taken from its answer.
func TestCallsBeforeAreToldInTheProtectingDirectionOnly(t *testing.T) {
	for name, tc := range map[string]struct {
		failsWithout, failsWith, takes bool
		want                           bool
	}{
		"protects":        {failsWithout: true, takes: true, want: true},
		"difficulty":      {failsWith: true, takes: true},
		"takes no value":  {failsWithout: true},
		"no difference":   {takes: true},
		"fails both ways": {failsWithout: true, failsWith: true, takes: true},
	} {
		t.Run(name, func(t *testing.T) {
			j := journal{t: t}
			for i := range 24 {
				run, id := fmt.Sprint("run", i), fmt.Sprintf("acct_%04d", i)
				answer, other := "{}", fmt.Sprintf("{\"note\":\"ticket_%04d\"}", i)
				if tc.takes {
					answer = fmt.Sprintf("{\"account\":%q}", id)
				}
				fails := tc.failsWithout
				j.add(run, "read_ticket", object{"n": i}, other, 1)
				if i%2 == 0 {
					j.add(run, "get_account", object{"n": i}, answer, 1)
					fails = tc.failsWith
				}
				if fails {
					j.add(run, "charge", object{"account": id}, "Error: charge refused", 0)
				} else {
					j.add(run, "charge", object{"account": id}, "charged", 1)
				}
			}
			text := tell(t, j.calls, "charge").text
			if got := strings.Contains(text, "Call `get_account` first: failures in 12 of 12 runs without it, in 0 of 12 with it"); got != tc.want {
				t.Errorf("told: %v\n%s", got, text)
			}
			if strings.Contains(text, "Call `read_ticket`") {
				t.Errorf("nothing comes from it:\n%s", text)
			}
		})
	}
}

// What the messages of a tool that never worked ask for spells a call, as far as
// callers gave these parameters themselves.
func TestAToolThatNeverWorkedShowsTheFormThatItsMessagesAskFor(t *testing.T) {
	j := journal{t: t}
	missing := func(name string) string { return "Input validation error: '" + name + "' is a required property" }
	for i := range 4 {
		run := fmt.Sprint("run", i)
		j.add(run, "read_parts", object{"path": "a.txt"}, missing("files"), 0)
		j.add(run, "read_parts", object{"files": []object{{"path": "a.txt"}}}, missing("file_path"), 0)
		j.add(run, "read_parts", object{"files": []object{{"file_path": "a.txt"}}}, missing("ranges"), 0)
		j.add(run, "read_parts", object{"files": []object{{"file_path": "a.txt", "ranges": []object{{"line_start": 1}}}}}, missing("start"), 0)
		j.add(run, "read_parts", object{"files": []object{{"file_path": "a.txt", "ranges": []object{{"start": 1}}}}}, missing("never_sent"), 0)
	}
	text := j.tells("read_parts", "No call has worked yet; by its messages one looks like `{\"files\":[{\"file_path\":\"…\",\"ranges\":[{\"start\":1}]}]}`.",
		"Always give `files`, `files[].file_path`, `files[].ranges` and `files[].ranges[].start`")
	if text, _, _ := strings.Cut(text, "## What the tool answered"); strings.Contains(text, "never_sent") {
		t.Errorf("a name that only the messages know stands in\n%s", text)
	}
	for i := range j.calls { // one run alone proves nothing
		j.calls[i].Metadata = []byte(`{"trajectory_id":"one"}`)
	}
	if text := j.tells("read_parts"); strings.Contains(text, "file_path\":\"…") {
		t.Errorf("one run minted a form:\n%s", text)
	}
}

func TestAnotherHostThatWorkedIsTold(t *testing.T) {
	j := journal{t: t}
	for i := range 3 {
		run := fmt.Sprint("run", i)
		j.add(run, "load", object{"address": fmt.Sprintf("https://docs.example.org/p%d", i)}, "Failed to fetch https://docs.example.org due to a connection issue", 0)
		j.add(run, "load", object{"address": fmt.Sprintf("https://mirror.example.net/p%d", i)}, "a page", 1)
	}
	text := j.tells("load", "another host in `address` then worked 3 of 3 (3 runs)")
	if strings.Contains(text, "example.net") || strings.Contains(text, "://") {
		t.Errorf("an address is shown:\n%s", text)
	}
}

func TestWhatIsLeftIsToldApartFromWhatIsOffered(t *testing.T) {
	j := journal{t: t}
	for i := range 6 {
		run, room := fmt.Sprint("run", i), fmt.Sprintf("room_%d", i)
		j.add(run, "search_rooms", object{"city": "x"}, "["+room+", room_90, room_91]", 1)
		j.add(run, "get_booking", object{"id": i}, "room_8"+fmt.Sprint(i), 1)
		j.add(run, "book", object{"room": room}, "booked", 1)
		j.add(run, "book", object{"room": "room_90"}, "booked", 1)
		j.add(run, "book", object{"room": "room_8" + fmt.Sprint(i)}, fmt.Sprintf("Error: room room_8%d not available on date 2025-01-0%d", i, i+1), 0)
		j.add(run, "book", object{"room": "room_91"}, "Error: not enough rooms in room_91", 0)
	}
	j.tells("book", "Send only `room` values that `search_rooms` listed as available: 6 failed (6 runs)", "Check first that enough rooms are left for all in `room`: 6 failed (6 runs)")
}

// Formats come from good calls; names that only failed calls had are not described.
func TestNestedParametersAreDescribedWithTheirForms(t *testing.T) {
	j := journal{t: t}
	for i := range 12 {
		j.add(fmt.Sprint("run", i), "plan", object{"legs": []object{{"day": fmt.Sprintf("2025-03-%02d", i+1), "code": fmt.Sprintf("AB%02d", i), "note": fmt.Sprintf("text %d of it", i)}}}, "ok", 1)
	}
	for i := range 3 {
		j.add(fmt.Sprint("bad", i), "plan", object{"legs": []object{{"date": "tomorrow"}}}, "Error: 'day' is a required property", 0)
	}
	text := j.tells("plan", "`legs` (list of `code` (pattern AA00), `day` (date as YYYY-MM-DD) and `note`)")
	if strings.Contains(text, "`date`") {
		t.Errorf("a refused name is described:\n%s", text)
	}
}

func TestAParameterThatIsRefusedIsNamedSinceCallersSentIt(t *testing.T) {
	j := journal{t: t}
	for i := range 4 {
		run := fmt.Sprint("run", i)
		j.add(run, "pay", object{"amount": i, "mail": "x"}, "Received unknown parameter: mail", 0)
		j.add(run, "pay", object{"amount": i}, "paid", 1)
	}
	j.tells("pay", "Leave out `mail`: otherwise 4 of 4 went wrong (4 runs).")
}

// A message that names a parameter and its value tells which one to change, and the
// values that worked tell to what; values that never worked are no examples.
func TestARefusedValueIsNamedBesideThoseThatWorked(t *testing.T) {
	j := journal{t: t}
	for i := range 12 {
		run := fmt.Sprint("run", i)
		j.add(run, "translate", object{"text": fmt.Sprint("hello ", i), "language": "en"}, "bonjour", 1)
		if i < 4 {
			j.add(run, "translate", object{"text": fmt.Sprint("bye ", i), "language": []string{"xx", "yy"}[i%2]}, fmt.Sprintf("Error: language '%s' is not supported.", []string{"xx", "yy"}[i%2]), 0)
		}
	}
	got := j.tells("translate", "Give `language` as one of \"en\": otherwise 4 of 4 went wrong (4 runs)", "`language` (\"en\")")
	if strings.Contains(got, "\"xx\"") {
		t.Errorf("a value that never worked is shown as an example:\n%s", got)
	}
}

// After three calls for a missing file and three with a misnamed parameter agents were
// told not to call a host's own tool (defect W5).
func TestNobodyIsToldNotToCallAToolWhoseCallsCanBeMended(t *testing.T) {
	var calls []memoryd.Call
	for i := range 6 {
		input, output := fmt.Sprintf(`{"file_path":"/src/main_%d.go"}`, i), "Error: File does not exist: no such file or directory"
		if i%2 == 1 {
			input, output = fmt.Sprintf(`{"path":"/src/main_%d.go"}`, i), "InputValidationError: The required parameter `file_path` is missing"
		}
		c := made(i, "Read", input, output, 0, 1)
		c.Metadata = fmt.Appendf(nil, `{"trajectory_id":"t%d"}`, i/2)
		calls = append(calls, c)
	}
	content, _, err := rulesWriter().Write(t.Context(), toolOf(calls), calls, 20)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(content, "not call it") || strings.Contains(content, "Use another tool") || !strings.Contains(content, "List a directory before naming paths in it") {
		t.Errorf("%s", content)
	}
	for i := range calls { // the control: there is no such tool
		calls[i].Output = "Unknown tool: Read"
	}
	if content, _, err = rulesWriter().Write(t.Context(), toolOf(calls), calls, 20); err != nil || !strings.Contains(content, "no tool of this name exists") {
		t.Errorf("%v\n%s", err, content)
	}
}
