package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// fakeServer answers on a pipe after a delay of its own choosing.
type fakeServer struct {
	delay func(n int) time.Duration
	mu    sync.Mutex
	n     int
}

func (s *fakeServer) serve(conn net.Conn) {
	in := bufio.NewReader(conn)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		s.mu.Lock()
		n := s.n
		s.n++
		s.mu.Unlock()
		time.Sleep(s.delay(n))
		if _, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"); err != nil {
			return
		}
	}
}

// piped is a load whose connections are pipes to s.
func piped(s *fakeServer, conns int) *load {
	l := &load{conns: conns, request: func(_ uint64, buf []byte) []byte { return append(buf, get("/")...) }}
	l.connect = func() (*client, error) {
		near, far := net.Pipe()
		go s.serve(far)
		return &client{conn: near, in: bufio.NewReader(near)}, nil
	}
	return l
}

func TestAStallOfTheServerCountsForAllWhoWaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeServer{delay: func(n int) time.Duration {
			if n == 100 {
				return time.Second // one hiccup
			}
			return time.Millisecond
		}}
		o, err := piped(s, 1).open(t.Context(), 100, 4*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if o.requests != 400 {
			t.Errorf("%d requests, want 400 whatever the server does", o.requests)
		}
		// About a hundred requests were due during the second. A generator that
		// waits for answers would have sent one.
		slow := 0
		for _, v := range o.times.Distribution() {
			if v.From > int64(100*time.Millisecond) {
				slow += int(v.Count)
			}
		}
		if slow < 90 || slow > 110 {
			t.Errorf("%d slow requests, want about 100", slow)
		}
		if p := o.quantile(.99); p < 900_000 || p > 1_100_000 {
			t.Errorf("p99 is %.0f µs, want about a second", p)
		}
		if p := o.quantile(.5); p < 999 || p > 1100 {
			t.Errorf("p50 is %.0f µs, want a millisecond", p)
		}
	})
}

func TestTheRateIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeServer{delay: func(int) time.Duration { return 5 * time.Millisecond }}
		l := piped(s, 16)
		connect := l.connect
		l.connect = func() (*client, error) { // no request waits for that
			time.Sleep(10 * time.Millisecond)
			return connect()
		}
		o, err := l.open(t.Context(), 1000, 2*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if o.requests != 2000 || o.rate() < 990 || o.rate() > 1005 || o.late > 2 || o.quantile(1) > 6000 {
			t.Errorf("%d requests at %.0f/s, %d late, the slowest took %.0f µs", o.requests, o.rate(), o.late, o.quantile(1))
		}
	})
}

func TestAClosedLoopSendsWhatTheServerBears(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeServer{delay: func(int) time.Duration { return 10 * time.Millisecond }}
		o, err := piped(s, 8).closed(t.Context(), time.Second)
		if err != nil || o.requests != 800 || o.statuses[200] != 800 || o.bytes != 1600 {
			t.Errorf("%+v, %v", o, err)
		}
	})
}

func TestAnUnexpectedStatusEndsTheLoad(t *testing.T) {
	teapotAfterTen := func() *load {
		var n atomic.Int64
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if n.Add(1) > 10 {
				w.WriteHeader(http.StatusTeapot)
			}
		}))
		t.Cleanup(s.Close)
		return &load{addr: s.Listener.Addr().String(), conns: 2, request: func(_ uint64, buf []byte) []byte { return append(buf, get("/")...) }}
	}
	if _, err := teapotAfterTen().closed(t.Context(), time.Minute); !errors.Is(err, errStatus) {
		t.Errorf("got %v", err)
	}
	l := teapotAfterTen() // a request of a load that was ended may still reach its server
	var seen atomic.Int64
	l.accept = func(int) bool { return true }
	l.seen = func(_ uint64, status int, _ *answer, _ time.Duration) {
		if status == http.StatusTeapot {
			seen.Add(1)
		}
	}
	var next atomic.Uint64
	if o, err := l.run(t.Context(), counted(&next, 30)); err != nil || o.requests != 30 || seen.Load() != 20 {
		t.Errorf("%+v, %v, %d seen", o, err, seen.Load())
	}
}

func TestALoadEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	begun := make(chan struct{})
	var one sync.Once
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		one.Do(func() { close(begun) })
		<-r.Context().Done()
	}))
	defer s.Close()
	gone := errors.New("enough")
	go func() { <-begun; cancel(gone) }()
	l := &load{addr: s.Listener.Addr().String(), conns: 3, request: func(_ uint64, buf []byte) []byte { return append(buf, get("/")...) }}
	if _, err := l.closed(ctx, time.Hour); err == nil {
		t.Error("no error")
	}
}

func TestARefusedConnectionIsAnError(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	addr := s.Listener.Addr().String()
	s.Close()
	if _, err := (&load{addr: addr, conns: 2}).closed(t.Context(), time.Second); err == nil {
		t.Error("no error")
	}
}

func TestLatencyIsTakenBelowHalfOfTheCapacity(t *testing.T) {
	for capacity, want := range map[float64]float64{30_000: 2000, 5000: 2000, 4000: 1700, 1000: 500, 10: 100} {
		if got := calmRate(capacity); got != want {
			t.Errorf("of %v: %v, want %v", capacity, got, want)
		}
	}
}

func TestARiseAtTheBeginningIsNoGrowth(t *testing.T) {
	if got := growth([]float64{1, 5, 9, 10, 10, 9, 10, 10, 10}); got != 1 {
		t.Errorf("got %v", got)
	}
	if got := growth([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9}); got != 1.5 {
		t.Errorf("got %v", got)
	}
	if got := growth(nil); got != 1 {
		t.Errorf("of nothing: %v", got)
	}
}

// A worker writes the numbers of the next request into the one before.
func TestAddsAreNumberedAnew(t *testing.T) {
	from := addTemplate("bench", 3, callBytes)
	l := adds("", 1, from, 200, 0)
	again := l.request(7, l.request(3, nil)[:0])
	if want := from.fill(nil, spread(7, 200), 7*64); string(again) != string(want) {
		t.Errorf("%s\nis not\n%s", again, want)
	}
}
