package qdrant

import (
	"context"
	"maps"
	"slices"
	"time"

	"memoryd"
	"memoryd/store"

	qd "github.com/qdrant/go-client/qdrant"
)

// maxAttempts bounds how often an append starts again because its tool was
// deleted meanwhile. One deletion may cost several attempts: one that met the old
// life, one that found what this append left under it, and one for each writer of
// this process that remembered the old life again.
const maxAttempts = 40

// Append implements store.Calls. It makes one write, which inserts the calls as points unless
// they exist; the ids of the points follow from the calls' keys. A round of small reads then
// shows whose writes took effect.
func (s *backend) Append(ctx context.Context, b store.Batch) ([]store.Appended, error) {
	if _, ok := store.Begun(ctx); !ok {
		ctx = store.Since(ctx, time.Now())
	}
	if err := s.acquireLease(ctx); err != nil {
		return nil, err
	}
	a := newAppending(s, b)
	for range maxAttempts {
		done, err := a.attempt(ctx)
		if err != nil {
			return nil, err
		}
		if done {
			a.trim(ctx)
			return a.out, nil
		}
	}
	return nil, memoryd.Errorf(memoryd.Unavailable, "the tool is deleted again and again while calls come in")
}

// appending is one Append under way. Its nonce stays the same over all
// attempts, so that an earlier one's calls are known as its own.
type appending struct {
	s      *backend
	b      store.Batch
	nonce  string
	ids    []string // of the calls' points
	owners []string // the ids of the calls' tools
	twice  []bool   // the key came earlier in the batch
	refs   map[string]memoryd.ToolRef
	lives  map[string]string // by tool id
	first  map[string]bool   // tools that this append made
	out    []store.Appended
}

func newAppending(s *backend, b store.Batch) *appending {
	a := &appending{
		s: s, b: b, nonce: newNonce(), ids: make([]string, len(b.Calls)), owners: make([]string, len(b.Calls)),
		twice: make([]bool, len(b.Calls)), refs: map[string]memoryd.ToolRef{}, lives: map[string]string{}, first: map[string]bool{},
	}
	seen := map[memoryd.CallKey]bool{}
	for i := range b.Calls {
		c := &b.Calls[i]
		a.ids[i] = callID(b.Workspace, c.Key)
		a.twice[i] = seen[c.Key]
		seen[c.Key] = true
		ref := memoryd.ToolRef{Workspace: b.Workspace, Tool: c.Tool}
		a.owners[i] = toolID(ref)
		if !a.twice[i] {
			a.refs[a.owners[i]] = ref
		}
	}
	return a
}

// attempt tries to store all; it reports false when it has to start again.
func (a *appending) attempt(ctx context.Context) (bool, error) {
	if err := a.findLives(ctx); err != nil {
		return false, err
	}
	begun := a.s.clock.begin(len(a.b.Calls))
	points := a.points(begun.stamp)
	found, err := a.s.deliver(ctx, &request{
		points: points, calls: a.ids, tools: append(keysOf(a.refs), workspaceID(a.b.Workspace)),
	})
	a.s.clock.end(begun, err, a.s.latest())
	if err != nil {
		return false, err
	}
	return a.settle(ctx, found)
}

// insertAll inserts points, as many at a time as fit one request.
func (s *backend) insertAll(ctx context.Context, collection string, order *qd.WriteOrdering, points []*qd.PointStruct) error {
	const maxPoints, maxBytes = 1000, 16 << 20
	from, size := 0, 0
	for i, p := range points {
		fields := payload(p.GetPayload())
		bytes := int(fields.int(fieldSize)) + int(fields.int(fieldLength))*4/3 + 512
		if size += bytes; i > from && (i-from >= maxPoints || size > maxBytes) {
			if err := s.insert(ctx, collection, order, points[from:i]); err != nil {
				return err
			}
			from, size = i, bytes
		}
	}
	return s.insert(ctx, collection, order, points[from:])
}

