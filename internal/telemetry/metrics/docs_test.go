package metrics_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

var update = flag.Bool("update", false, "write the table into docs/metrics.md")

// docs is where the documents lie, seen from this folder.
const docs = "../../../docs"

func readDoc(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(docs, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// family is what the text format says of one metric.
type family struct {
	kind, help string
	labels     []string
}

// families parses a scrape.
func families(text string) map[string]family {
	found := map[string]family{}
	label := regexp.MustCompile(`([a-z_]+)="`)
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "# HELP "); ok {
			name, help, _ := strings.Cut(strings.TrimSpace(rest), " ")
			found[name] = family{help: help}
			continue
		}
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			parts := strings.Fields(rest)
			found[parts[0]] = family{kind: parts[1], help: found[parts[0]].help}
			continue
		}
		name, rest, ok := strings.Cut(line, "{")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		name = baseName(name, found)
		var labels []string
		for _, m := range label.FindAllStringSubmatch(rest, -1) {
			if m[1] != "le" {
				labels = append(labels, m[1])
			}
		}
		slices.Sort(labels)
		found[name] = family{found[name].kind, found[name].help, labels}
	}
	return found
}

// baseName strips what a histogram adds to its name.
func baseName[T any](name string, known map[string]T) string {
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		if base, ok := strings.CutSuffix(name, suffix); ok {
			if _, histogram := known[base]; histogram {
				return base
			}
		}
	}
	return name
}

// ours are the program's own metrics, by name.
func ours(t *testing.T) map[string]family {
	all := families(scrape(t, full(t)))
	maps.DeleteFunc(all, func(name string, _ family) bool {
		return strings.HasPrefix(name, "go_") || strings.HasPrefix(name, "process_")
	})
	return all
}

func TestNamesFollowTheConventions(t *testing.T) {
	for name, m := range ours(t) {
		if !regexp.MustCompile(`^memoryd_[a-z]+(_[a-z0-9]+)*$`).MatchString(name) {
			t.Errorf("%s is not a good name", name)
		}
		if strings.HasSuffix(name, "_total") != (m.kind == "counter") {
			t.Errorf("%s: counters end in _total, and nothing else does", name)
		}
		if m.help == "" || !strings.HasSuffix(m.help, ".") || strings.Contains(m.help, "|") {
			t.Errorf("%s: the help is not a sentence that fits a table", name)
		}
	}
}

