package qdranttest

import qd "github.com/qdrant/go-client/qdrant"

// collection is the points of one collection. A stored point is never changed,
// only replaced.
type collection struct {
	name    string
	config  *qd.CollectionConfig
	schema  map[string]*qd.PayloadSchemaInfo
	vectors map[string]bool // that points may have
	points  map[string]*stored
	before  map[string]*stored // before the newest write, if the server lags
	by      map[string]map[string]map[string]bool
}

// stored is a point.
type stored struct {
	id      string
	pid     *qd.PointId
	payload map[string]*qd.Value
}

func newCollection(r *qd.CreateCollection) *collection {
	shards, copies, written := r.GetShardNumber(), r.GetReplicationFactor(), r.GetWriteConsistencyFactor()
	c := &collection{name: r.GetCollectionName(), config: &qd.CollectionConfig{
		Metadata: r.GetMetadata(),
		Params: &qd.CollectionParams{
			ShardNumber: max(1, shards), ReplicationFactor: &copies,
			WriteConsistencyFactor: &written, ShardingMethod: r.ShardingMethod,
		},
		OptimizerConfig: r.GetOptimizersConfig(),
	}, vectors: map[string]bool{}, schema: map[string]*qd.PayloadSchemaInfo{}}
	for name := range r.GetVectorsConfig().GetParamsMap().GetMap() {
		c.vectors[name] = true
	}
	c.clear()
	return c
}

func (c *collection) clear() {
	c.points, c.before = map[string]*stored{}, map[string]*stored{}
	c.by = map[string]map[string]map[string]bool{}
	for field, info := range c.schema {
		if info.GetDataType() == qd.PayloadSchemaType_Uuid {
			c.by[field] = map[string]map[string]bool{}
		}
	}
}

func (c *collection) put(p *stored) {
	c.drop(p.id)
	c.points[p.id] = p
	for field, values := range c.by {
		if v := p.payload[field].GetStringValue(); v != "" {
			if values[v] == nil {
				values[v] = map[string]bool{}
			}
			values[v][p.id] = true
		}
	}
}

func (c *collection) drop(id string) {
	p := c.points[id]
	if p == nil {
		return
	}
	delete(c.points, id)
	for field, values := range c.by {
		if v := p.payload[field].GetStringValue(); v != "" {
			delete(values[v], id)
		}
	}
}

// matching calls each for the points that the filter holds for.
func (c *collection) matching(points map[string]*stored, f *qd.Filter, each func(*stored)) {
	if ids, ok := c.candidates(f); ok {
		for _, id := range ids {
			if p := points[id]; p != nil && holds(f, p) {
				each(p)
			}
		}
		return
	}
	for _, p := range points {
		if holds(f, p) {
			each(p)
		}
	}
}

// candidates narrows a filter down by its ids or by an index.
func (c *collection) candidates(f *qd.Filter) (ids []string, ok bool) {
	for _, cond := range f.GetMust() {
		if cond.GetHasId() != nil {
			for _, id := range cond.GetHasId().GetHasId() {
				ids = append(ids, idText(id))
			}
			return ids, true
		}
	}
	for _, cond := range f.GetMust() {
		if ids, ok := c.indexed(cond); ok {
			return ids, true
		}
	}
	return nil, false
}

// indexed gives the ids of the points that a condition may hold for, if an index tells.
func (c *collection) indexed(cond *qd.Condition) (ids []string, ok bool) {
	if either := cond.GetFilter().GetShould(); len(either) > 0 {
		seen := map[string]bool{}
		for _, one := range either {
			some, ok := c.indexed(one)
			if !ok {
				return nil, false
			}
			for _, id := range some {
				if !seen[id] {
					seen[id] = true
					ids = append(ids, id)
				}
			}
		}
		return ids, true
	}
	field := cond.GetField()
	values, ok := c.by[field.GetKey()]
	if !ok {
		return nil, false
	}
	words := field.GetMatch().GetKeywords().GetStrings()
	if one, keyword := field.GetMatch().GetMatchValue().(*qd.Match_Keyword); keyword {
		words = []string{one.Keyword}
	}
	for _, w := range words {
		for id := range values[w] {
			ids = append(ids, id)
		}
	}
	return ids, words != nil
}

// idText gives an id such that the order of texts is that of ids: numbers before
// UUIDs.
func idText(id *qd.PointId) string {
	if u := id.GetUuid(); u != "" {
		return u
	}
	n := id.GetNum()
	text := make([]byte, 0, 21)
	for shift := 60; shift >= 0; shift -= 4 {
		text = append(text, "0123456789abcdef"[n>>shift&15])
	}
	return "!" + string(text)
}
