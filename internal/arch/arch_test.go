// Package arch holds the house to its plan: which package may import which.
// The table below is the truth; docs/design.md tells it in words.
package arch

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "memoryd"

// mayImport lists, for each package, the packages of the project that it may
// import. A test of a package may import the *test packages as well.
var mayImport = map[string][]string{
	"memoryd":                         {},
	"memoryd/internal/textsafe":       {},
	"memoryd/internal/loosejson":      {},
	"memoryd/internal/errortext":      {"memoryd/internal/loosejson", "memoryd/internal/phrases", "memoryd/internal/textsafe"},
	"memoryd/internal/phrases":        {},
	"memoryd/internal/stats":          {"memoryd"},
	"memoryd/store":                   {"memoryd"},
	"memoryd/store/mem":               {"memoryd", "memoryd/store"},
	"memoryd/store/sqlite":            {"memoryd", "memoryd/store"},
	"memoryd/store/qdrant":            {"memoryd", "memoryd/store"},
	"memoryd/store/qdrant/qdranttest": {},
	// The two backends for its test.
	"memoryd/store/journal":                      {"memoryd", "memoryd/store", "memoryd/store/sqlite", "memoryd/store/qdrant"},
	"memoryd/llm/usage":                          {"memoryd", "memoryd/store"},
	"memoryd/store/backup":                       {"memoryd", "memoryd/store", "memoryd/internal/stats", "memoryd/internal/textsafe"},
	"memoryd/internal/telemetry/metrics":         {"memoryd", "memoryd/store"},
	"memoryd/guidelines/search":                  {"memoryd", "memoryd/store", "memoryd/internal/textsafe"},
	"memoryd/internal/telemetry/trace":           {"memoryd", "memoryd/internal/textsafe"},
	"memoryd/internal/telemetry/trace/tracetest": {},
	"memoryd/evaluate/monitor":                   {"memoryd", "memoryd/internal/stats"},
	// The rules label what its test learns from.
	"memoryd/guidelines/preflight":   {"memoryd", "memoryd/store", "memoryd/internal/lifecycle", "memoryd/internal/stats", "memoryd/internal/textsafe", "memoryd/guidelines/constraints", "memoryd/evaluate/rules"},
	"memoryd/store/storetest":        {"memoryd", "memoryd/store", "memoryd/store/mem"},
	"memoryd/llm":                    {"memoryd", "memoryd/internal/textsafe"},
	"memoryd/llm/llmtest":            {"memoryd"},
	"memoryd/llm/summarize":          {"memoryd", "memoryd/internal/textsafe"},
	"memoryd/evaluate/rules":         {"memoryd", "memoryd/internal/textsafe", "memoryd/internal/loosejson", "memoryd/internal/errortext", "memoryd/internal/phrases"},
	"memoryd/evaluate":               {"memoryd", "memoryd/evaluate/rules", "memoryd/internal/textsafe", "memoryd/internal/loosejson", "memoryd/internal/errortext"},
	"memoryd/evaluate/benchmark":     {"memoryd", "memoryd/evaluate", "memoryd/evaluate/rules", "memoryd/internal/stats", "memoryd/internal/textsafe"},
	"memoryd/guidelines/window":      {"memoryd", "memoryd/store", "memoryd/guidelines/evidence", "memoryd/internal/lifecycle"},
	"memoryd/guidelines/constraints": {"memoryd/internal/errortext"},
	"memoryd/guidelines/evidence":    {"memoryd", "memoryd/guidelines/constraints", "memoryd/internal/stats", "memoryd/internal/textsafe", "memoryd/internal/loosejson", "memoryd/internal/errortext"},
	"memoryd/guidelines":             {"memoryd", "memoryd/guidelines/constraints", "memoryd/internal/stats", "memoryd/guidelines/evidence", "memoryd/llm/summarize", "memoryd/internal/textsafe", "memoryd/internal/errortext"},
	"memoryd/compact/tokens":         {"memoryd"},
	"memoryd/compact/chat":           {"memoryd"},
	"memoryd/compact/facts":          {"memoryd", "memoryd/compact/chat", "memoryd/compact/tokens", "memoryd/internal/textsafe", "memoryd/internal/errortext"},
	"memoryd/compact": {
		"memoryd", "memoryd/compact/chat", "memoryd/compact/facts", "memoryd/compact/tokens", "memoryd/internal/textsafe", "memoryd/internal/errortext",
	},
	"memoryd/internal/admission": {"memoryd"},
	"memoryd/ops":                {"memoryd", "memoryd/internal/admission", "memoryd/internal/stats", "memoryd/store", "memoryd/compact", "memoryd/guidelines/preflight", "memoryd/guidelines/revisions", "memoryd/guidelines", "memoryd/store/backup", "memoryd/internal/textsafe", "memoryd/evaluate/monitor", "memoryd/llm/usage"},
	"memoryd/guidelines/revisions": {
		"memoryd", "memoryd/internal/stats", "memoryd/store", "memoryd/guidelines", "memoryd/guidelines/preflight", "memoryd/internal/lifecycle",
	},
	"memoryd/api/wire": {},
	"memoryd/api":      {"memoryd", "memoryd/api/wire", "memoryd/ops"},
	"memoryd/config": {
		"memoryd", "memoryd/api", "memoryd/compact", "memoryd/guidelines/revisions", "memoryd/evaluate", "memoryd/llm/usage", "memoryd/evaluate/monitor", "memoryd/guidelines", "memoryd/llm", "memoryd/ops", "memoryd/guidelines/search", "memoryd/store/sqlite", "memoryd/store/qdrant", "memoryd/store/journal", "memoryd/internal/telemetry/trace",
	},
	"memoryd/mcp":                 {"memoryd/internal/lifecycle", "memoryd/internal/textsafe"},
	"memoryd/internal/arch":       {},
	"memoryd/internal/fairqueue":  {},
	"memoryd/internal/lifecycle":  {},
	"memoryd/internal/recordtest": {"memoryd"},
}

