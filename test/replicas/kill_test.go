package replicas

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"memoryd/test/crash/daemon"
)

// writersOf is how many write at once in the tests that kill.
const writersOf = 6

// crowd is writers at work, and the number of requests that were acknowledged.
type crowd struct {
	all   []*writer
	acked atomic.Int64
	tick  chan struct{} // a request was acknowledged
	stop  chan struct{}
	wg    sync.WaitGroup
}

func (f *fleet) write() *crowd {
	c := &crowd{tick: make(chan struct{}, 1), stop: make(chan struct{})}
	for n := range writersOf {
		w := &writer{tool: fmt.Sprint("tool-", n)}
		c.all = append(c.all, w)
		c.wg.Go(func() { w.run(f, n, c.stop, c.count) })
	}
	return c
}

func (c *crowd) count() {
	c.acked.Add(1)
	select {
	case c.tick <- struct{}{}:
	default:
	}
}

// await waits until n more requests were acknowledged.
func (c *crowd) await(n int) {
	for end := c.acked.Load() + int64(n); c.acked.Load() < end; {
		<-c.tick
	}
}

// refused counts the requests that got no success.
func (c *crowd) refused() (n int64) {
	for _, w := range c.all {
		n += w.refused.Load()
	}
	return n
}

// end lets the writers finish what they sent.
func (c *crowd) end() {
	close(c.stop)
	c.wg.Wait()
}

// check expects of each replica all that was acknowledged, once.
func (c *crowd) check(f *fleet, keep int) {
	f.t.Helper()
	for _, w := range c.all {
		for n := range replicasOf {
			w.check(f.t, f.at(n), keep)
		}
	}
}

// TestEveryAcknowledgedCallIsThereOnceAfterReplicasDie kills replicas at random
// while others and their clients go on.
func TestEveryAcknowledgedCallIsThereOnceAfterReplicasDie(t *testing.T) {
	for name, keep := range map[string]int{"whole histories": 10_000, "while histories are trimmed": 5} {
		t.Run(name, func(t *testing.T) {
			rounds, rng := daemon.Size(t, "MEMORYD_KILL_ROUNDS", 3), daemon.Dice(t)
			f := launch(t, keeping(keep), "")
			c := f.write()
			for range rounds {
				c.await(1 + rng.IntN(30))
				n := rng.IntN(replicasOf)
				f.restart(n)
				for _, w := range c.all {
					w.glance(t, f.at(n), min(keep, 50))
				}
				if t.Failed() {
					break
				}
			}
			c.end()
			c.check(f, keep)
			t.Logf("%d kills, %d calls acknowledged, %d requests sent again", rounds, c.acked.Load()*perRequest, c.refused())
			if t.Failed() {
				t.Log(f.logs())
			}
		})
	}
}

// TestEveryAcknowledgedCallIsThereOnceAfterTheServerDies kills the server's
// process (or, where there is none to kill, cuts all connections to it) while
// clients write.
func TestEveryAcknowledgedCallIsThereOnceAfterTheServerDies(t *testing.T) {
	rounds, rng := daemon.Size(t, "MEMORYD_KILL_ROUNDS", 3), daemon.Dice(t)
	w, name := serverWire(t)
	kill, revive := func() { w.become(cut) }, func() { w.become(whole) }
	if path := programPath(); path != "" {
		s := startProgram(t, path)
		w, name, kill, revive = newWire(t, dialer(s.address)), "a server that is killed", s.kill, s.start
	}
	t.Logf("on %s", name)
	f := launchOn(t, w, keeping(10_000), ", timeout: 2s, patience: 2s")
	c := f.write()
	for range rounds {
		c.await(1 + rng.IntN(30))
		kill()
		// Each writer has a request of which it does not know what became.
		for before := c.refused(); c.refused() < before+writersOf; {
			tick()
		}
		revive()
		c.await(1)
		for _, w := range c.all {
			w.glance(t, f.at(0), 50)
		}
		if t.Failed() {
			break
		}
	}
	c.end()
	c.check(f, 10_000)
	t.Logf("%d kills, %d calls acknowledged, %d requests sent again", rounds, c.acked.Load()*perRequest, c.refused())
	if t.Failed() {
		t.Log(strings.TrimSpace(f.logs()))
	}
}
