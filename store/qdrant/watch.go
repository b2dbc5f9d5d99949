package qdrant

import (
	"context"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"memoryd/internal/lifecycle"

	lru "github.com/hashicorp/golang-lru/v2"
	qd "github.com/qdrant/go-client/qdrant"
)

// A tool that is described again and again is watched: a process knows what its calls
// count for and what its history holds up to a stamp at or below which nothing can arrive
// any more, and asks only what came, or got a verdict, after that. That is little, so one
// look is for all tools that wait (see rounds): two requests that give ids, and the reading
// of those points that are not known. What cannot be told so is counted as ever.
const (
	watchAfter  = 3                // descriptions in watchWithin, before a tool is watched
	watchWithin = 30 * time.Second // and so long after one try follows the next
	watchIdle   = 15 * time.Second // after that a watch that nobody asked is no use any more
	watchRecent = 512              // calls and contents in that time; more are counted sooner
	lookTools   = 128              // that a look is for
	lookPoints  = 1 << 14          // that it finds at most
	watchBegins = 8                // watches that begin at a time
	lowFor      = time.Second      // for so long a low water is not asked again
)

// idle is watchIdle in stamps.
func (s *backend) idle() int64 { return int64(min(watchIdle, 100*s.grace)/stampStep) << leaseBits }

// fieldDeleted of a tool's point changes when calls leave its history of which nothing
// newer tells: they were deleted, or let go for a smaller history. It is written when they
// are gone, so who finds it as it was had no such deletion acknowledged since.
const fieldDeleted = "deleted"

// watch is what a process knows of a life. It is used by one look at a time.
type watch struct {
	life    string
	mark    string // fieldDeleted
	began   time.Time
	phase   phase
	lost    bool              // it cannot be told
	through int64             // tally is of what was accepted up to here
	sum     callCounts        // but its revision is that of all verdicts, without the calls
	recent  map[string]narrow // accepted after through, or not long before, or judged after it
	history []narrow          // newest first
}

// phase is how far a watch has begun.
type phase int

const (
	learning phase = iota // nothing is counted yet
	checking              // it is counted: no verdict may have come meanwhile
	watching
)

// sighting is what a look tells of a tool.
type sighting struct {
	sum  callCounts
	kept []narrow
}

// watches are watches by life.
type watches struct {
	lives *lru.Cache[string, *watch]

	mu    sync.Mutex
	asked *lru.Cache[string, *interest]
	begin int // how many begin
	low   int64
	lowAt time.Time
}

// interest is how often a life was described lately.
type interest struct {
	n     int
	since time.Time
	tried time.Time // to begin a watch
}

// has gives the watch of a tool if it may be used.
func (ws *watches) has(t *tool) *watch {
	if w, ok := ws.lives.Get(t.life); ok && w.mark == t.p.word(fieldDeleted) && time.Since(w.began) <= recountAfter {
		return w
	}
	return nil
}

// wanted notes a description and tells whether to begin a watch; the caller says when that
// is done.
func (ws *watches) wanted(life string, pause time.Duration) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	now := time.Now()
	of, known := ws.asked.Get(life)
	if !known || now.Sub(of.since) > watchWithin && now.Sub(of.tried) > pause {
		of = &interest{since: now}
		ws.asked.Add(life, of)
	}
	if of.n++; of.n < watchAfter || now.Sub(of.tried) < pause || ws.begin == watchBegins {
		return false
	}
	ws.begin++
	of.tried = now
	return true
}

// begun is told that a watch has begun, or has not.
func (ws *watches) begun() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.begin--
}

// recentLow is a low water that is not much older than now.
func (s *backend) recentLow(ctx context.Context) (int64, error) {
	ws := &s.watches
	ws.mu.Lock()
	low, fresh := ws.low, time.Since(ws.lowAt) < min(lowFor, s.grace)
	ws.mu.Unlock()
	if fresh {
		return low, nil
	}
	now := time.Now()
	low, err := s.lowWater(ctx)
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if err == nil {
		ws.low, ws.lowAt = low, now
	}
	return low, err
}

