package linear

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"memoryd"
	"memoryd/store"

	"github.com/anishathalye/porcupine"
)

// How many clients work on how many tools at once, and how long.
const (
	clients   = 12
	tools     = 3
	perClient = 30
)

// history lets clients work on the store at once and notes what they asked, what
// they were told, and in which order that began and ended.
func history(t *testing.T, s store.Store, seed uint64) []porcupine.Operation {
	t.Helper()
	var clock atomic.Int64
	all := make([][]porcupine.Operation, clients)
	errs := make([]error, clients)
	begin := make(chan struct{})
	var wg sync.WaitGroup
	for id := range clients {
		rng := rand.New(rand.NewPCG(seed, uint64(id)))
		wg.Go(func() {
			<-begin
			var revision [tools]int64
			for range perClient {
				r := draw(rng, &revision)
				op := porcupine.Operation{ClientId: id, Input: r, Call: clock.Add(1)}
				out, err := do(t.Context(), s, r)
				op.Return, op.Output = clock.Add(1), out
				if err != nil {
					errs[id] = err
					return
				}
				if r.verb == readTool {
					revision[r.tool] = out.counts.guideline
				}
				all[id] = append(all[id], op)
			}
		})
	}
	close(begin)
	wg.Wait()
	var out []porcupine.Operation
	for id := range clients {
		if errs[id] != nil {
			t.Fatal(errs[id])
		}
		out = append(out, all[id]...)
	}
	return out
}

// draw makes a request; a guideline is put on what the client read last.
func draw(rng *rand.Rand, revision *[tools]int64) request {
	r := request{tool: rng.IntN(tools), verb: verb(rng.IntN(int(verbs))), limit: rng.IntN(keep + 2)}
	r.expect = revision[r.tool]
	for i := range 1 + rng.IntN(len(r.keys)) {
		r.keys[i] = byte(1 + rng.IntN(keys))
	}
	for i := range r.keys { // none twice, which the response could not tell
		for j := range i {
			if r.keys[i] == r.keys[j] {
				r.keys[i] = 0
			}
		}
	}
	return r
}

func refOf(n int) memoryd.ToolRef {
	return memoryd.ToolRef{Workspace: "w", Tool: fmt.Sprint("tool ", n)}
}

// keyOf marks the call by its first byte; keys count within a workspace.
func keyOf(tool int, k byte) memoryd.CallKey { return memoryd.CallKey{k, byte(tool + 1)} }

// do asks the store.
func do(ctx context.Context, s store.Store, r request) (out response, err error) {
	ref := refOf(r.tool)
	switch r.verb {
	case appendCalls:
		return doAppend(ctx, s, r)
	case readTool:
		t, err := s.Tool(ctx, ref)
		if memoryd.IsKind(err, memoryd.NotFound) {
			return out, nil
		}
		out.counts = counts{t.Lifetime, t.Pending, int64(t.Kept), t.Revision, t.Guideline.Revision}
		return out, err
	case readHistory:
		calls, err := s.History(ctx, ref, r.limit)
		for i, c := range calls {
			state := byte(judged)
			if c.Evaluation.State == memoryd.Pending {
				state = waiting
			}
			out.kept += string([]byte{c.Key[0], state})
			if i == 0 {
				out.first = c.Seq
			}
		}
		return out, err
	case putGuideline:
		err := s.PutGuideline(ctx, ref, memoryd.Guideline{Content: "text"}, r.expect)
		if memoryd.IsKind(err, memoryd.NotFound) || memoryd.IsKind(err, memoryd.Conflict) {
			return out, nil
		}
		out.done = err == nil
		return out, err
	}
	v := store.Verdict{ToolRef: ref, Key: keyOf(r.tool, r.keys[0]), Evaluation: memoryd.Evaluation{State: memoryd.Judged}}
	written, err := s.Settle(ctx, []store.Verdict{v})
	out.done = err == nil && written[0]
	return out, err
}

func doAppend(ctx context.Context, s store.Store, r request) (out response, err error) {
	b := store.Batch{Workspace: "w", Keep: keep}
	var places []int
	for i, k := range r.keys {
		if k > 0 {
			b.Calls = append(b.Calls, memoryd.Call{
				ToolRef: refOf(r.tool), Key: keyOf(r.tool, k), Evaluation: memoryd.PendingEvaluation(),
			})
			places = append(places, i)
		}
	}
	got, err := s.Append(ctx, b)
	for i := range got {
		out.appended[places[i]] = got[i].Seq
	}
	return out, err
}
