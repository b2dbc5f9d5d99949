package qdrant

import (
	"context"
	"fmt"
	"slices"
	"time"

	"memoryd"

	qd "github.com/qdrant/go-client/qdrant"
)

// point is a point with its id as text.
type point struct {
	id    string
	order int64 // what it was ordered by
	payload
}

func pointsOf(in []*qd.RetrievedPoint) []point {
	out := make([]point, len(in))
	for i, p := range in {
		out[i] = point{p.GetId().GetUuid(), p.GetOrderValue().GetInt(), p.GetPayload()}
	}
	return out
}

func idsOf(ps []point) []string {
	ids := make([]string, len(ps))
	for i, p := range ps {
		ids[i] = p.id
	}
	return ids
}

// fieldsOrNone asks for some fields of points, or for their ids alone.
func fieldsOrNone(fields []string) *qd.WithPayloadSelector {
	if len(fields) == 0 {
		return qd.NewWithPayload(false)
	}
	return include(fields...)
}

// getBatch is how many points one request asks for at most.
const getBatch = 512

// get reads points by id, in no order; those that are not there are left out.
//
// A quorum leaves out what its copies differ in, also a point that is just being
// written. So what it does not find is asked for again.
func (s *backend) get(ctx context.Context, collection string, ids []*qd.PointId, with *qd.WithPayloadSelector) ([]point, error) {
	const again, pause = 3, 20 * time.Millisecond
	var out []point
	for try := 0; ; try++ {
		quorum := s.asksQuorum()
		found, err := s.getOnce(ctx, collection, ids, with)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
		if len(found) == len(ids) || !quorum && !s.asksQuorum() || try == again {
			return out, nil
		}
		there := map[string]bool{}
		for _, p := range found {
			there[p.id] = true
		}
		ids = slices.DeleteFunc(slices.Clone(ids), func(id *qd.PointId) bool { return there[id.GetUuid()] })
		if !s.sleep(ctx, pause<<try) {
			return nil, fmt.Errorf("qdrant: get: %w", context.Cause(ctx))
		}
	}
}

func (s *backend) getOnce(ctx context.Context, collection string, ids []*qd.PointId, with *qd.WithPayloadSelector) ([]point, error) {
	var out []point
	for part := range slices.Chunk(ids, getBatch) {
		found, err := ask(ctx, s, "get", func(ctx context.Context) ([]*qd.RetrievedPoint, error) {
			return s.client.Get(ctx, &qd.GetPoints{
				CollectionName: collection, Ids: part, WithPayload: with, WithVectors: qd.NewWithVectors(false),
				ReadConsistency: s.consistency(),
			})
		})
		if err != nil {
			return nil, err
		}
		out = append(out, pointsOf(found)...)
	}
	return out, nil
}

// getMap is get by id.
func (s *backend) getMap(ctx context.Context, collection string, ids []string, with *qd.WithPayloadSelector) (map[string]payload, error) {
	found, err := s.get(ctx, collection, pointIDs(ids), with)
	if err != nil {
		return nil, err
	}
	out := make(map[string]payload, len(found))
	for _, p := range found {
		out[p.id] = p.payload
	}
	return out, nil
}

// one reads a point; nil where there is none.
func (s *backend) one(ctx context.Context, collection, id string, with *qd.WithPayloadSelector) (payload, error) {
	found, err := s.getMap(ctx, collection, []string{id}, with)
	return found[id], err
}

// wholes reads some points whole, in their order, without those that are gone.
func (s *backend) wholes(ctx context.Context, collection string, ps []point) (out []point, err error) {
	ids := idsOf(ps)
	found, err := s.getMap(ctx, collection, ids, whole())
	for _, id := range ids {
		if p, ok := found[id]; ok {
			out = append(out, point{id: id, payload: p})
		}
	}
	return out, err
}

// scroll reads up to limit points that the filter holds for, in an order if one
// is given and by id otherwise.
func (s *backend) scroll(ctx context.Context, collection string, f *qd.Filter, by *qd.OrderBy, limit int,
	fields ...string,
) ([]point, error) {
	with := fieldsOrNone(fields)
	found, err := ask(ctx, s, "scroll", func(ctx context.Context) ([]*qd.RetrievedPoint, error) {
		return s.client.Scroll(ctx, &qd.ScrollPoints{
			CollectionName: collection, Filter: f, OrderBy: by, Limit: new(uint32(limit)), WithPayload: with,
			WithVectors: qd.NewWithVectors(false), ReadConsistency: s.consistency(),
		})
	})
	return pointsOf(found), err
}

