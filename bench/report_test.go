package main

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "renew the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (renew it with -update):\n%s", name, got)
	}
}

func TestAFigureIsTheMedianAndTheRange(t *testing.T) {
	for name, tc := range map[string]struct {
		values            []float64
		median, low, high float64
	}{
		"odd":  {[]float64{3, 1, 2}, 2, 1, 3},
		"even": {[]float64{4, 1, 2, 3}, 2.5, 1, 4},
		"one":  {[]float64{7}, 7, 7, 7},
	} {
		values := slices.Clone(tc.values)
		f := figure("", "", values)
		if f.Median != tc.median || f.Low != tc.low || f.High != tc.high || f.Rounds != len(values) || !slices.Equal(values, tc.values) {
			t.Errorf("%s: %+v", name, f)
		}
	}
	if f := figure("", "", nil); !math.IsNaN(f.Median) || f.String() != "-" {
		t.Errorf("of nothing: %+v", f)
	}
	if got := ratios([]float64{2, 9, 1}, []float64{1, 3}); !slices.Equal(got, []float64{2, 3}) {
		t.Errorf("got %v", got)
	}
}

func TestAGoalIsMissedOnlyWhenTheWholeRangeIsOutside(t *testing.T) {
	for name, tc := range map[string]struct {
		atLeast bool
		values  []float64
		want    string
	}{
		"below a most":                {false, []float64{1, 2, 3}, goalOK},
		"median inside, range beyond": {false, []float64{1, 2, 99}, goalOK},
		"median outside, range in":    {false, []float64{1, 9, 9}, goalOpen},
		"all above a most":            {false, []float64{8, 9}, goalMiss},
		"above a least":               {true, []float64{6, 7}, goalOK},
		"all below a least":           {true, []float64{1, 2}, goalMiss},
		"one above a least":           {true, []float64{1, 2, 6}, goalOpen},
		"nothing":                     {true, nil, goalNone},
	} {
		g := Goal{Limit: 5, AtLeast: tc.atLeast, Figure: figure("", "", tc.values)}
		if g.judge(); g.Verdict != tc.want {
			t.Errorf("%s: %s, want %s", name, g.Verdict, tc.want)
		}
	}
}

// sample is a report with something of everything.
func sample() *bench {
	b := &bench{out: io.Discard, report: newReport(true)}
	b.report.Machine = Machine{CPUs: 2, CPU: "Some CPU", Go: "go1.26", Load: "0.10", FlushUS: 107, Date: "2026-01-02"}
	b.figure("add", "memoryd, durable, 64 connections", "adds/s", []float64{24000, 25123, 26000})
	b.atLeast("add", "durable adds/s over the same handler", 0.6, []float64{0.61, 0.66, 0.7})
	b.atMost("add", "p99 over a raw log's", 4, "x", []float64{5, 6, 7})
	b.atMost("compact", "compaction of 100,000 tokens", 100, "ms", nil)
	b.note("compact", "This build does not offer it.")
	b.report.fail("soak", errors.New("the server went away"))
	b.draw("add", "add", "adds per second", bars("Adds <per second>", "/s", []bar{
		{"memoryd & its store", figure("", "", []float64{24000, 25123, 26000})}, {"bare", figure("", "", []float64{46000})},
	}))
	return b
}

func TestTheResultsReadWell(t *testing.T) {
	b := sample()
	var table strings.Builder
	b.report.print(&table)
	golden(t, "table", table.String())
	golden(t, "markdown", b.report.markdown())
	if err := b.report.failure(); err == nil || !strings.Contains(err.Error(), "soak: the server went away") {
		t.Errorf("got %v", err)
	}
}

func TestTheDocumentKeepsWhatPeopleWrote(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "performance.md")
	if err := os.WriteFile(path, []byte("before\n"+docsBegin+"old\n"+docsEnd+"after\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := sample()
	for range 2 { // a second time changes nothing
		if err := b.report.writeDocs(dir); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if want := "before\n" + docsBegin + b.report.markdown() + docsEnd + "after\n"; err != nil || string(text) != want {
			t.Errorf("got %s, %v", text, err)
		}
	}
	if svg, err := os.ReadFile(filepath.Join(dir, "performance-add.svg")); err != nil || !strings.Contains(string(svg), "<svg") {
		t.Errorf("got %s, %v", svg, err)
	}
	for _, text := range []string{"", docsBegin, docsEnd + docsBegin} {
		if _, err := between(text, "x"); !errors.Is(err, errNoMarkers) {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

func TestTheJSONHoldsEveryGoal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.json")
	b := sample()
	if err := b.report.writeJSON(path); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var back report
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if len(back.Goals) != 3 || back.Goals[0].Verdict != goalOK || back.Goals[1].Verdict != goalMiss || back.Goals[2].Verdict != goalNone {
		t.Errorf("got %+v", back.Goals)
	}
}

func TestPlotsAreDrawnAndWellFormed(t *testing.T) {
	barred := bars("Adds & more", "/s", []bar{{"a < b", figure("", "", []float64{1, 2, 3})}, {"nothing", figure("", "", []float64{0})}})
	graph := lines("Latency", axis{"one in", true}, axis{"µs", true}, []series{
		{"memoryd", []float64{1, 10, 100, 1000}, []float64{50, 60, 90, 900}}, {"bare", []float64{1, 1000}, []float64{40, 200}},
	})
	flat := lines("Flat", axis{"s", false}, axis{"MB", false}, []series{{"rss", []float64{0, 5, 10}, []float64{30, 30, 31}}})
	for name, c := range map[string]chart{"bars": barred, "lines": graph, "flat": flat, "empty": lines("", axis{}, axis{}, nil)} {
		svg, err := c.svg()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for dec := xml.NewDecoder(strings.NewReader(svg)); ; {
			if _, err := dec.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Errorf("%s: %v", name, err)
				break
			}
		}
		if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
			t.Errorf("%s holds what is no number:\n%s", name, svg)
		}
	}
}

func TestNumbersAreShort(t *testing.T) {
	for v, want := range map[float64]string{0: "0.00", 0.614: "0.61", 0.0017: "0.002", 9.876: "9.88", 12.34: "12.3", 123.4: "123", 25123: "25,123", 1234567: "1,234,567", -1234: "-1,234", math.Inf(1): "-"} {
		if got := number(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
}

func TestABusyMachineIsToldOf(t *testing.T) {
	for load, told := range map[string]bool{"0.10": false, "0.99": false, "1.00": true, "12.5": true, "unknown": false} {
		m := Machine{CPUs: 2, Load: load}
		if got := m.caveat(); strings.Contains(got, "busy") != told {
			t.Errorf("load %s: %q", load, got)
		}
		if err := m.fit(options{docs: "docs"}); (err != nil) != told || m.fit(options{}) != nil {
			t.Errorf("load %s: the page may be renewed: %v", load, err)
		}
	}
}
