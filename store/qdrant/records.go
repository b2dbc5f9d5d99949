package qdrant

import (
	"context"
	"encoding/base64"
	"slices"
	"time"

	"memoryd"
	"memoryd/store"

	qd "github.com/qdrant/go-client/qdrant"
)

// Fields of a record's point, beside fieldSpaceID, fieldSpace and fieldTool.
const (
	fieldGroup    = "group"
	fieldOfLife   = "of_life"
	fieldKind     = "kind"
	fieldID       = "id"
	fieldRevision = "revision"
	fieldWriters  = "writers" // nonces, newest first
	fieldExpires  = "expires" // microseconds
	fieldData     = "data"    // base64
	fieldLength   = "length"
)

// PutRecord implements store.Records.
func (s *backend) PutRecord(ctx context.Context, r store.Record) (int64, error) {
	life, err := s.lifeOf(ctx, r.ToolRef)
	if err != nil {
		return 0, err
	}
	return s.putRecord(ctx, &r, life)
}

// lifeOf gives the life that a record belongs to: "" when it names no tool.
func (s *backend) lifeOf(ctx context.Context, ref memoryd.ToolRef) (string, error) {
	if ref.Tool == "" {
		return "", nil
	}
	t, err := s.findCounted(ctx, ref)
	if err != nil {
		return "", err
	}
	return t.life, nil
}

// putRecord writes by comparing revisions; without one to compare it goes on
// until it won.
func (s *backend) putRecord(ctx context.Context, r *store.Record, life string) (int64, error) {
	id := recordID(recordGroup(r.RecordKey, life), r.ID)
	for {
		old, err := s.one(ctx, s.docs, id, include(fieldRevision, fieldWriters))
		if err != nil {
			return 0, err
		}
		revision := old.int(fieldRevision)
		if r.Revision != store.AnyRevision && r.Revision != revision {
			return 0, store.Replaced("record")
		}
		won, err := s.replaceRecord(ctx, id, life, old, r)
		if won || err != nil {
			return revision + 1, err
		}
		if r.Revision != store.AnyRevision {
			return 0, store.Replaced("record")
		}
	}
}

// replaceRecord writes a record if old is there still, and tells whether it did.
func (s *backend) replaceRecord(ctx context.Context, id, life string, old payload, r *store.Record) (bool, error) {
	nonce := newMark()
	p := encodeRecord(r, life)
	revision := old.int(fieldRevision)
	p[fieldRevision] = integer(revision + 1)
	p[fieldWriters] = words(marks(nonce, old.words(fieldWriters)))
	var err error
	if old == nil {
		err = s.insert(ctx, s.docs, s.compareOrder(), []*qd.PointStruct{newPoint(id, p)})
	} else {
		same := all(qd.NewHasID(qd.NewIDUUID(id)), isInt(fieldRevision, revision))
		err = s.set(ctx, s.docs, s.compareOrder(), same, p)
	}
	if err != nil {
		return false, err
	}
	now, err := s.one(ctx, s.docs, id, include(fieldWriters))
	return slices.Contains(now.words(fieldWriters), nonce), err
}

func encodeRecord(r *store.Record, life string) payload {
	p := payload{
		fieldGroup: word(recordGroup(r.RecordKey, life)), fieldSpace: word(r.Workspace), fieldTool: word(r.Tool),
		fieldKind: word(r.Kind), fieldID: word(r.ID), fieldData: word(base64.StdEncoding.EncodeToString(r.Data)),
		fieldLength: integer(int64(len(r.Data))), fieldExpires: integer(-1),
	}
	if !r.Expires.IsZero() {
		p[fieldExpires] = integer(dueAt(r.Expires))
	}
	if life != "" {
		p[fieldOfLife] = word(life)
	}
	if r.Workspace != "" {
		p[fieldSpaceID] = word(workspaceID(r.Workspace))
	}
	putOrder(p, r.ID)
	return p
}

func decodeRecord(p payload) (store.Record, error) {
	r := store.Record{
		RecordKey: store.RecordKey{
			ToolRef: memoryd.ToolRef{Workspace: p.word(fieldSpace), Tool: p.word(fieldTool)}, Kind: p.word(fieldKind), ID: p.word(fieldID),
		},
		Revision: p.int(fieldRevision),
	}
	if at := p.int(fieldExpires); at >= 0 {
		r.Expires = time.UnixMicro(at).UTC()
	}
	var err error
	r.Data, err = base64.StdEncoding.DecodeString(p.word(fieldData))
	return r, damaged("record", err)
}

