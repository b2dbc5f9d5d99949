package replicas

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"

	"memoryd/test/qdranttest"

	qd "github.com/qdrant/go-client/qdrant"
)

// fakeVersion is what the server of package qdranttest says it is.
const fakeVersion = "1.16.3"

// address is that of the real server, or "".
func address() string { return os.Getenv("MEMORYD_TEST_QDRANT") }

// serverWire opens a way to the real server or to one of the test's own.
func serverWire(t *testing.T) (w *wire, name string) {
	if a := address(); a != "" {
		return newWire(t, dialer(a)), "the server at " + a
	}
	server := qdranttest.New(t, fakeVersion)
	return newWire(t, func(ctx context.Context) (net.Conn, error) { return server.Dial(ctx, "") }), "a fake server"
}

func dialer(address string) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) { return (&net.Dialer{}).DialContext(ctx, "tcp", address) }
}

// prefixOn gives a prefix for the collections of a test, which go with the test
// when it ends.
func prefixOn(t *testing.T, w *wire) string {
	prefix := fmt.Sprintf("replicas%d_", rand.Uint64())
	if address() == "" {
		return prefix // the server goes with the test
	}
	t.Cleanup(func() {
		admin, err := qd.NewClient(&qd.Config{Host: "127.0.0.1", Port: w.port(), SkipCompatibilityCheck: true, PoolSize: 1})
		if err != nil {
			t.Error(err)
			return
		}
		names, err := admin.ListCollections(context.Background())
		if err != nil {
			t.Error(err)
		}
		for _, name := range names {
			if strings.HasPrefix(name, prefix) {
				if err := admin.DeleteCollection(context.Background(), name); err != nil {
					t.Error(err)
				}
			}
		}
		if err := admin.Close(); err != nil {
			t.Error(err)
		}
	})
	return prefix
}

// storeOn is the part of a configuration that names a store behind a wire.
func storeOn(w *wire, prefix, more string) string {
	return "store: {backend: qdrant, qdrant: {host: 127.0.0.1, port: " + strconv.Itoa(w.port()) +
		", prefix: " + prefix + more + "}}\n"
}