// sighted looks after a tool if it is watched, with others that wait; nil means that it
// has to be counted.
func (s *backend) sighted(ctx context.Context, t *tool) (*sighting, error) {
	if s.watches.has(t) == nil {
		if s.watches.wanted(t.life, min(watchWithin, s.grace)) {
			s.worker.Go(func(ctx context.Context) error {
				defer s.watches.begun()
				if err := s.watch(ctx, t); err != nil && ctx.Err() == nil {
					s.log.WarnContext(ctx, "cannot watch a tool", "tool", t.info.Tool, "err", err)
				}
				return nil
			})
		}
		return nil, nil
	}
	found, err := inRounds(ctx, s, &s.sightings, t)
	return found[t], err
}

// sight looks after all tools of a round.
func (s *backend) sight(ctx context.Context, tools []*tool) (map[*tool]*sighting, error) {
	low, err := s.recentLow(ctx)
	if err != nil {
		return nil, err
	}
	of := map[string]*watch{}
	for _, t := range tools {
		if w := s.watches.has(t); w != nil && w.through >= low-s.idle() {
			of[t.life] = w
		} else if w != nil {
			s.watches.lives.Remove(t.life)
		}
	}
	g, gctx := lifecycle.NewGroup(ctx, s.log, "qdrant", 0)
	for part := range slices.Chunk(slices.Collect(maps.Values(of)), lookTools) {
		g.Go(func() error { return s.lookAfter(gctx, part, low) })
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	out := map[*tool]*sighting{}
	for _, t := range tools {
		switch w := of[t.life]; {
		case w == nil:
		case w.lost:
			s.watches.lives.Remove(t.life)
		case w.mark == t.p.word(fieldDeleted):
			out[t] = w.sighting()
		}
	}
	return out, nil
}

// lookAfter learns what came and what was judged since watches were last looked after. low
// was read before.
func (s *backend) lookAfter(ctx context.Context, watches []*watch, low int64) error {
	from := int64(endOfStamps)
	of := map[string]*watch{}
	for _, w := range watches {
		of[w.life] = w
		from = min(from, w.through)
	}
	arrived, judged, err := s.since(ctx, keysOf(of), from)
	if err != nil {
		return err
	}
	full := len(arrived) >= lookPoints || len(judged) >= lookPoints ||
		s.asksQuorum() // which may overlook what is acknowledged
	if full {
		for _, w := range watches {
			w.lost = true
		}
		return nil
	}
	owner := ownersOf(watches, len(arrived), len(judged) > 0)
	var unknown []string
	for _, p := range arrived {
		if owner[p.id] != nil {
			continue
		}
		known, _ := s.known.Get(p.id)
		if w := of[known.life]; w != nil && w.phase == watching { // while one begins, calls may have been deleted since
			owner[p.id] = w
			w.learn(known)
			continue
		}
		unknown = append(unknown, p.id)
	}
	for id, n := range judged { // of those that are not known
		if w := owner[id]; w == nil || !w.knows(id, n) {
			unknown = append(unknown, id)
		}
	}
	found, err := s.gather(ctx, &s.pointReads, unknown)
	if err != nil {
		return err
	}
	for _, id := range unknown {
		p := point{id, found[id]}
		if w := of[lifeOf(p)]; w != nil {
			now, err := narrowOf(p)
			w.lost = w.lost || err != nil // who counts will say so
			w.learn(now)
		}
	}
	for _, w := range watches {
		w.advance(low, low-s.idle(), judged)
	}
	return nil
}

// ownersOf tells which watch knows a point: a recent one, and with history any of its own.
// There is room for as many more.
func ownersOf(watches []*watch, more int, history bool) map[string]*watch {
	for _, w := range watches {
		more += len(w.recent)
	}
	owner := make(map[string]*watch, more)
	for _, w := range watches {
		for id := range w.recent {
			owner[id] = w
		}
		if history {
			for i := range w.history {
				owner[w.history[i].id] = w
			}
		}
	}
	return owner
}

// since gives the points of lives that were accepted after a stamp, and how many verdicts
// those calls have had that got one after it.
func (s *backend) since(ctx context.Context, lives []string, from int64) (arrived []point, judged map[string]int64, err error) {
	ofLives := qd.NewMatchKeywords(fieldLife, lives...)
	contents := &qd.Filter{Should: []*qd.Condition{ofLives, qd.NewMatchKeywords(fieldContent, lives...)}}
	g, gctx := lifecycle.NewGroup(ctx, s.log, "qdrant", 0)
	g.Go(func() (err error) {
		arrived, err = s.scroll(gctx, s.calls, all(above(fieldStamp, from), qd.NewFilterAsCondition(contents)), nil, lookPoints)
		return err
	})
	g.Go(func() (err error) {
		judged, err = s.verdictsOn(gctx, all(above(fieldJudged, from), ofLives), lookPoints)
		return err
	})
	return arrived, judged, g.Wait()
}

// knows tells whether a call's n-th verdict is known.
func (w *watch) knows(id string, n int64) bool {
	c, _ := w.find(id)
	return c.verdicts == n
}

// find gives what is known of a point.
func (w *watch) find(id string) (narrow, bool) {
	if p, ok := w.recent[id]; ok {
		return p, true
	}
	for i := range w.history {
		if w.history[i].id == id {
			return w.history[i], true
		}
	}
	return narrow{}, false
}

// learn takes in a point.
func (w *watch) learn(n narrow) {
	old, known := w.find(n.id)
	more := n.verdicts - old.verdicts
	if n.stamp <= w.through && w.phase != learning && more != 0 && (!known || w.phase == checking) {
		w.lost = true // whether these verdicts are among those that were counted is not known
		return
	}
	if w.phase != learning {
		w.sum.revision += more
	}
	w.recent[n.id] = n
	if n.content {
		return
	}
	calls := make([]narrow, 0, len(w.history)+1)
	for _, c := range w.history {
		if c.id != n.id {
			calls = append(calls, c)
		}
	}
	// What is below the history was let go; it may be there still, until it is cleared away.
	if last := len(w.history) - 1; !n.gone && (known || last < 0 || n.stamp > w.through || n.seq > w.history[last].seq) {
		calls = append(calls, n)
	}
	h := history{bound: math.MaxInt64}
	h.add(newestFirst(calls))
	w.history = h.kept
}

// advance moves up to where nothing arrives any more, and forgets what is long settled.
func (w *watch) advance(low, old int64, judged map[string]int64) {
	if w.phase == learning {
		return
	}
	for id, p := range w.recent {
		if p.stamp > w.through && p.stamp <= low {
			w.sum = p.added(w.sum)
		}
		if _, still := judged[id]; p.stamp <= old && !still {
			delete(w.recent, id)
		}
	}
	w.through = max(w.through, low)
	w.lost = w.lost || len(w.recent) > watchRecent
}

// added is a tally with a point more.
func (p *narrow) added(sum callCounts) callCounts {
	if p.content {
		sum.duplicates--
		return sum
	}
	sum.calls++
	sum.duplicates++
	return sum
}

func (w *watch) sighting() *sighting {
	sum := w.sum
	for _, p := range w.recent {
		if p.stamp > w.through {
			sum = p.added(sum)
		}
	}
	sum.revision += sum.calls
	return &sighting{sum, w.history}
}

// watch begins to watch a tool: it reads the history and what is recent, then counts, and
// then sees that nothing was judged meanwhile.
func (s *backend) watch(ctx context.Context, t *tool) error {
	low, err := s.recentLow(ctx)
	if err != nil {
		return err
	}
	w := &watch{life: t.life, mark: t.p.word(fieldDeleted), began: time.Now(), recent: map[string]narrow{}, through: low - s.idle()}
	if w.history, err = s.historyCalls(ctx, t.life); err != nil || len(w.history) >= maxIDs {
		return err
	}
	for _, c := range w.history {
		if c.stamp > w.through {
			w.recent[c.id] = c
		}
	}
	alone := []*watch{w}
	if err := s.lookAfter(ctx, alone, low); err != nil || w.lost || len(w.recent) > watchRecent {
		return err
	}
	if w.sum, err = s.countUpTo(ctx, t.life, s.most(t, low), low); err != nil {
		return err
	}
	w.sum.revision -= w.sum.calls
	w.through = low
	for _, p := range w.recent {
		if p.stamp > low {
			w.sum.revision += p.verdicts
		}
	}
	w.phase = checking
	if err := s.lookAfter(ctx, alone, low); err != nil || w.lost {
		return err
	}
	w.phase = watching
	s.watches.lives.Add(t.life, w)
	return nil
}
