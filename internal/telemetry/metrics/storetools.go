package metrics

import (
	"context"
	"time"

	"memoryd"
)

// Tool implements store.Tools.
func (o *observedStore) Tool(ctx context.Context, ref memoryd.ToolRef) (memoryd.Tool, error) {
	start := time.Now()
	v, err := o.Store.Tool(ctx, ref)
	o.done("tool", start, err)
	return v, err
}

// ListTools implements store.Tools.
func (o *observedStore) ListTools(ctx context.Context, workspace, after string, limit int) ([]memoryd.Tool, error) {
	start := time.Now()
	v, err := o.Store.ListTools(ctx, workspace, after, limit)
	o.done("list_tools", start, err)
	return v, err
}

// ListWorkspaces implements store.Tools.
func (o *observedStore) ListWorkspaces(ctx context.Context, after string, limit int) ([]string, error) {
	start := time.Now()
	v, err := o.Store.ListWorkspaces(ctx, after, limit)
	o.done("list_workspaces", start, err)
	return v, err
}

// SearchTools implements store.Tools.
func (o *observedStore) SearchTools(ctx context.Context, workspace, query string, limit int) ([]memoryd.Tool, error) {
	start := time.Now()
	v, err := o.Store.SearchTools(ctx, workspace, query, limit)
	o.done("search_tools", start, err)
	return v, err
}

// PutGuideline implements store.Tools.
func (o *observedStore) PutGuideline(ctx context.Context, ref memoryd.ToolRef, g memoryd.Guideline, expect int64) error {
	start := time.Now()
	err := o.Store.PutGuideline(ctx, ref, g, expect)
	o.done("put_guideline", start, err)
	return err
}

// RestoreTool implements store.Tools.
func (o *observedStore) RestoreTool(ctx context.Context, t memoryd.Tool, calls []memoryd.Call) error {
	start := time.Now()
	err := o.Store.RestoreTool(ctx, t, calls)
	o.done("restore_tool", start, err)
	return err
}

// DeleteTool implements store.Tools.
func (o *observedStore) DeleteTool(ctx context.Context, ref memoryd.ToolRef) error {
	start := time.Now()
	err := o.Store.DeleteTool(ctx, ref)
	o.done("delete_tool", start, err)
	return err
}

// DeleteWorkspace implements store.Tools.
func (o *observedStore) DeleteWorkspace(ctx context.Context, workspace string) (int, error) {
	start := time.Now()
	v, err := o.Store.DeleteWorkspace(ctx, workspace)
	o.done("delete_workspace", start, err)
	return v, err
}
