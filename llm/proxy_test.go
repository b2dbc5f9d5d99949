package llm_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"memoryd/internal/configtest"

	"memoryd"
	"memoryd/llm"
)

// TestAProxyIsUsedOnlyWhereOneIsConfigured: HTTP_PROXY of the environment was given
// key and prompts before (defect S22).
func TestAProxyIsUsedOnlyWhereOneIsConfigured(t *testing.T) {
	var asked atomic.Int64
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusBadRequest)
	}))
	defer proxy.Close()
	t.Setenv("HTTP_PROXY", proxy.URL) // read once by the process: for "environment" by no other test here
	ask := func(to string) {
		cfg := configtest.Section[llm.Config]("llm.default")
		cfg.BaseURL, cfg.Proxy, cfg.Retries = "http://model.invalid/v1", to, 0
		c, err := llm.New(cfg, "secret", llm.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, _ = c.ForOp("o", 0).Complete(t.Context(), memoryd.Prompt{User: "x"})
	}
	if ask(""); asked.Load() != 0 {
		t.Error("the environment's proxy was asked")
	}
	if ask(proxy.URL); asked.Load() == 0 {
		t.Error("the configured proxy was not asked")
	}
}

func TestAKeyInClearIsSaid(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		base, key, proxy string
		said             bool
	}{
		"http to another host":           {"http://10.0.0.1:8000/v1", "k", "", true},
		"http to a name":                 {"http://models/v1", "k", "", true},
		"http to this machine":           {"http://127.0.0.1:8000/v1", "k", "", false},
		"http to this machine by proxy":  {"http://localhost:8000/v1", "k", "http://proxy:3128", true},
		"https":                          {"https://models/v1", "k", "", false},
		"http to another host, no key":   {"http://10.0.0.1:8000/v1", "", "", false},
		"a host that begins like ours":   {"http://localhost.example/v1", "k", "", true},
		"https by a proxy of plain http": {"https://models/v1", "k", "http://proxy:3128", false},
	} {
		var log bytes.Buffer
		cfg := configtest.Section[llm.Config]("llm.default")
		cfg.BaseURL, cfg.Proxy = tc.base, tc.proxy
		c, err := llm.New(cfg, tc.key, llm.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		if strings.Contains(log.String(), "unencrypted") != tc.said {
			t.Errorf("%s: %s", name, &log)
		}
	}
}
