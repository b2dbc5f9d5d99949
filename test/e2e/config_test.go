package e2e

import (
	"os"
	"path/filepath"
	"testing"
)

// configFile writes a configuration and returns its path.
func configFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// bigHistory keeps every call of a test.
func bigHistory(t *testing.T) string {
	return configFile(t, "op: {parse_tool_call_result_op: {params: {max_history_tool_call_cnt: 100000}}}\n")
}
