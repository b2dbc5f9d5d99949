package e2e

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"memoryd/config"
	"memoryd/internal/configtest"

	"go.yaml.in/yaml/v3"
)

// composeFile is what is looked at of docker-compose.yml.
type composeFile struct {
	Services map[string]composeService `yaml:"services"`
	Volumes  map[string]any            `yaml:"volumes"`
}

type composeService struct {
	Image       string               `yaml:"image"`
	Build       string               `yaml:"build"`
	Profiles    []string             `yaml:"profiles"`
	Command     []string             `yaml:"command"`
	Environment map[string]string    `yaml:"environment"`
	Ports       []string             `yaml:"ports"`
	Volumes     []string             `yaml:"volumes"`
	DependsOn   map[string]condition `yaml:"depends_on"`
	Healthcheck struct {
		Test []string `yaml:"test"`
	} `yaml:"healthcheck"`
}

type condition struct {
	Condition string `yaml:"condition"`
}

func readCompose(t *testing.T) composeFile {
	t.Helper()
	text := rootFile(t, "docker-compose.yml")
	var c composeFile
	if err := yaml.Unmarshal([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// rootFile reads a file of the project's root.
func rootFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (c composeFile) profile(name string) []string {
	var in []string
	for service, s := range c.Services {
		if slices.Contains(s.Profiles, name) {
			in = append(in, service)
		}
	}
	slices.Sort(in)
	return in
}

func TestEachProfileStartsWhatItSays(t *testing.T) {
	c := readCompose(t)
	_, plain, ok := strings.Cut(rootFile(t, ".env"), "\nCOMPOSE_PROFILES=")
	if !ok {
		t.Fatal(".env names no profile: a plain `docker compose up` would start nothing")
	}
	if plain = strings.TrimSpace(plain); plain != "alone" {
		t.Errorf("a plain `docker compose up` starts the profile %q", plain)
	}
	for profile, want := range map[string][]string{
		"alone":   {"memoryd"},
		"qdrant":  {"memoryd-qdrant", "qdrant"},
		"cluster": {"memoryd-1", "memoryd-2", "memoryd-3", "proxy", "qdrant-1", "qdrant-2", "qdrant-3", "qdrant-proxy"},
	} {
		if got := c.profile(profile); !slices.Equal(got, want) {
			t.Errorf("profile %s starts %v, want %v", profile, got, want)
		}
	}
	for name, s := range c.Services {
		if len(s.Profiles) != 1 {
			t.Errorf("%s has the profiles %v: it would start beside others that answer on its port", name, s.Profiles)
		}
		for other, on := range s.DependsOn {
			if !slices.Equal(c.Services[other].Profiles, s.Profiles) || on.Condition != "service_healthy" {
				t.Errorf("%s depends on %s (%s), which must start in the same profile and be healthy", name, other, on.Condition)
			}
		}
	}
}

func TestComposeServicesAreWatchedAndTheirVolumesDeclared(t *testing.T) {
	c := readCompose(t)
	used := map[string]bool{}
	for name, s := range c.Services {
		if len(s.Healthcheck.Test) < 2 || s.Healthcheck.Test[0] != "CMD" {
			t.Errorf("%s has no health check", name)
		}
		if check := strings.Join(s.Healthcheck.Test, " "); s.Build != "" && check != "CMD /memoryd health" {
			t.Errorf("%s is watched by %q; its image holds memoryd alone", name, check)
		}
		for _, port := range s.Ports {
			if !strings.HasPrefix(port, "127.0.0.1:") {
				t.Errorf("%s publishes %s to more than this machine", name, port)
			}
		}
		for _, v := range s.Volumes {
			source, _, _ := strings.Cut(v, ":")
			if path, bound := strings.CutPrefix(source, "./"); bound {
				rootFile(t, path)
				continue
			}
			if _, declared := c.Volumes[source]; !declared {
				t.Errorf("%s uses the volume %s, which is not declared", name, source)
			}
			used[source] = true
		}
		if strings.HasPrefix(s.Image, "qdrant/") && s.Environment["QDRANT__TELEMETRY_DISABLED"] != "true" {
			t.Errorf("%s sends telemetry", name)
		}
	}
	if !strings.Contains(rootFile(t, "Dockerfile"), `CMD ["/memoryd", "health"]`) {
		t.Error("the image is not watched by memoryd health")
	}
	for name := range c.Volumes {
		if !used[name] {
			t.Errorf("the volume %s is declared and not used", name)
		}
	}
}

// composeKeys are those of the compose specification that may stand in a service, and in
// its health check. An engine refuses others.
var composeKeys = map[string][]string{
	"": {
		"image", "build", "profiles", "command", "environment", "ports", "volumes", "depends_on", "healthcheck", "restart", "read_only",
		"cap_drop", "security_opt", "stop_grace_period", "user", "tmpfs", "networks", "ulimits", "logging", "entrypoint",
	},
	"healthcheck": {"test", "interval", "timeout", "retries", "start_period"},
}

// What an engine would refuse, and what would start but not reach the program: keys,
// images, published ports and places of volumes.
func TestComposeFitsTheImages(t *testing.T) {
	var raw struct {
		Services map[string]map[string]any `yaml:"services"`
		Volumes  map[string]any            `yaml:"volumes"`
		Other    map[string]any            `yaml:",inline"`
	}
	if err := yaml.Unmarshal([]byte(rootFile(t, "docker-compose.yml")), &raw); err != nil {
		t.Fatal(err)
	}
	for key := range raw.Other {
		if !strings.HasPrefix(key, "x-") {
			t.Errorf("the file has %q at its top", key)
		}
	}
	for name, service := range raw.Services {
		for key, value := range service {
			if !slices.Contains(composeKeys[""], key) {
				t.Errorf("%s has %q", name, key)
			}
			if inner, ok := value.(map[string]any); ok && composeKeys[key] != nil {
				for k := range inner {
					if !slices.Contains(composeKeys[key], k) {
						t.Errorf("%s has %q in its %s", name, k, key)
					}
				}
			}
		}
	}
	holds := map[string]string{"memoryd": "/data", "qdrant/qdrant": "/qdrant/storage", "nginx": "/etc/nginx/nginx.conf"}
	for name, s := range readCompose(t).Services {
		image, tag, _ := strings.Cut(interpolated(s.Image), ":")
		if (s.Build != "") != (image == "memoryd") || (tag == "" || tag == "latest") != (s.Build != "") {
			t.Errorf("%s runs %q, built from %q", name, s.Image, s.Build)
		}
		for _, v := range s.Volumes {
			if parts := strings.Split(v, ":"); parts[1] != holds[image] || strings.HasPrefix(v, "./") != (len(parts) == 3 && parts[2] == "ro") {
				t.Errorf("%s has %s; what %s keeps or reads is at %q", name, v, image, holds[image])
			}
		}
		for _, port := range s.Ports {
			if !strings.HasSuffix(port, ":8002") {
				t.Errorf("%s publishes %s; memoryd, and the proxy before it, listen on 8002", name, port)
			}
		}
	}
	if text := rootFile(t, "Dockerfile"); !strings.Contains(text, "MEMORYD_LISTEN=0.0.0.0:8002 MEMORYD_DATA="+holds["memoryd"]+"\n") || !strings.Contains(text, "\nVOLUME "+holds["memoryd"]+"\n") {
		t.Error("the image listens or keeps its store elsewhere")
	}
}

// An engine's own reading, where Docker's compose is installed. Where it is not, what the
// file is held to is the test above.
func TestComposeIsTakenByAnEngine(t *testing.T) {
	var engine []string
	for _, e := range [][]string{{"docker", "compose"}, {"docker-compose"}} {
		if exec.CommandContext(t.Context(), e[0], append(e[1:], "version")...).Run() == nil { //nolint:gosec // one of two programs
			engine = e
			break
		}
	}
	if engine == nil {
		t.Skip("neither `docker compose` nor docker-compose is installed: TestComposeFitsTheImages alone has read the file")
	}
	for _, profile := range []string{"alone", "qdrant", "cluster"} {
		arg := append(slices.Clone(engine[1:]), "-f", "../../docker-compose.yml", "--profile", profile, "config", "-q")
		if said, err := exec.CommandContext(t.Context(), engine[0], arg...).CombinedOutput(); err != nil { //nolint:gosec // one of two programs
			t.Errorf("%s %v: %v: %s", engine[0], arg, err, said)
		}
	}
	t.Logf("read by %v", engine)
}

// settings matches the variables that memoryd knows: those of the settings, and
// those of the flags.
func settings() *regexp.Regexp {
	names := []string{"MEMORYD_ADMIN_KEY", "MEMORYD_CONFIG", "MEMORYD_LISTEN", "MEMORYD_DATA", "MEMORYD_URL"}
	for _, key := range configtest.Keys(reflect.TypeFor[config.Config]()) {
		name := "MEMORYD_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
		names = append(names, strings.ReplaceAll(name, "*", "[A-Z0-9_]+"))
	}
	return regexp.MustCompile("^(?:" + strings.Join(names, "|") + ")$")
}

// interpolated is a value as compose gives it when the user's environment holds
// nothing.
func interpolated(value string) string {
	return regexp.MustCompile(`\$\{\w+:-([^}]*)\}`).ReplaceAllString(value, "$1")
}

func TestComposeSetsOnlyWhatMemorydKnows(t *testing.T) {
	known := settings()
	for name, s := range readCompose(t).Services {
		var environ []string
		for variable, value := range s.Environment {
			if strings.HasPrefix(variable, "MEMORYD_") && !known.MatchString(variable) {
				t.Errorf("%s sets %s, which is no setting", name, variable)
			}
			environ = append(environ, variable+"="+interpolated(value))
		}
		cfg, err := config.Parse(nil, "docker-compose.yml", environ)
		if err == nil && s.Build != "" {
			cfg.HTTP.Listen = "0.0.0.0:8002" // as the image has it
			err = cfg.HTTP.CheckExposure()
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if s.Build != "" && slices.Contains(s.Profiles, "alone") != (cfg.Store.Backend == config.BackendSQLite) {
			t.Errorf("%s runs on the store %s", name, cfg.Store.Backend)
		}
	}
	for _, line := range regexp.MustCompile(`(?m)^ENV .*$`).FindAllString(rootFile(t, "Dockerfile"), -1) {
		for pair := range strings.FieldsSeq(strings.TrimPrefix(line, "ENV ")) {
			if name, _, _ := strings.Cut(pair, "="); !known.MatchString(name) {
				t.Errorf("the Dockerfile sets %s, which is no setting", name)
			}
		}
	}
}

func TestTheClusterIsOne(t *testing.T) {
	c := readCompose(t)
	in := c.profile("cluster")
	pick := func(form string) []string {
		return slices.DeleteFunc(slices.Clone(in), func(n string) bool { return !regexp.MustCompile(form).MatchString(n) })
	}
	replicas, nodes := pick(`^memoryd-\d$`), pick(`^qdrant-\d$`)
	checkUpstreams(t, "deploy/nginx-memoryd.conf", replicas, "8002")
	checkUpstreams(t, "deploy/nginx-qdrant.conf", nodes, "6334")
	for _, name := range replicas {
		env := c.Services[name].Environment
		if env["MEMORYD_STORE_QDRANT_REPLICATION_FACTOR"] != fmt.Sprint(len(nodes)) ||
			env["MEMORYD_STORE_QDRANT_WRITE_CONSISTENCY_FACTOR"] != fmt.Sprint(len(nodes)/2+1) {
			t.Errorf("%s: a write must reach a majority of %d nodes: %v", name, len(nodes), env)
		}
		if !maps.Equal(env, c.Services[replicas[0]].Environment) {
			t.Errorf("%s is set up in another way than %s", name, replicas[0])
		}
		if host := env["MEMORYD_STORE_QDRANT_HOST"]; !slices.Contains(in, host) {
			t.Errorf("%s looks for Qdrant at %q, which no service of the profile is", name, host)
		}
	}
	for i, name := range nodes {
		command := strings.Join(c.Services[name].Command, " ")
		if !strings.HasSuffix(command, "--uri http://"+name+":6335") || (i > 0) != strings.Contains(command, "--bootstrap http://"+nodes[0]+":6335") {
			t.Errorf("%s is started by %q", name, command)
		}
	}
}

// checkUpstreams expects a proxy's configuration to name exactly the servers, and
// to listen on the port that they have.
func checkUpstreams(t *testing.T, file string, want []string, port string) {
	t.Helper()
	text := rootFile(t, file)
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^\s*server ([\w-]+):(\d+) resolve`).FindAllStringSubmatch(text, -1) {
		got = append(got, m[1])
		if m[2] != port {
			t.Errorf("%s: port %s of %s, want %s", file, m[2], m[1], port)
		}
	}
	if !slices.Equal(got, want) || !strings.Contains(text, "listen "+port+";") {
		t.Errorf("%s stands before %v, want %v on port %s", file, got, want, port)
	}
}
