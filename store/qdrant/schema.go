package qdrant

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"

	"memoryd"
	"memoryd/store"

	"github.com/google/uuid"
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
			{field: fieldJudged},
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

// Remake implements store.Remaker.
func (s *backend) Remake(ctx context.Context) error {
	if err := s.gate.Enter(ctx); err != nil {
		return err
	}
	defer s.gate.Leave()
	s.log.ErrorContext(ctx, "the collections had vanished and are made anew, empty")
	return s.ensureSchema(ctx)
}

// create makes a collection and its alias.
func (s *backend) create(ctx context.Context, alias string) error {
	request := &qd.CreateCollection{
		CollectionName: alias + schemaSuffix, ShardNumber: new(uint32(s.cfg.Shards)), OnDiskPayload: new(true), //nolint:staticcheck // older servers know no other
		ReplicationFactor:      new(uint32(s.cfg.ReplicationFactor)),
		WriteConsistencyFactor: new(uint32(s.cfg.WriteConsistencyFactor)),
		OptimizersConfig:       &qd.OptimizersConfigDiff{FlushIntervalSec: new(uint64(s.cfg.FlushInterval.Seconds()))},
		Metadata:               payload{schemaKey: integer(schemaVersion)},
	}
	if alias == s.tools {
		request.ShardNumber = new(uint32(1)) // word statistics are kept by shard
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
	if _, err := s.checkSchema(ctx, alias+schemaSuffix); err != nil {
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

// checkSchema refuses a collection of another schema, or of another program: it gets no
// alias and no index.
func (s *backend) checkSchema(ctx context.Context, name string) (*qd.CollectionInfo, error) {
	info, err := s.collection(ctx, name)
	if err != nil {
		return nil, err
	}
	switch v := payload(info.GetConfig().GetMetadata()).int(schemaKey); v {
	case schemaVersion:
		return info, nil
	case 0:
		return nil, memoryd.Wrap(memoryd.Unavailable, fmt.Errorf("%s: %w", name, ErrUnfit),
			fmt.Sprintf("the collection %s is not memoryd's; store.qdrant.prefix names others", name))
	default:
		return nil, memoryd.Wrap(memoryd.Unavailable, fmt.Errorf("%s: %w", name, ErrUnfit),
			fmt.Sprintf("the collection %s is of schema %d; this program needs version %d", name, v, schemaVersion))
	}
}

// checkCollection adds the indexes that a collection of this schema lacks.
func (s *backend) checkCollection(ctx context.Context, alias string, indexes []index) error {
	info, err := s.checkSchema(ctx, alias)
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
	if ix.uuid {
		r.FieldType = qd.FieldType_FieldTypeUuid.Enum()
		if ix.tenant {
			r.FieldIndexParams = qd.NewPayloadIndexParamsUUID(&qd.UuidIndexParams{IsTenant: new(true)})
		}
	} else {
		r.FieldType = qd.FieldType_FieldTypeInteger.Enum()
		r.FieldIndexParams = qd.NewPayloadIndexParamsInt(&qd.IntegerIndexParams{Lookup: new(true), Range: new(true)})
	}
	return s.update(ctx, "create index", func(ctx context.Context) (*qd.UpdateResult, error) {
		return s.client.CreateFieldIndex(ctx, r)
	})
}

// derive makes a UUID from what a point stands for: version 8 (RFC 9562, section
// 5.8) of SHA-256 over all parts, each with its length before it.
func derive(kind string, parts ...string) string {
	h := sha256.New()
	var n [8]byte
	for _, p := range append([]string{kind}, parts...) {
		binary.BigEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		h.Write([]byte(p))
	}
	var id uuid.UUID
	copy(id[:], h.Sum(nil))
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

// content is what two calls have in common that are repeats of each other.
func content(c *memoryd.Call) string {
	if c.Hash != "" {
		return c.Hash
	}
	return memoryd.HashOf(c.Input, c.Output)
}
