package replicas

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"memoryd/test/crash/daemon"
)

// TestStorageThatIsLostIsFilledAgain removes all that the server has, while clients
// write: replicas with journals make it anew and put back each call, once, and nobody
// has to start anything again but the server.
func TestStorageThatIsLostIsFilledAgain(t *testing.T) {
	path := programPath()
	if path == "" {
		t.Skip("MEMORYD_TEST_QDRANT_BINARY names no Qdrant program")
	}
	s := startProgram(t, path)
	w := newWire(t, dialer(s.address))
	f := &fleet{t: t, wire: w, env: []string{"MEMORYD_STORE_JOURNAL_REPAIR_INTERVAL=1s"}, configs: []string{
		daemon.ConfigFile(t, storeOn(w, prefixOn(t, w), ", timeout: 2s, patience: 2s, retries: 2")+keeping(10_000)),
	}}
	for range replicasOf {
		f.own = append(f.own, []string{"MEMORYD_STORE_JOURNAL_DIR=" + t.TempDir()})
	}
	f.begin()
	c := f.write()
	c.await(60)
	s.kill()
	if err := os.RemoveAll(filepath.Join(s.dir, "storage")); err != nil {
		t.Fatal(err)
	}
	c.await(10) // into the journals
	s.start()
	c.await(30)
	c.end()
	for _, w := range c.all {
		want := int(w.acked.Load()) * perRequest
		for n := range replicasOf {
			eventually(t, func() string { return w.lacks(f.at(n), want) })
		}
	}
	t.Logf("%d calls acknowledged, %d requests sent again", c.acked.Load()*perRequest, c.refused())
	if t.Failed() {
		t.Log(f.logs())
	}
}

// lacks complains unless a replica has so many calls of the writer, each once.
func (w *writer) lacks(p *daemon.Process, want int) string {
	m := memory(p, w.tool, want)
	if m == nil {
		return w.tool + " is not there"
	}
	once := map[string]bool{}
	for _, c := range m.Calls {
		once[c.Output] = true
	}
	if m.Lifetime() != want || len(m.Calls) != want || len(once) != want {
		return fmt.Sprintf("%s: %d calls counted, %d kept, %d different, want %d", w.tool, m.Lifetime(), len(m.Calls), len(once), want)
	}
	return ""
}
