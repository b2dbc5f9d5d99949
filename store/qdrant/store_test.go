package qdrant_test

import (
	"log/slog"
	"testing"

	"memoryd/internal/configtest"
	"memoryd/store"
	"memoryd/store/qdrant"
	"memoryd/store/storetest"
	"memoryd/test/qdranttest"
)

// versions are servers whose features differ: before 1.17 there are no update
// modes.
var versions = []string{"1.16.3", "1.19.0"}

// defaults are the settings of default.yaml.
func defaults() qdrant.Config { return configtest.Section[qdrant.Config]("store.qdrant") }

// fakeConfig addresses a fake server.
func fakeConfig() qdrant.Config {
	cfg := defaults()
	cfg.Host, cfg.Connections = "fake", 1
	return cfg
}

func openFake(t *testing.T, server *qdranttest.Server, cfg qdrant.Config, opts ...qdrant.Option) *qdrant.Store {
	t.Helper()
	opts = append([]qdrant.Option{qdrant.WithDialer(server.Dial)}, opts...)
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

// fakeBackend gives stores on a fake server that is emptied for each.
func fakeBackend(t *testing.T, version string, cfg qdrant.Config, opts ...qdrant.Option) (storetest.Backend, *qdranttest.Server) {
	server := qdranttest.New(t, version)
	return storetest.Backend{
		Gaps: true,
		Open: func(t *testing.T) store.Store {
			server.Empty()
			return openFake(t, server, cfg, opts...)
		},
		Reopen: func(t *testing.T, s store.Store) store.Store {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			return openFake(t, server, cfg, opts...)
		},
	}, server
}

func TestStore(t *testing.T) {
	if testing.Short() {
		t.Skip("TestStoreInTrouble runs the same suite")
	}
	for _, v := range versions {
		t.Run(v, func(t *testing.T) {
			cfg := fakeConfig()
			b, _ := fakeBackend(t, v, cfg)
			storetest.Run(t, b)
		})
	}
}

// TestModelInTrouble tries the other version.
func TestModel(t *testing.T) {
	if testing.Short() {
		t.Skip("TestStoreInTrouble runs the same operations")
	}
	b, _ := fakeBackend(t, versions[len(versions)-1], fakeConfig())
	storetest.Model(t, b)
}
