// Package golden holds the answers of the program to those that it gave before: every
// operation of the interface, an export, the verdicts of labelled outputs, and the
// guidelines, warnings and compacted conversations of recorded agents.
//
//	go test ./test/golden                     compares with testdata
//	go test ./test/golden -update             writes testdata anew: look at the diff
//	MEMORYD_TEST_DATA=dir go test ./test/golden    also replays all recordings in dir
//
// A change that moves an answer says in its commit what the printed diff says.
package golden

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memoryd/test/crash/daemon"
)

var (
	binary daemon.Binary
	update = flag.Bool("update", false, "write the goldens anew")
)

func TestMain(m *testing.M) { os.Exit(daemon.Main(m, &binary)) }

// sayMost is how many lines of a difference are printed.
const sayMost = 60

// compare holds lines to the golden of that name. What a mismatch means in figures,
// figures says of the lines that went and those that came.
func compare(t *testing.T, name string, got []string, figures func(gone, came []string) string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.Join(got, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v: write it with -update", err)
	}
	want := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	gone, came := difference(want, got)
	if len(gone)+len(came) == 0 {
		return
	}
	t.Errorf("%s: %d lines went, %d came of %d%s\n%s", name, len(gone), len(came), len(got), figures(gone, came), diffText(gone, came))
}

// plain is for goldens that are not counted further.
func plain(_, _ []string) string { return "" }

// difference gives the lines that only want has, and those that only got has, each as
// often as it is missing; of lines in another order, nothing.
func difference(want, got []string) (gone, came []string) {
	count := map[string]int{}
	for _, line := range want {
		count[line]++
	}
	for _, line := range got {
		if count[line] > 0 {
			count[line]--
		} else {
			came = append(came, line)
		}
	}
	for _, line := range want {
		if count[line] > 0 {
			count[line]--
			gone = append(gone, line)
		}
	}
	return gone, came
}

// diffText shows lines that went and came, those that begin alike beside each other.
func diffText(gone, came []string) string {
	var b strings.Builder
	said := 0
	say := func(sign, line string) {
		if said++; said <= sayMost {
			fmt.Fprintf(&b, "%s %.400s\n", sign, line)
		}
	}
	byCase := map[string][]string{}
	for _, line := range came {
		key, _, _ := strings.Cut(line, "\t")
		byCase[key] = append(byCase[key], line)
	}
	for _, line := range gone {
		say("-", line)
		key, _, _ := strings.Cut(line, "\t")
		for _, other := range byCase[key] {
			say("+", other)
		}
		delete(byCase, key)
	}
	for _, line := range came {
		key, _, _ := strings.Cut(line, "\t")
		if _, left := byCase[key]; left {
			say("+", line)
		}
	}
	if said > sayMost {
		fmt.Fprintf(&b, "and %d more\n", said-sayMost)
	}
	return b.String()
}