// Record implements store.Records.
func (s *backend) Record(ctx context.Context, key store.RecordKey) (store.Record, error) {
	life, err := s.lifeOf(ctx, key.ToolRef)
	if err != nil {
		return store.Record{}, err
	}
	id := recordID(recordGroup(key, life), key.ID)
	p, err := s.one(ctx, s.docs, id, whole())
	if err != nil {
		return store.Record{}, err
	}
	if p == nil {
		return store.Record{}, store.UnknownRecord()
	}
	return decodeRecord(p)
}

// ListRecords implements store.Records.
func (s *backend) ListRecords(ctx context.Context, from store.RecordKey, limit int) ([]store.Record, error) {
	life, err := s.lifeOf(ctx, from.ToolRef)
	if err != nil {
		return nil, memoryd.Except(err, memoryd.NotFound)
	}
	l := s.listing(s.docs, is(fieldGroup, recordGroup(from, life)), fieldID, fieldLength)
	l.after = from.ID
	page, err := l.page(ctx, limit)
	if err != nil {
		return nil, err
	}
	size, n := int64(0), 0
	for _, p := range page {
		if size += p.int(fieldLength); size > store.MaxRecordBytes && n > 0 {
			break
		}
		n++
	}
	return s.recordsOf(ctx, page[:n])
}

// RecordsSize implements store.Records.
func (s *backend) RecordsSize(ctx context.Context, of store.RecordKey) (size store.Size, err error) {
	life, err := s.lifeOf(ctx, of.ToolRef)
	if err != nil {
		return size, memoryd.Except(err, memoryd.NotFound)
	}
	err = s.scrollAll(ctx, s.docs, all(is(fieldGroup, recordGroup(of, life))), 1024, func(ps []point) error {
		for _, p := range ps {
			size.Add(store.Size{Count: 1, Bytes: p.int(fieldLength)})
		}
		return nil
	}, fieldLength)
	return size, err
}

func (s *backend) recordsOf(ctx context.Context, ps []point) ([]store.Record, error) {
	found, err := s.wholes(ctx, s.docs, ps)
	if err != nil {
		return nil, err
	}
	out := make([]store.Record, len(found))
	for i, p := range found {
		if out[i], err = decodeRecord(p.payload); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// DeleteRecord implements store.Records.
func (s *backend) DeleteRecord(ctx context.Context, key store.RecordKey) error {
	life, err := s.lifeOf(ctx, key.ToolRef)
	if err != nil {
		return memoryd.Except(err, memoryd.NotFound)
	}
	return s.remove(ctx, s.docs, qd.NewPointsSelector(qd.NewIDUUID(recordID(recordGroup(key, life), key.ID))))
}

// ExpireRecords implements store.Records. A record that is written again in the meantime
// stays: only expired records are removed.
func (s *backend) ExpireRecords(ctx context.Context, now time.Time, limit int) (int, error) {
	total := 0
	for total < limit {
		expired := between(fieldExpires, 0, dueAt(now))
		found, err := s.scroll(ctx, s.docs, all(expired), nil, min(limit-total, getBatch))
		if err != nil || len(found) == 0 {
			return total, err
		}
		gone := all(qd.NewHasID(pointIDs(idsOf(found))...), expired)
		if err := s.remove(ctx, s.docs, qd.NewPointsSelectorFilter(gone)); err != nil {
			return total, err
		}
		total += len(found)
	}
	return total, nil
}

// PutRecords implements store.Records. It inserts all records as new ones, then replaces
// those that already existed one by one.
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
	if err := p.s.insertAll(ctx, p.s.docs, p.s.compareOrder(), points); err != nil {
		return err
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
	return besides(ctx, p.s, p.ids, func(ctx context.Context, _ int, id string) error {
		for _, r := range p.byID[id] {
			if _, err := p.s.putRecord(ctx, &r, p.lives[r.ToolRef]); err != nil {
				return err
			}
		}
		return nil
	})
}
