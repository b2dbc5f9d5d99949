package qdrant_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"memoryd"
	"memoryd/store/qdrant"
	"memoryd/test/qdranttest"

	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
)

// asked notes how the points of a store are read and written.
type asked struct {
	mu     sync.Mutex
	reads  map[string]bool // the types of consistency
	writes map[string]bool // the orderings of inserts
}

func (a *asked) intercept(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	a.mu.Lock()
	switch r := req.(type) {
	case *qd.GetPoints:
		a.reads[kindOf(r.GetReadConsistency())] = true
	case *qd.CountPoints:
		a.reads[kindOf(r.GetReadConsistency())] = true
	case *qd.UpsertPoints:
		a.writes[r.GetOrdering().GetType().String()] = true
	}
	a.mu.Unlock()
	return invoke(ctx, method, req, reply, cc, opts...)
}

func kindOf(c *qd.ReadConsistency) string {
	if c == nil {
		return "none"
	}
	return c.GetType().String()
}

// What the collections were made with is what reads and writes follow, whatever the
// settings are; what differs is said, or refused.
func TestWhatTheCollectionsHaveHolds(t *testing.T) {
	for _, c := range []struct {
		copies, written uint32 // of the collections
		reads           string
		differs         int
	}{
		{1, 1, "none", 0}, {3, 2, "Majority", 6}, {3, 1, "All", 3}, {2, 2, "Majority", 6},
	} {
		server := qdranttest.New(t, versions[0])
		made := fakeConfig()
		openFake(t, server, made)
		for _, name := range []string{"calls", "tools", "docs"} {
			server.Configure(made.Prefix+name, func(has *qd.CollectionConfig) {
				has.Params.ReplicationFactor, has.Params.WriteConsistencyFactor = &c.copies, &c.written
			})
		}
		seen := &asked{reads: map[string]bool{}, writes: map[string]bool{}}
		s := openFake(t, server, fakeConfig(), qdrant.WithInterceptor(seen.intercept))
		clear(seen.reads)
		if _, err := add(t.Context(), s, 10, call("t", 1, 1)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Tool(t.Context(), ref("t")); err != nil {
			t.Fatal(err)
		}
		if len(seen.reads) != 1 || !seen.reads[c.reads] || c.copies > 1 && (!seen.writes["Medium"] || !seen.writes["Strong"]) {
			t.Errorf("%d copies, %d of them written: reads ask %v, want %s; writes are %v", c.copies, c.written, seen.reads, c.reads, seen.writes)
		}
		err := s.Settings(t.Context())
		if s.State().Differing != c.differs || (err != nil) != (c.differs > 0) {
			t.Errorf("%d copies: %d settings differ, want %d: %v", c.copies, s.State().Differing, c.differs, err)
		}
		if c.differs == 0 {
			continue
		}
		if !strings.Contains(err.Error(), "replication_factor of memoryd_calls is ") {
			t.Errorf("it says %v", err)
		}
	}
}

// A node of 1.16 overlooks update_mode and replaces the point that is there. In a cluster
// that is being upgraded such a node may carry out what one of a newer version was asked.
func TestAMixedClusterReplacesNothing(t *testing.T) {
	server := qdranttest.New(t, "1.16.3")
	server.Says("1.19.0")
	s := openFake(t, server, fakeConfig())
	first, err := add(t.Context(), s, 10, call("t", 1, 1))
	if err != nil || !first[0].New {
		t.Fatalf("got %+v, %v", first, err)
	}
	if again, err := add(t.Context(), s, 10, call("t", 1, 1), call("t", 2, 1)); err != nil || again[0].New || !again[1].New {
		t.Errorf("got %+v, %v", again, err)
	}
	if tool, err := s.Tool(t.Context(), ref("t")); err != nil || tool.Lifetime != 2 || tool.Kept != 2 {
		t.Errorf("got %+v, %v", tool, err)
	}
	if calls, err := s.History(t.Context(), ref("t"), 0); err != nil || len(calls) != 2 || calls[0].Seq != first[0].Seq {
		t.Errorf("got %+v, %v", calls, err)
	}
}

// A collection of another program that has the name of one of memoryd's gets no alias, nor one
// that takes writes only with a shard key: each would fail.
func TestAForeignCollectionGetsNoAlias(t *testing.T) {
	for want, request := range map[string]*qd.CreateCollection{
		"memoryd_tools_v1 is not memoryd's":                   {},
		"memoryd_tools_v1 takes writes only with a shard key": {ShardingMethod: qd.ShardingMethod_Custom.Enum()},
	} {
		server := qdranttest.New(t, versions[0])
		client := administrator(t, server)
		request.CollectionName = "memoryd_tools_v1"
		if err := client.CreateCollection(t.Context(), request); err != nil {
			t.Fatal(err)
		}
		_, err := qdrant.Open(t.Context(), fakeConfig(), "", slog.New(slog.DiscardHandler), qdrant.WithDialer(server.Dial))
		if _, msg := memoryd.KindOf(err); !errors.Is(err, qdrant.ErrUnfit) || !strings.Contains(msg, want) {
			t.Errorf("got %v, want %s", err, want)
		}
		aliases, err := client.ListAliases(t.Context())
		for _, a := range aliases {
			if a.GetCollectionName() == "memoryd_tools_v1" {
				t.Errorf("it has the alias %s", a.GetAliasName())
			}
		}
		if err != nil {
			t.Error(err)
		}
	}
}
