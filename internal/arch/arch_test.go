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
// import, beside leaves. Names are without the module's; the root is "memoryd".
var mayImport = map[string][]string{
	"memoryd":         {},
	"api":             {"memoryd", "api/wire", "internal/access", "internal/admission", "ops"},
	"api/wire":        {"internal/stats"},
	"api/ui":          {"memoryd", "internal/access", "ops", "ops/survey", "store"},
	"compact":         {"memoryd", "compact/chat", "compact/records", "compact/tokens", "llm/summarize"},
	"compact/chat":    {},
	"compact/records": {},
	"compact/tokens":  {},
	"config": {
		"memoryd", "api", "compact", "evaluate", "guidelines", "guidelines/revisions",
		"internal/telemetry/trace", "llm", "llm/usage", "ops", "store/qdrant", "store/sqlite",
	},
	"evaluate":                   {"memoryd", "evaluate/kinds", "evaluate/rules", "store"},
	"evaluate/kinds":             {"memoryd", "store"},
	"evaluate/rules":             {"memoryd", "evaluate/score"},
	"evaluate/score":             {},
	"guidelines":                 {"memoryd", "guidelines/evidence", "guidelines/rules", "llm/summarize"},
	"guidelines/evidence":        {"memoryd", "guidelines/rules"},
	"guidelines/preflight":       {"memoryd", "guidelines/evidence", "guidelines/rules", "store"},
	"guidelines/effect":          {"memoryd"},
	"guidelines/mistakes":        {"guidelines/rules"},
	"guidelines/rules":           {"memoryd"},
	"guidelines/revisions":       {"memoryd", "guidelines", "guidelines/effect", "store"},
	"guidelines/window":          {"memoryd", "guidelines/evidence", "store"},
	"integrations/mcp":           {"api/wire", "internal/client"},
	"integrations/transcripts":   {"memoryd", "internal/accounts"},
	"internal/access":            {"memoryd", "store"},
	"internal/accounts":          {"memoryd"},
	"internal/admission":         {"memoryd"},
	"internal/arch":              {},
	"internal/client":            {},
	"internal/errortext":         {"internal/loosejson", "internal/phrases", "internal/textsafe"},
	"internal/fairqueue":         {},
	"internal/lifecycle":         {},
	"internal/local":             {},
	"internal/loosejson":         {"internal/phrases"},
	"internal/reading":           {"internal/loosejson", "internal/phrases", "internal/textsafe"},
	"internal/origin":            {"internal/textsafe"},
	"internal/phrases":           {},
	"internal/configtest":        {"memoryd"},
	"internal/looptest":          {"memoryd", "guidelines", "guidelines/evidence", "guidelines/preflight", "store"},
	"internal/recordtest":        {"memoryd"},
	"internal/stats":             {"memoryd"},
	"internal/suggest":           {},
	"internal/telemetry/metrics": {"memoryd", "store"},
	"internal/telemetry/trace":   {"memoryd"},
	"internal/textsafe":          {},
	"llm":                        {"memoryd"},
	"llm/summarize":              {"memoryd"},
	"llm/usage":                  {"memoryd", "store"},
	"ops": {
		"memoryd", "compact", "evaluate/kinds", "guidelines", "guidelines/effect", "guidelines/preflight", "guidelines/revisions",
		"internal/access", "internal/accounts", "internal/admission", "llm/usage", "ops/survey", "store", "store/backup",
	},
	"ops/survey":      {"memoryd", "guidelines/effect", "guidelines/mistakes", "store"},
	"store":           {"memoryd"},
	"store/backup":    {"memoryd", "store"},
	"store/mem":       {"memoryd", "store"},
	"store/qdrant":    {"memoryd", "store"},
	"store/sqlite":    {"memoryd", "store"},
	"store/storetest": {"memoryd", "store", "store/mem"},
	"test/llmtest":    {},
	"test/qdranttest": {},
	"test/tracetest":  {},
}

// testsAlso lists what only the tests of a package may import. Packages for tests
// (see isTestSupport) need no mention.
var testsAlso = map[string][]string{
	"api": {
		"compact", "evaluate/kinds", "guidelines", "guidelines/preflight", "guidelines/revisions", "internal/accounts",
		"internal/telemetry/metrics", "llm/usage", "ops/survey", "store", "store/backup",
	},
	"guidelines/preflight":       {"evaluate/rules"},
	"internal/telemetry/metrics": {"evaluate", "guidelines/revisions", "internal/accounts", "llm", "store/qdrant", "store/sqlite"},
}

// leaves stand below everything: any package but the root and api/wire may import
// them, and they import nothing of the project but each other.
var leaves = []string{
	"internal/errortext",
	"internal/fairqueue",
	"internal/lifecycle",
	"internal/loosejson",
	"internal/origin",
	"internal/phrases",
	"internal/reading",
	"internal/stats",
	"internal/suggest",
	"internal/textsafe",
}

