package journal

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"time"

	"memoryd"
	"memoryd/store"
)

// kindTombstone is the kind of the records in the remote store that tell other journals
// of a deletion, so that their repairs do not bring back what was deleted.
const kindTombstone = "spool_grave"

// tombstoneLife is how long a deletion is remembered.
const tombstoneLife = 90 * 24 * time.Hour

func tombstoneKey(ref memoryd.ToolRef) store.RecordKey {
	id := sha256.Sum256([]byte(ref.Workspace + "\x00\x00" + ref.Tool))
	return store.RecordKey{Kind: kindTombstone, ID: hex.EncodeToString(id[:])}
}

// markDeleted leaves a tombstone for a tool, or a workspace, that is about to be deleted.
func (s *backend) markDeleted(ctx context.Context, ref memoryd.ToolRef) error {
	if ref.Workspace == "" {
		return nil
	}
	now := s.now()
	data := binary.BigEndian.AppendUint64(nil, uint64(s.self))
	data = binary.BigEndian.AppendUint64(data, uint64(now.UnixMicro()))
	_, err := s.remote.PutRecord(ctx, store.Record{
		RecordKey: tombstoneKey(ref), Revision: store.AnyRevision, Expires: now.Add(tombstoneLife), Data: data,
	})
	return err
}

// wasDeleted reports whether another journal deleted the tool, or its workspace, after
// the instant.
func (s *backend) wasDeleted(ctx context.Context, ref memoryd.ToolRef, after time.Time) (bool, error) {
	for _, r := range []memoryd.ToolRef{ref, {Workspace: ref.Workspace}} {
		g, err := s.remote.Record(ctx, tombstoneKey(r))
		if memoryd.IsKind(err, memoryd.NotFound) {
			continue
		}
		if err != nil {
			return false, err
		}
		if len(g.Data) != 16 || int64(binary.BigEndian.Uint64(g.Data)) == s.self {
			continue
		}
		if time.UnixMicro(int64(binary.BigEndian.Uint64(g.Data[8:]))).After(after) {
			return true, nil
		}
	}
	return false, nil
}
