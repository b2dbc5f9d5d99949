package qdrant

import (
	"context"
	"fmt"
	"strings"

	"memoryd"

	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
)

// schemaVersion is that of the collections; a collection says its own in its
// metadata and in its name. A migration fills collections of the next version
// beside the old ones and then moves the aliases, which is atomic.
const (
	schemaVersion = 1
	schemaSuffix  = "_v1"
	schemaKey     = "memoryd_schema"
)

// searchVector names the sparse vector of a tool's point.
const searchVector = "words"

// index says how a field is indexed: a uuid is matched, a number compared and
// ordered by.
type index struct {
	field  string
	uuid   bool
	tenant bool
}

// layout gives the indexes of a collection.
func (s *backend) layout() map[string][]index {
	return map[string][]index{
		s.calls: {
			{field: fieldLife, uuid: true, tenant: true},
			{field: fieldKept, uuid: true},
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
			{field: fieldGrave},
			{field: fieldAllSpaces, uuid: true},
			{field: orderFields[0]}, {field: orderFields[1]}, {field: orderFields[2]},
		},
		s.docs: {
			{field: fieldGroup, uuid: true, tenant: true},
			{field: fieldOfLife, uuid: true},
			{field: fieldSpaceID, uuid: true},
			{field: fieldExpires},
			{field: fieldCached},
			{field: orderFields[0]}, {field: orderFields[1]}, {field: orderFields[2]},
		},
	}
}

// ensureSchema makes what is missing. What another process makes at the same
// time is not missed.
func (s *backend) ensureSchema(ctx context.Context) error {
	aliases, err := ask(ctx, s, "list aliases", func(ctx context.Context) ([]*qd.AliasDescription, error) {
		return s.client.ListAliases(ctx)
	})
	if err != nil {
		return err
	}
	target := map[string]string{}
	for _, a := range aliases {
		target[a.GetAliasName()] = a.GetCollectionName()
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

// create makes a collection and its alias.
func (s *backend) create(ctx context.Context, alias string) error {
	request := &qd.CreateCollection{
		CollectionName: alias + schemaSuffix, ShardNumber: qd.PtrOf(uint32(s.cfg.Shards)), OnDiskPayload: qd.PtrOf(true),
		ReplicationFactor:      qd.PtrOf(uint32(s.cfg.ReplicationFactor)),
		WriteConsistencyFactor: qd.PtrOf(uint32(s.cfg.WriteConsistencyFactor)),
		OptimizersConfig:       &qd.OptimizersConfigDiff{FlushIntervalSec: qd.PtrOf(uint64(s.cfg.FlushInterval.Seconds()))},
		Metadata:               payload{schemaKey: integer(schemaVersion)},
	}
	if alias == s.tools {
		request.ShardNumber = qd.PtrOf(uint32(1)) // word statistics are kept by shard
		request.SparseVectorsConfig = qd.NewSparseVectorsConfig(map[string]*qd.SparseVectorParams{
			searchVector: {Modifier: qd.Modifier_Idf.Enum()},
		})
	}
	_, err := ask(ctx, s, "create collection", func(ctx context.Context) (bool, error) {
		return true, ignoreExisting(s.client.CreateCollection(ctx, request))
	})
	if err != nil {
		return err
	}
	_, err = ask(ctx, s, "create alias", func(ctx context.Context) (bool, error) {
		return true, ignoreExisting(s.client.CreateAlias(ctx, alias, alias+schemaSuffix))
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

// checkCollection refuses a collection of another schema and adds indexes that
// it lacks.
func (s *backend) checkCollection(ctx context.Context, alias string, indexes []index) error {
	info, err := ask(ctx, s, "collection info", func(ctx context.Context) (*qd.CollectionInfo, error) {
		return s.client.GetCollectionInfo(ctx, alias)
	})
	if err != nil {
		return err
	}
	if v := payload(info.GetConfig().GetMetadata()).int(schemaKey); v != schemaVersion {
		return memoryd.Wrap(memoryd.Unavailable, fmt.Errorf("%s: %w", alias, ErrUnfit),
			"the collections are of another schema; this program needs version 1")
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
	r := &qd.CreateFieldIndexCollection{CollectionName: alias, Wait: qd.PtrOf(true), FieldName: ix.field}
	if ix.uuid {
		r.FieldType = qd.FieldType_FieldTypeUuid.Enum()
		if ix.tenant {
			r.FieldIndexParams = qd.NewPayloadIndexParamsUUID(&qd.UuidIndexParams{IsTenant: qd.PtrOf(true)})
		}
	} else {
		r.FieldType = qd.FieldType_FieldTypeInteger.Enum()
		r.FieldIndexParams = qd.NewPayloadIndexParamsInt(&qd.IntegerIndexParams{Lookup: qd.PtrOf(true), Range: qd.PtrOf(true)})
	}
	return s.update(ctx, "create index", func(ctx context.Context) (*qd.UpdateResult, error) {
		return s.client.CreateFieldIndex(ctx, r)
	})
}
