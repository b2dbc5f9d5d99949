package e2e

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template"

	root "memoryd"
	"memoryd/config"

	"go.yaml.in/yaml/v3"
)

var update = flag.Bool("update", false, "write the golden charts and the version of each package")

// versions are the files that repeat the file VERSION, and where in them.
var versions = map[string]string{
	"clients/python/src/memoryd/_version.py":        `__version__ = "([^"]+)"`,
	"clients/typescript/package.json":               `"version": "([^"]+)"`,
	"deploy/claude-code/.claude-plugin/plugin.json": `"version": "([^"]+)"`,
	"deploy/helm/memoryd/Chart.yaml":                `(?m)^version: (\S+)$`,
}

// One place to change: VERSION; go test ./test/e2e -run Version -update writes the others.
func TestEveryPackageHasTheVersionOfTheServer(t *testing.T) {
	if code, out, _ := binary.Run(t, "", "version"); code != 0 || !strings.HasPrefix(out, "memoryd "+root.Version()+" ") {
		t.Errorf("the program says %q, the file VERSION %q", out, root.Version())
	}
	for name, form := range versions {
		text := rootFile(t, name)
		at := regexp.MustCompile(form).FindStringSubmatchIndex(text)
		if at == nil {
			t.Fatalf("%s has no version", name)
		}
		if found := text[at[2]:at[3]]; found != root.Version() {
			if !*update {
				t.Errorf("%s has the version %s, the file VERSION %s", name, found, root.Version())
				continue
			}
			if err := os.WriteFile("../../"+name, []byte(text[:at[2]]+root.Version()+text[at[3]:]), 0o644); err != nil { //nolint:gosec // as it was
				t.Fatal(err)
			}
		}
	}
	if chart := rootFile(t, "deploy/helm/memoryd/Chart.yaml"); !strings.Contains(chart, `appVersion: "`+root.Version()+`"`) {
		t.Error("the chart runs another version")
	}
	for _, p := range pages(t) {
		for _, m := range regexp.MustCompile(`memoryd[-_](\d+\.\d+\.\d+)`).FindAllStringSubmatch(p.text, -1) {
			if m[1] != root.Version() {
				t.Errorf("%s names %s", p.name, m[0])
			}
		}
	}
	if changes := rootFile(t, "CHANGELOG.md"); !strings.Contains(changes, "\n## ["+root.Version()+"]") {
		t.Error("CHANGELOG.md says nothing of this version")
	}
}

// charts are the files of values for which the chart is rendered into a golden file.
var charts = map[string]string{"sqlite": "", "qdrant": "deploy/helm/memoryd/ci/qdrant-values.yaml"}

