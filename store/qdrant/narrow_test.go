package qdrant_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"memoryd"
	"memoryd/store"
	"memoryd/store/qdrant"
	"memoryd/test/qdranttest"

	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
)

// texts counts the points of which a server had to read the text to give a field.
func texts(n *atomic.Int64) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		err := invoke(ctx, method, req, reply, cc, opts...)
		switch r := reply.(type) {
		case *qd.GetResponse:
			if !strings.HasSuffix(req.(*qd.GetPoints).GetCollectionName(), "docs") { // leases
				n.Add(int64(len(r.GetResult())))
			}
		case *qd.ScrollResponse:
			if with := req.(*qd.ScrollPoints).GetWithPayload(); with.GetEnable() || with.GetInclude() != nil {
				n.Add(int64(len(r.GetResult())))
			}
		}
		return err
	}
}

// A description reads the calls that came since the last and those that wait, not the
// whole history, and tells what others did meanwhile: calls, verdicts, deletions.
func TestADescriptionReadsOnlyWhatIsNew(t *testing.T) {
	server := qdranttest.New(t, versions[0])
	var n atomic.Int64
	s, other := openFake(t, server, fakeConfig(), qdrant.WithInterceptor(texts(&n))), openFake(t, server, fakeConfig())
	put := func(on store.Store, from, to int) {
		t.Helper()
		var calls []memoryd.Call
		for i := from; i < to; i++ {
			c := call("t", i, 100)
			c.Evaluation = memoryd.Evaluation{State: memoryd.Judged, Score: 1, JudgedBy: "rules", JudgeVersion: "v1"}
			calls = append(calls, c)
		}
		if _, err := add(t.Context(), on, 100, calls...); err != nil {
			t.Fatal(err)
		}
	}
	describe := func(what string, kept, most int, good float64) {
		t.Helper()
		n.Store(0)
		d, err := s.Described(t.Context(), ref("t"))
		sum := 0.
		for _, sample := range d.Samples {
			sum += sample.Score
		}
		if err != nil || d.Kept != kept || len(d.Samples) != kept || sum != good {
			t.Errorf("%s: %d kept, %d samples of sum %v, %v; want %d of sum %v", what, d.Kept, len(d.Samples), sum, err, kept, good)
		}
		if n.Load() > int64(most) {
			t.Errorf("%s: read the texts of %d points, want %d at most", what, n.Load(), most)
		}
	}
	put(s, 0, 97)
	cleared(t, s)
	describe("at first", 97, 98, 97)
	describe("again", 97, 1, 97)
	put(other, 97, 100)
	describe("after others' calls", 100, 1+3, 100)
	corrected := call("t", 50, 100)
	verdict := store.Verdict{ToolRef: ref("t"), Key: corrected.Key, Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: 0, JudgedBy: memoryd.PersonPrefix + "x"}}
	if _, err := other.Override(t.Context(), verdict); err != nil {
		t.Fatal(err)
	}
	describe("after another's correction", 100, 1+1, 99)
	if _, err := other.DeleteCalls(t.Context(), ref("t"), []memoryd.CallKey{corrected.Key}); err != nil {
		t.Fatal(err)
	}
	describe("after another's deletion", 99, 1, 99)
}

// A call that was judged, waited again after it was amended and was judged again has had
// a verdict more each time: the revision never falls.
func TestAVerdictOnAnAmendedCallCounts(t *testing.T) {
	s := openFake(t, qdranttest.New(t, versions[0]), fakeConfig())
	c := call("t", 1, 10)
	if _, err := add(t.Context(), s, 10, c); err != nil {
		t.Fatal(err)
	}
	judged := memoryd.Evaluation{State: memoryd.Judged, Score: 1, JudgedBy: "rules", JudgedAt: time.Unix(1, 0)}
	last := int64(0)
	revised := func(what string) {
		t.Helper()
		tool, err := s.Tool(t.Context(), ref("t"))
		if err != nil || tool.Revision <= last {
			t.Errorf("%s: revision %d after %d, %v", what, tool.Revision, last, err)
		}
		last = tool.Revision
	}
	settle := func() {
		t.Helper()
		if _, err := s.Settle(t.Context(), []store.Verdict{{ToolRef: ref("t"), Key: c.Key, Evaluation: judged}}); err != nil {
			t.Fatal(err)
		}
	}
	revised("new")
	settle()
	revised("judged")
	for range 2 {
		again := store.Verdict{ToolRef: ref("t"), Key: c.Key, Evaluation: memoryd.PendingEvaluation(), Amendment: memoryd.AmendmentOf(&c)}
		if _, err := s.Override(t.Context(), again); err != nil {
			t.Fatal(err)
		}
		revised("to be judged anew")
		settle()
		revised("judged anew")
	}
}

// Small reads by id that come while one is under way go to the server together, and each
// finds what it asked for.
func TestSmallReadsAtOnceShareARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const tools = 40
		server := qdranttest.New(t, versions[0])
		var gets atomic.Int64
		var far atomic.Bool
		slow := func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			if _, ok := req.(*qd.GetPoints); ok && far.Load() {
				gets.Add(1)
				time.Sleep(20 * time.Millisecond) // all the others have asked by then
			}
			return invoke(ctx, method, req, reply, cc, opts...)
		}
		s := openFake(t, server, fakeConfig(), qdrant.WithInterceptor(slow))
		for i := range tools {
			if _, err := add(t.Context(), s, 100, call(fmt.Sprint("t", i), i, 100)); err != nil {
				t.Fatal(err)
			}
		}
		far.Store(true)
		var all sync.WaitGroup
		for i := range tools {
			all.Go(func() {
				if got, err := s.Tool(t.Context(), ref(fmt.Sprint("t", i))); err != nil || got.Tool != fmt.Sprint("t", i) || got.Lifetime != 1 {
					t.Errorf("tool %d: %+v, %v", i, got, err)
				}
			})
		}
		all.Wait()
		if n := gets.Load(); n > tools/2 {
			t.Errorf("%d tools took %d requests by id", tools, n)
		}
	})
}
