package ops

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"unicode"

	"memoryd"
	"memoryd/store"
)

// ListWorkspaces requests up to Limit workspaces after a name, in byte order.
type ListWorkspaces struct {
	After string
	Limit int
	// Only restricts the list to these names; nil means all.
	Only []string
}

// WorkspacePage is a page of workspaces.
type WorkspacePage struct {
	Names []string
	// Next is the value of After for the next page; "" on the last one.
	Next string
}

func (d *Deps) listWorkspaces(ctx context.Context, r ListWorkspaces) (p WorkspacePage, err error) {
	if r.Only != nil {
		p.Names, err = d.existing(ctx, r)
	} else {
		p.Names, err = d.Store.ListWorkspaces(ctx, r.After, r.Limit)
	}
	if len(p.Names) == r.Limit && r.Limit > 0 {
		p.Next = p.Names[r.Limit-1]
	}
	return p, err
}

// existing finds the workspaces of a list that exist.
func (d *Deps) existing(ctx context.Context, r ListWorkspaces) (names []string, err error) {
	for _, name := range slices.Sorted(slices.Values(r.Only)) {
		if name <= r.After || len(names) == r.Limit {
			continue
		}
		tools, err := d.Store.ListTools(ctx, name, "", 1)
		if err != nil {
			return nil, err
		}
		if len(tools) > 0 {
			names = append(names, name)
		}
	}
	return names, nil
}

// ListTools requests tools of a workspace: the one with a Name, up to Limit that match a Query,
// best first, or up to Limit after the name After, in byte order.
type ListTools struct {
	Workspace string
	Name      string
	Query     string
	After     string
	Limit     int
}

// ToolPage is a page of tools, without their calls.
type ToolPage struct {
	Tools []Memory
	// Next is the value of After for the next page; "" on the last one.
	Next string
}

func (d *Deps) listTools(ctx context.Context, r ListTools) (p ToolPage, err error) {
	var tools []memoryd.Tool
	switch {
	case r.Name != "":
		meant, _, err := d.Names.Of(ctx, asked{ToolRef: memoryd.ToolRef{Workspace: r.Workspace, Tool: r.Name}})
		if err != nil {
			return p, err
		}
		m, err := d.Reader.Read(ctx, meant, noCalls)
		if memoryd.IsKind(err, memoryd.NotFound) {
			return p, d.known(ctx, r.Workspace)
		}
		p.Tools = append(p.Tools, m)
		return p, err
	case r.Query == "":
		tools, err = d.Store.ListTools(ctx, r.Workspace, r.After, r.Limit)
	case r.After != "":
		err = memoryd.Errorf(memoryd.Invalid, "cursor: searches have only one page")
	default:
		tools, err = searchTools(ctx, d.Store, r.Workspace, r.Query, r.Limit)
	}
	if err == nil && len(tools) == 0 {
		err = d.known(ctx, r.Workspace)
	}
	if err != nil {
		return p, err
	}
	for _, tool := range tools {
		m, err := d.Reader.Complete(ctx, tool, noCalls)
		if err != nil {
			return p, err
		}
		p.Tools = append(p.Tools, m)
	}
	if r.Query == "" && len(tools) == r.Limit && r.Limit > 0 {
		p.Next = tools[r.Limit-1].Tool
	}
	return p, nil
}

// known tells a workspace that nothing is recorded in from one where a search finds
// nothing: the first is NotFound.
func (d *Deps) known(ctx context.Context, workspace string) error {
	tools, err := d.Store.ListTools(ctx, workspace, "", 1)
	if err == nil && len(tools) == 0 {
		return memoryd.Errorf(memoryd.NotFound, "there is no workspace %q: nothing is recorded in it", workspace)
	}
	return err
}

// searchTools finds up to limit tools of a workspace whose name or guideline holds a word of the
// query, best first: rare words and more of them count more. A word is a sequence of letters and
// digits; case does not matter.
func searchTools(ctx context.Context, s store.Tools, workspace, query string, limit int) ([]memoryd.Tool, error) {
	type hit struct {
		memoryd.Tool
		times  []int // how often it holds each word
		weight float64
	}
	wanted := slices.Compact(slices.Sorted(slices.Values(wordsOf(query))))
	var hits []hit
	all, holders := 0, make([]int, len(wanted))
	for t, err := range store.AllTools(ctx, s, workspace) {
		if err != nil {
			return nil, err
		}
		h, holds := hit{Tool: t, times: make([]int, len(wanted))}, false
		for _, word := range wordsOf(t.Tool + "\n" + t.Guideline.Content) {
			if i, is := slices.BinarySearch(wanted, word); is {
				if h.times[i]++; h.times[i] == 1 {
					holders[i]++
				}
				holds = true
			}
		}
		if all++; holds {
			hits = append(hits, h)
		}
	}
	for i := range hits {
		for k, n := range hits[i].times {
			if n > 0 {
				hits[i].weight += (1 + math.Log(float64(n))) * math.Log1p(float64(all)/float64(holders[k]))
			}
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.weight, a.weight) })
	var found []memoryd.Tool
	for _, h := range hits[:min(limit, len(hits))] {
		found = append(found, h.Tool)
	}
	return found, nil
}

func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// ListCalls requests up to Limit stored calls of a tool with numbers below Before; 0 means the
// newest ones. Pages with long calls are shorter.
type ListCalls struct {
	memoryd.ToolRef

	Before int64
	Limit  int
}

// CallPage is a page of a history, newest call first.
type CallPage struct {
	Calls []memoryd.Call
	// SummarisedThrough is the number of the newest call that the guideline was written from.
	SummarisedThrough int64
	// Next is the value of Before for the next page; 0 on the last one.
	Next int64
}

func (d *Deps) listCalls(ctx context.Context, r ListCalls) (p CallPage, err error) {
	tool, err := d.Store.Tool(ctx, r.ToolRef)
	if err != nil {
		return p, err
	}
	p.SummarisedThrough = tool.Guideline.ThroughSeq
	if p.Calls, err = d.Store.ListCalls(ctx, r.ToolRef, store.CallPage{Before: r.Before, Limit: r.Limit}); err != nil || len(p.Calls) == 0 {
		return p, err
	}
	last := p.Calls[len(p.Calls)-1].Seq
	older, err := d.Store.ListCalls(ctx, r.ToolRef, store.CallPage{Before: last, Limit: 1, Brief: true})
	if len(older) > 0 {
		p.Next = last
	}
	return p, err
}

// GetCall requests one stored call.
type GetCall struct {
	memoryd.ToolRef

	Key memoryd.CallKey
}

// StoredCall is a stored call.
type StoredCall struct {
	Call memoryd.Call
	// SummarisedThrough is as in CallPage.
	SummarisedThrough int64
}

func (d *Deps) getCall(ctx context.Context, r GetCall) (c StoredCall, err error) {
	tool, err := d.Store.Tool(ctx, r.ToolRef)
	if err != nil {
		return c, err
	}
	c.SummarisedThrough = tool.Guideline.ThroughSeq
	c.Call, err = d.Store.Call(ctx, r.ToolRef, r.Key)
	return c, err
}
