package qdranttest

import (
	"cmp"
	"context"
	"slices"

	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// read runs a look at a collection; points are the state to look at.
func (s *Server) read(ctx context.Context, name string, how *qd.ReadConsistency,
	look func(c *collection, points map[string]*stored) error,
) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.find(name)
	if c == nil {
		return missing(name)
	}
	points := c.points
	if stale, _ := ctx.Value(staleKey{}).(bool); stale && !strict(how) {
		points = c.before
	}
	return look(c, points)
}

// strict reports whether a read sees each write that was acknowledged.
func strict(how *qd.ReadConsistency) bool {
	kind, ok := how.GetValue().(*qd.ReadConsistency_Type)
	return ok && (kind.Type == qd.ReadConsistencyType_Majority || kind.Type == qd.ReadConsistencyType_All)
}

// Get reads points by id.
func (p *pointsService) Get(ctx context.Context, r *qd.GetPoints) (*qd.GetResponse, error) {
	out := &qd.GetResponse{}
	return out, p.s.read(ctx, r.GetCollectionName(), r.GetReadConsistency(), func(_ *collection, points map[string]*stored) error {
		seen := map[string]bool{}
		for _, id := range r.GetIds() {
			pt := points[idText(id)]
			if pt == nil || seen[pt.id] {
				continue
			}
			seen[pt.id] = true
			out.Result = append(out.Result, &qd.RetrievedPoint{Id: pt.pid, Payload: selected(r.GetWithPayload(), pt)})
		}
		return nil
	})
}

// Count counts points.
func (p *pointsService) Count(ctx context.Context, r *qd.CountPoints) (*qd.CountResponse, error) {
	n := uint64(0)
	err := p.s.read(ctx, r.GetCollectionName(), r.GetReadConsistency(), func(c *collection, points map[string]*stored) error {
		c.matching(points, r.GetFilter(), func(*stored) { n++ })
		return nil
	})
	return &qd.CountResponse{Result: &qd.CountResult{Count: n}}, err
}

// Scroll reads points sorted by id, or by an indexed number.
func (p *pointsService) Scroll(ctx context.Context, r *qd.ScrollPoints) (*qd.ScrollResponse, error) {
	out := &qd.ScrollResponse{}
	return out, p.s.read(ctx, r.GetCollectionName(), r.GetReadConsistency(), func(c *collection, points map[string]*stored) error {
		var found []*stored
		c.matching(points, r.GetFilter(), func(pt *stored) { found = append(found, pt) })
		limit := 10
		if r.Limit != nil {
			limit = int(r.GetLimit())
		}
		if limit == 0 {
			return status.Error(codes.InvalidArgument, "limit cannot be 0")
		}
		if r.GetOrderBy() != nil {
			var err error
			if found, err = ordered(c, found, r); err != nil {
				return err
			}
		} else {
			slices.SortFunc(found, func(a, b *stored) int { return cmp.Compare(a.id, b.id) })
			if r.GetOffset() != nil {
				from := idText(r.GetOffset())
				found = slices.DeleteFunc(found, func(pt *stored) bool { return pt.id < from })
			}
			if len(found) > limit {
				out.NextPageOffset = found[limit].pid
			}
		}
		for _, pt := range found[:min(limit, len(found))] {
			one := &qd.RetrievedPoint{Id: pt.pid, Payload: selected(r.GetWithPayload(), pt)}
			if by := r.GetOrderBy(); by != nil {
				one.OrderValue = qd.NewOrderValueInt(pt.payload[by.GetKey()].GetIntegerValue())
			}
			out.Result = append(out.Result, one)
		}
		return nil
	})
}

func ordered(c *collection, found []*stored, r *qd.ScrollPoints) ([]*stored, error) {
	key := r.GetOrderBy().GetKey()
	info := c.schema[key]
	if info.GetDataType() != qd.PayloadSchemaType_Integer || !info.GetParams().GetIntegerIndexParams().GetRange() {
		return nil, status.Errorf(codes.InvalidArgument, "No range index for `order_by` key: `%s`", key)
	}
	if r.GetOffset() != nil {
		return nil, status.Error(codes.InvalidArgument, "Cannot use an `offset` when using `order_by`")
	}
	down := r.GetOrderBy().GetDirection() == qd.Direction_Desc
	from, bounded := r.GetOrderBy().GetStartFrom().GetValue().(*qd.StartFrom_Integer)
	value := func(pt *stored) int64 { return pt.payload[key].GetIntegerValue() }
	found = slices.DeleteFunc(found, func(pt *stored) bool {
		if _, ok := pt.payload[key].GetKind().(*qd.Value_IntegerValue); !ok {
			return true
		}
		return bounded && (down && value(pt) > from.Integer || !down && value(pt) < from.Integer)
	})
	slices.SortFunc(found, func(a, b *stored) int {
		order := cmp.Compare(value(a), value(b))
		if down {
			order = -order
		}
		return cmp.Or(order, cmp.Compare(a.id, b.id))
	})
	return found, nil
}
