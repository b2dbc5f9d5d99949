package llm_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"memoryd/internal/configtest"

	"memoryd"
	"memoryd/llm"
	"memoryd/test/llmtest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testKey must never show up in errors or logs.
const testKey = "sk-test-0123456789"

// schema is the shape that structured prompts of the tests ask for.
const schema = `{"type":"object","properties":{"score":{"type":"number"}},"required":["score"],"additionalProperties":false}`

// prompt is a structured prompt of the workspace.
func prompt(workspace string) memoryd.Prompt {
	return memoryd.Prompt{System: "judge", User: "data", SchemaName: "verdict", Schema: []byte(schema), Workspace: workspace}
}

// newClient makes a client of s, in memory, with the default configuration as
// change left it.
func newClient(t *testing.T, s *llmtest.Server, opts llm.Options, change func(*llm.Config)) *llm.Client {
	t.Helper()
	cfg := configtest.Section[llm.Config]("llm.default")
	if change != nil {
		change(&cfg)
	}
	if opts.HTTP == nil {
		opts.HTTP = s.Transport()
	}
	c, err := llm.New(cfg, testKey, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// wantModelError checks reason and permanence of err.
func wantModelError(t *testing.T, err error, reason string, temporary bool) *memoryd.ModelError {
	t.Helper()
	e, ok := errors.AsType[*memoryd.ModelError](err)
	if !ok {
		t.Fatalf("got %v (%T), want a model error", err, err)
	}
	if e.Reason != reason || e.Temporary != temporary {
		t.Fatalf("got reason %q, temporary %v (%v), want %q, %v", e.Reason, e.Temporary, err, reason, temporary)
	}
	return e
}

// ask completes a prompt and gives how long that took.
func ask(ctx context.Context, m *llm.Model, workspace string) (memoryd.Completion, time.Duration, error) {
	start := time.Now()
	done, err := m.Complete(ctx, prompt(workspace))
	return done, time.Since(start), err
}
