package replicas

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"memoryd/test/crash/daemon"
)

// clusterShards is how many parts the collections of the tests' cluster have.
const clusterShards = 2

// launch starts a replica on each node.
func (c *cluster) launch(settings string) *fleet {
	c.t.Helper()
	f := &fleet{t: c.t}
	for _, p := range c.nodes {
		store := fmt.Sprintf("store: {backend: qdrant, qdrant: {host: 127.0.0.1, port: %s, prefix: %s, shards: %d, "+
			"replication_factor: %d, write_consistency_factor: 2}}\n", p.port(), clusterPrefix, clusterShards, nodesOf)
		f.configs = append(f.configs, daemon.ConfigFile(c.t, store+settings))
	}
	f.begin()
	return f
}

// steady writes to a tool of its own through one replica, and asks nobody else
// when that one refuses.
type steady struct {
	writer
	replica int
}

// run writes until stop is closed. What is refused must be refused as a client can
// understand.
func (s *steady) run(t *testing.T, f *fleet, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		body, err := json.Marshal(s.body(int(s.sent.Add(1)) - 1))
		if err != nil {
			panic(err) // a mistake of the test
		}
		for !s.send(t, f, body) {
			tick()
		}
		s.acked.Add(1)
	}
}

func (s *steady) send(t *testing.T, f *fleet, body []byte) bool {
	r, err := f.at(s.replica).Send("/add_tool_call_result", body)
	if err != nil {
		t.Errorf("replica %d does not answer: %v", s.replica, err)
		return false
	}
	var a daemon.Answer
	if r.Status == 200 && json.Unmarshal(r.Body, &a) == nil && a.Success {
		return true
	}
	s.refused.Add(1)
	checkRefusal(t, fmt.Sprintf("an add on replica %d", s.replica), r)
	return false
}

// went tells how long the writer needs from now on for a request that begins now
// or later.
func (s *steady) went(t *testing.T, most time.Duration) time.Duration {
	began, end := time.Now(), s.sent.Load()+1
	for s.acked.Load() < end {
		if time.Since(began) > most {
			t.Errorf("replica %d: nothing is accepted for %v", s.replica, most)
			break
		}
		tick()
	}
	return time.Since(began)
}

// counted expects, while the writer goes on and a node is away, that everything
// acknowledged before is counted. What is just being written may be unseen for a
// moment.
func (s *steady) counted(t *testing.T, p *daemon.Process) {
	least := int(s.acked.Load()) * perRequest
	eventually(t, func() string {
		most := func() int { return int(s.sent.Load()) * perRequest }
		m := patientMemory(t, p, s.tool, 0)
		if m == nil || m.Lifetime() < least || m.Lifetime() > most() {
			return fmt.Sprintf("%s: got %+v, want %d to %d calls", s.tool, m, least, most())
		}
		return ""
	})
}

// perReplica is how many steady writers each replica has.
const perReplica = 2

// goesOn is within which time the replicas on living nodes have to accept calls
// after a node died.
const goesOn = 20 * time.Second

// TestAClusterThatLosesNodesLosesNothing kills one node of a Qdrant cluster after
// another, with SIGKILL, while clients write through three replicas, of which each
// talks to a node of its own.
func TestAClusterThatLosesNodesLosesNothing(t *testing.T) {
	c := startCluster(t)
	rounds, rng := daemon.Size(t, "MEMORYD_KILL_ROUNDS", nodesOf), daemon.Dice(t)
	f := c.launch("log: {level: warn}\nop: {parse_tool_call_result_op: {params: {max_history_tool_call_cnt: 50}}}\n")
	eventually(t, c.whole)
	t.Logf("the leader is node %d", c.leader())
	var writers []*steady
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for n := range replicasOf * perReplica {
		s := &steady{writer: writer{tool: fmt.Sprint("tool-", n)}, replica: n % replicasOf}
		writers = append(writers, s)
		wg.Go(func() { s.run(t, f, stop) })
	}
	for _, s := range writers {
		s.went(t, patience)
	}
	order := rng.Perm(nodesOf)
	for i := range rounds {
		c.lose(f, order[i%nodesOf], writers)
		if t.Failed() {
			break
		}
	}
	close(stop)
	wg.Wait()
	var calls, refused int64
	for _, s := range writers {
		calls, refused = calls+s.acked.Load()*perRequest, refused+s.refused.Load()
		for n := range replicasOf {
			s.check(t, f.at(n), 50)
		}
	}
	t.Logf("%d kills, %d calls acknowledged, %d requests refused and sent again", rounds, calls, refused)
	if t.Failed() {
		t.Log(f.logs())
		t.Log(c.logs())
	}
}

// lose kills a node, looks how the replicas go on, starts the node again and waits
// until all copies are in use.
func (c *cluster) lose(f *fleet, node int, writers []*steady) {
	t := c.t
	t.Helper()
	leader := c.leader() == node
	c.nodes[node].kill()
	died := time.Now()
	var worst time.Duration
	for _, s := range writers {
		if s.replica != node {
			s.went(t, goesOn)
			worst = max(worst, time.Since(died))
		}
	}
	if worst > goesOn {
		t.Errorf("the replicas on living nodes accept calls %v after node %d died", worst, node)
	}
	for _, s := range writers {
		s.counted(t, f.at(node+1))
	}
	written := c.writeAway(f, node, leader)
	outage := daemon.Size(t, "MEMORYD_TEST_OUTAGE", 1)
	<-time.After(time.Until(died.Add(time.Duration(outage) * time.Second)))
	for _, s := range writers {
		if s.replica != node {
			s.went(t, goesOn)
		}
	}
	c.nodes[node].start()
	back := time.Now()
	eventually(t, c.whole)
	whole := time.Since(back)
	for _, s := range writers {
		s.went(t, patience)
	}
	t.Logf("node %d (leader: %v): the others accept calls after %v; %s; all copies in use %v after its start, all replicas accept after %v",
		node, leader, worst.Round(time.Millisecond), written, whole.Round(time.Millisecond), time.Since(back).Round(time.Millisecond))
}

// writeAway writes a guideline, and the first call of a tool, while a node is away.
// Both need the leader of the tools' shard, and are refused while that is the one.
func (c *cluster) writeAway(f *fleet, node int, leader bool) string {
	t := c.t
	t.Helper()
	c.news++
	var said []string
	for _, write := range []struct {
		what, path string
		body       any
	}{
		{"a guideline", "/summary_tool_memory", map[string]any{"tool_names": fmt.Sprint("tool-", (node+1)%replicasOf), "force": true}},
		{"the first call of a tool", "/add_tool_call_result", (&writer{tool: fmt.Sprint("new-", c.news)}).body(0)},
	} {
		began := time.Now()
		_, r, ok := send(f.at(node+1), write.path, write.body)
		said = append(said, fmt.Sprintf("%s: status %d after %v", write.what, r.Status, time.Since(began).Round(time.Millisecond)))
		switch {
		case leader && ok:
			t.Errorf("%s was written without the leader", write.what)
		case leader:
			checkRefusal(t, write.what, r)
		case !ok:
			t.Errorf("%s was refused while a node that is not the leader is away: %d %s", write.what, r.Status, r.Body)
		}
	}
	return strings.Join(said, ", ")
}