// wiring packages may import everything but the *test packages.
var wiring = []string{"cmd/memoryd"}

// onlyIn keeps each outside library behind one door.
var onlyIn = map[string][]string{
	"github.com/labstack/echo":          {"api"},
	"github.com/sashabaranov/go-openai": {"llm"},
	"modernc.org/sqlite":                {"store/sqlite", "integrations/transcripts"},
	"github.com/qdrant/go-client":       {"store/qdrant", "test/qdranttest"},
	"github.com/prometheus":             {"internal/telemetry/metrics"},
	"go.opentelemetry.io":               {"integrations/transcripts", "internal/telemetry/trace", "test/tracetest"},
	"go.yaml.in/yaml":                   {"config", "api", "integrations/mcp", "internal/configtest"},
	"mvdan.cc/sh":                       {"evaluate/rules"},
	"github.com/alecthomas/kong":        {"cmd/memoryd"},
	"github.com/modelcontextprotocol":   {"integrations/mcp"},
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

// room is the name of a package of the project, "" of any other.
func room(path string) string {
	if path == module {
		return module
	}
	name, ours := strings.CutPrefix(path, module+"/")
	if !ours {
		return ""
	}
	return name
}

func TestImportsFollowThePlan(t *testing.T) {
	for _, p := range packages(t) {
		name := room(p.ImportPath)
		allowed, planned := mayImport[name]
		outside := strings.HasPrefix(name, "test/")
		if !planned && !slices.Contains(wiring, name) && !outside {
			t.Errorf("%s has no place in the plan: add it to mayImport and to docs/design.md", name)
			continue
		}
		for _, path := range p.Imports {
			switch imp := room(path); {
			case imp == "", mayImportLeaf(name, imp):
			case planned && !slices.Contains(allowed, imp):
				t.Errorf("%s imports %s, which the plan does not allow", name, imp)
			case !planned && strings.HasSuffix(imp, "test") && !outside:
				t.Errorf("%s imports %s, which is for tests", name, imp)
			}
		}
		if !planned {
			continue
		}
		for _, path := range slices.Concat(p.TestImports, p.XTestImports) {
			imp := room(path)
			if imp != "" && imp != name && !isTestSupport(imp) && !slices.Contains(leaves, imp) && !slices.Contains(slices.Concat(allowed, testsAlso[name]), imp) {
				t.Errorf("a test of %s imports %s, which the plan does not allow", name, imp)
			}
		}
	}
}

// What reads and serves other programs stands beside the house: the command line alone joins
// them to it.
func TestNothingBelowTheCommandsKnowsTheIntegrations(t *testing.T) {
	for name, list := range mayImport {
		if i := slices.IndexFunc(list, func(imp string) bool { return strings.HasPrefix(imp, "integrations/") }); i >= 0 {
			t.Errorf("%s may import %s", name, list[i])
		}
	}
}

// mayImportLeaf reports whether imp is a leaf that the package may import.
func mayImportLeaf(name, imp string) bool {
	return slices.Contains(leaves, imp) && name != module && name != "api/wire" && !slices.Contains(leaves, name)
}

// isTestSupport tells the packages that exist for tests; the in-memory store
// is the test double of all stores.
func isTestSupport(name string) bool {
	return strings.HasSuffix(name, "test") || name == "store/mem"
}

// The plan allows nothing that nobody uses: what is no longer imported is taken
// off the list.
func TestThePlanIsNoLongerThanTheHouse(t *testing.T) {
	imports, tested := map[string][]string{}, map[string][]string{}
	for _, p := range packages(t) {
		name := room(p.ImportPath)
		imports[name] = []string{}
		for _, path := range p.Imports {
			imports[name] = append(imports[name], room(path))
		}
		for _, path := range slices.Concat(p.TestImports, p.XTestImports) {
			tested[name] = append(tested[name], room(path))
		}
	}
	for what, table := range map[string]map[string][]string{"": mayImport, "the tests of ": testsAlso} {
		used := imports
		if what != "" {
			used = tested
		}
		for name, list := range table {
			if _, there := imports[name]; !there {
				t.Errorf("%s is in the plan but not in the tree", name)
			}
			for _, imp := range list {
				if !slices.Contains(used[name], imp) {
					t.Errorf("%s%s may import %s but does not", what, name, imp)
				}
			}
		}
	}
}

func TestLibrariesStayBehindTheirDoor(t *testing.T) {
	for _, p := range packages(t) {
		for _, imp := range p.Imports {
			for library, doors := range onlyIn {
				if strings.HasPrefix(imp, library) && !slices.Contains(doors, room(p.ImportPath)) {
					t.Errorf("%s imports %s; only %s may", p.ImportPath, imp, strings.Join(doors, ", "))
				}
			}
		}
	}
}
