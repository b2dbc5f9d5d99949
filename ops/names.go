package ops

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"memoryd"
	"memoryd/internal/accounts"
	"memoryd/internal/suggest"
	"memoryd/store"

	lru "github.com/hashicorp/golang-lru/v2"
)

// NameKind is the kind of the records that map a further name to a stored tool.
const NameKind = "tool_name"

// The bounds of what Names remembers, and for how long a name that it does not know is
// not looked for again.
const (
	maxStored   = 1 << 17
	maxSpaces   = 64
	maxNames    = 20_000 // of a workspace
	namesStale  = time.Minute
	callsRead   = 40 // of a tool whose parameters are compared
	nearestMost = 3
)

// Names finds the memory of a tool that hosts call by several names: mcp__time__x,
// mcp_time_x, time_x, or x if no other server has one. A name that already has calls keeps
// its memory. A new name joins a memory only if names and earlier calls leave no doubt.
type Names struct {
	store  store.Store
	now    func() time.Time
	stored *lru.Cache[memoryd.ToolRef, bool] // names that are those of stored tools
	spaces *lru.Cache[string, *namespace]
}

// namespace is what is known of the names of a workspace.
type namespace struct {
	mu    sync.Mutex                 // one at a time reads the names of a workspace
	tools map[string][]accounts.Name // stored tools, and their names that tell a server
	means map[string]string          // further names of theirs
	byKey map[string][]string        // stored tools by the keys of their names
	bare  map[string][]string        // and by what they may be called without their server
	read  time.Time                  // when the store was looked through
}

// NewNames returns a Names without any names.
func NewNames(s store.Store, now func() time.Time) *Names {
	n := &Names{store: s, now: now}
	n.stored, _ = lru.New[memoryd.ToolRef, bool](maxStored) // their sizes are not 0
	n.spaces, _ = lru.New[string, *namespace](maxSpaces)
	return n
}

// asked is a name with what its call tells of it.
type asked struct {
	memoryd.ToolRef
	input json.RawMessage // nil: there is no call
	host  bool            // who calls it so names the server of each tool that has one
	write bool            // a call is to be recorded
}

