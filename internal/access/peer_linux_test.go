package access_test

import (
	"net"
	"testing"

	"memoryd/internal/access"
)

func TestTheSystemTellsWhoseAConnectionIs(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0", "[::ffff:127.0.0.1]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("%s is not tested: %v", address, err)
			continue
		}
		defer l.Close()
		if _, err := access.NewOwners(t.Context(), l.Addr()); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestWhoHasGoneIsForeign(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var owners access.Owners
	for _, gone := range []bool{false, true} {
		client, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if gone {
			client.Close()
		}
		if got := access.Foreign(owners.PeerOf(t.Context(), conn)); got != gone {
			t.Errorf("gone: %v, foreign: %v", gone, got)
		}
		client.Close()
	}
}

func BenchmarkForeign(b *testing.B) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	conn, err := l.Accept()
	if err != nil {
		b.Fatal(err)
	}
	var owners access.Owners
	for b.Loop() {
		if access.Foreign(owners.PeerOf(b.Context(), conn)) {
			b.Fatal("foreign")
		}
	}
}
