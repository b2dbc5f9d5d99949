package replicas

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"memoryd/test/crash/daemon"
)

// replicasOf is how many processes share a store.
const replicasOf = 3

// fleet is some processes on one store. They may be replaced while others talk
// to them.
type fleet struct {
	t       *testing.T
	wire    *wire    // nil where each replica has a server of its own
	configs []string // a replica takes the one with its number, or the only one
	env     []string
	own     [][]string // environments of each replica, or none

	mu   sync.RWMutex
	live []*daemon.Process
}

// launch starts a fleet on the server of the tests. settings is what its
// configuration holds besides the store, of the section qdrant those in tuning.
func launch(t *testing.T, settings, tuning string, env ...string) *fleet {
	t.Helper()
	w, name := serverWire(t)
	t.Logf("on %s", name)
	return launchOn(t, w, settings, tuning, env...)
}

func launchOn(t *testing.T, w *wire, settings, tuning string, env ...string) *fleet {
	t.Helper()
	f := &fleet{t: t, wire: w, env: env, configs: []string{daemon.ConfigFile(t, storeOn(w, prefixOn(t, w), tuning)+settings)}}
	f.begin()
	return f
}

// begin starts the replicas.
func (f *fleet) begin() {
	t := f.t
	t.Helper()
	t.Cleanup(f.end)
	for n := range replicasOf {
		f.live = append(f.live, f.start(n))
	}
	for _, p := range f.live {
		if !strings.Contains(p.Ready, "qdrant at ") {
			t.Errorf("the ready line %q does not name the store", p.Ready)
		}
	}
}

func (f *fleet) start(n int) *daemon.Process {
	env := f.env
	if n < len(f.own) {
		env = slices.Concat(env, f.own[n])
	}
	return binary.Start(f.t, f.t.TempDir(), env, "--config", f.configs[n%len(f.configs)])
}

// at gives the process that is the n-th replica now.
func (f *fleet) at(n int) *daemon.Process {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.live[n%len(f.live)]
}

// restart kills a replica and starts one in its place.
func (f *fleet) restart(n int) {
	f.t.Helper()
	f.at(n).Kill()
	p := f.start(n)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.live[n] = p
}

// end kills all, so that nobody writes when the collections go.
func (f *fleet) end() {
	for _, p := range f.live {
		p.Kill()
	}
}

// logs is what all replicas said.
func (f *fleet) logs() string {
	var b strings.Builder
	for _, p := range f.live {
		b.WriteString(p.Log())
	}
	return b.String()
}

// send posts v to a replica; ok says that it was done.
func send(p *daemon.Process, path string, v any) (a daemon.Answer, r daemon.Reply, ok bool) {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // a mistake of the test
	}
	r, err = p.Send(path, body)
	ok = err == nil && r.Status == 200 && json.Unmarshal(r.Body, &a) == nil && a.Success
	return a, r, ok
}

// memory reads a tool; nil if there is none.
func memory(p *daemon.Process, tool string, calls int) *daemon.Memory {
	return memoryOf(p.Post("/retrieve_tool_memory", asking(tool, calls)))
}

// patientMemory is memory for a replica that may have lost its connections: what
// it refuses with 503 is asked again.
func patientMemory(t *testing.T, p *daemon.Process, tool string, calls int) (m *daemon.Memory) {
	t.Helper()
	eventually(t, func() string {
		a, r, ok := send(p, "/retrieve_tool_memory", asking(tool, calls))
		if !ok && r.Status != 200 {
			return fmt.Sprintf("%d %s", r.Status, r.Body)
		}
		m = memoryOf(a)
		return ""
	})
	return m
}

func asking(tool string, calls int) any {
	return map[string]any{"tool_names": []string{tool}, "include_calls": calls}
}

func memoryOf(a daemon.Answer) *daemon.Memory {
	if !a.Success {
		return nil
	}
	return &a.Metadata.MemoryList[0]
}
