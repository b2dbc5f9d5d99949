package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheWrappedServerStartsWhateverTheStateOfMemoryd(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file") // nobody can make a folder in it
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		wrap       mcpWrapCmd
		home, says string
	}{
		"a folder in a file":       {mcpWrapCmd{memory: memory{Data: filepath.Join(file, "data")}, Journal: "-"}, t.TempDir(), ""},
		"no server":                {mcpWrapCmd{memory: memory{reach: reach{URL: "http://127.0.0.1:1"}}}, t.TempDir(), ""},
		"no home":                  {mcpWrapCmd{}, "", ""},
		"a home that is read-only": {mcpWrapCmd{}, file, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("HOME", tc.home)
			t.Setenv("XDG_CACHE_HOME", "")
			var out, said bytes.Buffer
			tc.wrap.Command = []string{"/bin/cat"}
			line := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}` + "\n"
			if err := tc.wrap.Run(t.Context(), streams{in: strings.NewReader(line), out: &out, err: &said}); err != nil {
				t.Fatal(err)
			}
			if out.String() != line {
				t.Errorf("passed on %q", &out)
			}
			if got := strings.Count(said.String(), tc.says); tc.says != "" && got != 1 {
				t.Errorf("said %d times: %s", got, &said)
			}
		})
	}
}