// table is docs/metrics.md's.
func table(t *testing.T) string {
	var b strings.Builder
	b.WriteString("| metric | type | labels | meaning |\n| --- | --- | --- | --- |\n")
	all := ours(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		m, labels := all[name], "-"
		if len(m.labels) > 0 {
			labels = "`" + strings.Join(m.labels, "`, `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", name, m.kind, labels, m.help)
	}
	return b.String()
}

const (
	tableBegin = "<!-- table: written by go test ./internal/telemetry/metrics -update -->\n"
	tableEnd   = "<!-- end of table -->\n"
)

func TestTheDocumentShowsTheTable(t *testing.T) {
	text := readDoc(t, "metrics.md")
	before, rest, ok := strings.Cut(text, tableBegin)
	shown, after, ok2 := strings.Cut(rest, tableEnd)
	if !ok || !ok2 {
		t.Fatal("docs/metrics.md has lost its markers")
	}
	want := table(t)
	if *update {
		text = before + tableBegin + want + tableEnd + after
		if err := os.WriteFile(filepath.Join(docs, "metrics.md"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if shown != want {
		t.Error("docs/metrics.md does not show the table as it is: run go test ./internal/telemetry/metrics -update")
	}
}

// expressions finds the queries of a dashboard or of alert rules: the values of
// all members named expr.
func expressions(v any) []string {
	var found []string
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if text, ok := v[key].(string); ok && (key == "expr" || key == "query" && strings.Contains(text, "(")) {
				found = append(found, text)
			} else {
				found = append(found, expressions(v[key])...)
			}
		}
	case []any:
		for _, item := range v {
			found = append(found, expressions(item)...)
		}
	}
	return found
}

var (
	quoted      = regexp.MustCompile(`"[^"]*"`)
	metricName  = regexp.MustCompile(`\b(?:memoryd|go|process)_[a-z0-9_]+(?:\{[^}]*\})?`)
	labelInside = regexp.MustCompile(`([a-zA-Z_]+)\s*(?:=~|!~|!=|=)`)
	grouping    = regexp.MustCompile(`\b(?:by|without)\s*\(([^)]*)\)`)
)

// checkQuery reports what a query names that does not exist.
func checkQuery(t *testing.T, where, query string, exist map[string]family) {
	t.Helper()
	bare := quoted.ReplaceAllString(query, `""`)
	used := map[string]bool{"le": true, "job": true, "instance": true}
	names := metricName.FindAllString(bare, -1)
	for _, found := range names {
		name, selector, _ := strings.Cut(found, "{")
		f, ok := exist[baseName(name, exist)]
		if !ok {
			t.Errorf("%s: no metric %s in %s", where, name, query)
		}
		for _, l := range f.labels {
			used[l] = true
		}
		for _, l := range labelInside.FindAllStringSubmatch(selector, -1) {
			if !slices.Contains(f.labels, l[1]) && l[1] != "le" && l[1] != "job" && l[1] != "instance" {
				t.Errorf("%s: %s has no label %s", where, name, l[1])
			}
		}
	}
	if len(names) == 0 && !strings.HasPrefix(query, "up") && !strings.HasPrefix(query, "label_values") {
		t.Errorf("%s: a query about nothing of ours: %s", where, query)
	}
	for _, g := range grouping.FindAllStringSubmatch(bare, -1) {
		for l := range strings.SplitSeq(g[1], ",") {
			if l = strings.TrimSpace(l); l != "" && !used[l] {
				t.Errorf("%s: grouped by %s, which no metric in it has: %s", where, l, query)
			}
		}
	}
}

func TestTheDashboardShowsMetricsThatExist(t *testing.T) {
	var board map[string]any
	if err := json.Unmarshal([]byte(readDoc(t, "grafana/memoryd.json")), &board); err != nil {
		t.Fatal(err)
	}
	exist := families(scrape(t, full(t)))
	queries := expressions(board)
	if len(queries) < 20 {
		t.Errorf("%d queries: the dashboard has lost its panels", len(queries))
	}
	for _, q := range queries {
		checkQuery(t, "dashboard", q, exist)
	}
}

func TestTheAlertsWatchMetricsThatExist(t *testing.T) {
	var rules struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	if err := yaml.Unmarshal([]byte(readDoc(t, "alerts.yaml")), &rules); err != nil {
		t.Fatal(err)
	}
	exist := families(scrape(t, full(t)))
	seen := map[string]bool{}
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			if r.Alert == "" || r.For == "" || r.Labels["severity"] == "" || r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
				t.Errorf("%q lacks a name, a duration, a severity, a summary or what to do", r.Alert)
			}
			if seen[r.Alert] {
				t.Errorf("%s is there twice", r.Alert)
			}
			seen[r.Alert] = true
			checkQuery(t, r.Alert, r.Expr, exist)
		}
	}
	if len(seen) < 8 {
		t.Errorf("%d alerts: some were lost", len(seen))
	}
}

func TestAQueryAboutNothingIsFound(t *testing.T) {
	exist := families(scrape(t, full(t)))
	for _, query := range []string{
		`rate(memoryd_no_such_total[5m])`, `memoryd_pending_calls{tool="x"}`, `sum by (tool) (memoryd_pending_calls)`, `vector(1)`,
	} {
		probe := &testing.T{}
		checkQuery(probe, "probe", query, exist)
		if !probe.Failed() {
			t.Errorf("accepted: %s", query)
		}
	}
}
