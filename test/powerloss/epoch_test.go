package powerloss

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"memoryd/internal/configtest"

	"memoryd"
	"memoryd/store/sqlite"

	sqlitedriver "modernc.org/sqlite"
)

// clientsPerEpoch write at the same time, so that they share commits.
const clientsPerEpoch = 3

// world is a store that lives through power cuts.
type world struct {
	t       *testing.T
	all     *disks
	seed    uint64
	rng     *rand.Rand
	lies    bool
	clients []*client
	files   map[string][]byte // what the last power cut left
}

func newWorld(t *testing.T, all *disks, seed uint64) *world {
	w := &world{t: t, all: all, seed: seed, rng: rand.New(rand.NewPCG(seed, 1))}
	for n := range clientsPerEpoch {
		rng := rand.New(rand.NewPCG(seed, uint64(n)+2))
		w.clients = append(w.clients, &client{maker: newMaker(rng, fmt.Sprint("client ", n))})
	}
	return w
}

// settings are small, so that the store's housekeeping is part of short lives.
func settings(dir string) sqlite.Config {
	cfg := configtest.Section[sqlite.Config]("store.sqlite")
	cfg.Dir, cfg.IdentityWindow, cfg.Readers, cfg.WALBytes = dir, 512, 1, 1<<20
	return cfg
}

// live runs the store from what the last cut left and returns the disk with all
// that happened to it. Some lives end with a clean stop.
func (w *world) live(ctx context.Context) (*state, *disk, error) {
	dir := w.t.TempDir()
	defer os.RemoveAll(dir) // there are thousands
	begin, err := lay(dir, w.files)
	if err != nil {
		return nil, nil, err
	}
	d := w.all.watch(dir, begin)
	d.lies = w.lies
	defer w.all.forget(d)
	s, err := sqlite.Open(ctx, settings(dir), nil)
	if err != nil {
		return nil, nil, err
	}
	s.Start(ctx)
	errs := make([]error, clientsPerEpoch)
	var wg sync.WaitGroup
	for i, c := range w.clients {
		n := 4 + w.rng.IntN(10)
		wg.Go(func() { errs[i] = c.run(ctx, s, d, n) })
	}
	rng := rand.New(rand.NewPCG(w.rng.Uint64(), 0))
	wg.Go(func() { checkpoints(dir, rng) })
	wg.Wait()
	return begin, d, errors.Join(append(errs, s.Close())...)
}

// checkpoints works the log off as the store's own checkpointer does, but more
// often than its clock would.
func checkpoints(dir string, rng *rand.Rand) {
	file := filepath.Join(dir, "memoryd.db")
	address := "file:" + filepath.ToSlash(file)
	if head, err := os.ReadFile(file); err == nil && len(head) > 20 && head[20] > 0 {
		address += "?vfs=memoryd-sums" // as the store: without it pages would come into the file without their checksums
	}
	c, err := (&sqlitedriver.Driver{}).Open(address)
	if err != nil {
		panic(err)
	}
	for range rng.IntN(6) {
		mode := []string{"PASSIVE", "PASSIVE", "RESTART", "TRUNCATE"}[rng.IntN(4)]
		st, err := c.Prepare("PRAGMA wal_checkpoint(" + mode + ")")
		if err != nil {
			continue // the database is busy
		}
		if rows, err := st.Query(nil); err == nil { //nolint:staticcheck // the driver has no other
			rows.Close()
		}
		st.Close()
	}
	c.Close()
}

// look opens the store on files that a cut left and compares it with the past.
// It tells how many operations of each client are in it.
func (w *world) look(ctx context.Context, files map[string][]byte, events int) ([]int, error) {
	dir := w.t.TempDir()
	defer os.RemoveAll(dir)
	if _, err := lay(dir, files); err != nil {
		return nil, err
	}
	s, err := sqlite.Open(ctx, settings(dir), nil)
	if err != nil {
		return nil, err
	}
	s.Start(ctx)
	kept := make([]int, len(w.clients))
	for i, c := range w.clients {
		var cerr error
		kept[i], cerr = c.check(ctx, s, events)
		err = errors.Join(err, cerr)
	}
	if err == nil {
		err = w.goOn(ctx, s, kept)
	}
	return kept, errors.Join(err, s.Close())
}

// goOn sends what was under way again, which has to take effect once, and an
// old operation, which has to be known.
func (w *world) goOn(ctx context.Context, s *sqlite.Store, kept []int) error {
	for i, c := range w.clients {
		m, err := c.model(ctx, kept[i])
		if err != nil {
			return err
		}
		again := c.ops[:kept[i]]
		again = again[max(0, len(again)-3):]
		for _, o := range again {
			want, werr := o.op(ctx, m)
			got, gerr := o.op(ctx, s)
			if got != want || werr != nil || gerr != nil {
				return fmt.Errorf("%s: sent again: got %s, %v, want %s, %v", c.workspace, got, gerr, want, werr) //nolint:errorlint // a finding, not a cause
			}
		}
		want, werr := c.snapshot(ctx, m)
		got, gerr := c.snapshot(ctx, s)
		if got != want || werr != nil || gerr != nil {
			return fmt.Errorf("%s: after the repetition: got\n%s%v\nwant\n%s%v", c.workspace, got, gerr, want, werr) //nolint:errorlint // a finding, not a cause
		}
	}
	return nil
}

// isLost reports whether err says that something acknowledged is not there.
func isLost(err error) bool {
	_, ok := errors.AsType[*lostError](err)
	return ok || memoryd.IsKind(err, memoryd.Unavailable) && strings.Contains(err.Error(), "damaged")
}
