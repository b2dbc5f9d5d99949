package qdrant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"memoryd"
	"memoryd/store"

	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
)

// Moving calls from the first version of their collection to the second.
//
// The collection of the second version is filled beside the first, by its own name, while
// everybody works on the first by the alias: all points once, in the order of their ids,
// and then in rounds what came or changed since. What changes is told by stamps (of
// acceptance and of the newest verdict), by being pending, or by a mark on the tool that
// calls were deleted. What leaves no such trace is what a reader passes over: bodies that
// newer calls have pushed out, and points of tools that have ended.
//
// For the last round the server itself refuses writes to the old collection, and to tools,
// for the marks: it limits them to one in a minute, and this process makes that one. It waits for
// it, so all writes that were let in before are done. Reads go on. Then the alias moves, and writers, old
// programs among them, find the new collection under it: the fields of points are the same.
//
// What was reached is in a record, which is also a lease: one process at a time moves, every
// request of it ends with its lease, and another waits for one more request's time.
const (
	moveLease  = time.Minute
	moveHold   = 40 * time.Second // below the minute after which a server lets in one more write
	moveRounds = 8                // before the last one, at most
	moveShort  = 2 * time.Second  // a round that took no longer is followed by the last one
	movePage   = 1000
	holdRate   = 1 // writes in a minute
)

// Moved is what Migrate did.
type Moved struct {
	Points int64         // copied, some more than once
	Held   time.Duration // for how long writes were refused
	Old    string        // the collection that is left; "" if nothing was to move
}

var migrationKey = store.RecordKey{Kind: "migration", ID: "calls"}

// progress is what the record keeps of a migration; nothing when none is under way.
type progress struct {
	Until time.Time `json:"until"`
	Cut   int64     `json:"cut"`  // what was stamped above it may be missing
	From  string    `json:"from"` // the id at which copying goes on
	All   bool      `json:"all"`  // all points were copied once
}

// migration is a Migrate under way.
type migration struct {
	progress

	s        *backend
	old, new string
	revision int64
	marks    map[string]string // by life, as of the newest round
	moved    Moved
}

// Migrate moves calls to the newest version of their collection, while stores work on
// them. It may be interrupted at any time, also by the death of the process, and goes on when called again: until
// then, if it was interrupted in its last seconds, writes are refused. The old collection
// stays behind. It is for one node with one copy of each shard.
func (s internals) Migrate(ctx context.Context) (Moved, error) {
	if err := s.drainer.Enter(ctx); err != nil {
		return Moved{}, err
	}
	defer s.drainer.Leave()
	m := &migration{s: s.backend, old: versioned(s.calls, firstVersion), new: versioned(s.calls, packedVersion), marks: map[string]string{}}
	if err := m.begin(ctx); err != nil {
		return Moved{}, err
	}
	if err := m.run(ctx); err != nil {
		return m.moved, err // the lease runs out, for a request of this process may still be under way
	}
	if err := s.ensureSchema(ctx); err != nil {
		return m.moved, err
	}
	m.progress = progress{}
	return m.moved, m.save(ctx)
}

// begin takes the lease, for which it waits.
func (m *migration) begin(ctx context.Context) error {
	for said := false; ; said = true {
		r, err := m.s.record(ctx, migrationKey)
		switch {
		case memoryd.IsKind(err, memoryd.NotFound):
		case err != nil:
			return err
		default:
			m.progress = progress{}
			if err := json.Unmarshal(r.Data, &m.progress); err != nil {
				return memoryd.Wrap(memoryd.Internal, err, "the record of the migration is damaged")
			}
		}
		if m.revision = r.Revision; !m.Until.IsZero() {
			if left := time.Until(m.Until) + m.s.late(); left > 0 {
				if !said {
					m.s.log.InfoContext(ctx, "waiting for another migration to end, or for what is left of one that was interrupted", "for", left)
				}
				if err := m.s.sleep(ctx, min(left, maxWait)); err != nil {
					return fmt.Errorf("qdrant: %w", err)
				}
				continue
			}
		}
		if err := m.renew(ctx); !memoryd.IsKind(err, memoryd.Conflict) {
			return err
		}
	}
}

// late is for how long a server may still be at a request that nobody waits for any more.
func (s *backend) late() time.Duration { return min(s.grace, s.cfg.Timeout) }

// renew prolongs the lease and keeps what was reached.
func (m *migration) renew(ctx context.Context) error {
	had := m.Until
	m.Until = time.Now().Add(min(moveLease, m.s.grace))
	err := m.save(ctx)
	if err != nil {
		m.Until = had
	}
	return err
}

func (m *migration) save(ctx context.Context) error {
	data, err := json.Marshal(m.progress)
	if err != nil {
		return fmt.Errorf("qdrant: %w", err)
	}
	revision, err := m.s.putRecord(ctx, &store.Record{RecordKey: migrationKey, Revision: m.revision, Data: data}, "")
	if err == nil {
		m.revision = revision
	}
	return err
}

