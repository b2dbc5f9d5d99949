package search

import (
	"context"
	"errors"
	"time"

	"memoryd"
	"memoryd/internal/textsafe"
	"memoryd/store"
)

// SearchTools gives the workspace's tools that the query's words or its meaning
// find, the best first, at most limit. The words are the store's affair; whatever
// keeps the meaning away, within Config.Wait, leaves its answer as it is. An error
// is the store's.
func (x *Index) SearchTools(ctx context.Context, workspace, query string, limit int) ([]memoryd.Tool, error) {
	if limit < 1 || workspace == "" || len(store.Words(query)) == 0 {
		return x.Store.SearchTools(ctx, workspace, query, limit)
	}
	tools, err := x.Store.SearchTools(ctx, workspace, query, max(limit, x.cfg.Nearest))
	if err != nil {
		return nil, err
	}
	if near := x.near(ctx, workspace, query); len(near) > 0 {
		if joined, err := x.join(ctx, workspace, tools, near, limit); err == nil {
			return joined, nil
		} else if x.slow.say() {
			x.Logger.WarnContext(ctx, "tools that a search found by their meaning could not be read", "err", err)
		}
	}
	return tools[:min(limit, len(tools))], nil
}

// near names the tools that are nearest to the query, the best first; none when
// that cannot be told in time.
func (x *Index) near(ctx context.Context, workspace, query string) []string {
	if x.rest.on() || x.Barred != nil && x.Barred(workspace) {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, x.cfg.Wait)
	defer cancel()
	vectorSet, err := x.cache.get(bounded, workspace)
	if err == nil && len(vectorSet.names) == 0 {
		return nil
	}
	var vector []float32
	if err == nil {
		vector, err = x.vectorOf(bounded, workspace, query)
	}
	if err != nil {
		if ctx.Err() == nil && x.slow.say() {
			x.Logger.WarnContext(ctx, "a search went by words alone", "workspace", workspace, "err", err)
		}
		return nil
	}
	return vectorSet.nearest(vector, x.cfg.Nearest, x.cfg.MinSimilarity)
}

// errNoVector is a reply that holds no usable vector.
var errNoVector = errors.New("the model gave no vector")

// vectorOf gives the query's vector. A model that fails is not asked again for a
// while, so that the searches that follow do not wait for it.
func (x *Index) vectorOf(ctx context.Context, workspace, query string) ([]float32, error) {
	text := bounded(textsafe.Mask(query), x.cfg.MaxTextBytes)
	if v, ok := x.queries.Get(text); ok {
		return v, nil
	}
	vectors, err := x.Queries.Embed(ctx, workspace, []string{text})
	if err == nil && len(vectors) != 1 {
		err = errNoVector
	}
	if err != nil {
		if !errors.Is(context.Cause(ctx), context.Canceled) { // the caller did not leave
			x.rest.begin(waitOf(err))
		}
		return nil, err
	}
	v, ok := unit(vectors[0])
	if !ok {
		return nil, errNoVector
	}
	x.length.note(len(v))
	x.queries.Add(text, v)
	return v, nil
}

// waitOf is how long the server wants to be left alone.
func waitOf(err error) time.Duration {
	if e, ok := errors.AsType[*memoryd.ModelError](err); ok {
		return e.RetryAfter
	}
	return 0
}

// join fuses the tools that words found with the names that vectors found. Tools
// that are gone, or have no guideline any more, are left out, and their vectors
// looked at.
func (x *Index) join(ctx context.Context, workspace string, tools []memoryd.Tool, near []string, limit int) ([]memoryd.Tool, error) {
	known := make(map[string]memoryd.Tool, len(tools))
	byWords := make([]string, len(tools))
	for i, t := range tools {
		known[t.Tool], byWords[i] = t, t.Tool
	}
	var joined []memoryd.Tool
	for _, name := range fuse(byWords, near) {
		if len(joined) == limit {
			break
		}
		t, ok := known[name]
		if !ok {
			ref := memoryd.ToolRef{Workspace: workspace, Tool: name}
			var err error
			t, err = x.Store.Tool(ctx, ref)
			if memoryd.IsKind(err, memoryd.NotFound) || err == nil && t.Guideline.Revision == 0 {
				x.queue.add(ref)
				continue
			}
			if err != nil {
				return nil, err
			}
		}
		joined = append(joined, t)
	}
	return joined, nil
}
