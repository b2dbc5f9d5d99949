package qdrant

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"memoryd"
	"memoryd/store"

	"github.com/google/uuid"
	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
)

// schemaKey is where a collection says the version of its layout, in its metadata; its
// name says it too.
const schemaKey = "memoryd_schema"

// version is that of a collection's layout. Calls of version 1 had no packVector.
func (s *backend) version(alias string) int64 {
	if alias == s.calls {
		return 2
	}
	return 1
}

func versioned(alias string, version int64) string { return fmt.Sprintf("%s_v%d", alias, version) }

// packVector is why calls are packed: a server packs a segment (into sorted tenants and
// indexes that stay on the disk) when its vectors are large, and never one that cannot have
// any. So each point of a call or a content has one of one number, which nobody searches.
// Packing a segment writes it anew with what came, so it ends growing at segmentKB.
const (
	packVector = "pack"
	packKB     = 400  // of these vectors, four bytes each: 100,000 points
	segmentKB  = 2000 // 500,000 points
)

// index says how a field is indexed: a uuid is matched, a number compared and
// ordered by.
type index struct {
	field  string
	uuid   bool
	tenant bool
	// leaves says that points of a tool lose the field one by one. Such an index stays in
	// memory: one on the disk only marks what left, and a search for a tool's points passes
	// over the marks, under a lock (24 ms for 37,000 of them).
	leaves bool
}

// layout gives the indexes of a collection.
func (s *backend) layout() map[string][]index {
	return map[string][]index{
		s.calls: {
			{field: fieldLife, uuid: true, tenant: true},
			{field: fieldKept, uuid: true, leaves: true},
			{field: fieldContent, uuid: true},
			{field: fieldRun, uuid: true},
			{field: fieldStamp},
			{field: fieldSeq},
			{field: fieldPending},
			{field: fieldVerdict},
		},
		s.tools: {
			{field: fieldSpaceID, uuid: true, tenant: true},
			{field: fieldLife, uuid: true},
			{field: fieldTombstone},
			{field: fieldAllSpaces, uuid: true},
			{field: orderFields[0]},
			{field: orderFields[1]},
			{field: orderFields[2]},
		},
		s.docs: {
			{field: fieldGroup, uuid: true, tenant: true},
			{field: fieldOfLife, uuid: true},
			{field: fieldSpaceID, uuid: true},
			{field: fieldExpires},
			{field: fieldCached},
			{field: orderFields[0]},
			{field: orderFields[1]},
			{field: orderFields[2]},
		},
	}
}

// ensureSchema makes what is missing. What another process makes at the same
// time is not missed.
func (s *backend) ensureSchema(ctx context.Context) error {
	target, err := s.aliases(ctx)
	if err != nil {
		return err
	}
	for alias, indexes := range s.layout() {
		if target[alias] == "" {
			if err := s.create(ctx, alias); err != nil {
				return err
			}
		}
		if err := s.checkCollection(ctx, alias, indexes); err != nil {
			return err
		}
	}
	return nil
}

// aliases gives the collection of each alias.
func (s *backend) aliases(ctx context.Context) (map[string]string, error) {
	list, err := ask(ctx, s, "list aliases", s.client.ListAliases)
	target := map[string]string{}
	for _, a := range list {
		target[a.GetAliasName()] = a.GetCollectionName()
	}
	return target, err
}

// create makes a collection and its alias. A collection that is there has lost its alias
// and is given it again; beside one of an older version none is made.
func (s *backend) create(ctx context.Context, alias string) error {
	names, err := ask(ctx, s, "list collections", s.client.ListCollections)
	if err != nil {
		return err
	}
	for v := int64(1); v < s.version(alias); v++ {
		if old := versioned(alias, v); slices.Contains(names, old) {
			return s.unfitVersion(old, v)
		}
	}
	name := versioned(alias, s.version(alias))
	if err := s.createCollection(ctx, alias, name); err != nil {
		return err
	}
	if _, err := s.checkSchema(ctx, alias, name); err != nil {
		return err
	}
	_, err = ask(ctx, s, "create alias", func(ctx context.Context) (bool, error) {
		return true, ignoreExisting(s.client.CreateAlias(ctx, alias, name))
	})
	return err
}

// createCollection makes a collection, unless it is there.
func (s *backend) createCollection(ctx context.Context, alias, name string) error {
	request := &qd.CreateCollection{
		CollectionName: name, ShardNumber: new(uint32(s.shards(alias))), OnDiskPayload: new(true), //nolint:staticcheck // older servers know no other
		ReplicationFactor:      new(uint32(s.cfg.ReplicationFactor)),
		WriteConsistencyFactor: new(uint32(s.cfg.WriteConsistencyFactor)),
		OptimizersConfig:       &qd.OptimizersConfigDiff{FlushIntervalSec: new(uint64(flushInterval.Seconds()))},
		Metadata:               payload{schemaKey: integer(s.version(alias))},
	}
	if alias == s.calls {
		request.OptimizersConfig.IndexingThreshold = new(uint64(packKB))
		request.OptimizersConfig.MaxSegmentSize = new(uint64(segmentKB))
		request.VectorsConfig = qd.NewVectorsConfigMap(map[string]*qd.VectorParams{packVector: {
			Size: 1, Distance: qd.Distance_Dot, OnDisk: new(true),
			HnswConfig: &qd.HnswConfigDiff{M: new(uint64(0)), PayloadM: new(uint64(0))},
		}})
	}
	_, err := ask(ctx, s, "create collection", func(ctx context.Context) (bool, error) {
		return true, ignoreExisting(s.client.CreateCollection(ctx, request))
	})
	return err
}