// scrollAll calls each for all points that the filter holds for, page by page.
func (s *backend) scrollAll(ctx context.Context, collection string, f *qd.Filter, page int, each func([]point) error,
	fields ...string,
) error {
	with := fieldsOrNone(fields)
	var offset *qd.PointId
	for {
		var next *qd.PointId
		found, err := ask(ctx, s, "scroll", func(ctx context.Context) (out []*qd.RetrievedPoint, err error) {
			out, next, err = s.client.ScrollAndOffset(ctx, &qd.ScrollPoints{
				CollectionName: collection, Filter: f, Offset: offset, Limit: new(uint32(page)), WithPayload: with,
				WithVectors: qd.NewWithVectors(false), ReadConsistency: s.consistency(),
			})
			return out, err
		})
		if err != nil {
			return err
		}
		if err := each(pointsOf(found)); err != nil {
			return err
		}
		if next == nil {
			return nil
		}
		offset = next
	}
}

// count counts exactly.
func (s *backend) count(ctx context.Context, collection string, f *qd.Filter) (int64, error) {
	n, err := ask(ctx, s, "count", func(ctx context.Context) (uint64, error) {
		return s.client.Count(ctx, &qd.CountPoints{
			CollectionName: collection, Filter: f, Exact: new(true), ReadConsistency: s.consistency(),
		})
	})
	return int64(n), err
}

// newPoint makes a point without vectors.
func newPoint(id string, p payload) *qd.PointStruct {
	return &qd.PointStruct{Id: qd.NewIDUUID(id), Payload: p, Vectors: qd.NewVectorsMap(map[string]*qd.Vector{})}
}

// newCallPoint makes a point of the collection of calls.
func newCallPoint(id string, p payload) *qd.PointStruct {
	pt := newPoint(id, p)
	pt.Vectors = qd.NewVectorsMap(map[string]*qd.Vector{packVector: qd.NewVectorDense([]float32{1})})
	return pt
}

// insert writes points whose ids are not there; the others stay as they are.
func (s *backend) insert(ctx context.Context, collection string, order *qd.WriteOrdering, points []*qd.PointStruct) error {
	r := &qd.UpsertPoints{CollectionName: collection, Wait: new(true), Points: points, Ordering: order, UpdateFilter: nothing()}
	return update(ctx, s, "insert", s.client.Upsert, r)
}

// replace writes those points that the filter holds for, or that are not there.
func (s *backend) replace(ctx context.Context, collection string, points []*qd.PointStruct, f *qd.Filter) error {
	r := &qd.UpsertPoints{CollectionName: collection, Wait: new(true), Points: points, Ordering: s.appendOrder(), UpdateFilter: f}
	return update(ctx, s, "replace", s.client.Upsert, r)
}

// upsert writes points whatever is there.
func (s *backend) upsert(ctx context.Context, collection string, points []*qd.PointStruct) error {
	return s.replace(ctx, collection, points, nil)
}

// set merges fields into the points that the filter holds for; it never makes
// one.
func (s *backend) set(ctx context.Context, collection string, order *qd.WriteOrdering, f *qd.Filter, p payload) error {
	return update(ctx, s, "set payload", s.client.SetPayload, &qd.SetPayloadPoints{
		CollectionName: collection, Wait: new(true), Payload: p, PointsSelector: qd.NewPointsSelectorFilter(f), Ordering: order,
	})
}

func (s *backend) remove(ctx context.Context, collection string, which *qd.PointsSelector) error {
	return update(ctx, s, "delete", s.client.Delete, &qd.DeletePoints{
		CollectionName: collection, Wait: new(true), Points: which, Ordering: s.compareOrder(),
	})
}

// update makes a write and sees that it was done, not only noted.
func update[Q any](ctx context.Context, s *backend, what string, write func(context.Context, Q) (*qd.UpdateResult, error), request Q,
) error {
	_, err := ask(ctx, s, what, func(ctx context.Context) (*qd.UpdateResult, error) {
		r, err := write(ctx, request)
		if err == nil && r.GetStatus() != qd.UpdateStatus_Completed {
			return nil, errNotDone(r.GetStatus())
		}
		return r, err
	})
	switch {
	case memoryd.IsKind(err, memoryd.Unavailable):
		s.refused.Store(&refusal{time.Now(), err})
	case err == nil && s.refused.Load() != nil:
		s.refused.Store(nil)
	}
	return err
}

func all(must ...*qd.Condition) *qd.Filter { return &qd.Filter{Must: must} }

func is(field, value string) *qd.Condition { return qd.NewMatchKeyword(field, value) }

func isInt(field string, value int64) *qd.Condition { return qd.NewMatchInt(field, value) }

// atLeast and between compare a whole number below 2^53.
func atLeast(field string, n int64) *qd.Condition {
	return qd.NewRange(field, &qd.Range{Gte: new(float64(n))})
}

func between(field string, from, to int64) *qd.Condition {
	return qd.NewRange(field, &qd.Range{Gte: new(float64(from)), Lte: new(float64(to))})
}

// nothing holds for no point: no point has the field.
func nothing() *qd.Filter { return all(is("never", "ever")) }

func ascending(field string) *qd.OrderBy {
	return &qd.OrderBy{Key: field, Direction: qd.Direction_Asc.Enum()}
}

func descending(field string) *qd.OrderBy {
	return &qd.OrderBy{Key: field, Direction: qd.Direction_Desc.Enum()}
}
