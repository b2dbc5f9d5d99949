package benchmark

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"memoryd"
)

// promptFor is a request as the judge makes it.
func promptFor(nonce, system, data, rest string) memoryd.Prompt {
	return memoryd.Prompt{
		System: system, Workspace: "w", User: fmt.Sprintf("<<<DATA %s>>>\n%s\n<<<END %s>>>\nJudge it.%s", nonce, data, nonce, rest),
	}
}

const (
	callA = `{"input":{"q":1},"output":"a","success":true}`
	callB = `{"input":{"q":2},"output":"b","success":true}`
	alone = `{"tool":"t","call":` + callA + `}`
	both  = `{"tool":"t","calls":[{"id":"c1",` + `"input":{"q":1},"output":"a","success":true},{"id":"c2","input":{"q":2},"output":"b","success":true}]}`
)

func TestAQuestionIsKnownByItsCall(t *testing.T) {
	base := questionOf(promptFor("N1", "s", alone, "")).key
	for name, p := range map[string]memoryd.Prompt{
		"another random word":  promptFor("N2", "s", alone, ""),
		"other instructions":   promptFor("N1", "s2", alone, ""),
		"earlier verdicts":     promptFor("N1", "s", `{"tool":"t","earlier_verdicts":[{"score":0}],"call":`+callA+`}`, ""),
		"members rearranged":   promptFor("N1", "s", `{"call":{"output":"a","input":{"q":1},"success":true},"tool":"t"}`, ""),
		"an id beside others'": promptFor("N1", "s", `{"tool":"t","call":{"id":"c7","input":{"q":1},"output":"a","success":true}}`, ""),
	} {
		if questionOf(p).key != base {
			t.Errorf("%s: another key", name)
		}
	}
	other := promptFor("N1", "s", alone, "")
	other.Workspace = "v"
	for name, p := range map[string]memoryd.Prompt{
		"another call":      promptFor("N1", "s", `{"tool":"t","call":`+callB+`}`, ""),
		"another tool":      promptFor("N1", "s", `{"tool":"u","call":`+callA+`}`, ""),
		"a remark":          promptFor("N1", "s", alone, "\nYour answer was of no use."),
		"two calls":         promptFor("N1", "s", both, ""),
		"another workspace": other,
		"another form":      {Workspace: "w", User: "hello"},
	} {
		if questionOf(p).key == base {
			t.Errorf("%s: the same key", name)
		}
	}
}

// A description that several calls share stands beside them, that of a single
// call inside it.
func TestAToolDescriptionCountsWhereverItStands(t *testing.T) {
	described := strings.Replace(callA, "{", `{"tool_description":"d",`, 1)
	single := questionOf(promptFor("N1", "s", `{"tool":"t","call":`+described+`}`, ""))
	together := questionOf(promptFor("N1", "s", strings.Replace(both, `"tool":"t"`, `"tool":"t","tool_description":"d"`, 1), ""))
	if together.calls[0].key != single.key || single.key == questionOf(promptFor("N1", "s", alone, "")).key {
		t.Errorf("got %+v and %+v", single, together)
	}
}

// scripted answers each request with the next text or error.
type scripted struct {
	texts []string
	errs  []error
	n     int
}

func (s *scripted) Name() string { return "m" }

func (s *scripted) Complete(context.Context, memoryd.Prompt) (memoryd.Completion, error) {
	s.n++
	return memoryd.Completion{Text: s.texts[s.n-1], Model: "m-2026", Usage: memoryd.Usage{PromptTokens: 101, CompletionTokens: 7}}, s.errs[s.n-1]
}