// within gives a context that ends with the lease, which it prolongs when half of it is over.
func (m *migration) within(ctx context.Context) (context.Context, context.CancelFunc, error) {
	if time.Until(m.Until) < min(moveLease, m.s.grace)/2 {
		if err := m.renew(ctx); err != nil {
			return nil, nil, err
		}
	}
	ctx, cancel := context.WithDeadline(ctx, m.Until)
	return ctx, cancel, nil
}

func (m *migration) run(ctx context.Context) error {
	target, err := m.s.aliases(ctx)
	if err != nil {
		return err
	}
	if target[m.s.calls] != m.old {
		return m.release(ctx, m.s.tools) // it was moved, maybe a moment before the end of who moved it
	}
	if err := m.prepare(ctx); err != nil {
		return err
	}
	if !m.All {
		if err := m.copyAll(ctx); err != nil {
			return err
		}
	}
	for range moveRounds {
		begun := time.Now()
		if err := m.round(ctx); err != nil {
			return err
		}
		if time.Since(begun) < moveShort {
			break
		}
	}
	m.moved.Old = m.old
	return m.last(ctx)
}

// prepare makes the new collection and frees what an interrupted try has held.
func (m *migration) prepare(ctx context.Context) error {
	if err := m.free(ctx); err != nil {
		return err
	}
	if err := m.movable(ctx); err != nil {
		return err
	}
	if err := m.s.createCollection(ctx, m.s.calls, m.new); err != nil {
		return err
	}
	info, err := m.s.checkSchema(ctx, m.s.calls, m.new)
	if err != nil {
		return err
	}
	if err := m.s.addIndexes(ctx, m.new, info, m.s.layout()[m.s.calls]); err != nil {
		return err
	}
	if m.Cut > 0 {
		return nil
	}
	if n, err := m.s.count(ctx, m.new, nil); err != nil || n > 0 {
		return errors.Join(err, memoryd.Errorf(memoryd.Conflict, "the collection %s holds points that no migration knows of: remove it first", m.new))
	}
	m.Cut = m.below()
	return m.renew(ctx)
}

// movable refuses what cannot be moved so.
func (m *migration) movable(ctx context.Context) error {
	for _, name := range []string{m.s.calls, m.s.tools} {
		info, err := ask(ctx, m.s, "cluster info", func(ctx context.Context) (*qd.CollectionClusterInfoResponse, error) {
			return m.s.client.GetCollectionClusterInfo(ctx, name)
		})
		if err != nil {
			return err
		}
		has, err := m.s.collection(ctx, name)
		if err != nil {
			return err
		}
		if has.GetConfig().GetStrictModeConfig().GetEnabled() {
			return memoryd.Errorf(memoryd.Invalid, "%s has limits of its own (strict mode), which a migration would replace: switch them off meanwhile", name)
		}
		if len(info.GetRemoteShards()) > 0 {
			return memoryd.Errorf(memoryd.Invalid, "%s is on several nodes, of which each would have to hold its writes: export, remove the collections, restore", name)
		}
	}
	return nil
}

// below is a stamp above which all is that will take effect from now on, as lowWater has it.
func (m *migration) below() int64 { return stampAt(time.Now().Add(-m.s.latest())) }

func (m *migration) copyAll(ctx context.Context) error {
	var from *qd.PointId
	if m.From != "" {
		from = qd.NewIDUUID(m.From)
	}
	err := m.copy(ctx, nil, from)
	if err != nil {
		return err
	}
	m.All, m.From = true, ""
	return m.renew(ctx)
}

// copy copies the points that a filter holds for. Without one it notes how far it is.
func (m *migration) copy(ctx context.Context, f *qd.Filter, from *qd.PointId) error {
	for {
		next, err := m.copyPage(ctx, f, from)
		if err != nil || next == nil {
			return err
		}
		if from = next; f == nil {
			m.From = from.GetUuid()
		}
	}
}

func (m *migration) copyPage(ctx context.Context, f *qd.Filter, from *qd.PointId) (*qd.PointId, error) {
	ctx, cancel, err := m.within(ctx)
	if err != nil {
		return nil, err
	}
	defer cancel()
	p, err := m.page(ctx, f, from, movePage)
	if err != nil {
		return nil, err
	}
	points := make([]*qd.PointStruct, len(p.points))
	for i, pt := range p.points {
		points[i] = newPackedPoint(pt.GetId().GetUuid(), pt.GetPayload())
	}
	for len(points) > 0 {
		n := requestSize(points)
		if err := m.s.upsert(ctx, m.new, points[:n]); err != nil {
			return nil, err
		}
		points = points[n:]
		m.moved.Points += int64(n)
	}
	return p.next, nil
}