// inTests is what tests of a package may import beside: those of the HTTP face put
// the parts behind it together.
var inTests = map[string][]string{
	"memoryd/api": {
		"memoryd/guidelines/preflight",
		"memoryd/compact", "memoryd/evaluate/monitor", "memoryd/guidelines", "memoryd/guidelines/revisions", "memoryd/internal/admission",
		"memoryd/internal/stats", "memoryd/internal/telemetry/metrics", "memoryd/llm/usage", "memoryd/store", "memoryd/store/backup",
	},
}

// leaves stand below everything: they import nothing of the project, and any
// package but the root and api/wire may import them.
var leaves = []string{"memoryd/internal/fairqueue", "memoryd/internal/lifecycle"}

// wiring packages may import everything but the *test packages.
var wiring = []string{"memoryd/cmd/memoryd"}

// onlyIn keeps each outside library behind one door.
var onlyIn = map[string][]string{
	"github.com/labstack/echo":          {"memoryd/api"},
	"github.com/sashabaranov/go-openai": {"memoryd/llm"},
	"modernc.org/sqlite":                {"memoryd/store/sqlite"},
	"github.com/qdrant/go-client":       {"memoryd/store/qdrant", "memoryd/store/qdrant/qdranttest"},
	"github.com/prometheus":             {"memoryd/internal/telemetry/metrics"},
	"go.opentelemetry.io":               {"memoryd/internal/telemetry/trace", "memoryd/internal/telemetry/trace/tracetest"},
	"go.yaml.in/yaml":                   {"memoryd/config", "memoryd/api"},
	"mvdan.cc/sh":                       {"memoryd/evaluate/rules"},
	"github.com/alecthomas/kong":        {"memoryd/cmd/memoryd"},
	"github.com/modelcontextprotocol":   {"memoryd/mcp"},
}

type listed struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

func packages(t *testing.T) []listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports", module+"/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func ours(path string) bool { return path == module || strings.HasPrefix(path, module+"/") }

func TestImportsFollowThePlan(t *testing.T) {
	for _, p := range packages(t) {
		allowed, planned := mayImport[p.ImportPath]
		if !planned && !slices.Contains(wiring, p.ImportPath) && !strings.HasPrefix(p.ImportPath, module+"/test/") {
			t.Errorf("%s has no place in the plan: add it to mayImport and to docs/design.md", p.ImportPath)
			continue
		}
		for _, imp := range p.Imports {
			switch {
			case !ours(imp), slices.Contains(leaves, imp) && p.ImportPath != module && p.ImportPath != "memoryd/api/wire":
			case planned && !slices.Contains(allowed, imp):
				t.Errorf("%s imports %s, which the plan does not allow", p.ImportPath, imp)
			case !planned && strings.HasSuffix(imp, "test") && !strings.HasPrefix(p.ImportPath, module+"/test/"):
				t.Errorf("%s imports %s, which is for tests", p.ImportPath, imp)
			}
		}
		checkTestImports(t, p, allowed, planned)
	}
}

func checkTestImports(t *testing.T, p listed, allowed []string, planned bool) {
	allowed = slices.Concat(allowed, inTests[p.ImportPath])
	for _, imp := range slices.Concat(p.TestImports, p.XTestImports) {
		if planned && ours(imp) && imp != p.ImportPath && !slices.Contains(leaves, imp) && !isTestSupport(imp) && !slices.Contains(allowed, imp) {
			t.Errorf("a test of %s imports %s, which the plan does not allow", p.ImportPath, imp)
		}
	}
}

// isTestSupport tells the packages that exist for tests; the in-memory store
// is the test double of all stores.
func isTestSupport(path string) bool {
	return strings.HasSuffix(path, "test") || path == "memoryd/store/mem"
}

func TestLibrariesStayBehindTheirDoor(t *testing.T) {
	for _, p := range packages(t) {
		for _, imp := range p.Imports {
			for library, doors := range onlyIn {
				if strings.HasPrefix(imp, library) && !slices.Contains(doors, p.ImportPath) {
					t.Errorf("%s imports %s; only %s may", p.ImportPath, imp, strings.Join(doors, ", "))
				}
			}
		}
	}
}