// Of returns the tool that a name means, and whether it is stored.
func (n *Names) Of(ctx context.Context, a asked) (meant memoryd.ToolRef, known bool, err error) {
	if a.Tool == "" {
		return a.ToolRef, true, nil
	}
	if n.stored.Contains(a.ToolRef) {
		return a.ToolRef, true, nil
	}
	s, ok := n.spaces.Get(a.Workspace)
	if !ok {
		s = &namespace{}
		if first, came, _ := n.spaces.PeekOrAdd(a.Workspace, s); came {
			s = first
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if means := s.means[a.Tool]; means != "" {
		meant = memoryd.ToolRef{Workspace: a.Workspace, Tool: means}
		if _, err := n.store.Tool(ctx, meant); !memoryd.IsKind(err, memoryd.NotFound) {
			return meant, true, err
		}
		s.read = time.Time{} // it was deleted
	}
	if _, err := n.store.Tool(ctx, a.ToolRef); !memoryd.IsKind(err, memoryd.NotFound) {
		if err == nil {
			n.stored.Add(a.ToolRef, true)
			s.add(a.Tool)
		}
		return a.ToolRef, err == nil, err
	}
	if n.now().Sub(s.read) > namesStale {
		if err := n.look(ctx, s, a.Workspace); err != nil {
			return a.ToolRef, false, err
		}
	}
	tool, err := n.meant(ctx, s, &a)
	switch {
	case err != nil:
		return a.ToolRef, false, err
	case tool != "":
		return memoryd.ToolRef{Workspace: a.Workspace, Tool: tool}, true, nil
	case a.write:
		n.stored.Add(a.ToolRef, true)
		s.add(a.Tool)
	}
	return a.ToolRef, false, nil
}

// look reads the names of a workspace.
func (n *Names) look(ctx context.Context, s *namespace, workspace string) error {
	s.tools, s.means, s.byKey, s.bare, s.read = map[string][]accounts.Name{}, map[string]string{}, map[string][]string{},
		map[string][]string{}, time.Time{}
	for t, err := range store.AllTools(ctx, n.store, workspace) {
		if err != nil {
			return err
		}
		if s.add(t.Tool); len(s.tools) >= maxNames {
			break
		}
	}
	for r, err := range store.AllRecords(ctx, n.store, store.RecordKey{ToolRef: memoryd.ToolRef{Workspace: workspace}, Kind: NameKind}) {
		if err != nil {
			return err
		}
		if len(s.means) < maxNames {
			s.claim(string(r.Data), r.ID)
		}
	}
	s.read = n.now()
	return nil
}

// add notes a stored tool.
func (s *namespace) add(tool string) {
	if _, known := s.tools[tool]; known || s.tools == nil || len(s.tools) >= maxNames {
		return
	}
	name := accounts.NameOf(tool)
	s.tools[tool] = nil
	if name.MCP {
		s.tools[tool] = []accounts.Name{name}
	}
	s.index(tool, name)
}

// claim notes that a name with a server means a stored tool.
func (s *namespace) claim(tool, as string) {
	if _, known := s.tools[tool]; known {
		name := accounts.NameOf(as)
		s.tools[tool] = append(s.tools[tool], name)
		s.means[as] = tool
		s.index(tool, name)
	}
}

func (s *namespace) index(tool string, name accounts.Name) {
	put := func(in map[string][]string, key string) {
		if !slices.Contains(in[key], tool) {
			in[key] = append(in[key], tool)
		}
	}
	put(s.byKey, name.Key)
	for _, bare := range name.Bare() {
		put(s.bare, bare)
		if len(s.bare[bare]) > 1 {
			delete(s.means, bare) // what was the only one is so no more
		}
	}
}

// meant finds the stored tool that a name means which none has, "" for none.
func (n *Names) meant(ctx context.Context, s *namespace, a *asked) (string, error) {
	name := accounts.NameOf(a.Tool)
	var whole []string // those that tell the same server and tool, or run together alike
	for _, tool := range s.byKey[name.Key] {
		if of := s.tools[tool]; len(of) == 0 && name.MCP || slices.ContainsFunc(of, name.Same) {
			whole = append(whole, tool)
		}
	}
	tool := ""
	if len(whole) == 1 {
		tool = whole[0]
	} else if len(whole) == 0 {
		tool = s.alone(name, a)
	}
	if tool == "" {
		return "", nil
	}
	if sure := len(whole) == 1 && name.MCP && len(s.tools[tool]) > 0; !sure && a.input != nil {
		agree, told, err := n.agree(ctx, a, tool)
		if err != nil || !agree && (told || len(whole) == 0) {
			return "", err
		}
	}
	return tool, n.join(ctx, s, a, name, tool)
}

// alone is the only tool that a name may mean where but one of the two tells the server.
func (s *namespace) alone(name accounts.Name, a *asked) string {
	if !name.MCP {
		if tools := s.bare[strings.TrimPrefix(a.Tool, "MCP:")]; len(tools) == 1 && !a.host {
			return tools[0]
		}
		return ""
	}
	only := ""
	for _, bare := range name.Bare() {
		if of, known := s.tools[bare]; !known || len(of) > 0 || len(s.bare[bare]) > 0 {
			continue
		}
		if only != "" {
			return ""
		}
		only = bare
	}
	return only
}

// join notes that a name means a tool. It is kept where the tool's own name does not tell
// of which server it is: no other server's may have the place.
func (n *Names) join(ctx context.Context, s *namespace, a *asked, name accounts.Name, tool string) error {
	if !a.write {
		return nil
	}
	if len(s.means) < maxNames {
		s.means[a.Tool] = tool
	}
	if !name.MCP || len(s.tools[tool]) > 0 {
		return nil
	}
	s.claim(tool, a.Tool)
	_, err := n.store.PutRecord(ctx, store.Record{
		RecordKey: store.RecordKey{ToolRef: memoryd.ToolRef{Workspace: a.Workspace}, Kind: NameKind, ID: a.Tool},
		Revision:  store.AnyRevision, Data: []byte(tool),
	})
	return err
}

// agree reports whether the parameters of a call are among those of a tool's calls, or the
// other way round, and whether both tell any. What a host calls so that names its servers
// is a tool of its own.
func (n *Names) agree(ctx context.Context, a *asked, tool string) (agree, told bool, err error) {
	calls, err := n.store.History(ctx, memoryd.ToolRef{Workspace: a.Workspace, Tool: tool}, callsRead)
	if err != nil {
		return false, false, err
	}
	own := accounts.NameOf(tool)
	theirs := map[string]bool{}
	for i := range calls {
		if account, ok := accounts.FromRecord(&calls[i]); ok && !own.MCP && slices.ContainsFunc(account.Sources, accounts.NamesServers) {
			return false, true, nil
		}
		for p := range parameters(calls[i].Input) {
			theirs[p] = true
		}
	}
	given := parameters(a.input)
	both := 0
	for p := range given {
		if theirs[p] {
			both++
		}
	}
	if len(given) == 0 || len(theirs) == 0 {
		return len(given) == len(theirs) && len(calls) > 0, false, nil
	}
	return both == len(given) || both == len(theirs), true, nil
}

func parameters(input json.RawMessage) map[string]json.RawMessage {
	var of map[string]json.RawMessage
	_ = json.Unmarshal(input, &of) // a text has none
	return of
}

// byAnyName lets an op find the tool that its request names by any of the tool's names.
func byAnyName[In, Out any](d *Deps, run func(context.Context, In) (Out, error)) func(context.Context, In) (Out, error) {
	of := reflect.TypeFor[In]()
	if of.Kind() != reflect.Struct {
		return run
	}
	field, ok := of.FieldByName("ToolRef")
	if itself := of == reflect.TypeFor[memoryd.ToolRef](); !itself && (!ok || field.Type != reflect.TypeFor[memoryd.ToolRef]()) {
		return run
	}
	return func(ctx context.Context, in In) (out Out, err error) {
		ref := reflect.ValueOf(&in).Elem().FieldByIndex(field.Index)
		a := asked{ToolRef: ref.Interface().(memoryd.ToolRef)} //nolint:forcetypeassert // compared above
		if p, plans := any(in).(PreflightRequest); plans {
			a.input, a.host = p.Input, p.Host
		}
		meant, _, err := d.Names.Of(ctx, a)
		if err != nil {
			return out, err
		}
		ref.Set(reflect.ValueOf(meant))
		return run(ctx, in)
	}
}

// nearest are the known tools whose names are most like one that nothing is known of.
func nearest(ctx context.Context, s store.Tools, ref memoryd.ToolRef) []string {
	tools, err := s.ListTools(ctx, ref.Workspace, "", maxNamesRead)
	if err != nil {
		return nil
	}
	var names []string
	for i := range tools {
		names = append(names, tools[i].Tool)
	}
	return suggest.Few(ref.Tool, names, nearestMost)
}

// maxNamesRead bounds the names that an unknown one is compared with.
const maxNamesRead = 2000
