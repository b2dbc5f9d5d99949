package sqlite

import (
	"context"
	"database/sql/driver"
	"time"

	"memoryd"
	"memoryd/store"
)

const recordColumns = `workspace, tool, kind, id, revision, expires, data`

// PutRecord implements store.Records.
func (s *backend) PutRecord(ctx context.Context, r store.Record) (int64, error) {
	return s.putRecords(ctx, []store.Record{r}, r.Revision != store.AnyRevision)
}

// PutRecords implements store.Records.
func (s *backend) PutRecords(ctx context.Context, rs []store.Record) error {
	_, err := s.putRecords(ctx, rs, false)
	return err
}

// putRecords gives the revision of the last one; compare looks at that of the
// only one.
func (s *backend) putRecords(ctx context.Context, rs []store.Record, compare bool) (int64, error) {
	size := int64(0)
	for i := range rs {
		size += rowBytes + int64(len(rs[i].Data))
	}
	return written(ctx, s.w, size, afterVerdicts, func(d *draft) (revision int64, err error) {
		for i := range rs {
			if rs[i].Tool != "" && d.find(rs[i].ToolRef) == nil {
				return 0, refusal{store.UnknownTool()}
			}
		}
		for i := range rs {
			r := &rs[i]
			old, err := d.c.number(`SELECT revision FROM records WHERE workspace = ? AND tool = ? AND kind = ? AND id = ?`,
				r.Workspace, r.Tool, r.Kind, r.ID)
			if err != nil {
				return 0, err
			}
			if compare && r.Revision != old {
				return 0, refusal{store.Replaced("record")}
			}
			revision = old + 1
			if err := d.c.exec(`INSERT INTO records (`+recordColumns+`) VALUES (?,?,?,?,?,?,?)
				ON CONFLICT DO UPDATE SET revision = excluded.revision, expires = excluded.expires, data = excluded.data`,
				r.Workspace, r.Tool, r.Kind, r.ID, revision, micros(r.Expires), append([]byte{}, r.Data...)); err != nil {
				return 0, err
			}
		}
		return revision, nil
	})
}

// Record implements store.Records.
func (s *backend) Record(ctx context.Context, key store.RecordKey) (store.Record, error) {
	found, err := s.readRecords(ctx, 1,
		`SELECT `+recordColumns+` FROM records WHERE workspace = ? AND tool = ? AND kind = ? AND id = ?`,
		key.Workspace, key.Tool, key.Kind, key.ID)
	if err != nil {
		return store.Record{}, err
	}
	if len(found) == 0 {
		return store.Record{}, store.UnknownRecord()
	}
	return found[0], nil
}

// ListRecords implements store.Records.
func (s *backend) ListRecords(ctx context.Context, from store.RecordKey, limit int) ([]store.Record, error) {
	return s.readRecords(ctx, limit,
		`SELECT `+recordColumns+` FROM records WHERE workspace = ? AND tool = ? AND kind = ? AND id > ? ORDER BY id `+limited,
		from.Workspace, from.Tool, from.Kind, from.ID, int64(limit))
}

// RecordsSize implements store.Records.
func (s *backend) RecordsSize(ctx context.Context, of store.RecordKey) (size store.Size, err error) {
	err = s.read(ctx, func(c *conn) error {
		return c.query(ctx, `SELECT count(*), coalesce(sum(octet_length(data)), 0) FROM records WHERE workspace = ? AND tool = ? AND kind = ?`,
			func(v []driver.Value) error {
				size = store.Size{Count: integer(v[0]), Bytes: integer(v[1])}
				return nil
			}, of.Workspace, of.Tool, of.Kind)
	})
	return size, err
}

// errEnough ends a reading early.
var errEnough = memoryd.Errorf(memoryd.Internal, "enough was read")

// readRecords reads up to limit records, and not more bytes than one may have
// unless it is the first.
func (s *backend) readRecords(ctx context.Context, limit int, query string, values ...driver.Value) ([]store.Record, error) {
	var out []store.Record
	size := 0
	err := s.read(ctx, func(c *conn) error {
		err := c.query(ctx, query, func(v []driver.Value) error {
			r := scanRecord(v)
			if size += len(r.Data); len(out) == limit || size > store.MaxRecordBytes && len(out) > 0 {
				return errEnough
			}
			out = append(out, r)
			return nil
		}, values...)
		if err == errEnough { //nolint:errorlint // never wrapped
			return nil
		}
		return err
	})
	return out, err
}

func scanRecord(v []driver.Value) store.Record {
	r := store.Record{Revision: integer(v[4]), Expires: timeOf(v[5]), Data: append([]byte{}, blob(v[6])...)}
	r.Workspace, r.Tool, r.Kind, r.ID = str(v[0]), str(v[1]), str(v[2]), str(v[3])
	return r
}

// DeleteRecord implements store.Records.
func (s *backend) DeleteRecord(ctx context.Context, key store.RecordKey) error {
	_, err := s.deleteRecords(ctx, `workspace = ? AND tool = ? AND kind = ? AND id = ?`,
		key.Workspace, key.Tool, key.Kind, key.ID)
	return err
}

// ExpireRecords implements store.Records.
func (s *backend) ExpireRecords(ctx context.Context, now time.Time, limit int) (int, error) {
	return s.deleteRecords(ctx, `rowid IN (SELECT rowid FROM records WHERE expires <= ? ORDER BY expires LIMIT ?)`,
		now.UnixMicro(), int64(limit))
}

func (s *backend) deleteRecords(ctx context.Context, where string, values ...driver.Value) (int, error) {
	return written(ctx, s.w, rowBytes, afterVerdicts, func(d *draft) (int, error) { return d.dropRecords(where, values...) })
}

// dropRecords deletes records with their bytes in the file, and counts them.
func (d *draft) dropRecords(where string, values ...driver.Value) (int, error) {
	n, err := d.c.number(`SELECT count(*) FROM records WHERE `+where, values...)
	if err != nil || n == 0 {
		return 0, err
	}
	err = d.c.wiping(func() error { return d.c.exec(`DELETE FROM records WHERE `+where, values...) })
	d.after = append(d.after, func() { d.w.clean.Store(true) })
	return int(n), err
}

// wiping runs f with deleted bytes being overwritten.
func (c *conn) wiping(f func() error) error {
	if err := c.exec(`PRAGMA secure_delete = ON`); err != nil {
		return err
	}
	err := f()
	if perr := c.exec(`PRAGMA secure_delete = FAST`); err == nil {
		err = perr
	}
	return err
}