// findLives learns the lives of the batch's tools and makes tools that are not
// there.
func (a *appending) findLives(ctx context.Context) error {
	missing := make([]string, 0, len(a.refs))
	for id := range a.refs {
		if life, ok := a.s.lives.Get(id); ok {
			a.lives[id] = life
		} else {
			missing = append(missing, id)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	found, err := a.s.getMap(ctx, a.s.tools, missing, include(fieldLife))
	if err != nil {
		return err
	}
	var made []*qd.PointStruct
	now := time.Now()
	for _, id := range missing {
		if p, ok := found[id]; ok {
			a.learn(id, p)
			continue
		}
		made = append(made, newToolPoint(a.refs[id], newLife(), a.nonce, now))
	}
	if len(made) == 0 {
		return nil
	}
	return a.makeTools(ctx, made)
}

func (a *appending) learn(id string, p payload) {
	a.lives[id] = p.word(fieldLife)
	a.s.lives.Add(id, a.lives[id])
}

func (a *appending) makeTools(ctx context.Context, made []*qd.PointStruct) error {
	ids := make([]string, len(made))
	for i, p := range made {
		ids[i] = p.GetId().GetUuid()
	}
	made = append(made, newWorkspacePoint(a.b.Workspace))
	if err := a.s.insert(ctx, a.s.tools, a.s.compareOrder(), made); err != nil {
		return err
	}
	found, err := a.s.getMap(ctx, a.s.tools, ids, include(fieldLife, fieldNonce))
	if err != nil {
		return err
	}
	for id, p := range found {
		a.learn(id, p)
		a.first[id] = p.word(fieldNonce) == a.nonce
	}
	return nil
}

// points makes the calls' points, from a stamp on, and those of their contents.
func (a *appending) points(stamp int64) []*qd.PointStruct {
	var made newPoints
	for i := range a.b.Calls {
		if a.twice[i] {
			continue
		}
		c := a.b.Calls[i]
		c.Workspace = a.b.Workspace
		c.Seq = stamp + int64(i)*leases
		made.add(&c, accepted{a.ids[i], a.lives[a.owners[i]], a.owners[i], a.nonce, c.Seq, a.b.Keep})
	}
	return made.all()
}

// accepted is what the acceptance of a call adds to its point, and the point's id.
type accepted struct {
	id, life, owner, nonce string
	stamp                  int64
	keep                   int
}

// newPoints are the points of calls, and one for each of their contents.
type newPoints struct {
	calls, contents []*qd.PointStruct
	held            map[string]bool // contents
}

func (n *newPoints) add(c *memoryd.Call, by accepted) {
	p := encodeCall(c)
	p[fieldLife], p[fieldKept] = word(by.life), word(by.life)
	p[fieldOwner], p[fieldNonce] = word(by.owner), word(by.nonce)
	p[fieldStamp], p[fieldKeep] = integer(by.stamp), integer(int64(by.keep))
	n.calls = append(n.calls, newCallPoint(by.id, p))
	content := contentID(by.life, store.ContentOf(c))
	if n.held[content] {
		return
	}
	if n.held == nil {
		n.held = map[string]bool{}
	}
	n.held[content] = true
	n.contents = append(n.contents, newCallPoint(content, payload{fieldContent: word(by.life), fieldStamp: integer(by.stamp)}))
}

func (n *newPoints) all() []*qd.PointStruct { return append(n.calls, n.contents...) }

// settle learns which calls this append brought, and that their tools lived on
// meanwhile.
func (a *appending) settle(ctx context.Context, found *findings) (bool, error) {
	if !a.stillLive(found.tools) {
		return false, nil
	}
	if _, ok := found.tools[workspaceID(a.b.Workspace)]; !ok {
		if err := a.s.insert(ctx, a.s.tools, a.s.compareOrder(), []*qd.PointStruct{newWorkspacePoint(a.b.Workspace)}); err != nil {
			return false, err
		}
	}
	if settled, err := a.takeOver(ctx, found.calls); !settled || err != nil {
		return false, err
	}
	a.answer(found.calls)
	return true, nil
}

// stillLive reports whether all tools have the lives that the calls were stored
// under. What is known of others is forgotten.
func (a *appending) stillLive(tools map[string]payload) bool {
	live := true
	for id := range a.refs {
		if tools[id].word(fieldLife) != a.lives[id] {
			a.s.lives.Remove(id)
			live = false
		}
	}
	return live
}

// answer says what became of each call.
func (a *appending) answer(calls map[string]payload) {
	a.out = make([]store.Appended, len(a.b.Calls))
	for i := range a.b.Calls {
		p := calls[a.ids[i]]
		a.s.clock.see(p.int(fieldStamp))
		a.out[i].FirstOfTool = a.first[a.owners[i]]
		if a.twice[i] || p.word(fieldNonce) != a.nonce {
			continue
		}
		a.out[i].New = true
		a.out[i].Seq = p.int(fieldStamp)
	}
}

// trim has histories cleared that are due for it, beside the caller unless that brings
// many calls. The batch is stored already: what fails here is done by the next.
func (a *appending) trim(ctx context.Context) {
	fresh := map[string]int{}
	for i := range a.out {
		if a.out[i].New {
			fresh[a.owners[i]]++
		}
	}
	for id := range a.refs {
		n, life, name := fresh[id], a.lives[id], a.refs[id].Tool
		if n == 0 { // whoever sends known calls with a smaller history wants it now
			if err := a.s.shrink(ctx, life, a.b.Keep); err != nil {
				a.s.notCleared(ctx, name, err)
			}
			continue
		}
		c := a.s.clearingOf(life)
		if c.due.Add(int64(n)) < trimSlack {
			continue
		}
		done := make(chan struct{})
		if !a.s.worker.Go(func(ctx context.Context) error { defer close(done); a.s.clear(ctx, c, life, name); return nil }) {
			return // the store is being closed
		}
		if n >= 2*trimSlack { // who brings many waits, else more would come than is cleared
			select {
			case <-done:
			case <-ctx.Done():
			}
		}
	}
}

func (s *backend) notCleared(ctx context.Context, tool string, err error) {
	s.log.WarnContext(ctx, "cannot clear a history", "tool", tool, "err", err)
}

// takeOver deals with keys whose points belong to a tool of another life. If
// that life has ended, the point is a remnant and is replaced; the append then
// starts again to see who replaced it. A point that is not there was deleted
// with its tool meanwhile, which also means to start again.
func (a *appending) takeOver(ctx context.Context, calls map[string]payload) (settled bool, err error) {
	settled = true
	for i := range a.b.Calls {
		p, ok := calls[a.ids[i]]
		if !ok {
			return false, nil
		}
		owner, life := p.word(fieldOwner), p.word(fieldLife)
		if a.lives[owner] == life {
			continue
		}
		remnant, err := a.s.removeRemnant(ctx, a.ids[i], p)
		if err != nil {
			return false, err
		}
		settled = settled && !remnant // else the key is known under another tool
	}
	return settled, nil
}

// ended reports whether a tool's life is over.
func (s *backend) ended(ctx context.Context, toolID, life string) (bool, error) {
	t, err := s.one(ctx, s.tools, toolID, include(fieldLife))
	return t.word(fieldLife) != life, err
}

// removeRemnant removes the point of a call if its life is over, and tells whether it was.
func (s *backend) removeRemnant(ctx context.Context, id string, p payload) (remnant bool, err error) {
	life := p.word(fieldLife)
	if ended, err := s.ended(ctx, p.word(fieldOwner), life); err != nil || !ended {
		return false, err
	}
	return true, s.remove(ctx, s.calls, qd.NewPointsSelectorFilter(all(qd.NewHasID(qd.NewIDUUID(id)), is(fieldLife, life))))
}

func keysOf[V any](m map[string]V) []string { return slices.Collect(maps.Keys(m)) }
