package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"

	"memoryd/config"
	"memoryd/internal/access"
)

// A start with other settings is in the audit log, with the sections that differ and no
// value of theirs; one with the same, and the first, are not. memoryd check verifies the
// chain.
func TestAStartWithOtherSettingsIsAudited(t *testing.T) {
	dir := t.TempDir()
	start := func(environ ...string) (entries string) {
		t.Helper()
		cfg, err := config.Parse(nil, "test", append(environ, "MEMORYD_HTTP_LISTEN=127.0.0.1:0", "MEMORYD_STORE_SQLITE_DIR="+dir))
		if err != nil {
			t.Fatal(err)
		}
		a, err := newApp(t.Context(), cfg, func(string) string { return "" }, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		list, err := a.audit.List(t.Context(), 0, 10)
		for _, e := range list {
			entries += string(e) + "\n"
		}
		if _, verified := access.VerifyAudit(t.Context(), a.store); err != nil || verified != nil {
			t.Error(err, verified)
		}
		_ = a.listener.Close()
		if err := a.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		return entries
	}
	if e := start() + start(); e != "" {
		t.Errorf("nothing changed: %s", e)
	}
	for range 2 { // the second time nothing is new
		if e := start("MEMORYD_PRIVACY_PERSONAL_DATA=true"); strings.Count(e, "\n") != 1 || !strings.Contains(e, "other settings in privacy\"") {
			t.Errorf("the audit log: %s", e)
		}
	}
	var out bytes.Buffer
	if code := run(t.Context(), []string{"check", "--data", dir}, streams{out: &out, err: io.Discard}); code != 0 || !strings.Contains(out.String(), "The audit log has 1 entries, and their chain is intact") {
		t.Errorf("check says %s", out.String())
	}
}