// ignoreExisting is for what another process, or an earlier try, has made.
func ignoreExisting(err error) error {
	if err != nil && (codeOf(err) == codes.AlreadyExists || strings.Contains(err.Error(), "already exists")) {
		return nil
	}
	return err
}

// checkSchema refuses a collection of another schema, or of another program: it gets no
// alias and no index.
func (s *backend) checkSchema(ctx context.Context, alias, name string) (*qd.CollectionInfo, error) {
	info, err := s.collection(ctx, name)
	if err != nil {
		return nil, err
	}
	switch v := versionOf(info); {
	case info.GetConfig().GetParams().GetShardingMethod() == qd.ShardingMethod_Custom:
		return nil, memoryd.Wrap(memoryd.Unavailable, fmt.Errorf("%s: %w", name, errUnfit),
			fmt.Sprintf("the collection %s takes writes only with a shard key, and memoryd gives none; make it with automatic sharding", name))
	case v == s.version(alias):
		return info, nil
	case v == 0:
		return nil, memoryd.Wrap(memoryd.Unavailable, fmt.Errorf("%s: %w", name, errUnfit),
			fmt.Sprintf("the collection %s is not memoryd's; store.qdrant.prefix names others", name))
	default:
		return nil, s.unfitVersion(name, v)
	}
}

// unfitVersion says what to do about a collection of a version that this program does not use.
func (s *backend) unfitVersion(name string, v int64) error {
	return memoryd.Wrap(memoryd.Unavailable, fmt.Errorf("%s: %w", name, errUnfit),
		fmt.Sprintf("the collection %s has layout %d, which this version cannot read: export it with the version that wrote it, "+
			"and restore under another store.qdrant.prefix", name, v))
}

func versionOf(info *qd.CollectionInfo) int64 {
	return payload(info.GetConfig().GetMetadata()).int(schemaKey)
}

// checkCollection adds the indexes that a collection of this schema lacks.
func (s *backend) checkCollection(ctx context.Context, alias string, indexes []index) error {
	info, err := s.checkSchema(ctx, alias, alias)
	if err != nil {
		return err
	}
	for _, ix := range indexes {
		if info.GetPayloadSchema()[ix.field] != nil {
			continue
		}
		if err := s.createIndex(ctx, alias, ix); err != nil {
			return err
		}
	}
	return nil
}

func (s *backend) createIndex(ctx context.Context, alias string, ix index) error {
	r := &qd.CreateFieldIndexCollection{CollectionName: alias, Wait: new(true), FieldName: ix.field}
	var onDisk *bool
	if alias == s.calls && !ix.leaves {
		onDisk = new(true)
	}
	if ix.uuid {
		r.FieldType = qd.FieldType_FieldTypeUuid.Enum()
		params := &qd.UuidIndexParams{OnDisk: onDisk} //nolint:staticcheck // older servers know no other
		if ix.tenant {
			params.IsTenant = new(true)
		}
		r.FieldIndexParams = qd.NewPayloadIndexParamsUUID(params)
	} else {
		r.FieldType = qd.FieldType_FieldTypeInteger.Enum()
		r.FieldIndexParams = qd.NewPayloadIndexParamsInt(&qd.IntegerIndexParams{
			Lookup: new(true), Range: new(true), OnDisk: onDisk, //nolint:staticcheck // older servers know no other
		})
	}
	return update(ctx, s, "create index", s.client.CreateFieldIndex, r)
}

// derive makes a UUID from what a point stands for: version 8 (RFC 9562, section
// 5.8) of memoryd.SumOf.
func derive(kind string, parts ...string) string {
	sum := memoryd.SumOf(append([]string{kind}, parts...)...)
	id := uuid.UUID(sum[:len(uuid.UUID{})])
	id[6] = id[6]&0x0f | 0x80
	id[8] = id[8]&0x3f | 0x80
	return id.String()
}

func toolID(ref memoryd.ToolRef) string { return derive("tool", ref.Workspace, ref.Tool) }

func workspaceID(workspace string) string { return derive("workspace", workspace) }

func callID(workspace string, key memoryd.CallKey) string {
	return derive("call", workspace, string(key[:]))
}

// runID is what the calls of a run have in common.
func runID(workspace, run string) string { return derive("run", workspace, run) }

// contentID stands for an input and an output within one life of a tool.
func contentID(life, content string) string { return derive("content", life, content) }

// tombstoneID stands for a life of a tool that was ended.
func tombstoneID(life string) string { return derive("grave", life) }

// recordGroup is what ListRecords lists; recordID is one of it. The life is that
// of the record's tool, so that records leave with it.
func recordGroup(k store.RecordKey, life string) string {
	return derive("records", k.Workspace, k.Tool, k.Kind, life)
}

func recordID(group, id string) string { return derive("record", group, id) }

func verdictID(key [16]byte) string { return derive("verdict", string(key[:])) }

func pointIDs(ids []string) []*qd.PointId {
	out := make([]*qd.PointId, len(ids))
	for i, id := range ids {
		out[i] = qd.NewIDUUID(id)
	}
	return out
}

// newNonce marks a write, so that its writer can tell it from others' later.
func newNonce() string { return uuid.NewString() }

// newMark is a nonce among a few others: 48 random bits.
func newMark() string { return strings.ReplaceAll(newNonce()[:13], "-", "") }