func record(t *testing.T, s *scripted, prompts ...memoryd.Prompt) string {
	t.Helper()
	var file bytes.Buffer
	r := NewRecorder(s, &file)
	for _, p := range prompts {
		_, _ = r.Complete(t.Context(), p) // the error is what is recorded
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return file.String()
}

func replies(t *testing.T, file string, live memoryd.Model) *Replies {
	t.Helper()
	r, err := ReadReplies(strings.NewReader(file), live)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRepliesComeBackAsRecordedInTheirOrder(t *testing.T) {
	busy := &memoryd.ModelError{Reason: "rate_limited", Temporary: true, Err: errors.New("secret address")}
	s := &scripted{texts: []string{"", "first", "second"}, errs: []error{busy, nil, nil}}
	p := promptFor("N", "s", alone, "")
	file := record(t, s, p, p, p)
	if strings.Contains(file, "secret") {
		t.Errorf("the file holds the text of an error: %s", file)
	}
	r := replies(t, file, nil)
	_, err := r.Complete(t.Context(), p)
	if e, ok := errors.AsType[*memoryd.ModelError](err); !ok || e.Reason != "rate_limited" || !e.Temporary {
		t.Errorf("error %v", err)
	}
	for _, want := range []string{"first", "second", "second"} {
		c, err := r.Complete(t.Context(), promptFor("other", "s", alone, ""))
		if err != nil || c.Text != want || c.Model != "m-2026" || c.Usage.PromptTokens != 101 || c.Usage.CompletionTokens != 7 {
			t.Errorf("got %+v, %v, want %s", c, err, want)
		}
	}
	if r.Name() != "m" || r.Missing() != 0 || r.Other() != 0 {
		t.Errorf("name %s, %d missing, %d other", r.Name(), r.Missing(), r.Other())
	}
	if _, err := r.Complete(t.Context(), promptFor("N", "new", alone, "")); err != nil || r.Other() != 1 {
		t.Errorf("new instructions: %v, %d other", err, r.Other())
	}
}

func TestAnAnswerAboutSeveralCallsIsKeptForEach(t *testing.T) {
	s := &scripted{texts: []string{`{"verdicts":[{"id":"c2","score":0},{"id":"c1","score":1}]}`}, errs: []error{nil}}
	r := replies(t, record(t, s, promptFor("N", "s", both, "")), nil)
	one, err := r.Complete(t.Context(), promptFor("N", "s1", alone, ""))
	if err != nil || one.Text != `{"score":1}` || r.Other() != 0 {
		t.Errorf("alone: %q, %v, %d other", one.Text, err, r.Other())
	}
	all, err := r.Complete(t.Context(), promptFor("N", "s", both, ""))
	if want := `{"verdicts":[{"id":"c1","score":1},{"id":"c2","score":0}]}`; err != nil || all.Text != want {
		t.Errorf("together: %q, %v", all.Text, err)
	}
	if all.Usage.PromptTokens != 101 || all.Usage.CompletionTokens != 7 {
		t.Errorf("the tokens do not add up: %+v", all.Usage)
	}
}

func TestABrokenAnswerAboutSeveralCallsIsKeptAsItIs(t *testing.T) {
	for _, text := range []string{"no", `{"verdicts":[]}`, `{"verdicts":[{"id":"c1"},{"id":"c1"}]}`, `{"verdicts":[{"id":"c1"},{"id":"c2"},{"id":"c3"}]}`} {
		p := promptFor("N", "s", both, "")
		r := replies(t, record(t, &scripted{texts: []string{text}, errs: []error{nil}}, p), nil)
		if c, err := r.Complete(t.Context(), p); err != nil || c.Text != text {
			t.Errorf("%s came back as %q, %v", text, c.Text, err)
		}
		if _, err := r.Complete(t.Context(), promptFor("N", "s", alone, "")); err == nil || r.Missing() != 1 {
			t.Errorf("%s answers for a call alone", text)
		}
	}
}

func TestWhatIsNotRecordedFailsForGoodOrGoesToTheModel(t *testing.T) {
	file := record(t, &scripted{texts: []string{"x"}, errs: []error{nil}}, promptFor("N", "s", alone, ""))
	unknown := promptFor("N", "s", `{"tool":"t","call":`+callB+`}`, "")
	r := replies(t, file, nil)
	_, err := r.Complete(t.Context(), unknown)
	if e, ok := errors.AsType[*memoryd.ModelError](err); !ok || e.Temporary || r.Missing() != 1 {
		t.Errorf("error %v, %d missing", err, r.Missing())
	}
	live := &scripted{texts: []string{"live"}, errs: []error{nil}}
	if c, err := replies(t, file, live).Complete(t.Context(), unknown); err != nil || c.Text != "live" {
		t.Errorf("got %q, %v", c.Text, err)
	}
}

func TestAFileThatHoldsNoRepliesIsRefused(t *testing.T) {
	for file, want := range map[string]string{
		"":                         "no reply",
		"\n{\"key\":\"a\"":         "line 2",
		`{"key":"a"}`:              "line 1: not a recorded reply",
		`{"key":1,"model":"m"}`:    "line 1: key",
		`{"tool_name":"t"}` + "\n": "not a recorded reply",
		`{"key":"a","model":"m"}` + "\n" + `{"key":"b","model":"n"}`: `line 2: a reply of the model "n"`,
	} {
		if _, err := ReadReplies(strings.NewReader(file), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", file, err, want)
		}
	}
	if _, err := ReadReplies(strings.NewReader(`{"key":"a","model":"other"}`), &scripted{}); err == nil {
		t.Error("replies of another model were mixed with the configured one")
	}
}

func TestAFailureToRecordIsTold(t *testing.T) {
	r := NewRecorder(&scripted{texts: []string{"x", "y"}, errs: []error{nil, nil}}, full{})
	for range 2 {
		if c, err := r.Complete(t.Context(), promptFor("N", "s", alone, "")); err != nil || c.Text == "" {
			t.Errorf("the judge is troubled by it: %v", err)
		}
	}
	if !errors.Is(r.Err(), io.ErrShortWrite) {
		t.Errorf("error %v", r.Err())
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }
