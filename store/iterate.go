package store

import (
	"context"
	"iter"

	"memoryd"
)

// listed is how many items an iteration asks for at once.
const listed = 200

// AllWorkspaces iterates over the workspaces that contain a tool, in byte order. Like all iterators
// of this package it reads page by page, and yields an error last.
func AllWorkspaces(ctx context.Context, s Tools) iter.Seq2[string, error] {
	after := ""
	return pages(listed, func() ([]string, error) { return s.ListWorkspaces(ctx, after, listed) }, func(last string) { after = last })
}

// AllTools iterates over the tools of a workspace, in byte order.
func AllTools(ctx context.Context, s Tools, workspace string) iter.Seq2[memoryd.Tool, error] {
	after := ""
	return pages(listed, func() ([]memoryd.Tool, error) { return s.ListTools(ctx, workspace, after, listed) },
		func(last memoryd.Tool) { after = last.Tool })
}

// AllRecords iterates over the records with the workspace, tool and kind of from and ids greater
// than from.ID, in byte order.
func AllRecords(ctx context.Context, s Records, from RecordKey) iter.Seq2[Record, error] {
	return pages(1, func() ([]Record, error) { return s.ListRecords(ctx, from, listed) }, func(last Record) { from = last.RecordKey })
}

// AllCalls iterates over the stored calls of a tool, newest first; with brief, without inputs and
// outputs.
func AllCalls(ctx context.Context, s Calls, ref memoryd.ToolRef, brief bool) iter.Seq2[memoryd.Call, error] {
	p := CallPage{Limit: listed, Brief: brief}
	return pages(1, func() ([]memoryd.Call, error) { return s.ListCalls(ctx, ref, p) }, func(last memoryd.Call) { p.Before = last.Seq })
}

// Each does something with all of a list, up to the first error of either.
func Each[T any](list iter.Seq2[T, error], do func(T) error) error {
	for item, err := range list {
		if err == nil {
			err = do(item)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// pages iterates over what list gives until a page holds less than full. next is
// told the last item of each page.
func pages[T any](full int, list func() ([]T, error), next func(last T)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for {
			page, err := list()
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range page {
				if !yield(item, nil) {
					return
				}
			}
			if len(page) < full {
				return
			}
			next(page[len(page)-1])
		}
	}
}
