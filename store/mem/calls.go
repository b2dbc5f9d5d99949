package mem

import (
	"cmp"
	"context"
	"slices"
	"time"

	"memoryd"
	"memoryd/store"
)

// Append implements store.Calls.
func (s *backend) Append(ctx context.Context, b store.Batch) ([]store.Appended, error) {
	sp := s.space(b.Workspace)
	now := time.Now()
	out := make([]store.Appended, len(b.Calls))
	fresh := map[string]bool{}
	for i := range b.Calls {
		name := b.Calls[i].Tool
		if sp.tools[name] == nil {
			fresh[name] = true
		}
		out[i] = s.accept(sp, b.Workspace, &b.Calls[i], now)
		out[i].FirstOfTool = fresh[name]
	}
	for i := range b.Calls {
		if t := sp.tools[b.Calls[i].Tool]; t != nil {
			t.trim(b.Keep)
		}
	}
	if len(sp.tools) == 0 {
		delete(s.spaces, b.Workspace)
	}
	return out, nil
}

// accept takes one call in, unless its key is known.
func (s *backend) accept(sp *space, workspace string, in *memoryd.Call, now time.Time) store.Appended {
	if _, known := sp.keys[in.Key]; known {
		return store.Appended{}
	}
	sp.keys[in.Key] = in.Tool
	t := sp.tools[in.Tool]
	if t == nil {
		t = &tool{seen: map[string]bool{}}
		t.ToolRef = memoryd.ToolRef{Workspace: workspace, Tool: in.Tool}
		t.Created = now
		sp.tools[in.Tool] = t
	}
	t.Lifetime++
	t.Revision++
	t.Modified = now
	s.accepted++
	c := &call{Call: cloneCall(in), run: in.Run(), accepted: s.accepted}
	c.Workspace, c.Seq = workspace, t.Lifetime
	t.calls = append(t.calls, c)

	same := store.ContentOf(&c.Call)
	if t.seen[same] {
		t.Duplicates++
	}
	t.seen[same] = true
	return store.Appended{New: true, Seq: c.Seq}
}

// trim lets the oldest calls beyond keep go.
func (t *tool) trim(keep int) {
	if over := len(t.calls) - keep; over > 0 {
		t.calls = slices.Delete(t.calls, 0, over)
	}
}

// History implements store.Calls.
func (s *backend) History(ctx context.Context, ref memoryd.ToolRef, limit int) ([]memoryd.Call, error) {
	t := s.find(ref)
	if t == nil {
		return nil, nil
	}
	calls := t.calls
	if limit > 0 && len(calls) > limit {
		calls = calls[len(calls)-limit:]
	}
	out := make([]memoryd.Call, len(calls))
	for i, c := range calls {
		out[i] = cloneCall(&c.Call)
	}
	return out, nil
}

// HistorySize implements store.Calls.
func (s *backend) HistorySize(ctx context.Context, ref memoryd.ToolRef) (size store.Size, err error) {
	if t := s.find(ref); t != nil {
		for _, c := range t.calls {
			size.Add(store.Size{Count: 1, Bytes: int64(store.TextBytes(&c.Call))})
		}
	}
	return size, nil
}

// Described implements store.Calls.
func (s *backend) Described(ctx context.Context, ref memoryd.ToolRef) (d store.Description, err error) {
	if d.Tool, err = s.Tool(ctx, ref); err != nil {
		return d, err
	}
	for _, c := range s.find(ref).calls {
		d.Samples = append(d.Samples, c.Sample())
	}
	return d, nil
}

// Call implements store.Calls.
func (s *backend) Call(ctx context.Context, ref memoryd.ToolRef, key memoryd.CallKey) (memoryd.Call, error) {
	if t := s.find(ref); t != nil {
		if c := t.byKey(key); c != nil {
			return cloneCall(&c.Call), nil
		}
	}
	return memoryd.Call{}, store.UnknownCall()
}

// ListCalls implements store.Calls.
func (s *backend) ListCalls(ctx context.Context, ref memoryd.ToolRef, p store.CallPage) ([]memoryd.Call, error) {
	t := s.find(ref)
	if t == nil {
		return nil, nil
	}
	kept := make([]memoryd.Call, len(t.calls))
	for i, c := range t.calls {
		kept[i] = c.Call
	}
	out := p.Of(kept)
	for i := range out {
		out[i] = cloneCall(&out[i])
	}
	return out, nil
}

// RunCalls implements store.Calls. It looks at every kept call of the workspace:
// what a reference may do and a backend with a million calls may not.
func (s *backend) RunCalls(ctx context.Context, workspace, run string, limit int) ([]store.RunCall, error) {
	var found []*call
	if sp := s.spaces[workspace]; sp != nil {
		for _, t := range sp.tools {
			for _, c := range t.calls {
				if c.run == run {
					found = append(found, c)
				}
			}
		}
	}
	slices.SortFunc(found, func(a, b *call) int { return cmp.Compare(b.accepted, a.accepted) })
	out := make([]store.RunCall, min(len(found), limit, store.MaxRunCalls))
	for i := range out {
		out[i] = store.RunCallOf(&found[i].Call)
	}
	return out, nil
}

// DeleteCalls implements store.Calls.
func (s *backend) DeleteCalls(ctx context.Context, ref memoryd.ToolRef, keys []memoryd.CallKey) (int, error) {
	t := s.find(ref)
	if t == nil {
		return 0, nil
	}
	before := len(t.calls)
	t.calls = slices.DeleteFunc(t.calls, func(c *call) bool { return slices.Contains(keys, c.Key) })
	n, left := before-len(t.calls), len(t.calls)
	calls := make([]memoryd.Call, left)
	for i, c := range t.calls {
		calls[i] = c.Call
	}
	store.Renumber(&t.Tool, calls)
	for i, c := range t.calls {
		c.Seq = calls[i].Seq
	}
	if n > 0 && left == 0 {
		return n, s.DeleteTool(ctx, ref)
	}
	return n, nil
}

func cloneCall(c *memoryd.Call) memoryd.Call {
	out := *c
	out.Input = slices.Clone(c.Input)
	out.Metadata = slices.Clone(c.Metadata)
	return out
}
