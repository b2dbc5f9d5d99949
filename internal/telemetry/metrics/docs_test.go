package metrics_test

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"memoryd/internal/telemetry/metrics"

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
	kind   string
	labels []string
}

// families parses a scrape.
func families(text string) map[string]family {
	found := map[string]family{}
	label := regexp.MustCompile(`([a-z_]+)="`)
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			parts := strings.Fields(rest)
			found[parts[0]] = family{kind: parts[1]}
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
		found[name] = family{found[name].kind, labels}
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

func TestTheTableListsExactlyTheMetricsThatExist(t *testing.T) {
	exist := families(scrape(t, full(t)))
	for _, m := range metrics.Table() {
		f, ok := exist[m.Name]
		if !ok {
			t.Errorf("%s is in the table but does not exist", m.Name)
			continue
		}
		if want := slices.Sorted(slices.Values(m.Labels)); f.kind != m.Type || !slices.Equal(f.labels, want) {
			t.Errorf("%s is a %s with labels %v, the table says %s %v", m.Name, f.kind, f.labels, m.Type, want)
		}
		delete(exist, m.Name)
	}
	for name := range exist {
		if !strings.HasPrefix(name, "go_") && !strings.HasPrefix(name, "process_") {
			t.Errorf("%s exists but is not in the table", name)
		}
	}
}

func TestNamesFollowTheConventions(t *testing.T) {
	for _, m := range metrics.Table() {
		if !regexp.MustCompile(`^memoryd_[a-z]+(_[a-z0-9]+)*$`).MatchString(m.Name) {
			t.Errorf("%s is not a good name", m.Name)
		}
		if strings.HasSuffix(m.Name, "_total") != (m.Type == metrics.Counter) {
			t.Errorf("%s: counters end in _total, and nothing else does", m.Name)
		}
		if m.Type == metrics.Histogram && (len(m.Buckets) == 0 || !slices.IsSorted(m.Buckets)) {
			t.Errorf("%s has no proper buckets", m.Name)
		}
		if m.Help == "" || !strings.HasSuffix(m.Help, ".") || strings.Contains(m.Help, "|") {
			t.Errorf("%s: the help is not a sentence that fits a table", m.Name)
		}
	}
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
	var b strings.Builder
	if err := metrics.WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	if *update {
		text = before + tableBegin + b.String() + tableEnd + after
		if err := os.WriteFile(filepath.Join(docs, "metrics.md"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if shown != b.String() {
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