// The chart is rendered with the functions that it uses, so that no test needs Helm.
func TestTheChartRendersWhatItsGoldensShow(t *testing.T) {
	for name, file := range charts {
		values := ""
		if file != "" {
			values = rootFile(t, file)
		}
		got := rendered(t, values)
		golden := filepath.Join("testdata", "chart-"+name+".yaml")
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil { //nolint:gosec // a golden
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(golden); err != nil || got != string(want) { //nolint:gosec // a golden
			t.Errorf("%s is not what the chart renders (%v); go test ./test/e2e -run Chart -update writes it:\n%s", golden, err, got)
		}
		checkManifests(t, name, got)
	}
	if _, err := renderChart(t, "store: {backend: qdrant}"); err == nil || !strings.Contains(err.Error(), "store.qdrant.host is required") {
		t.Errorf("Qdrant without a host: %v", err)
	}
}

// Helm itself accepts the chart and renders what the goldens show. deploy/package/build
// installs it through the Go proxy.
func TestHelmLintsTheChartAndRendersItsGoldens(t *testing.T) {
	helm := helmProgram(t)
	const chart = "../../deploy/helm/memoryd"
	for name, values := range charts {
		var args []string
		if values != "" {
			args = []string{"--values", "../../" + values}
		}
		if out, err := exec.CommandContext(t.Context(), helm, append([]string{"lint", "--strict", chart}, args...)...).CombinedOutput(); err != nil { //nolint:gosec // a chart of ours
			t.Errorf("helm lint of %s: %v\n%s", name, err, out)
		}
		args = append([]string{"template", "rel", chart, "--namespace", "ns", "--kube-version", "1.30"}, args...)
		out, err := exec.CommandContext(t.Context(), helm, args...).Output() //nolint:gosec // a chart of ours
		if err != nil {
			t.Fatalf("helm template of %s: %v", name, err)
		}
		if got, want := documents(string(out)), documents(rootFile(t, "test/e2e/testdata/chart-"+name+".yaml")); len(want) < 4 || !slices.Equal(got, want) {
			t.Errorf("Helm renders other documents than testdata/chart-%s.yaml:\n%s", name, out)
		}
	}
}

// helmProgram finds Helm, or skips the test.
func helmProgram(t *testing.T) string {
	t.Helper()
	if path, err := exec.LookPath("helm"); err == nil {
		return path
	}
	cache := os.Getenv("MEMORYD_RELEASE_CACHE")
	if home, err := os.UserCacheDir(); err == nil && cache == "" {
		cache = filepath.Join(home, "memoryd-tools")
	}
	path, err := exec.LookPath(filepath.Join(cache, "helm"))
	if err != nil {
		t.Skip("Helm itself does not check the chart: no helm is installed here, and deploy/package/build did not run")
	}
	return path
}

// documents are the documents of a YAML stream without blank lines, sorted, since the order
// of a chart's templates means nothing.
func documents(text string) (all []string) {
	for document := range strings.SplitSeq("\n"+text, "\n---\n") {
		document = regexp.MustCompile(`\s*\n`).ReplaceAllString(strings.TrimSpace(document), "\n")
		if document != "" {
			all = append(all, document)
		}
	}
	slices.Sort(all)
	return all
}

// checkManifests expects documents that a server would take: names, settings that
// memoryd knows, ports that exist.
func checkManifests(t *testing.T, name, text string) {
	t.Helper()
	kinds, known := map[string]bool{}, settings()
	for dec := yaml.NewDecoder(strings.NewReader(text)); ; {
		var m struct {
			APIVersion string `yaml:"apiVersion"`
			Kind       string `yaml:"kind"`
			Metadata   struct {
				Name string `yaml:"name"`
			} `yaml:"metadata"`
			Data map[string]string `yaml:"data"`
			Spec struct {
				Replicas int `yaml:"replicas"`
				Template struct {
					Spec struct {
						Containers []struct {
							Env []struct{ Name, Value string } `yaml:"env"`
						} `yaml:"containers"`
					} `yaml:"spec"`
				} `yaml:"template"`
			} `yaml:"spec"`
		}
		err := dec.Decode(&m)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || m.APIVersion == "" || m.Metadata.Name != "rel-memoryd" {
			t.Fatalf("%s: %v, %+v", name, err, m)
		}
		kinds[m.Kind] = true
		if m.Kind == "StatefulSet" && m.Spec.Replicas != 1 || m.Kind == "Deployment" && m.Spec.Replicas < 2 {
			t.Errorf("%s: a %s of %d replicas", name, m.Kind, m.Spec.Replicas)
		}
		var environ []string
		for _, c := range m.Spec.Template.Spec.Containers {
			for _, v := range c.Env {
				if !known.MatchString(v.Name) {
					t.Errorf("%s sets %s, which is no setting", name, v.Name)
				}
				environ = append(environ, v.Name+"="+v.Value)
			}
		}
		cfg, err := config.Parse([]byte(m.Data["memoryd.yaml"]), "memoryd.yaml", environ)
		if err == nil && environ != nil {
			cfg.HTTP.Listen = "0.0.0.0:8002"
			err = cfg.HTTP.CheckExposure()
		}
		if err != nil {
			t.Errorf("%s: %s: %v", name, m.Kind, err)
		}
	}
	if want := map[string]string{"sqlite": "StatefulSet", "qdrant": "Deployment"}[name]; !kinds[want] || !kinds["Service"] || !kinds["NetworkPolicy"] || kinds["ServiceMonitor"] != (name == "qdrant") {
		t.Errorf("%s has %v", name, kinds)
	}
}

func rendered(t *testing.T, values string) string {
	t.Helper()
	text, err := renderChart(t, values)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// renderChart is helm template rel CHART --namespace ns, as far as the chart needs it.
func renderChart(t *testing.T, values string) (string, error) {
	t.Helper()
	const dir = "../../deploy/helm/memoryd"
	var own, given, chart map[string]any
	for text, into := range map[string]*map[string]any{rootFile(t, "deploy/helm/memoryd/values.yaml"): &own, values: &given, rootFile(t, "deploy/helm/memoryd/Chart.yaml"): &chart} {
		if err := yaml.Unmarshal([]byte(text), into); err != nil {
			t.Fatal(err)
		}
	}
	tree := template.New("chart").Option("missingkey=error")
	tree.Funcs(chartFuncs(tree))
	files, err := filepath.Glob(dir + "/templates/*")
	if err != nil || len(files) < 6 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f) //nolint:gosec // of the chart
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tree.New(filepath.Base(f)).Parse(string(text)); err != nil {
			t.Fatal(err)
		}
	}
	data := map[string]any{
		"Values": merged(own, given), "Release": map[string]any{"Name": "rel", "Namespace": "ns"},
		"Chart": map[string]any{"AppVersion": chart["appVersion"], "Name": chart["name"]},
	}
	var all strings.Builder
	for _, f := range files {
		var out bytes.Buffer
		if err := tree.ExecuteTemplate(&out, filepath.Base(f), data); err != nil {
			return "", err
		}
		if text := strings.TrimSpace(out.String()); text != "" && strings.HasSuffix(f, ".yaml") {
			fmt.Fprintf(&all, "---\n# Source: memoryd/templates/%s\n%s\n", filepath.Base(f), text)
		}
	}
	return all.String(), nil
}

