package qdrant_test

import (
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"memoryd"
	"memoryd/store/qdrant"
	"memoryd/test/qdranttest"

	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
)

// administrator is a client of a fake server beside the store's.
func administrator(t *testing.T, server *qdranttest.Server) *qd.Client {
	t.Helper()
	client, err := qd.NewClient(&qd.Config{
		Host: "passthrough:///fake", SkipCompatibilityCheck: true, GrpcOptions: []grpc.DialOption{grpc.WithContextDialer(server.Dial)},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
	return client
}

// Calls of the first layout are not read, and no collection is made beside them, whether
// or not they have the alias still.
func TestCallsOfTheFirstLayoutAreRefused(t *testing.T) {
	for _, aliased := range []bool{true, false} {
		server := qdranttest.New(t, versions[0])
		admin := administrator(t, server)
		err := admin.CreateCollection(t.Context(), &qd.CreateCollection{
			CollectionName: "memoryd_calls_v1", Metadata: map[string]*qd.Value{"memoryd_schema": qd.NewValueInt(1)},
		})
		if err == nil && aliased {
			err = admin.CreateAlias(t.Context(), "memoryd_calls", "memoryd_calls_v1")
		}
		if err != nil {
			t.Fatal(err)
		}
		_, err = qdrant.Open(t.Context(), fakeConfig(), "", slog.New(slog.DiscardHandler), qdrant.WithDialer(server.Dial))
		if _, msg := memoryd.KindOf(err); !errors.Is(err, qdrant.ErrUnfit) || !strings.Contains(msg, "has layout 1") || !strings.Contains(msg, "export") {
			t.Errorf("with an alias %v: got %v", aliased, err)
		}
		if names, err := admin.ListCollections(t.Context()); slices.Contains(names, "memoryd_calls_v2") || err != nil {
			t.Errorf("with an alias %v: a collection was made beside it: %v, %v", aliased, names, err)
		}
		cfg := fakeConfig()
		cfg.Prefix = "other_"
		openFake(t, server, cfg) // the way out that the error names
	}
}

// A collection that has lost its alias is given it again.
func TestAnAliasThatIsGoneIsMadeAgain(t *testing.T) {
	server := qdranttest.New(t, versions[0])
	s := openFake(t, server, fakeConfig())
	if _, err := add(t.Context(), s, 10, call("t", 1, 1), call("t", 2, 1)); err != nil {
		t.Fatal(err)
	}
	if err := administrator(t, server).DeleteAlias(t.Context(), "memoryd_calls"); err != nil {
		t.Fatal(err)
	}
	calls, err := openFake(t, server, fakeConfig()).History(t.Context(), ref("t"), 0)
	if err != nil || len(calls) != 2 {
		t.Errorf("got %d calls, %v", len(calls), err)
	}
}
