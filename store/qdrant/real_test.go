package qdrant_test

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"memoryd/store"
	"memoryd/store/qdrant"
	"memoryd/store/storetest"

	qd "github.com/qdrant/go-client/qdrant"
	"go.uber.org/goleak"
)

// Each step of the model test costs some hundred requests: it draws fewer
// sequences than elsewhere unless -rapid.checks asks for more.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "15"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// realServer gives the address of a real server, or skips when none is named.
func realServer(t testing.TB) (host string, port int) {
	address := os.Getenv("MEMORYD_TEST_QDRANT")
	if address == "" {
		t.Skip("MEMORYD_TEST_QDRANT names no Qdrant server (host:port of its gRPC)")
	}
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	if port, err = strconv.Atoi(text); err != nil {
		t.Fatal(err)
	}
	return host, port
}

func testPrefix() string { return fmt.Sprintf("test%d_", rand.Uint64()) }

// realBackend gives stores on a real server. Making collections takes seconds
// there, so the stores of a test share them and each begins by emptying them.
func realBackend(t testing.TB) shared {
	cfg := defaults()
	cfg.Host, cfg.Port = realServer(t)
	cfg.Prefix, cfg.Connections = testPrefix(), 1
	admin, err := qd.NewClient(&qd.Config{Host: cfg.Host, Port: cfg.Port, SkipCompatibilityCheck: true, PoolSize: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		dropCollections(t, admin, cfg.Prefix)
		if err := admin.Close(); err != nil {
			t.Error(err)
		}
	})
	open := func(t testing.TB, opts ...qdrant.Option) *qdrant.Store {
		s, err := qdrant.Open(t.Context(), cfg, "", slog.New(slog.DiscardHandler), opts...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		return s
	}
	return shared{Beside: open, Backend: storetest.Backend{
		Gaps: true,
		Open: func(t *testing.T) store.Store {
			emptyCollections(t, admin, cfg.Prefix)
			return open(t)
		},
		Reopen: func(t *testing.T, s store.Store) store.Store {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			return open(t)
		},
	}}
}

// shared is a backend that can open a further store on the same collections.
type shared struct {
	storetest.Backend
	Beside func(t testing.TB, opts ...qdrant.Option) *qdrant.Store
}

// collectionsOf lists what a test made on a server.
func collectionsOf(t testing.TB, admin *qd.Client, prefix string) []string {
	names, err := admin.ListCollections(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, prefix) })
}

func dropCollections(t testing.TB, admin *qd.Client, prefix string) {
	for _, name := range collectionsOf(t, admin, prefix) {
		if err := admin.DeleteCollection(context.Background(), name); err != nil {
			t.Error(err)
		}
	}
}

func emptyCollections(t testing.TB, admin *qd.Client, prefix string) {
	for _, name := range collectionsOf(t, admin, prefix) {
		_, err := admin.Delete(context.Background(), &qd.DeletePoints{
			CollectionName: name, Wait: new(true), Points: qd.NewPointsSelectorFilter(&qd.Filter{}),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestStoreOnRealServer(t *testing.T) { storetest.Run(t, realBackend(t).Backend) }

func TestModelOnRealServer(t *testing.T) { storetest.Model(t, realBackend(t).Backend) }
