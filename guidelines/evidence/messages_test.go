package evidence_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"memoryd"
	"memoryd/guidelines/evidence"
)

// A message that several runs and parties got word for word is shown so; of others what varies is
// left out.
func TestAMessageThatIsOftenSaidIsShownWordForWord(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		word  func(i int) string
		agent func(i int) int
		want  []string
	}{
		"words in a row": {
			func(i int) string { return []string{"x7' in", "y8' on"}[i%2] }, func(i int) int { return i % 3 },
			[]string{"'y8' on' is a required property", "'x7' in' is a required property"},
		},
		"few words": {func(i int) string { return []string{"start", "ranges", "ranges", "files"}[i%4] }, func(i int) int { return i % 3 }, []string{
			"'ranges' is a required property", "'files' is a required property", "'start' is a required property",
		}},
		"one often": {func(i int) string {
			if i%3 > 0 {
				return "ranges"
			}
			return fmt.Sprint("f", string(rune('a'+i)))
		}, func(i int) int { return i % 2 }, []string{"'ranges' is a required property", "… is a required property"}},
		"many":            {func(i int) string { return string(rune('a' + i)) }, func(i int) int { return i % 3 }, []string{"… is a required property"}},
		"of one party":    {func(i int) string { return []string{"mine", "ours"}[i%2] }, func(i int) int { return i % 2 }, []string{"… is a required property"}},
		"of a single one": {func(i int) string { return []string{"mine", "ours"}[i%2] }, func(int) int { return 0 }, []string{"'ours' is a required property", "'mine' is a required property"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls []memoryd.Call
			for i := range 12 {
				calls = append(calls, memoryd.Call{
					ToolRef: memoryd.ToolRef{Workspace: "w", Tool: "edit"}, Key: memoryd.CallKey{byte(i), 3}, Seq: int64(i + 1), Input: json.RawMessage(`{}`),
					Output: fmt.Sprintf("'%s' is a required property", c.word(i)), Metadata: fmt.Appendf(nil, `{"trajectory_id":"r%d","agent_id":"a%d"}`, i/2, c.agent(i)),
					Evaluation: memoryd.Evaluation{State: memoryd.Judged},
				})
			}
			var got []string
			for _, m := range evidence.Mine("edit", evidence.Merge(nil, calls), calls).Messages {
				got = append(got, m.Text)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q", got)
			}
		})
	}
}

// Errors of one service begin alike and differ in their codes: they are told one by one.
func TestCodesThatDifferPartMessages(t *testing.T) {
	t.Parallel()
	said := []string{
		"An error occurred (NoSuchBucket) when calling the PutObject operation: The specified bucket does not exist",
		"An error occurred (InvalidStorageClass) when calling the PutObject operation: The storage class you gave is not valid",
	}
	var calls []memoryd.Call
	for i := range 12 {
		calls = append(calls, memoryd.Call{
			ToolRef: memoryd.ToolRef{Workspace: "w", Tool: "put"}, Key: memoryd.CallKey{byte(i), 3}, Seq: int64(i + 1), Input: json.RawMessage(`{"user":"ann"}`),
			Output: said[i%2], Metadata: fmt.Appendf(nil, `{"trajectory_id":"r%d","agent_id":"a%d"}`, i/2, i%3), Evaluation: memoryd.Evaluation{State: memoryd.Judged},
		})
	}
	got := evidence.Mine("put", evidence.Merge(nil, calls), calls).Messages
	if len(got) != 2 || got[0].Text != said[1] || got[1].Text != said[0] {
		t.Errorf("got %+v", got)
	}
}

// What a caller sent is left out of a message where it stands as a word, and not within another.
func TestAValueWithinAWordIsKept(t *testing.T) {
	t.Parallel()
	var calls []memoryd.Call
	for i := range 4 {
		calls = append(calls, memoryd.Call{
			ToolRef: memoryd.ToolRef{Workspace: "w", Tool: "get"}, Key: memoryd.CallKey{byte(i), 3}, Seq: int64(i + 1), Input: json.RawMessage(`{"user":"ann"}`),
			Output: "The user ann cannot be found in ann_home", Evaluation: memoryd.Evaluation{State: memoryd.Judged},
		})
	}
	if got := evidence.Mine("get", evidence.Merge(nil, calls), calls).Messages; len(got) != 1 || got[0].Text != "The user … cannot be found in …_home" {
		t.Errorf("got %+v", got)
	}
}

// Messages that go on in different ways are shown as far as they agree, with a sign that more was said.
func TestAMessageThatIsCutSaysSo(t *testing.T) {
	t.Parallel()
	var calls []memoryd.Call
	for i := range 4 {
		calls = append(calls, memoryd.Call{
			ToolRef: memoryd.ToolRef{Workspace: "w", Tool: "get"}, Key: memoryd.CallKey{byte(i), 3}, Seq: int64(i + 1), Input: json.RawMessage(`{}`),
			Output: "the plan was refused as these steps of it are not ready: " + strings.Repeat("a step ", i+1), Evaluation: memoryd.Evaluation{State: memoryd.Judged},
		})
	}
	want := "the plan was refused as these steps of it are not ready: a step …"
	if got := evidence.Mine("get", evidence.Merge(nil, calls), calls).Messages; len(got) != 1 || got[0].Text != want {
		t.Errorf("got %+v", got)
	}
}

// A word that no caller sent may differ in each message: together they are told as one.
func TestMessagesThatDifferInAWordAreOne(t *testing.T) {
	t.Parallel()
	var calls []memoryd.Call
	for i := range 4 {
		calls = append(calls, memoryd.Call{
			ToolRef: memoryd.ToolRef{Workspace: "w", Tool: "get"}, Key: memoryd.CallKey{byte(i), 3}, Seq: int64(i + 1), Input: json.RawMessage(`{}`),
			Output: "Error: the plan is no good " + []string{"today", "here", "now", "yet"}[i], Evaluation: memoryd.Evaluation{State: memoryd.Judged},
		})
	}
	if got := evidence.Mine("get", evidence.Merge(nil, calls), calls).Messages; len(got) != 1 || got[0].Text != "Error: the plan is no good …" || got[0].Calls != 4 {
		t.Errorf("got %+v", got)
	}
}
