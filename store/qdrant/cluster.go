package qdrant

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"memoryd"

	qd "github.com/qdrant/go-client/qdrant"
)

// The settings of the configuration are given to collections when these are made. What
// holds is what the collections have: they may be older than the settings, made by
// somebody else, or changed since.

// cluster is what the servers said of themselves and of the collections.
type cluster struct {
	asked    time.Time
	versions []string // of the nodes that answered, each once
	copies   int      // the most that a shard has, or is to have
	written  int      // the fewest of them that a write must have reached
	differs  []string // what the collections have in place of a setting
}

// askAgain is for how long what the cluster said is believed.
const askAgain = time.Minute

// Settings returns an error that names the settings by which the collections differ; nil if they do
// not. It queries the cluster at most once a minute.
func (s internals) Settings(ctx context.Context) error {
	if time.Since(s.cluster.Load().asked) > askAgain {
		if err := s.drainer.Enter(ctx); err != nil {
			return err
		}
		defer s.drainer.Leave()
		if err := s.survey(ctx); err != nil {
			return err
		}
	}
	return s.cluster.Load().differing()
}

// State is what the store says about itself.
type State struct {
	Differing int `metric:"qdrant_settings_differing" help:"Settings of store.qdrant that differ from those of the collections; Qdrant only."`
}

// State returns what the store says about itself now.
func (s internals) State() State { return State{len(s.cluster.Load().differs)} }

func (c *cluster) differing() error {
	if len(c.differs) == 0 {
		return nil
	}
	return memoryd.Errorf(memoryd.Unavailable, "the collections were created with other settings, which stay in force: %s",
		strings.Join(c.differs, "; "))
}

// survey asks the cluster what it is.
func (s *backend) survey(ctx context.Context) error {
	c := &cluster{asked: time.Now(), copies: 1, written: maxFactor}
	var err error
	if c.versions, err = s.versions(ctx); err != nil {
		return err
	}
	for _, alias := range []string{s.calls, s.tools, s.docs} {
		info, err := s.collection(ctx, alias)
		if err != nil {
			return err
		}
		c.compare(alias, info.GetConfig(), &s.cfg, s.shards(alias))
		copies, err := s.copies(ctx, alias)
		if err != nil {
			return err
		}
		c.copies = max(c.copies, copies)
	}
	before := s.cluster.Swap(c)
	if before != nil && slices.Equal(before.differs, c.differs) && slices.Equal(before.versions, c.versions) {
		return nil
	}
	s.log.InfoContext(ctx, "connected to qdrant", "versions", c.versions, "copies", c.copies, "copies_written", c.written)
	for _, d := range c.differs {
		s.log.WarnContext(ctx, "a collection was created with another setting, which stays in force", "setting", d)
	}
	return nil
}

// shards is how many a collection is made with.
func (s *backend) shards(alias string) int {
	if alias == s.tools {
		return toolShards
	}
	return s.cfg.Shards
}

// compare adds what a collection has, beside what it is made with.
func (c *cluster) compare(alias string, has *qd.CollectionConfig, cfg *Config, shards int) {
	p := has.GetParams()
	copies, written := int(max(1, p.GetReplicationFactor())), int(max(1, p.GetWriteConsistencyFactor()))
	c.copies = max(c.copies, copies)
	c.written = min(c.written, written)
	for _, of := range []struct {
		setting      string
		real, wanted int
	}{
		{"replication_factor", copies, cfg.ReplicationFactor},
		{"write_consistency_factor", written, cfg.WriteConsistencyFactor},
		{"shards", int(p.GetShardNumber()), shards},
		{"flush_interval", int(has.GetOptimizerConfig().GetFlushIntervalSec()), int(flushInterval.Seconds())},
	} {
		if of.real != of.wanted {
			c.differs = append(c.differs, fmt.Sprintf("%s of %s is %d, not %d", of.setting, alias, of.real, of.wanted))
		}
	}
}

// copies is how many copies the shard has that has most of them.
func (s *backend) copies(ctx context.Context, alias string) (int, error) {
	info, err := ask(ctx, s, "cluster info", func(ctx context.Context) (*qd.CollectionClusterInfoResponse, error) {
		return s.client.GetCollectionClusterInfo(ctx, alias)
	})
	if err != nil {
		return 0, err
	}
	most, of := 1, map[uint32]int{}
	for _, shard := range info.GetLocalShards() {
		of[shard.GetShardId()]++
	}
	for _, shard := range info.GetRemoteShards() {
		of[shard.GetShardId()]++
		most = max(most, of[shard.GetShardId()])
	}
	return most, nil
}

func (s *backend) collection(ctx context.Context, name string) (*qd.CollectionInfo, error) {
	return ask(ctx, s, "collection info", func(ctx context.Context) (*qd.CollectionInfo, error) {
		return s.client.GetCollectionInfo(ctx, name)
	})
}

// versions asks on each connection, which may lead to as many nodes, and refuses a node
// that is too old: conditional writes need 1.16. Newer nodes could insert without a
// condition (update_mode); a node of 1.16 overlooks that and replaces what is there, and
// nobody can be sure to have met all nodes. So all are asked what all can do.
func (s *backend) versions(ctx context.Context) (list []string, err error) {
	for range s.cfg.Connections {
		reply, err := ask(ctx, s, "health check", s.client.HealthCheck)
		if err != nil {
			return nil, err
		}
		var major, minor int
		if _, err := fmt.Sscanf(reply.GetVersion(), "%d.%d", &major, &minor); err != nil {
			err = fmt.Errorf("%w: version %q: %w", errUnfit, reply.GetVersion(), err)
			return nil, memoryd.Wrap(memoryd.Unavailable, err, "Qdrant does not report its version")
		}
		if major < 1 || major == 1 && minor < 16 {
			return nil, memoryd.Wrap(memoryd.Unavailable, errUnfit,
				fmt.Sprintf("qdrant %s is too old: conditional updates need 1.16 or newer", reply.GetVersion()))
		}
		list = append(list, reply.GetVersion())
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// consistency is how reads ask the copies of a shard; nil where there is one. A
// majority finds what most copies have, which is what was acknowledged if writes reach
// enough of them; else all are asked. While a copy is away, a quorum is asked instead:
// it finds what all of those asked have.
func (s *backend) consistency() *qd.ReadConsistency {
	c := s.cluster.Load()
	switch {
	case c.copies == 1:
		return nil
	case s.asksQuorum():
		return qd.NewReadConsistencyType(qd.ReadConsistencyType_Quorum)
	case c.copies/2+1+c.written > c.copies:
		return qd.NewReadConsistencyType(qd.ReadConsistencyType_Majority)
	}
	return qd.NewReadConsistencyType(qd.ReadConsistencyType_All)
}

// Writes are ordered as strictly as the copies of a shard have to be kept in step: by its
// acting leader if they only add, by its permanent one if they compare.
func (s *backend) appendOrder() *qd.WriteOrdering {
	return s.ordered(qd.WriteOrderingType_Medium)
}

func (s *backend) compareOrder() *qd.WriteOrdering {
	return s.ordered(qd.WriteOrderingType_Strong)
}

func (s *backend) ordered(how qd.WriteOrderingType) *qd.WriteOrdering {
	if s.cluster.Load().copies == 1 {
		return nil
	}
	return &qd.WriteOrdering{Type: how}
}
