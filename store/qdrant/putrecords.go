package qdrant

import (
	"context"
	"slices"

	"memoryd"
	"memoryd/internal/lifecycle"
	"memoryd/store"

	qd "github.com/qdrant/go-client/qdrant"
)

// PutRecords implements store.Records. It takes them for new ones and inserts them
// all; those that are there already are then replaced one by one.
func (s *backend) PutRecords(ctx context.Context, rs []store.Record) error {
	p, err := s.newPutting(ctx, rs)
	if err != nil {
		return err
	}
	if err := p.insert(ctx); err != nil {
		return err
	}
	return p.replace(ctx)
}

// putting is a PutRecords under way. Records of one key follow each other.
type putting struct {
	s     *backend
	nonce string
	ids   []string
	byID  map[string][]store.Record
	lives map[memoryd.ToolRef]string
}

func (s *backend) newPutting(ctx context.Context, rs []store.Record) (*putting, error) {
	p := &putting{s: s, nonce: newMark(), byID: map[string][]store.Record{}, lives: map[memoryd.ToolRef]string{}}
	for _, r := range rs {
		life, known := p.lives[r.ToolRef]
		if !known {
			var err error
			if life, err = s.lifeOf(ctx, r.ToolRef); err != nil {
				return nil, err
			}
			p.lives[r.ToolRef] = life
		}
		r.Revision = store.AnyRevision
		id := recordID(recordGroup(r.RecordKey, life), r.ID)
		if p.byID[id] == nil {
			p.ids = append(p.ids, id)
		}
		p.byID[id] = append(p.byID[id], r)
	}
	return p, nil
}

// insert makes the first record of each key that is not there, and forgets it.
func (p *putting) insert(ctx context.Context) error {
	points := make([]*qd.PointStruct, len(p.ids))
	for i, id := range p.ids {
		r := &p.byID[id][0]
		fields := encodeRecord(r, p.lives[r.ToolRef])
		fields[fieldRevision], fields[fieldWriters] = integer(1), words([]string{p.nonce})
		points[i] = newPoint(id, fields)
	}
	for len(points) > 0 {
		n := requestSize(points)
		if err := p.s.insert(ctx, p.s.docs, p.s.compareOrder, points[:n]); err != nil {
			return err
		}
		points = points[n:]
	}
	found, err := p.s.getMap(ctx, p.s.docs, p.ids, include(fieldWriters))
	if err != nil {
		return err
	}
	for id := range p.byID {
		if slices.Contains(found[id].words(fieldWriters), p.nonce) {
			p.byID[id] = p.byID[id][1:]
		}
	}
	return nil
}

// replace writes the records that are left over what is there.
func (p *putting) replace(ctx context.Context) error {
	g, gctx := lifecycle.NewGroup(ctx, p.s.log, "qdrant", describers)
	for _, same := range p.byID {
		g.Go(func() error {
			for i := range same {
				if _, err := p.s.putRecord(gctx, &same[i], p.lives[same[i].ToolRef]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}
