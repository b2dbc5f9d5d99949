package compact_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"memoryd/internal/configtest"
	"memoryd/internal/textsafe"

	"memoryd"
	"memoryd/compact"
	"memoryd/compact/chat"

	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Builders of messages in the OpenAI format.

func raw(v any) jsontext.Value {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

type obj = map[string]any

func system(text string) jsontext.Value { return raw(obj{"role": "system", "content": text}) }
func user(text string) jsontext.Value   { return raw(obj{"role": "user", "content": text}) }
func says(text string) jsontext.Value   { return raw(obj{"role": "assistant", "content": text}) }

func calls(ids ...string) jsontext.Value {
	var cs []obj
	for _, id := range ids {
		name := "tool"
		if i := strings.IndexByte(id, '@'); i >= 0 {
			id, name = id[:i], id[i+1:]
		}
		cs = append(cs, obj{"id": id, "type": "function", "function": obj{"name": name, "arguments": `{"item_id":"` + id + `-arg"}`}})
	}
	return raw(obj{"role": "assistant", "content": nil, "tool_calls": cs})
}

func result(id, text string) jsontext.Value {
	return raw(obj{"role": "tool", "tool_call_id": id, "content": text})
}

// long is a text of about n words that are all different.
func long(tag string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s word%d of the text ", tag, i)
	}
	return b.String()
}

// steps gives n groups of one call and one result of the given words each.
func steps(tag string, n, words int) []jsontext.Value {
	var ms []jsontext.Value
	for i := range n {
		id := fmt.Sprintf("%s-%d", tag, i)
		ms = append(ms, calls(id), result(id, long(id, words)))
	}
	return ms
}

func join(parts ...any) []jsontext.Value {
	var ms []jsontext.Value
	for _, p := range parts {
		switch p := p.(type) {
		case jsontext.Value:
			ms = append(ms, p)
		case []jsontext.Value:
			ms = append(ms, p...)
		}
	}
	return ms
}

// modelFunc is a stand-in model.
type modelFunc func(ctx context.Context, p memoryd.Prompt) (memoryd.Completion, error)

func (f modelFunc) Complete(ctx context.Context, p memoryd.Prompt) (memoryd.Completion, error) {
	return f(ctx, p)
}

func (modelFunc) Name() string { return "scripted" }

// counting is a model that counts its requests and answers with a fixed text.
type counting struct {
	mu      sync.Mutex
	n       int
	prompts []memoryd.Prompt
	text    string
	err     error
}

func (m *counting) Complete(_ context.Context, p memoryd.Prompt) (memoryd.Completion, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.n++
	m.prompts = append(m.prompts, p)
	return memoryd.Completion{Text: m.text, Usage: memoryd.Usage{PromptTokens: 10, CompletionTokens: 5}}, m.err
}

func (*counting) Name() string { return "counting" }

func (m *counting) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.n
}

func (m *counting) all() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var b strings.Builder
	for _, p := range m.prompts {
		b.WriteString(p.User)
	}
	return b.String()
}

func newCompactor(t testing.TB, model ...compact.Model) *compact.Compactor {
	return compactorWith(t, configtest.Section[compact.Config]("compact"), compact.Deps{Model: append(model, nil)[0]})
}

func compactorWith(t testing.TB, cfg compact.Config, d compact.Deps) *compact.Compactor {
	t.Helper()
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	return compact.New(cfg, filled(d))
}

// filled gives what was left out of dependencies.
func filled(d compact.Deps) compact.Deps {
	if d.Originals == nil {
		d.Originals = newMemory()
	}
	d.Mask, d.Logger = textsafe.Mask, slog.New(slog.DiscardHandler)
	return d
}

func run(t testing.TB, c *compact.Compactor, r compact.Request) compact.Result {
	t.Helper()
	res, err := c.Compact(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	check(t, c, r, res)
	return res
}

// fataler is the part of testing.TB that rapid's T has as well.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
	Context() context.Context
}

