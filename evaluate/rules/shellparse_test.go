package rules

import (
	"slices"
	"testing"
)

func TestShellProgramKnowsWhoDecides(t *testing.T) {
	tests := map[string]struct {
		command  string
		deciding []string
		masked   []string
	}{
		"one command":      {"ls -l", []string{"ls"}, nil},
		"path":             {"/usr/bin/ls -l", []string{"ls"}, nil},
		"pipeline":         {"cat a | sort | uniq", []string{"uniq"}, []string{"cat", "sort"}},
		"pipe of both":     {"make |& tee log", []string{"make"}, nil},
		"pipefail":         {"set -o pipefail; a | b", []string{"b", "a"}, []string{"set"}},
		"and":              {"a && b", []string{"b", "a"}, nil},
		"or":               {"a || b", []string{"b"}, []string{"a"}},
		"and or":           {"a && b || c", []string{"c"}, []string{"a", "b"}},
		"sequence":         {"a; b", []string{"b"}, []string{"a"}},
		"lines":            {"a\nb\n", []string{"b"}, []string{"a"}},
		"background":       {"a & b", []string{"b"}, []string{"a"}},
		"arithmetic":       {"echo $((1 + 2))", []string{"echo"}, nil},
		"quotes":           {`awk 'a | b; c' "d && e"`, []string{"awk"}, nil},
		"environment":      {"X=1 sudo -E a b", []string{"a"}, nil},
		"xargs":            {"a | xargs -n 1 -I{} b {}", []string{"xargs", "b"}, []string{"a"}},
		"inner shell":      {`bash -c "a; b"`, []string{"bash", "a", "b"}, nil},
		"if":               {"if a; then b; else c; fi", []string{"c", "b"}, []string{"a"}},
		"loop":             {"for f in x; do a; b; done", []string{"b"}, []string{"a"}},
		"loop into a pipe": {"for f in x; do a; done | b", []string{"b"}, []string{"a"}},
		"while":            {"while a; do b; done < f", []string{"b"}, []string{"a"}},
		"group":            {"(cd x && a) | b", []string{"b"}, []string{"a", "cd"}},
		"here-document":    {"cat <<EOF | a\nb | c; d\nEOF\ne", []string{"e"}, []string{"cat", "a"}},
		"here-string":      {"a <<< 'b | c'", []string{"a"}, nil},
		"comment":          {"a # | b", []string{"a"}, nil},
		"redirections":     {"2>/dev/null a > f 2>&1", []string{"a"}, nil},
		"fence":            {"```bash a | b```", []string{"b"}, []string{"a"}},
		"open quote":       {"a 'b | c", []string{"a"}, nil},
		"nothing":          {"", nil, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := parseShell(newShellParser(), tc.command)
			names := map[bool][]string{}
			for _, c := range p.commands {
				names[c.decides] = append(names[c.decides], c.name)
			}
			deciding, masked := names[true], names[false]
			slices.Sort(deciding)
			slices.Sort(masked)
			slices.Sort(tc.deciding)
			slices.Sort(tc.masked)
			if !slices.Equal(deciding, tc.deciding) || !slices.Equal(masked, tc.masked) {
				t.Errorf("%q: deciding %q, masked %q; want %q and %q", tc.command, deciding, masked, tc.deciding, tc.masked)
			}
		})
	}
}