// chartFuncs are the functions of Helm that the chart uses.
func chartFuncs(tree *template.Template) template.FuncMap {
	return template.FuncMap{
		"include": func(name string, data any) (string, error) {
			var out strings.Builder
			err := tree.ExecuteTemplate(&out, name, data)
			return out.String(), err
		},
		"nindent": func(n int, text string) string {
			pad := strings.Repeat(" ", n)
			return "\n" + pad + strings.ReplaceAll(text, "\n", "\n"+pad)
		},
		"toYaml": func(v any) (string, error) {
			var out bytes.Buffer
			enc := yaml.NewEncoder(&out)
			enc.SetIndent(2)
			enc.CompactSeqIndent()
			err := enc.Encode(v)
			return strings.TrimSpace(out.String()), err
		},
		"quote": func(v any) string { return fmt.Sprintf("%q", fmt.Sprint(v)) },
		"default": func(other, v any) any {
			if v == nil || v == "" {
				return other
			}
			return v
		},
		"required": func(message string, v any) (any, error) {
			if v == nil || v == "" {
				return nil, errors.New(message)
			}
			return v, nil
		},
		"sha256sum": func(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) },
	}
}

// merged lays values over others, as Helm does.
func merged(own, given map[string]any) map[string]any {
	all := maps.Clone(own)
	for key, v := range given {
		inner, isMap := v.(map[string]any)
		if below, ok := all[key].(map[string]any); ok && isMap {
			v = merged(below, inner)
		}
		all[key] = v
	}
	return all
}

// hardened are directives without which the service could do more than it needs.
var hardened = []string{
	"User=memoryd", "ProtectSystem=strict", "ProtectHome=yes", "StateDirectory=memoryd", "NoNewPrivileges=yes", "PrivateTmp=yes", "CapabilityBoundingSet=",
	"RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX", "SystemCallFilter=@system-service", "MemoryDenyWriteExecute=yes", "UMask=0077",
}

func TestThePackagesHoldWhatTheServiceNeeds(t *testing.T) {
	unit := rootFile(t, "deploy/package/memoryd.service")
	for _, line := range hardened {
		if !strings.Contains(unit, "\n"+line+"\n") {
			t.Errorf("the unit lacks %s", line)
		}
	}
	var release struct {
		Builds []struct {
			Targets []string `yaml:"targets"`
		} `yaml:"builds"`
		NFPMs []struct {
			Formats  []string                                `yaml:"formats"`
			Contents []struct{ Src, Dst string }             `yaml:"contents"`
			Scripts  struct{ Postinstall, Preremove string } `yaml:"scripts"`
		} `yaml:"nfpms"`
	}
	if err := yaml.Unmarshal([]byte(rootFile(t, ".goreleaser.yaml")), &release); err != nil {
		t.Fatal(err)
	}
	if got, want := release.Builds[0].Targets, []string{"linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64", "windows_amd64"}; !slices.Equal(got, want) {
		t.Errorf("built for %v, want %v", got, want)
	}
	p := release.NFPMs[0]
	if !slices.Equal(p.Formats, []string{"deb", "rpm", "apk"}) {
		t.Errorf("packages of %v", p.Formats)
	}
	placed := map[string]string{"/usr/bin/memoryd": "memoryd"}
	for _, c := range p.Contents {
		placed[c.Dst] = c.Src
		if !strings.HasPrefix(c.Src, ".generated/") {
			rootFile(t, c.Src)
		}
	}
	for _, path := range regexp.MustCompile(`(?m)^(?:ExecStart|EnvironmentFile)=-?(.*)$`).FindAllStringSubmatch(unit, -1) {
		for word := range strings.FieldsSeq(path[1]) {
			if strings.HasPrefix(word, "/") && word != "/var/lib/memoryd" && placed[word] == "" {
				t.Errorf("the unit names %s, which no package holds", word)
			}
		}
	}
	for _, script := range []string{p.Scripts.Postinstall, p.Scripts.Preremove, "deploy/package/generate", "deploy/package/build", "deploy/package/snapshot", "deploy/package/check"} {
		if out, err := exec.CommandContext(t.Context(), "sh", "-n", "../../"+script).CombinedOutput(); err != nil { //nolint:gosec // scripts of ours
			t.Errorf("%s: %v: %s", script, err, out)
		}
	}
	if _, err := config.Parse([]byte(rootFile(t, "deploy/package/memoryd.yaml")), "memoryd.yaml", nil); err != nil {
		t.Error(err)
	}
	if _, err := exec.LookPath("systemd-analyze"); err == nil {
		checkUnit(t, unit)
	}
}

// checkUnit lets systemd read the unit, with a program that is here.
func checkUnit(t *testing.T, unit string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "memoryd.service")
	unit = strings.NewReplacer("/usr/bin/memoryd", string(binary), "man:memoryd(1)", "https://localhost/").Replace(unit)
	if err := os.WriteFile(file, []byte(unit), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "systemd-analyze", "verify", "--man=no", file).CombinedOutput() //nolint:gosec // a file of ours
	if err != nil || strings.Contains(string(out), "memoryd.service") {
		t.Errorf("systemd-analyze verify: %v: %s", err, out)
	}
}
