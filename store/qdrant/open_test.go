package qdrant_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"memoryd"
	"memoryd/store"
	"memoryd/store/qdrant"
	"memoryd/test/qdranttest"

	"pgregory.net/rapid"
)

func TestOldServersAreRefused(t *testing.T) {
	for v, ok := range map[string]bool{
		"1.15.5": false, "0.11.0": false, "1.16.0": true, "1.17.0-dev": true, "2.0.0": true, "": false, "main": false, "1.x": false,
	} {
		server := qdranttest.New(t, v)
		s, err := qdrant.Open(t.Context(), fakeConfig(), "", slog.New(slog.DiscardHandler), qdrant.WithDialer(server.Dial))
		if ok {
			if err != nil {
				t.Errorf("%q: %v", v, err)
			} else if err := s.Close(); err != nil {
				t.Error(err)
			}
			continue
		}
		if !memoryd.IsKind(err, memoryd.Unavailable) || !errors.Is(err, qdrant.ErrUnfit) || !strings.Contains(err.Error(), "version") && !strings.Contains(err.Error(), "too old") {
			t.Errorf("%q: got %v", v, err)
		}
	}
}

// Two prefixes on one server know nothing of each other.
func TestPrefixesKeepApart(t *testing.T) {
	server := qdranttest.New(t, versions[0])
	one, other := fakeConfig(), fakeConfig()
	other.Prefix = "other_"
	a, b := openFake(t, server, one), openFake(t, server, other)
	if _, err := add(t.Context(), a, 9, call("t", 1, 1)); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Tool(t.Context(), ref("t")); !memoryd.IsKind(err, memoryd.NotFound) {
		t.Errorf("got %v", err)
	}
}

func TestConfig(t *testing.T) {
	if err := defaults().Validate(); err != nil {
		t.Error(err)
	}
	for key, spoil := range map[string]func(*qdrant.Config){
		"host":                     func(c *qdrant.Config) { c.Host = "" },
		"port":                     func(c *qdrant.Config) { c.Port = 70000 },
		"prefix":                   func(c *qdrant.Config) { c.Prefix = "a/b" },
		"replication_factor":       func(c *qdrant.Config) { c.ReplicationFactor = 0 },
		"write_consistency_factor": func(c *qdrant.Config) { c.WriteConsistencyFactor = 2 },
		"shards":                   func(c *qdrant.Config) { c.Shards = -1 },
		"ca_file":                  func(c *qdrant.Config) { c.CAFile = "ca.pem" },
		"timeout":                  func(c *qdrant.Config) { c.Timeout = 0 },
		"patience":                 func(c *qdrant.Config) { c.Patience = time.Second },
	} {
		cfg := defaults()
		spoil(&cfg)
		if err := cfg.Validate(); err == nil || !strings.HasPrefix(err.Error(), key+":") {
			t.Errorf("%s: got %v", key, err)
		}
	}
}

// Pages of names are in byte order also when many begin with the same bytes.
func TestNamesAreListedInByteOrder(t *testing.T) {
	server := qdranttest.New(t, versions[0])
	s := openFake(t, server, fakeConfig())
	group := 0
	rapid.Check(t, func(t *rapid.T) {
		group++
		key := func(id string) store.RecordKey {
			return store.RecordKey{ToolRef: memoryd.ToolRef{Workspace: fmt.Sprint(group)}, Kind: "note", ID: id}
		}
		head := strings.Repeat("n", rapid.SampledFrom([]int{0, 5, 7, 13, 21, 30}).Draw(t, "same"))
		least := rapid.SampledFrom([]int{1, 70, 130}).Draw(t, "least")
		names := rapid.SliceOfNDistinct(rapid.StringOfN(rapid.RuneFrom([]rune("ab\x00é日")), 2, 9, -1), least, 150, rapid.ID).Draw(t, "names")
		var rs []store.Record
		for i := range names {
			names[i] = head + names[i]
			rs = append(rs, store.Record{RecordKey: key(names[i])})
		}
		if err := s.PutRecords(t.Context(), rs); err != nil {
			t.Fatal(err)
		}
		slices.Sort(names)
		limit := rapid.IntRange(1, 100).Draw(t, "limit")
		var got []string
		for after := ""; ; after = got[len(got)-1] {
			page, err := s.ListRecords(t.Context(), key(after), limit)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range page {
				got = append(got, r.ID)
			}
			if len(page) == 0 {
				break
			}
		}
		if !slices.Equal(got, names) {
			t.Fatalf("got  %q\nwant %q", got, names)
		}
	})
}

// Numbers and texts come back exactly, whatever they are.
func TestCallsComeBackExactly(t *testing.T) {
	server := qdranttest.New(t, versions[0])
	s := openFake(t, server, fakeConfig())
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		c := call(fmt.Sprint("t", n), n, 0)
		c.Output = string(rapid.SliceOf(rapid.Byte()).Draw(t, "output"))
		c.CreateTime = rapid.String().Draw(t, "time")
		c.TimeCost = rapid.Float64().Draw(t, "seconds")
		c.TokenCost = rapid.Int64().Draw(t, "tokens")
		c.Evaluation = memoryd.Evaluation{
			State: memoryd.Judged, Score: rapid.Float64().Draw(t, "score"), Summary: rapid.String().Draw(t, "summary"),
			Cost: memoryd.Cost{Requests: rapid.Float64Range(0, 9).Draw(t, "requests"), PromptTokens: rapid.Int64().Draw(t, "prompt")},
		}
		if _, err := add(t.Context(), s, 9, c); err != nil {
			t.Fatal(err)
		}
		got, err := s.History(t.Context(), c.ToolRef, 0)
		if err != nil || len(got) != 1 {
			t.Fatalf("got %v, %v", got, err)
		}
		g := got[0]
		if g.Output != c.Output || g.CreateTime != c.CreateTime || math.Float64bits(g.TimeCost) != math.Float64bits(c.TimeCost) ||
			g.TokenCost != c.TokenCost || g.Evaluation != c.Evaluation {
			t.Fatalf("got  %+v\nwant %+v", g, c)
		}
	})
}

// certify makes a certificate for 127.0.0.1 that vouches for itself.
func certify(t *testing.T) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}

// TestOnlyTheGivenCertificatesVouchForTheServer has a server with a certificate of
// its own: it is trusted with ca_file, and named as the cause without.
func TestOnlyTheGivenCertificatesVouchForTheServer(t *testing.T) {
	certificate, file := certify(t)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12})
	if err != nil {
		t.Fatal(err)
	}
	server := qdranttest.New(t, versions[0])
	go server.Serve(l)
	cfg := fakeConfig()
	cfg.Host, cfg.Port, cfg.TLS, cfg.Retries = "127.0.0.1", l.Addr().(*net.TCPAddr).Port, true, 0
	_, err = qdrant.Open(t.Context(), cfg, "", slog.New(slog.DiscardHandler))
	if _, msg := memoryd.KindOf(err); !errors.Is(err, qdrant.ErrUnfit) || !strings.Contains(msg, "certificate") {
		t.Errorf("without ca_file: got %v", err)
	}
	cfg.CAFile = file
	s, err := qdrant.Open(t.Context(), cfg, "", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatalf("with ca_file: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for name, bad := range map[string]string{"missing": file + "x", "no certificate": "open_test.go"} {
		cfg.CAFile = bad
		if _, err := qdrant.Open(t.Context(), cfg, "", slog.New(slog.DiscardHandler)); !memoryd.IsKind(err, memoryd.Invalid) || !strings.Contains(err.Error(), "ca_file") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
