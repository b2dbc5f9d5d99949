package qdrant

import (
	"context"
	"encoding/binary"
	"slices"
	"strings"

	"memoryd"
	"memoryd/internal/lifecycle"

	qd "github.com/qdrant/go-client/qdrant"
)

// describers is how many tools are described at once.
const describers = 8

// ListTools implements store.Tools.
func (s *backend) ListTools(ctx context.Context, workspace, after string, limit int) ([]memoryd.Tool, error) {
	l := s.listing(s.tools, is(fieldSpaceID, workspaceID(workspace)), fieldTool)
	l.after = after
	return listed(ctx, l, limit, s.describeAll)
}

// listed lists what some points stand for, until there are so many or no more.
func listed[T any](ctx context.Context, l *listing, limit int, read func(context.Context, []point) ([]T, error)) (out []T, err error) {
	for len(out) < limit {
		page, err := l.page(ctx, limit-len(out))
		if err != nil || len(page) == 0 {
			return out, err
		}
		items, err := read(ctx, page)
		if err != nil {
			return nil, err
		}
		out = append(out, items...)
		if len(page) < l.limit {
			break
		}
	}
	return out, nil
}

// describeAll describes the tools of some points, in their order, without those
// that have no call or are gone.
func (s *backend) describeAll(ctx context.Context, ps []point) ([]memoryd.Tool, error) {
	found, err := s.wholes(ctx, s.tools, ps)
	if err != nil {
		return nil, err
	}
	tools := make([]memoryd.Tool, len(found))
	err = besides(ctx, s, found, func(ctx context.Context, i int, p point) error {
		t, err := decodeTool(p)
		if err != nil {
			return err
		}
		d, err := s.describe(ctx, t)
		tools[i] = d.Tool
		return err
	})
	return slices.DeleteFunc(tools, func(t memoryd.Tool) bool { return t.Lifetime == 0 }), err
}

// besides does something for each item, a few at a time.
func besides[T any](ctx context.Context, s *backend, items []T, do func(ctx context.Context, i int, item T) error) error {
	g, gctx := lifecycle.NewGroup(ctx, s.log, "qdrant", describers)
	for i, item := range items {
		g.Go(func() error { return do(gctx, i, item) })
	}
	return g.Wait()
}

// ListWorkspaces implements store.Tools. Each workspace has a point; whether it still has a
// tool is looked up.
func (s *backend) ListWorkspaces(ctx context.Context, after string, limit int) ([]string, error) {
	l := s.listing(s.tools, is(fieldAllSpaces, allSpaces), fieldSpace)
	l.after = after
	return listed(ctx, l, limit, s.occupied)
}

// occupied gives the names of those workspaces that hold a tool.
func (s *backend) occupied(ctx context.Context, spaces []point) ([]string, error) {
	names := make([]string, len(spaces))
	err := besides(ctx, s, spaces, func(ctx context.Context, i int, p point) error {
		found, err := s.scroll(ctx, s.tools, all(is(fieldSpaceID, p.id)), nil, 1)
		if len(found) > 0 {
			names[i] = p.word(fieldSpace)
		}
		return err
	})
	return slices.DeleteFunc(names, func(name string) bool { return name == "" }), err
}

// The server sorts by numbers, not by names. So each name has three numbers: its
// bytes 1 to 7, 8 to 14 and 15 to 21. A page of names in byte order is read by
// the first number; where more names than a page share it, by the second, and so
// on. Names that share their first 21 bytes are read together and sorted here,
// which costs reading all of them for each page.
var orderFields = [...]string{"order1", "order2", "order3"}

const orderBytes = 7

// orderNumber is a number of seven bytes of the name, zeros where it ends.
func orderNumber(name string, level int) int64 {
	var b [8]byte
	if from := level * orderBytes; from < len(name) {
		copy(b[1:], name[from:min(len(name), from+orderBytes)])
	}
	return int64(binary.BigEndian.Uint64(b[:]))
}

func putOrder(p payload, name string) {
	for level, field := range orderFields {
		p[field] = integer(orderNumber(name, level))
	}
}

// listing reads points in the byte order of a name.
type listing struct {
	s          *backend
	collection string
	within     []*qd.Condition
	name       string // the field of the name
	fields     []string
	after      string
	limit      int
	out        []point
}

// listing begins to read the points of a collection that a condition holds for, by the name
// in a field, with further fields.
func (s *backend) listing(collection string, of *qd.Condition, name string, fields ...string) *listing {
	return &listing{
		s: s, collection: collection, within: []*qd.Condition{of}, name: name, fields: append(append(orderFields[:], name), fields...),
	}
}

// page reads up to limit points whose name is greater than after, and moves after on.
func (l *listing) page(ctx context.Context, limit int) ([]point, error) {
	l.limit, l.out = limit, nil
	if limit <= 0 {
		return nil, nil
	}
	err := l.level(ctx, 0, l.within, true)
	if len(l.out) > 0 {
		l.after = l.out[len(l.out)-1].word(l.name)
	}
	return l.out, err
}

func (l *listing) full() bool { return len(l.out) >= l.limit }

// level lists the points within conditions, which say all numbers above level.
// edge says that those numbers are after's.
func (l *listing) level(ctx context.Context, level int, within []*qd.Condition, edge bool) error {
	if level == len(orderFields) {
		return l.group(ctx, within)
	}
	page := min(max(l.limit+1, 64), 1024)
	var from int64
	if edge {
		from = orderNumber(l.after, level)
	}
	for !l.full() {
		by := ascending(orderFields[level])
		by.StartFrom = qd.NewStartFromInt(from)
		found, err := l.s.scroll(ctx, l.collection, all(within...), by, page, l.fields...)
		if err != nil || len(found) == 0 {
			return err
		}
		number := func(p point) int64 { return p.int(orderFields[level]) }
		last := number(found[len(found)-1])
		complete := len(found) < page
		whole := found
		if !complete {
			cut := slices.IndexFunc(found, func(p point) bool { return number(p) == last })
			whole = found[:cut]
		}
		l.take(whole)
		if complete || l.full() {
			return nil
		}
		if len(whole) > 0 {
			from = last
			continue
		}
		inner := append(slices.Clone(within), isInt(orderFields[level], last))
		if err := l.level(ctx, level+1, inner, edge && last == orderNumber(l.after, level)); err != nil {
			return err
		}
		from = last + 1
	}
	return nil
}

// take adds complete groups of points.
func (l *listing) take(ps []point) {
	slices.SortFunc(ps, func(a, b point) int { return strings.Compare(a.word(l.name), b.word(l.name)) })
	for _, p := range ps {
		if p.word(l.name) > l.after && !l.full() {
			l.out = append(l.out, p)
		}
	}
}

// group reads all points within the conditions.
func (l *listing) group(ctx context.Context, within []*qd.Condition) error {
	var found []point
	err := l.s.scrollAll(ctx, l.collection, all(within...), 1024, func(ps []point) error {
		found = append(found, ps...)
		return nil
	}, l.fields...)
	l.take(found)
	return err
}
