package constraints_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"memoryd/guidelines/constraints"
)

var update = flag.Bool("update", false, "write the golden files anew")

// libraries.json holds messages as pydantic 1 and 2, FastAPI, jsonschema, ajv, zod 3
// and 4, Python, Node, bash, coreutils and SQLite printed them; the golden file says
// what is read of each.
func TestMessagesOfRealLibrariesAreReadAsExpected(t *testing.T) {
	raw, err := os.ReadFile("testdata/libraries.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct{ Library, Text string }
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, c := range cases {
		fmt.Fprintf(&b, "%s %.100q\n", c.Library, c.Text)
		found := constraints.Read(c.Text)
		if len(found) == 0 {
			t.Errorf("nothing is read of %s: %q", c.Library, c.Text)
		}
		for _, f := range found {
			line, err := json.Marshal(f)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "\t%s\n\t%s\n", line, constraints.Imperative(f, anything{}))
		}
	}
	const golden = "testdata/libraries.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != b.String() {
		t.Errorf("other constraints are read than %s has (-update writes it anew):\n%s", golden, b.String())
	}
}

// anything is a vocabulary that knows every name.
type anything struct{}

func (anything) Parameter(path string) (string, bool) { return path, true }
func (anything) Sent(string) bool                     { return true }
func (anything) Word(string) bool                     { return true }
func (anything) Tool(string) bool                     { return true }
