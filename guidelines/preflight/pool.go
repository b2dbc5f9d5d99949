package preflight

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"memoryd"
	"memoryd/store"
)

// pool is how the tools of a workspace came out by the rules: a record that all
// replicas share.
type pool struct {
	rates map[string]Rates // by tool
	read  time.Time
}

// RatesKind is the kind of the records that this package stores in workspaces.
const RatesKind = "forecast_rates"

// Bounds on pools: the tools in one, and the workspaces that are kept.
const (
	pooledTools = 500
	keptPools   = 256
	poolAge     = time.Minute
)

func poolKey(workspace string) store.RecordKey {
	return store.RecordKey{ToolRef: memoryd.ToolRef{Workspace: workspace}, Kind: RatesKind, ID: "rules"}
}

// poolFor adds up the rates of the other tools of a workspace.
func (c *Cache) poolFor(ref memoryd.ToolRef) (sum Rates) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.pools[ref.Workspace]; p != nil {
		for tool, rates := range p.rates {
			if tool != ref.Tool {
				sum.Add(rates)
			}
		}
	}
	return sum
}

// readPool reads the rates of a workspace that have not been read for a while.
func (c *Cache) readPool(ctx context.Context, workspace string) error {
	c.mu.Lock()
	p := c.pools[workspace]
	isFresh := p != nil && c.now().Sub(p.read) < poolAge
	c.mu.Unlock()
	if isFresh {
		return nil
	}
	rates, _, err := c.storedRates(ctx, workspace)
	if err != nil {
		return err
	}
	c.setPool(workspace, rates)
	return nil
}

func (c *Cache) setPool(workspace string, rates map[string]Rates) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.pools) >= keptPools && c.pools[workspace] == nil {
		oldest := ""
		for w, p := range c.pools {
			if oldest == "" || p.read.Before(c.pools[oldest].read) {
				oldest = w
			}
		}
		delete(c.pools, oldest)
	}
	c.pools[workspace] = &pool{rates: rates, read: c.now()}
}

func (c *Cache) storedRates(ctx context.Context, workspace string) (rates map[string]Rates, revision int64, err error) {
	rates = map[string]Rates{}
	r, err := c.store.Record(ctx, poolKey(workspace))
	if memoryd.IsKind(err, memoryd.NotFound) {
		return rates, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	if err := json.Unmarshal(r.Data, &rates); err != nil {
		return nil, 0, fmt.Errorf("the rates of workspace %q: %w", workspace, err)
	}
	return rates, r.Revision, nil
}

// note keeps the rates of a tool with those of its workspace, again if somebody
// else wrote in between.
func (c *Cache) note(ctx context.Context, ref memoryd.ToolRef, own Rates) error {
	for {
		rates, revision, err := c.storedRates(ctx, ref.Workspace)
		if err != nil {
			return err
		}
		if before, known := rates[ref.Tool]; known && before == own {
			c.setPool(ref.Workspace, rates)
			return nil
		}
		rates[ref.Tool] = own
		if len(rates) > pooledTools {
			delete(rates, slices.MinFunc(slices.Collect(maps.Keys(rates)), func(a, b string) int { return rates[a].total() - rates[b].total() }))
		}
		data, err := json.Marshal(rates)
		if err != nil {
			return err
		}
		_, err = c.store.PutRecord(ctx, store.Record{RecordKey: poolKey(ref.Workspace), Revision: revision, Data: data})
		if err == nil {
			c.setPool(ref.Workspace, rates)
		}
		if !memoryd.IsKind(err, memoryd.Conflict) {
			return err
		}
	}
}
