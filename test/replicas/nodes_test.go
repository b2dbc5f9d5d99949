package replicas

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// nodesOf is how many Qdrant servers make the cluster of the tests.
const nodesOf = 3

// clusterPrefix begins the names of the collections on a cluster of the tests.
const clusterPrefix = "cluster_"

// cluster is some Qdrant servers that keep copies of the same collections.
type cluster struct {
	t     *testing.T
	nodes []*program
	news  int // tools that were made while a node was away
}

// startCluster runs a cluster of servers that the test may kill, or skips when no
// program is named.
func startCluster(t *testing.T) *cluster {
	path := programPath()
	if path == "" {
		t.Skip("MEMORYD_TEST_QDRANT_BINARY names no Qdrant program")
	}
	c := &cluster{t: t}
	var first string
	for range nodesOf {
		p := newProgram(t, path)
		port := freePort(t)
		uri := "http://127.0.0.1:" + port
		p.env = []string{"QDRANT__CLUSTER__ENABLED=true", "QDRANT__CLUSTER__P2P__PORT=" + port}
		p.args = []string{"--uri", uri}
		if first == "" {
			first = uri
		} else {
			p.args = append(p.args, "--bootstrap", first)
		}
		p.start()
		c.nodes = append(c.nodes, p)
	}
	for n := range nodesOf {
		eventually(t, func() string { return c.joined(n) })
	}
	return c
}

// joined complains unless a node knows all others.
func (c *cluster) joined(n int) string {
	var reply struct {
		Result struct {
			Peers map[string]any `json:"peers"`
		} `json:"result"`
	}
	if err := c.nodes[n].get("/cluster", &reply); err != nil {
		return err.Error()
	}
	if len(reply.Result.Peers) != nodesOf {
		return fmt.Sprintf("node %d knows %d peers", n, len(reply.Result.Peers))
	}
	return ""
}

// get reads a page of the node's REST interface.
func (p *program) get(path string, into any) error {
	ctx, cancel := context.WithTimeout(p.t.Context(), 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1:"+p.http+path, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: status %d", path, resp.StatusCode)
	}
	return json.NewDecoder(resp.Body).Decode(into)
}

// copies is what a node says of the copies of a collection.
type copies struct {
	Peer   uint64      `json:"peer_id"`
	Local  []shardCopy `json:"local_shards"`
	Remote []shardCopy `json:"remote_shards"`
}

type shardCopy struct {
	Shard int    `json:"shard_id"`
	Peer  uint64 `json:"peer_id"` // 0 in Local
	State string `json:"state"`
}

func (c *cluster) copies(n int, collection string) (copies, error) {
	var reply struct {
		Result copies `json:"result"`
	}
	err := c.nodes[n].get("/collections/"+clusterPrefix+collection+"/cluster", &reply)
	return reply.Result, err
}

// whole complains unless every node says that every copy of every shard is in use.
func (c *cluster) whole() string {
	for n := range nodesOf {
		for collection, shards := range map[string]int{"calls": clusterShards, "tools": 1, "docs": clusterShards} {
			got, err := c.copies(n, collection)
			if err != nil {
				return fmt.Sprintf("node %d: %v", n, err)
			}
			all := slices.Concat(got.Local, got.Remote)
			inUse := func(s shardCopy) bool { return s.State == "Active" }
			if len(all) != nodesOf*shards || slices.ContainsFunc(all, func(s shardCopy) bool { return !inUse(s) }) {
				return fmt.Sprintf("node %d says of %s: %v", n, collection, all)
			}
		}
	}
	return ""
}

// leader is the node that orders writes that compare: Qdrant takes the one with
// the highest number, and no other while that is away.
func (c *cluster) leader() (leader int) {
	c.t.Helper()
	var highest uint64
	for n := range nodesOf {
		got, err := c.copies(n, "tools")
		if err != nil {
			c.t.Fatal(err)
		}
		if got.Peer > highest {
			highest, leader = got.Peer, n
		}
	}
	return leader
}

// logs is what the nodes said at the end.
func (c *cluster) logs() string {
	var b strings.Builder
	for n, p := range c.nodes {
		fmt.Fprintf(&b, "node %d:\n%s\n", n, p.tail())
	}
	return b.String()
}