// check holds a result to everything that is always true of one.
func check(t fataler, c *compact.Compactor, r compact.Request, res compact.Result) {
	t.Helper()
	if len(res.Report.Messages) != len(r.Messages) {
		t.Fatalf("%d dispositions for %d messages", len(res.Report.Messages), len(r.Messages))
	}
	if res.Reason == "" {
		t.Fatalf("no reason")
	}
	if !res.Compacted {
		if !equal(res.Messages, r.Messages) {
			t.Fatalf("not compacted (%s), but the messages differ", res.Reason)
		}
		return
	}
	before, after := bytesOf(r.Messages), bytesOf(res.Messages)
	if after >= before || res.Report.TokensAfter >= res.Report.TokensBefore {
		t.Fatalf("larger: %d -> %d bytes, %d -> %d tokens", before, after, res.Report.TokensBefore, res.Report.TokensAfter)
	}
	if problem := strict(t, r.Messages, res.Messages); problem != "" {
		t.Fatalf("invalid: %s\n%s", problem, res.Messages)
	}
	for _, f := range res.Report.Messages {
		switch f.Disposition {
		case compact.Kept, compact.Pinned, compact.Excluded:
			if f.Output < 0 || string(res.Messages[f.Output]) != string(r.Messages[f.Index]) {
				t.Fatalf("message %d is %s but not there byte for byte", f.Index, f.Disposition)
			}
		case compact.Summarised:
			if f.Output >= 0 || f.Original == "" {
				t.Fatalf("message %d: %+v", f.Index, f)
			}
		case compact.Offloaded:
			if f.Output < 0 || f.Original == "" {
				t.Fatalf("message %d: %+v", f.Index, f)
			}
		default:
			t.Fatalf("message %d has no disposition", f.Index)
		}
	}
	if r.DryRun {
		return
	}
	got, err := c.Undo(t.Context(), compact.UndoRequest{OriginalRef: compact.OriginalRef{Workspace: r.Workspace, ID: res.Report.ID}})
	if err != nil || !equal(got, r.Messages) {
		t.Fatalf("undo does not give the input back (%v)", err)
	}
}

func equal(a, b []jsontext.Value) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if string(a[i]) != string(b[i]) {
			return false
		}
	}
	return true
}

func bytesOf(ms []jsontext.Value) (n int) {
	for _, m := range ms {
		n += len(m)
	}
	return n
}

// strict is a checker of its own, by ids alone: every result has a call before
// it; every call has its results if it had them in the input; system messages are
// all there in order.
func strict(t fataler, in, out []jsontext.Value) string {
	answered := func(ms []jsontext.Value) (orphans, unanswered map[string]int, systems []string) {
		orphans, unanswered = map[string]int{}, map[string]int{}
		called := map[string]bool{}
		for i, rawMsg := range ms {
			m, err := chat.Parse(rawMsg)
			if err != nil {
				t.Fatalf("message %d: %v", i, err)
			}
			if m.Kind == chat.System {
				systems = append(systems, string(rawMsg))
			}
			for _, r := range m.Results {
				id := r.ID
				if r.Legacy {
					id = "f:" + r.Name
				}
				if !called[id] {
					orphans[id]++
				}
				delete(unanswered, id)
			}
			for _, c := range m.Calls {
				id := c.ID
				if c.Legacy {
					id = "f:" + c.Name
				}
				called[id] = true
				unanswered[id]++
			}
		}
		return orphans, unanswered, systems
	}
	_, openIn, sysIn := answered(in)
	orphans, openOut, sysOut := answered(out)
	for id := range orphans {
		return fmt.Sprintf("result %q has no call", id)
	}
	for id := range openOut {
		if openIn[id] == 0 {
			return fmt.Sprintf("call %q lost its result", id)
		}
	}
	if strings.Join(sysIn, "\n") != strings.Join(sysOut, "\n") {
		return "system messages differ"
	}
	return ""
}

func contains(ms []jsontext.Value, m jsontext.Value) bool {
	for _, x := range ms {
		if string(x) == string(m) {
			return true
		}
	}
	return false
}

func fate(res compact.Result, i int) compact.Fate { return res.Report.Messages[i] }
