package qdranttest

import (
	"context"
	"maps"

	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

type collectionsService struct {
	qd.UnimplementedCollectionsServer
	s *Server
}

func done() *qd.CollectionOperationResponse { return &qd.CollectionOperationResponse{Result: true} }

// Create creates a collection.
func (c *collectionsService) Create(_ context.Context, r *qd.CreateCollection) (*qd.CollectionOperationResponse, error) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	name := r.GetCollectionName()
	if c.s.find(name) != nil {
		return nil, status.Errorf(codes.AlreadyExists, "Collection `%s` already exists!", name)
	}
	c.s.collections[name] = newCollection(r)
	return done(), nil
}

// Delete removes a collection and its aliases.
func (c *collectionsService) Delete(_ context.Context, r *qd.DeleteCollection) (*qd.CollectionOperationResponse, error) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	delete(c.s.collections, r.GetCollectionName())
	for alias, name := range c.s.aliases {
		if name == r.GetCollectionName() {
			delete(c.s.aliases, alias)
		}
	}
	return done(), nil
}

// List lists the collections.
func (c *collectionsService) List(context.Context, *qd.ListCollectionsRequest) (*qd.ListCollectionsResponse, error) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	out := &qd.ListCollectionsResponse{}
	for name := range c.s.collections {
		out.Collections = append(out.Collections, &qd.CollectionDescription{Name: name})
	}
	return out, nil
}

// Get describes a collection.
func (c *collectionsService) Get(_ context.Context, r *qd.GetCollectionInfoRequest) (*qd.GetCollectionInfoResponse, error) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	col := c.s.find(r.GetCollectionName())
	if col == nil {
		return nil, missing(r.GetCollectionName())
	}
	schema := map[string]*qd.PayloadSchemaInfo{}
	maps.Copy(schema, col.schema)
	return &qd.GetCollectionInfoResponse{Result: &qd.CollectionInfo{
		Status: qd.CollectionStatus_Green, Config: col.config, PayloadSchema: schema,
	}}, nil
}

// Configure changes the parameters of a collection, or of the one that an alias names.
func (s *Server) Configure(name string, change func(*qd.CollectionConfig)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.find(name)
	config := proto.CloneOf(c.config)
	change(config)
	c.config = config
}

// CollectionClusterInfo reports all shards as local, once each.
func (c *collectionsService) CollectionClusterInfo(_ context.Context,
	r *qd.CollectionClusterInfoRequest,
) (*qd.CollectionClusterInfoResponse, error) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	col := c.s.find(r.GetCollectionName())
	if col == nil {
		return nil, missing(r.GetCollectionName())
	}
	out := &qd.CollectionClusterInfoResponse{PeerId: 1, ShardCount: uint64(col.config.GetParams().GetShardNumber())}
	for n := range col.config.GetParams().GetShardNumber() {
		out.LocalShards = append(out.LocalShards, &qd.LocalShardInfo{ShardId: n, State: qd.ReplicaState_Active})
	}
	return out, nil
}

func missing(name string) error {
	return status.Errorf(codes.NotFound, "Not found: Collection `%s` doesn't exist!", name)
}

// UpdateAliases creates, renames and deletes aliases.
func (c *collectionsService) UpdateAliases(_ context.Context, r *qd.ChangeAliases) (*qd.CollectionOperationResponse, error) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	for _, action := range r.GetActions() {
		if made := action.GetCreateAlias(); made != nil {
			if c.s.collections[made.GetCollectionName()] == nil {
				return nil, missing(made.GetCollectionName())
			}
			c.s.aliases[made.GetAliasName()] = made.GetCollectionName()
		}
		if gone := action.GetDeleteAlias(); gone != nil {
			delete(c.s.aliases, gone.GetAliasName())
		}
	}
	return done(), nil
}

// ListAliases lists all aliases.
func (c *collectionsService) ListAliases(context.Context, *qd.ListAliasesRequest) (*qd.ListAliasesResponse, error) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	out := &qd.ListAliasesResponse{}
	for alias, name := range c.s.aliases {
		out.Aliases = append(out.Aliases, &qd.AliasDescription{AliasName: alias, CollectionName: name})
	}
	return out, nil
}
