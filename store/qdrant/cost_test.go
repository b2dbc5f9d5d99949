package qdrant_test

import (
	"context"
	"path"
	"sync"
	"testing"
	"time"

	"memoryd/store/qdrant"
	"memoryd/test/qdranttest"

	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
)

// meter adds up the bytes of requests and replies by method.
type meter struct {
	mu       sync.Mutex
	times    map[string]int
	sent     map[string]int
	received map[string]int
	ids      int // asked for in Gets
}

func (m *meter) reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.times, m.sent, m.received, m.ids = map[string]int{}, map[string]int{}, map[string]int{}, 0
}

func (m *meter) intercept(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn,
	invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
) error {
	err := invoke(ctx, method, req, reply, cc, opts...)
	m.mu.Lock()
	defer m.mu.Unlock()
	name := path.Base(method)
	m.times[name]++
	if get, ok := req.(*qd.GetPoints); ok {
		m.ids += len(get.GetIds())
	}
	m.sent[name] += proto.Size(req.(proto.Message))
	m.received[name] += proto.Size(reply.(proto.Message))
	return err
}

// cleared waits until the histories are cleared that were due for it.
func cleared(t *testing.T, s *qdrant.Store) {
	t.Helper()
	for end := time.Now().Add(time.Minute); s.Clearing(); <-time.After(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("histories are still being cleared")
		}
	}
}

// A server packs its replies for who takes them so, which costs it more than most answers.
func TestRepliesComeUnpacked(t *testing.T) {
	server := qdranttest.New(t, versions[0])
	s := openFake(t, server, fakeConfig())
	if _, err := add(t.Context(), s, 100, call("t", 1, 2048)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Tool(t.Context(), ref("t")); err != nil {
		t.Fatal(err)
	}
	if n := server.Packed(); n > 0 {
		t.Errorf("%d replies would have been packed", n)
	}
}

// Adding a call of 2 KB to a tool that has 100 costs one write of about its
// size, and two small reads beside each other; clearing the history costs one
// look and one write of what is left in 32 calls.
func TestAnAppendIsOneSmallWrite(t *testing.T) {
	server := qdranttest.New(t, versions[0])
	m := &meter{}
	m.reset()
	s := openFake(t, server, fakeConfig(), qdrant.WithInterceptor(m.intercept))
	for n := range 128 {
		if _, err := add(t.Context(), s, 100, call("t", n, 2048)); err != nil {
			t.Fatal(err)
		}
	}
	cleared(t, s)
	m.reset()
	if _, err := add(t.Context(), s, 100, call("t", 1000, 2048)); err != nil {
		t.Fatal(err)
	}
	t.Logf("one call of 2 KB: requests %v, bytes sent %v, received %v", m.times, m.sent, m.received)
	if m.times["Upsert"] != 1 || m.sent["Upsert"] > 4096 || len(m.times) != 2 || m.times["Get"] > 3 ||
		m.sent["Get"] > 1024 || m.received["Get"] > 1024 {
		t.Errorf("an append costs more than it should: %v, %v, %v", m.times, m.sent, m.received)
	}
	one := m.sent["Upsert"]
	m.reset()
	for n := range 64 {
		if _, err := add(t.Context(), s, 100, call("t", 2000+n, 2048)); err != nil {
			t.Fatal(err)
		}
	}
	cleared(t, s)
	t.Logf("64 calls of 2 KB with their clearing: requests %v, bytes sent %v, received %v", m.times, m.sent, m.received)
	if more := m.times["Upsert"] - 64; more < 1 || more > 3 || m.sent["Upsert"]-64*one > more*64*150 {
		t.Errorf("clearing costs more than it should: %v, %v", m.times, m.sent)
	}
	tool, err := s.Tool(t.Context(), ref("t"))
	if err != nil || tool.Lifetime != 193 || tool.Kept != 100 {
		t.Errorf("got %+v, %v", tool, err)
	}
}
