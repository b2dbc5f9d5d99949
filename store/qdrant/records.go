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
	return s.putRecords(ctx, r)
}

// PutRecords implements store.Records.
func (s *backend) PutRecords(ctx context.Context, rs []store.Record) error {
	rs = slices.Clone(rs)
	for i := range rs {
		rs[i].Revision = store.AnyRevision
	}
	_, err := s.putRecords(ctx, rs...)
	return err
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

// putRecords writes records by comparing revisions, and gives the last one. Records of one key follow
// each other. One without a revision to compare is written again until it won.
func (s *backend) putRecords(ctx context.Context, rs ...store.Record) (revision int64, err error) {
	lives, todo := map[memoryd.ToolRef]string{}, map[string][]store.Record{}
	for _, r := range rs {
		if _, known := lives[r.ToolRef]; !known {
			if lives[r.ToolRef], err = s.lifeOf(ctx, r.ToolRef); err != nil {
				return 0, err
			}
		}
		id := recordID(recordGroup(r.RecordKey, lives[r.ToolRef]), r.ID)
		todo[id] = append(todo[id], r)
	}
	for len(todo) > 0 && err == nil {
		revision, err = s.putRound(ctx, lives, todo)
	}
	return revision, err
}

// putRound writes the first record for each point, unless another writer is faster, and takes it
// from the list.
func (s *backend) putRound(ctx context.Context, lives map[memoryd.ToolRef]string, todo map[string][]store.Record,
) (revision int64, err error) {
	ids, nonce := keysOf(todo), newMark()
	old, err := s.getMap(ctx, s.docs, ids, include(fieldRevision, fieldWriters))
	if err != nil {
		return 0, err
	}
	var made, changed []*qd.PointStruct
	for id, rs := range todo {
		r, revision := &rs[0], old[id].int(fieldRevision)
		if r.Revision != store.AnyRevision && r.Revision != revision {
			return 0, store.Replaced("record")
		}
		p := encodeRecord(r, lives[r.ToolRef])
		p[fieldRevision], p[fieldWriters] = integer(revision+1), words(marks(nonce, old[id].words(fieldWriters)))
		if old[id] == nil {
			made = append(made, newPoint(id, p))
		} else {
			changed = append(changed, newPoint(id, p))
		}
	}
	if len(made) > 0 {
		if err := s.insertAll(ctx, s.docs, s.compareOrder(), made); err != nil {
			return 0, err
		}
	}
	err = besides(ctx, s, changed, func(ctx context.Context, _ int, p *qd.PointStruct) error {
		same := all(qd.NewHasID(p.GetId()), isInt(fieldRevision, old[p.GetId().GetUuid()].int(fieldRevision)))
		return s.set(ctx, s.docs, s.compareOrder(), same, p.GetPayload())
	})
	if err != nil {
		return 0, err
	}
	now, err := s.getMap(ctx, s.docs, ids, include(fieldWriters))
	for id, rs := range todo {
		switch {
		case err != nil:
		case slices.Contains(now[id].words(fieldWriters), nonce):
			revision = old[id].int(fieldRevision) + 1
			if todo[id] = rs[1:]; len(rs) == 1 {
				delete(todo, id)
			}
		case rs[0].Revision != store.AnyRevision:
			err = store.Replaced("record")
		}
	}
	return revision, err
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