// page reads a page, a smaller one if that is too large for a reply.
func (m *migration) page(ctx context.Context, f *qd.Filter, from *qd.PointId, limit int) (page, error) {
	p, err := ask(ctx, m.s, "scroll", func(ctx context.Context) (p page, err error) {
		p.points, p.next, err = m.s.client.ScrollAndOffset(ctx, &qd.ScrollPoints{
			CollectionName: m.old, Filter: f, Offset: from, Limit: new(uint32(limit)),
			WithPayload: qd.NewWithPayload(true), WithVectors: qd.NewWithVectors(false),
		})
		return p, err
	})
	if limit > 1 && codeOf(err) == codes.ResourceExhausted {
		return m.page(ctx, f, from, limit/4)
	}
	return p, err
}

// round copies what came or changed since the round before.
func (m *migration) round(ctx context.Context) error {
	cut := m.below()
	for _, f := range []*qd.Filter{
		all(above(fieldStamp, m.Cut)), all(above(fieldJudged, m.Cut)), all(atLeast(fieldPending, 0)),
	} {
		if err := m.copy(ctx, f, nil); err != nil {
			return err
		}
	}
	marks := map[string]string{}
	marked := &qd.Filter{MustNot: []*qd.Condition{qd.NewIsEmpty(fieldDeleted)}}
	err := m.s.scrollAll(ctx, m.s.tools, marked, 1000, func(ps []point) error {
		for _, p := range ps {
			marks[p.word(fieldLife)] = p.word(fieldDeleted)
		}
		return nil
	}, fieldLife, fieldDeleted)
	if err != nil {
		return err
	}
	for life, mark := range marks {
		if m.marks[life] == mark {
			continue
		}
		if err := m.copy(ctx, all(is(fieldLife, life)), nil); err != nil {
			return err
		}
	}
	m.Cut, m.marks = cut, marks
	return m.renew(ctx)
}

// last holds writes, copies what is left, and moves the alias.
func (m *migration) last(ctx context.Context) error {
	if err := m.renew(ctx); err != nil {
		return err
	}
	begun := time.Now()
	held, cancel := context.WithTimeout(ctx, moveHold)
	defer cancel()
	err := m.hold(held, m.old)
	if err == nil {
		err = m.hold(held, m.s.tools)
	}
	if err == nil {
		err = m.round(held)
	}
	if err != nil {
		if held.Err() != nil && ctx.Err() == nil {
			err = memoryd.Wrap(memoryd.Unavailable, err, fmt.Sprintf("more came in the last minutes than can be copied in %s: call again when less comes", moveHold))
		}
		return errors.Join(err, m.free(context.WithoutCancel(ctx)))
	}
	if err := m.move(held); err != nil { // it may have moved all the same: who comes next looks
		return err
	}
	err = m.release(context.WithoutCancel(ctx), m.s.tools)
	m.moved.Held = time.Since(begun)
	return err
}

func (m *migration) move(ctx context.Context) error {
	ctx, cancel, err := m.within(ctx)
	if err != nil {
		return err
	}
	defer cancel()
	_, err = ask(ctx, m.s, "move alias", func(ctx context.Context) (bool, error) {
		return true, m.s.client.UpdateAliases(ctx, []*qd.AliasOperations{
			qd.NewAliasDelete(m.s.calls), qd.NewAliasCreate(m.s.calls, m.new),
		})
	})
	return err
}

// hold has the server refuse all writes to a collection, and returns when those are done
// that it let in before.
func (m *migration) hold(ctx context.Context, name string) error {
	ctx, cancel, err := m.within(ctx)
	if err != nil {
		return err
	}
	defer cancel()
	nobody := all(qd.NewHasID(qd.NewIDUUID(newNonce())))
	for {
		if err := m.limit(ctx, name, true); err != nil {
			return err
		}
		// The one write that is let in has to be this one, on all shards: it comes after all others.
		err := m.s.set(ctx, name, nobody, payload{"held": flag(true)})
		if _, limited := errors.AsType[*qd.QdrantResourceExhaustedError](err); !limited {
			return err
		}
	}
}

// free ends the holds of an interrupted try, or of this one.
func (m *migration) free(ctx context.Context) error {
	return errors.Join(m.release(ctx, m.old), m.release(ctx, m.s.tools))
}

// release ends a hold, if there is one.
func (m *migration) release(ctx context.Context, name string) error {
	ctx, cancel, err := m.within(ctx)
	if err != nil {
		return err
	}
	defer cancel()
	info, err := m.s.collection(ctx, name)
	if err != nil {
		return err
	}
	if has := info.GetConfig().GetStrictModeConfig(); !has.GetEnabled() || has.GetWriteRateLimit() != holdRate {
		return nil
	}
	return m.limit(ctx, name, false)
}

func (m *migration) limit(ctx context.Context, name string, on bool) error {
	_, err := ask(ctx, m.s, "update collection", func(ctx context.Context) (bool, error) {
		return true, m.s.client.UpdateCollection(ctx, &qd.UpdateCollection{
			CollectionName: name, StrictModeConfig: &qd.StrictModeConfig{Enabled: &on, WriteRateLimit: new(uint32(holdRate))},
		})
	})
	return err
}
