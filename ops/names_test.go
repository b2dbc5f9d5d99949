package ops

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"memoryd"
	"memoryd/store"
	"memoryd/store/mem"
)

// A name that took the place of a tool without a server has it after a restart too: no
// other server's tool may come there.
func TestWhoseAToolIsIsRememberedOverARestart(t *testing.T) {
	t.Parallel()
	ctx, s := t.Context(), mem.New()
	put := func(n *Names, tool, input string) string {
		t.Helper()
		ref, _, err := n.Of(ctx, asked{ToolRef: memoryd.ToolRef{Workspace: "w", Tool: tool}, input: json.RawMessage(input), write: true})
		if err != nil {
			t.Fatal(err)
		}
		call := memoryd.Call{ToolRef: ref, Input: json.RawMessage(input), Output: "ok", Evaluation: memoryd.PendingEvaluation()}
		call.Key = memoryd.Identity{ToolRef: ref, CreateTime: tool}.Key()
		if _, err := s.Append(ctx, store.Batch{Workspace: "w", Calls: []memoryd.Call{call}, Keep: 9}); err != nil {
			t.Fatal(err)
		}
		return ref.Tool
	}
	n := NewNames(s, time.Now)
	put(n, "x", `{"q":1}`)
	if got := put(n, "mcp__a__x", `{"q":1}`); got != "x" {
		t.Errorf("got %q", got)
	}
	n = NewNames(s, time.Now)
	for name, want := range map[string]string{"mcp__b__x": "mcp__b__x", "mcp__a__x": "x", "mcp_a_x": "x", "a_x": "x"} {
		if got := put(n, name, `{"q":1}`); got != want {
			t.Errorf("%s is recorded as %s, want %s", name, got, want)
		}
	}
	if err := s.DeleteTool(ctx, memoryd.ToolRef{Workspace: "w", Tool: "x"}); err != nil {
		t.Fatal(err)
	}
	if got := put(n, "mcp_a_x", `{"q":1}`); got != "mcp_a_x" {
		t.Errorf("after its tool was deleted it is recorded as %s", got)
	}
}

// stuck is a store that does not get through the tools of one workspace.
type stuck struct {
	*mem.Store
	asked chan struct{}
}

func (s stuck) ListTools(ctx context.Context, workspace, after string, limit int) ([]memoryd.Tool, error) {
	if workspace == "slow" {
		close(s.asked)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return s.Store.ListTools(ctx, workspace, after, limit)
}

func TestAWorkspaceThatIsReadSlowlyHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	s := stuck{mem.New(), make(chan struct{})}
	n := NewNames(s, time.Now)
	slow, end := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, _, err := n.Of(slow, asked{ToolRef: memoryd.ToolRef{Workspace: "slow", Tool: "x"}})
		ended <- err
	}()
	<-s.asked
	if ref, _, err := n.Of(t.Context(), asked{ToolRef: memoryd.ToolRef{Workspace: "w", Tool: "x"}, write: true}); err != nil || ref.Tool != "x" {
		t.Error(ref, err)
	}
	end()
	if <-ended == nil {
		t.Error("what was not read is taken for read")
	}
}
