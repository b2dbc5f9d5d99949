package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"memoryd/config"
	"memoryd/ops"
)

func TestHintsRepeatFlagsAndQuoteNames(t *testing.T) {
	for want, r := range map[string]remote{
		"memoryd summarize 'my tool; rm -rf /'":                                        {},
		"memoryd summarize 'my tool; rm -rf /' --workspace w --url http://10.0.0.1:80": {reach: reach{URL: "http://10.0.0.1:80"}, Workspace: "w"},
		`memoryd summarize 'my tool; rm -rf /' --workspace 'it'\''s'`:                  {Workspace: "it's"},
	} {
		if got := r.hint("summarize", "my tool; rm -rf /"); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestAnAddressNeedsNoScheme(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"workspaces":["w"]}`)
	}))
	defer server.Close()
	got, err := remote{reach: reach{URL: strings.TrimPrefix(server.URL, "http://")}}.workspaces(t.Context())
	if err != nil || len(got) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestSummarizeWithoutNamesIsAFaultOfUsage(t *testing.T) {
	for _, args := range [][]string{{"summarize"}, {"summarize", "--all", "t"}, {"summarize", "--force"}} {
		var out, err bytes.Buffer
		if code := run(context.Background(), args, streams{out: &out, err: &err}); code != exitUsage || !strings.Contains(err.String(), "name the tools") {
			t.Errorf("%q: exit code %d, %s", args, code, &err)
		}
	}
}

func TestTheDataFolderHoldsTheDumpsUnlessTheConfigurationSaysWhere(t *testing.T) {
	for file, want := range map[string]string{
		"": filepath.Join("d", "dumps"), "op: {vector_store_op: {params: {dump_dir: here}}}\n": "here",
	} {
		cfg, err := config.Parse([]byte(file), "f.yaml", nil)
		if err != nil {
			t.Fatal(err)
		}
		cfg.SetDataDir("d")
		if _, p := ops.Settings[ops.VectorStoreParams](cfg.Plan); p.DumpDir != want || cfg.Store.SQLite.Dir != "d" {
			t.Errorf("%q: dumps go to %s, want %s; data to %s", file, p.DumpDir, want, cfg.Store.SQLite.Dir)
		}
	}
}
