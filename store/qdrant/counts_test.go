package qdrant_test

import (
	"context"
	"path"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"memoryd"
	"memoryd/store/qdrant"
	"memoryd/test/qdranttest"

	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
)

// counted adds up what a server's exact counts found: it has to look at each of these points.
func counted(n *atomic.Int64) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		err := invoke(ctx, method, req, reply, cc, opts...)
		if path.Base(method) == "Count" {
			n.Add(int64(reply.(*qd.CountResponse).GetResult().GetCount()))
		}
		return err
	}
}

// What a description counts does not grow with the calls that are remembered, and its
// counters stay exact: also while counts move to the tool's point.
func TestADescriptionCountsOnlyWhatIsNew(t *testing.T) {
	server := qdranttest.New(t, versions[0])
	var n atomic.Int64
	s := openFake(t, server, fakeConfig(), qdrant.WithGrace(0), qdrant.WithInterceptor(counted(&n)))
	const batch, repeats = 500, 30
	total := int64(0)
	flat := func() {
		t.Helper()
		want := memoryd.Counters{}
		for deadline := time.Now().Add(time.Minute); ; {
			n.Store(0)
			tool, err := s.Tool(t.Context(), ref("t"))
			if err != nil || tool.Lifetime != total || tool.Duplicates != total/batch*repeats || tool.Kept != 10 {
				t.Fatalf("after %d calls: %+v, %v, before %+v", total, tool, err, want)
			}
			if n.Load() <= 300 {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("a description of %d calls still counts %d points", total, n.Load())
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	for total < 3000 { // beyond what stays in memory only
		calls := make([]memoryd.Call, batch)
		for i := range calls {
			calls[i] = call("t", int(total)+max(i, repeats), 1) // the first are of one content
			calls[i].CreateTime = time.Unix(total, int64(i)).String()
			calls[i].Key[0], calls[i].Key[1], calls[i].Key[2] = byte(i), byte(i>>8), byte(total/batch)
		}
		if _, err := add(t.Context(), s, 10, calls...); err != nil {
			t.Fatal(err)
		}
		total += batch
		if total%1000 == 0 {
			flat()
		}
	}
	flat()
	var fresh atomic.Int64
	later := openFake(t, server, fakeConfig(), qdrant.WithInterceptor(counted(&fresh)))
	tool, err := later.Tool(t.Context(), ref("t"))
	if err != nil || tool.Lifetime != total || tool.Duplicates != total/batch*repeats {
		t.Errorf("another process finds %+v, %v", tool, err)
	}
	if fresh.Load() > total {
		t.Errorf("another process counts %d points of %d calls: nothing was folded", fresh.Load(), total)
	}
}

// Counts are settled only up to where nothing can arrive any more.
// What came within the hour is counted once by a process as soon as nothing can join it, and stays
// counted by itself in what others read.
func TestADescriptionOfABulkCountsItOnce(t *testing.T) {
	t.Parallel()
	server := qdranttest.New(t, versions[0])
	var n atomic.Int64
	s := openFake(t, server, fakeConfig(), qdrant.WithInterceptor(counted(&n)))
	total := int64(0)
	fill := func(size int) {
		t.Helper()
		calls := make([]memoryd.Call, size)
		for i := range calls {
			calls[i] = call("t", int(total)+i, 1)
		}
		if _, err := add(t.Context(), s, 10, calls...); err != nil {
			t.Fatal(err)
		}
		total += int64(size)
	}
	described := func() int64 {
		t.Helper()
		n.Store(0)
		tool, err := s.Tool(t.Context(), ref("t"))
		if err != nil || tool.Lifetime != total || tool.Duplicates != 0 || tool.Kept != 10 {
			t.Fatalf("after %d calls: %+v, %v", total, tool, err)
		}
		return n.Load()
	}
	for range 4 {
		fill(500)
	}
	fill(12) // so that the history is of calls that came last
	for deadline := time.Now().Add(20 * time.Second); described() > 300; fill(1) {
		if time.Now().After(deadline) {
			t.Fatalf("a description of %d calls still counts %d points", total, n.Load())
		}
		time.Sleep(100 * time.Millisecond)
	}
	later := openFake(t, server, fakeConfig())
	if folded := later.FoldNow(t.Context(), ref("t")); folded != 0 {
		t.Errorf("%d calls of this hour are folded", folded)
	}
	if tool, err := later.Tool(t.Context(), ref("t")); err != nil || tool.Lifetime != total {
		t.Errorf("another process finds %+v, %v, want %d calls", tool, err, total)
	}
}

func TestNothingIsSettledThatMayStillArrive(t *testing.T) {
	server := qdranttest.New(t, versions[0])
	cfg := fakeConfig()
	cfg.Retries = 0
	s := openFake(t, server, cfg)
	settled := func(want time.Duration, why string) {
		t.Helper()
		if got := s.SettledFor(t.Context()); got < want || got > want+5*time.Second {
			t.Errorf("%s: all is settled that is older than %v, want %v", why, got, want)
		}
	}
	if _, err := add(t.Context(), s, 10, call("t", 0, 1)); err != nil {
		t.Fatal(err)
	}
	settled(5*time.Second, "alone")
	other := openFake(t, server, cfg)
	settled(2*cfg.Patience+time.Minute, "beside another process")
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	settled(5*time.Second, "when the other has left")

	entered, release := make(chan struct{}, 8), make(chan struct{})
	server.Inject(func(method string) qdranttest.Fault {
		if method == "Upsert" {
			entered <- struct{}{}
			<-release
			return qdranttest.Fault{Code: codes.Unavailable}
		}
		return qdranttest.Fault{}
	})
	failed := make(chan error, 1)
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := add(t.Context(), s, 10, call("t", 1, 1))
		failed <- err
	})
	<-entered
	s.AgeClock(time.Hour) // as if the append had begun an hour ago
	settled(time.Hour, "while an append of an hour ago is under way")
	close(release)
	if err := <-failed; !memoryd.IsKind(err, memoryd.Unavailable) {
		t.Errorf("got %v", err)
	}
	server.Inject(nil)
	s.AgeClock(time.Hour)
	settled(2*time.Hour, "when it has failed and may have taken effect")
}

// Counts are folded while an append is under way for longer than that takes: it is not
// missed when it arrives.
func TestFoldedCountsMissNoAppendUnderWay(t *testing.T) {
	server := qdranttest.New(t, versions[0])
	s := openFake(t, server, fakeConfig(), qdrant.WithGrace(time.Millisecond))
	const batch = 70 // goes alone
	next := 0
	calls := func() []memoryd.Call {
		out := make([]memoryd.Call, batch)
		for i := range out {
			next++
			out[i] = call("t", next, 1)
		}
		return out
	}
	fill := func() {
		t.Helper()
		for range 10 {
			if _, err := add(t.Context(), s, 10, calls()...); err != nil {
				t.Fatal(err)
			}
		}
	}
	lifetime := func(want int) {
		t.Helper()
		if tool, err := s.Tool(t.Context(), ref("t")); err != nil || tool.Lifetime != int64(want) || tool.Duplicates != 0 {
			t.Fatalf("got %+v, %v, want %d calls", tool, err, want)
		}
	}
	fill()
	cleared(t, s) // the next write is an append's
	entered, release := make(chan struct{}), make(chan struct{})
	var blocked atomic.Bool
	server.Inject(func(method string) qdranttest.Fault {
		if method == "Upsert" && blocked.CompareAndSwap(false, true) {
			close(entered)
			<-release
		}
		return qdranttest.Fault{}
	})
	slow := calls()
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := add(t.Context(), s, 10, slow...); err != nil {
			t.Error(err)
		}
	})
	<-entered
	fill()
	if n := s.FoldNow(t.Context(), ref("t")); n > 10*batch {
		t.Errorf("%d calls are folded while an append is under way that began after %d", n, 10*batch)
	}
	lifetime(next - batch)
	close(release)
	wg.Wait()
	lifetime(next)
	fill()
	if n := s.FoldNow(t.Context(), ref("t")); n < 11*batch {
		t.Errorf("%d calls are folded after the append has ended", n)
	}
	lifetime(next)
}
