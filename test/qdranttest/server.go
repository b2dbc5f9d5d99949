// Package qdranttest is a Qdrant server in the process of a test. It speaks the gRPC of the
// client module. It keeps in memory what package qdrant uses, with the semantics of the real
// server: filters, ordered scrolls that require an index, conditional updates, update modes
// by version, and sparse queries with inverse document frequency. It can inject failures.
package qdranttest

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
	"google.golang.org/grpc/test/bufconn"
)

// Server is a fake Qdrant server. Use New to make one.
type Server struct {
	version string
	modes   bool // update_mode is known
	wire    *bufconn.Listener
	grpc    *grpc.Server

	mu          sync.Mutex
	collections map[string]*collection
	aliases     map[string]string
	lags        bool

	packed  atomic.Int64
	faultMu sync.Mutex
	fault   func(method string) Fault
}

// New starts a server of the given version, which stops when the test ends.
func New(t *testing.T, version string) *Server {
	s := &Server{
		version: version, modes: version >= "1.17", wire: bufconn.Listen(1 << 20),
		collections: map[string]*collection{}, aliases: map[string]string{},
	}
	s.grpc = grpc.NewServer(grpc.UnaryInterceptor(s.intercept), grpc.MaxRecvMsgSize(256<<20), grpc.MaxSendMsgSize(256<<20))
	qd.RegisterQdrantServer(s.grpc, &health{s: s})
	qd.RegisterCollectionsServer(s.grpc, &collectionsService{s: s})
	qd.RegisterPointsServer(s.grpc, &pointsService{s: s})
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := s.grpc.Serve(s.wire); err != nil {
			t.Errorf("serving: %v", err)
		}
	}()
	t.Cleanup(func() {
		s.grpc.Stop()
		<-done
	})
	return s
}

// Says makes the server report another version than it has, like a cluster node that has
// another node carry out a request.
func (s *Server) Says(version string) { s.version = version }

// Dial connects to the server.
func (s *Server) Dial(ctx context.Context, _ string) (net.Conn, error) {
	return s.wire.DialContext(ctx)
}

// Serve serves one more listener until the test ends, which closes it.
func (s *Server) Serve(l net.Listener) { _ = s.grpc.Serve(l) } // ends with an error when the listener is closed

// Empty removes all points of all collections.
func (s *Server) Empty() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.collections {
		c.clear()
	}
}

// Vanish removes all collections, as if the server's storage had been deleted.
func (s *Server) Vanish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.collections)
	clear(s.aliases)
}

// Lag makes the server keep the state before each newest write, for reads that a Fault makes
// stale. Each write then copies the collection.
func (s *Server) Lag() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lags = true
}

// Points returns the number of points in a collection, or in the one that an alias names.
func (s *Server) Points(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.find(name); c != nil {
		return len(c.points)
	}
	return 0
}

// find gives a collection by name or alias, or nil.
func (s *Server) find(name string) *collection {
	if target, ok := s.aliases[name]; ok {
		name = target
	}
	return s.collections[name]
}

type health struct {
	qd.UnimplementedQdrantServer
	s *Server
}

// HealthCheck returns the version.
func (h *health) HealthCheck(context.Context, *qd.HealthCheckRequest) (*qd.HealthCheckReply, error) {
	return &qd.HealthCheckReply{Title: "qdrant", Version: h.s.version}, nil
}
