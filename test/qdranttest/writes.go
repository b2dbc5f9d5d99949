package qdranttest

import (
	"context"
	"maps"
	"slices"

	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

type pointsService struct {
	qd.UnimplementedPointsServer
	s *Server
}

// write runs a change to a collection under the server's lock.
func (s *Server) write(name string, change func(c *collection) error) (*qd.PointsOperationResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.find(name)
	if c == nil {
		return nil, missing(name)
	}
	if s.lags {
		c.before = maps.Clone(c.points)
	}
	if err := change(c); err != nil {
		return nil, err
	}
	return &qd.PointsOperationResponse{Result: &qd.UpdateResult{Status: qd.UpdateStatus_Completed}}, nil
}

// CreateFieldIndex records the index.
func (p *pointsService) CreateFieldIndex(_ context.Context, r *qd.CreateFieldIndexCollection) (*qd.PointsOperationResponse, error) {
	return p.s.write(r.GetCollectionName(), func(c *collection) error {
		kind := qd.PayloadSchemaType_Integer
		if r.GetFieldType() == qd.FieldType_FieldTypeUuid {
			kind = qd.PayloadSchemaType_Uuid
		}
		c.schema[r.GetFieldName()] = &qd.PayloadSchemaInfo{DataType: kind, Params: r.GetFieldIndexParams()}
		if kind == qd.PayloadSchemaType_Uuid && c.by[r.GetFieldName()] == nil {
			c.by[r.GetFieldName()] = map[string]map[string]bool{}
			for _, pt := range maps.Clone(c.points) {
				c.put(pt)
			}
		}
		return nil
	})
}

// Upsert writes points, under the condition and in the mode of the request. A server before
// 1.17 ignores modes.
func (p *pointsService) Upsert(_ context.Context, r *qd.UpsertPoints) (*qd.PointsOperationResponse, error) {
	return p.s.write(r.GetCollectionName(), func(c *collection) error {
		for _, pt := range r.GetPoints() {
			if pt.GetVectors() == nil {
				return status.Error(codes.InvalidArgument, "Expected some vectors")
			}
			for name := range pt.GetVectors().GetVectors().GetVectors() {
				if !c.vectors[name] {
					return status.Errorf(codes.InvalidArgument, "Wrong input: Not existing vector name error: %s", name)
				}
			}
		}
		for _, pt := range r.GetPoints() {
			old := c.points[idText(pt.GetId())]
			mode := r.GetUpdateMode()
			if !p.s.modes {
				mode = qd.UpdateMode_Upsert
			}
			if old != nil && mode == qd.UpdateMode_InsertOnly || old == nil && mode == qd.UpdateMode_UpdateOnly {
				continue
			}
			if old != nil && r.GetUpdateFilter() != nil && !holds(r.GetUpdateFilter(), old) {
				continue
			}
			c.put(&stored{
				id: idText(pt.GetId()), pid: pt.GetId(), payload: pt.GetPayload(),
			})
		}
		return nil
	})
}

// targets gives the points that a selector chooses.
func (c *collection) targets(sel *qd.PointsSelector) []*stored {
	var out []*stored
	if f := sel.GetFilter(); f != nil {
		c.matching(c.points, f, func(p *stored) { out = append(out, p) })
		return out
	}
	for _, id := range sel.GetPoints().GetIds() {
		if p := c.points[idText(id)]; p != nil {
			out = append(out, p)
		}
	}
	return out
}

// Delete removes points.
func (p *pointsService) Delete(_ context.Context, r *qd.DeletePoints) (*qd.PointsOperationResponse, error) {
	return p.s.write(r.GetCollectionName(), func(c *collection) error {
		for _, pt := range c.targets(r.GetPoints()) {
			c.drop(pt.id)
		}
		return nil
	})
}

func (c *collection) setPayload(sel *qd.PointsSelector, add map[string]*qd.Value) {
	for _, pt := range c.targets(sel) {
		c.change(pt, func(next *stored) { maps.Copy(next.payload, add) })
	}
}

// change puts a point like another in its place.
func (c *collection) change(pt *stored, how func(next *stored)) {
	next := *pt
	next.payload = maps.Clone(pt.payload)
	how(&next)
	c.put(&next)
}

// SetPayload sets fields of points.
func (p *pointsService) SetPayload(_ context.Context, r *qd.SetPayloadPoints) (*qd.PointsOperationResponse, error) {
	return p.s.write(r.GetCollectionName(), func(c *collection) error {
		c.setPayload(r.GetPointsSelector(), r.GetPayload())
		return nil
	})
}

// DeletePayload removes fields of points.
func (p *pointsService) DeletePayload(_ context.Context, r *qd.DeletePayloadPoints) (*qd.PointsOperationResponse, error) {
	return p.s.write(r.GetCollectionName(), func(c *collection) error {
		for _, pt := range c.targets(r.GetPointsSelector()) {
			c.change(pt, func(next *stored) {
				maps.DeleteFunc(next.payload, func(key string, _ *qd.Value) bool { return slices.Contains(r.GetKeys(), key) })
			})
		}
		return nil
	})
}

// UpdateBatch makes several changes in order. It supports only changes of payloads.
func (p *pointsService) UpdateBatch(ctx context.Context, r *qd.UpdateBatchPoints) (*qd.UpdateBatchResponse, error) {
	out := &qd.UpdateBatchResponse{}
	for _, op := range r.GetOperations() {
		set := op.GetSetPayload()
		if set == nil {
			return nil, status.Error(codes.Unimplemented, "the fake knows batches of set_payload only")
		}
		reply, err := p.s.write(r.GetCollectionName(), func(c *collection) error {
			c.setPayload(set.GetPointsSelector(), set.GetPayload())
			return nil
		})
		if err != nil {
			return nil, err
		}
		out.Result = append(out.Result, reply.GetResult())
	}
	return out, nil
}
