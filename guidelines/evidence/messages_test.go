package evidence_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
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

// What calls said is told word for word where it is often said, and by form else; what a caller sent
// is left out where it stands as a word of its own.
func TestMessagesAreToldByWordOrByForm(t *testing.T) {
	t.Parallel()
	const (
		noBucket = "An error occurred (NoSuchBucket) when calling the PutObject operation: The specified bucket does not exist"
		noClass  = "An error occurred (InvalidStorageClass) when calling the PutObject operation: The storage class you gave is not valid"
		lost     = "is no file or directory that was ever found there"
		refused  = "the plan was refused as these steps of it are not ready:"
	)
	for name, c := range map[string]struct{ said, want []string }{
		"codes differ":         {[]string{noBucket, noClass, noBucket, noClass}, []string{noClass, noBucket}},
		"a value in a word":    {[]string{"The user ann cannot be found in ann_home of annex or Joann"}, []string{"The user … cannot be found in …_home of annex or Joann"}},
		"no blanks":            {[]string{"ユーザー太郎が見つかりません"}, []string{"ユーザー…が見つかりません"}},
		"two words each":       {[]string{"the plan is no good for now today", "the plan is no good for all here"}, []string{"the plan is no good for …"}},
		"another word each":    {[]string{"the plan is no good today", "the plan is no good here", "the plan is no good now"}, []string{"the plan is no good …"}},
		"one word and two":     {[]string{"alpha " + lost, "beta " + lost, "gamma delta " + lost, "kappa mu " + lost}, []string{"… " + lost}},
		"cut where some go on": {[]string{refused + " a step", refused + " a step a step", refused + " a step a step b"}, []string{refused + " a step …"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls []memoryd.Call
			for i, said := range c.said {
				calls = append(calls, memoryd.Call{
					ToolRef: memoryd.ToolRef{Workspace: "w", Tool: "put"}, Key: memoryd.CallKey{byte(i), 3}, Seq: int64(i + 1), Input: json.RawMessage(`{"user":"ann","friend":"太郎"}`),
					Output: said, Metadata: fmt.Appendf(nil, `{"trajectory_id":"r%d","agent_id":"a%d"}`, i, i), Evaluation: memoryd.Evaluation{State: memoryd.Judged},
				})
			}
			var got []string
			for _, m := range evidence.Mine("put", evidence.Merge(nil, calls), calls).Messages {
				got = append(got, m.Text)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// A message is one whether its call is kept whole or not, whatever wrapper it stands in, and however many
// there are of what it lists.
func TestAMessageIsOneBehindAWrapperAndWithAListOfAnyLength(t *testing.T) {
	t.Parallel()
	var calls []memoryd.Call
	for i := range 12 {
		there := strings.Repeat(fmt.Sprintf("'s%d', ", i), i%4) + "'last'"
		calls = append(calls, memoryd.Call{
			ToolRef: memoryd.ToolRef{Workspace: "w", Tool: "edit"}, Key: memoryd.CallKey{byte(i), 4}, Seq: int64(i + 1), Input: json.RawMessage(`{}`),
			Output:   "Error executing tool edit: Sheet 'x" + strconv.Itoa(i) + "' is not there. Available sheets: " + there,
			Metadata: fmt.Appendf(nil, `{"trajectory_id":"r%d"}`, i/2), Evaluation: memoryd.Evaluation{State: memoryd.Judged},
		})
	}
	obs := evidence.Merge(nil, calls)
	for i := range obs[:6] {
		obs[i].Trim()
	}
	found := evidence.Mine("edit", obs, calls).Messages
	if len(found) != 1 || found[0].Text != "Sheet … is not there. Available sheets: …" || found[0].Calls != 12 {
		t.Errorf("got %+v", found)
	}
}

func TestAMessageBeginsWithTheFieldThatItIsAbout(t *testing.T) {
	t.Parallel()
	for output, want := range map[string]string{
		`{"message": "Validation error", "errors": [{"field": "price", "message": "must be a number"}]}`:                          "price: must be a number Validation error",
		`{"message": "Failed to create.", "data": {"status": {"code": "invalid", "message": "Invalid value A."}}, "status": 400}`: "Failed to create. status: Invalid value A.",
		"loading\n3 rows\nerror: no such table": "error: no such table",
	} {
		var calls []memoryd.Call
		for i := range 4 {
			calls = append(calls, memoryd.Call{
				ToolRef: memoryd.ToolRef{Workspace: "w", Tool: "edit"}, Key: memoryd.CallKey{byte(i), 3}, Seq: int64(i + 1), Input: json.RawMessage(`{}`),
				Output: output, Metadata: fmt.Appendf(nil, `{"trajectory_id":"r%d"}`, i), Evaluation: memoryd.Evaluation{State: memoryd.Judged},
			})
		}
		if got := evidence.Mine("edit", evidence.Merge(nil, calls), calls).Messages; len(got) != 1 || got[0].Text != want {
			t.Errorf("got %+v, want %q", got, want)
		}
	}
}
