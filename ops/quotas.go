package ops

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"memoryd"
	"memoryd/internal/lifecycle"
	"memoryd/store"
)

// Quotas is the quotas section: the limits of a workspace, and of the number of workspaces. 0 means
// no limit.
type Quotas struct {
	// Workspaces limits the workspaces that hold a tool, or whose originals this server keeps.
	Workspaces int64 `yaml:"workspaces" must:"0 (no limit) or more"`
	// Tools, Originals and Bytes limit one workspace. Bytes are the texts of its stored calls and
	// its originals.
	Tools     int64 `yaml:"tools" must:"0 (no limit) or more"`
	Originals int64 `yaml:"originals" must:"0 (no limit) or more"`
	Bytes     int64 `yaml:"bytes" must:"0 (no limit) or more"`
}

// How a workspace is counted: beside its calls. Before the first count after a start, and after a
// deletion, everybody is let in from firstWait after its begin on; later, who asks while a quota
// seems to be reached waits for countWait. It is counted anew when a quota seems to be reached, but
// at most every countShare times what the last count took; who is refused until then is asked to
// come back after longWait at most, for room may come sooner by a deletion. Which workspaces there are is read at most every listPause.
const (
	countWait  = time.Second
	firstWait  = 20 * time.Millisecond
	countShare = 20
	listPause  = 10 * time.Second
	longWait   = 30 * time.Second
	mostSpaces = 20_000 // workspaces whose counts are remembered, where their number has no bound
)

// amounts are what is counted of a workspace.
type amounts struct{ tools, originals, bytes int64 }

func (a *amounts) add(o amounts, sign int64) {
	a.tools += sign * o.tools
	a.originals += sign * o.originals
	a.bytes += sign * o.bytes
}

// space is what a workspace holds: rather too much than too little, where histories let calls go.
type space struct {
	there    amounts   // what the newest count found
	since    amounts   // what was written since it began
	writing  amounts   // what is being written, which a count may not see yet
	begun    time.Time // the newest count
	counted  time.Time // its end; zero: never
	took     time.Duration
	counting chan struct{} // closed at the end of a count; nil: none is under way
}

// dueIn is after which time a workspace may be counted again.
func (u *space) dueIn(now time.Time) time.Duration {
	return max(0, countShare*u.took-now.Sub(u.counted))
}

// QuotaStore enforces quotas in front of a store, and counts what it holds. Each replica counts for
// itself. So together they can exceed a quota by what the others added since the last count.
type QuotaStore struct {
	store.Store
	most Quotas
	log  *slog.Logger
	now  func() time.Time

	mu      sync.Mutex
	spaces  map[string]*space
	known   map[string]bool // workspaces that there are; nil: not read yet
	listed  time.Time       // when that was; zero: something went since
	refused map[string]int64
}

// NewQuotaStore returns a store that enforces quotas in front of s.
func NewQuotaStore(s store.Store, most Quotas, log *slog.Logger, now func() time.Time) *QuotaStore {
	return &QuotaStore{
		Store: s, most: most, log: log, now: now, spaces: map[string]*space{},
		refused: map[string]int64{"workspaces": 0, "tools": 0, "originals": 0, "bytes": 0},
	}
}

// Refused counts refusals since the start, by quota.
func (q *QuotaStore) Refused() map[string]int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return maps.Clone(q.refused)
}

// Append implements store.Calls.
func (q *QuotaStore) Append(ctx context.Context, b store.Batch) (out []store.Appended, err error) {
	tools, more := map[string]bool{}, amounts{}
	for i := range b.Calls {
		tools[b.Calls[i].Tool] = true
		more.bytes += int64(store.TextBytes(&b.Calls[i]))
	}
	err = q.hold(ctx, b.Workspace, tools, more, func() error {
		out, err = q.Store.Append(ctx, b)
		for i, a := range out {
			if !a.FirstOfTool {
				delete(tools, b.Calls[i].Tool)
			}
		}
		return err
	})
	return out, err
}

// RestoreTool implements store.Tools.
func (q *QuotaStore) RestoreTool(ctx context.Context, t memoryd.Tool, calls []memoryd.Call) error {
	more := amounts{}
	for i := range calls {
		more.bytes += int64(store.TextBytes(&calls[i]))
	}
	return q.hold(ctx, t.Workspace, map[string]bool{t.Tool: true}, more, func() error { return q.Store.RestoreTool(ctx, t, calls) })
}

// PutRecord implements store.Records.
func (q *QuotaStore) PutRecord(ctx context.Context, r store.Record) (revision int64, err error) {
	err = q.holdRecords(ctx, []store.Record{r}, func() error {
		revision, err = q.Store.PutRecord(ctx, r)
		return err
	})
	return revision, err
}

// PutRecords implements store.Records.
func (q *QuotaStore) PutRecords(ctx context.Context, rs []store.Record) error {
	return q.holdRecords(ctx, rs, func() error { return q.Store.PutRecords(ctx, rs) })
}

// holdRecords counts originals; other records are the server's own and bounded where they
// are written.
func (q *QuotaStore) holdRecords(ctx context.Context, rs []store.Record, write func() error) error {
	more := amounts{}
	for i := range rs {
		if rs[i].Kind == OriginalKind {
			more.add(amounts{originals: 1, bytes: int64(len(rs[i].Data))}, 1)
		}
	}
	if more.originals == 0 {
		return write()
	}
	return q.hold(ctx, rs[0].Workspace, nil, more, write)
}

// hold lets a write happen that its workspace has room for. Those of tools that write
// leaves in the set are new.
func (q *QuotaStore) hold(ctx context.Context, workspace string, tools map[string]bool, more amounts, write func() error) error {
	if err := q.enter(ctx, workspace); err != nil {
		return err
	}
	u, err := q.reserve(ctx, workspace, tools, more)
	if err != nil {
		return err
	}
	err = write()
	q.mu.Lock()
	defer q.mu.Unlock()
	u.writing.add(more, -1)
	if err == nil {
		more.tools = int64(len(tools))
		u.since.add(more, 1)
	}
	return err
}

// of gives what is known of a workspace, under the lock.
func (q *QuotaStore) of(workspace string) *space {
	u := q.spaces[workspace]
	if u == nil {
		if len(q.spaces) >= mostSpaces {
			clear(q.spaces)
		}
		u = &space{}
		q.spaces[workspace] = u
	}
	return u
}

// reserve counts more to what the workspace holds, or refuses it: not before it was looked
// which tools are new, and what is there now.
func (q *QuotaStore) reserve(ctx context.Context, workspace string, tools map[string]bool, more amounts) (*space, error) {
	if q.most.Tools == 0 && q.most.Originals == 0 && q.most.Bytes == 0 {
		return &space{}, nil
	}
	q.mu.Lock()
	first := q.of(workspace).counted.IsZero()
	q.mu.Unlock()
	if first {
		q.recount(ctx, workspace)
	}
	if u, _, err := q.try(workspace, tools, more); err == nil {
		return u, nil
	}
	for name := range tools {
		switch _, err := q.Tool(ctx, memoryd.ToolRef{Workspace: workspace, Tool: name}); {
		case err == nil:
			delete(tools, name)
		case !memoryd.IsKind(err, memoryd.NotFound):
			return nil, err
		}
	}
	if u, _, err := q.try(workspace, tools, more); err == nil {
		return u, nil
	}
	q.recount(ctx, workspace)
	u, quota, err := q.try(workspace, tools, more)
	if memoryd.IsKind(err, memoryd.OverQuota) {
		return nil, q.refuse(ctx, quota, err)
	}
	return u, err
}

// try reserves if there is room, or names the quota that leaves none.
func (q *QuotaStore) try(workspace string, tools map[string]bool, more amounts) (*space, string, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	u := q.of(workspace)
	used := u.there
	used.add(u.since, 1)
	used.add(u.writing, 1)
	for _, c := range []struct {
		quota                    string
		most, there, used, comes int64
	}{
		{"tools", q.most.Tools, u.there.tools, used.tools, int64(len(tools))},
		{"originals", q.most.Originals, u.there.originals, used.originals, more.originals},
		{"bytes", q.most.Bytes, u.there.bytes, used.bytes, more.bytes},
	} {
		if c.most == 0 || c.comes == 0 || u.counted.IsZero() || c.used+c.comes <= c.most {
			continue
		}
		if c.there+c.comes <= c.most { // a count may find room; there is none yet, or none may begin
			wait, when := max(countWait, u.dueIn(q.now())), "to be counted again now"
			if u.counting == nil {
				when = fmt.Sprintf("to be counted again in %s", wait.Round(time.Second))
			}
			return nil, c.quota, &memoryd.Error{Kind: memoryd.Overloaded, RetryAfter: min(wait, longWait), Msg: fmt.Sprintf(
				"workspace %.80q may hold %d %s (quotas.%[3]s); it holds at most %d (%s), and this adds %d", workspace, c.most, c.quota,
				c.used, when, c.comes)}
		}
		return nil, c.quota, memoryd.Errorf(memoryd.OverQuota,
			"workspace %.80q may hold %d %s (quotas.%[3]s); it holds %d, and this adds %d: delete some, or use another workspace",
			workspace, c.most, c.quota, c.there, c.comes) // used may count twice what came during a count
	}
	u.writing.add(more, 1)
	return u, "", nil
}

// recount has a workspace counted, if that is due, and waits for the count under way.
func (q *QuotaStore) recount(ctx context.Context, workspace string) {
	q.mu.Lock()
	u := q.of(workspace)
	q.begin(ctx, workspace, u)
	counting, most := u.counting, countWait
	if u.counted.IsZero() {
		most = firstWait - q.now().Sub(u.begun)
	}
	q.mu.Unlock()
	if counting != nil {
		select {
		case <-counting:
		case <-time.After(most):
		case <-ctx.Done():
		}
	}
}

// begin starts a count that is due, under the lock.
func (q *QuotaStore) begin(ctx context.Context, workspace string, u *space) {
	if u.counting != nil || u.dueIn(q.now()) > 0 {
		return
	}
	u.begun, u.counting = q.now(), make(chan struct{})
	before := u.since
	ctx = context.WithoutCancel(ctx)
	lifecycle.Go(ctx, q.log, "quotas", func() error {
		there, err := q.count(ctx, workspace)
		if err != nil {
			q.log.WarnContext(ctx, "cannot count what a workspace holds", "workspace", workspace, "err", err)
		}
		q.mu.Lock()
		defer q.mu.Unlock()
		if err == nil {
			u.there = there
			u.since.add(before, -1)
		}
		u.counted, u.took = q.now(), q.now().Sub(u.begun)
		close(u.counting)
		u.counting = nil
		return nil
	})
}

// count reads what a workspace holds.
func (q *QuotaStore) count(ctx context.Context, workspace string) (a amounts, err error) {
	for t, err := range store.AllTools(ctx, q.Store, workspace) {
		if err != nil {
			return a, err
		}
		size, err := q.HistorySize(ctx, t.ToolRef)
		if err != nil {
			return a, err
		}
		a.add(amounts{tools: 1, bytes: size.Bytes}, 1)
	}
	size, err := q.RecordsSize(ctx, originalKey(workspace, ""))
	a.add(amounts{originals: size.Count, bytes: size.Bytes}, 1)
	return a, err
}

// enter refuses workspaces beyond those that there may be. While they cannot be listed,
// all are let in.
func (q *QuotaStore) enter(ctx context.Context, workspace string) error {
	if q.most.Workspaces == 0 || q.room(workspace) || q.list(ctx) != nil || q.room(workspace) {
		return nil
	}
	// Another server may have made it since.
	if there, err := q.count(ctx, workspace); err != nil || there != (amounts{}) {
		return nil //nolint:nilerr // what cannot be read refuses nothing
	}
	return q.refuse(ctx, "workspaces", memoryd.Errorf(memoryd.OverQuota,
		"the server already has %d workspaces, the limit of quotas.workspaces; %.80q would be one more", q.most.Workspaces, workspace))
}

// room reports whether a workspace is known or may be made, and is known from now on.
func (q *QuotaStore) room(workspace string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.known == nil || !q.known[workspace] && int64(len(q.known)) >= q.most.Workspaces {
		return false
	}
	q.known[workspace] = true
	return true
}

// list reads which workspaces there are; not again before listPause is over, unless
// something went.
func (q *QuotaStore) list(ctx context.Context) error {
	q.mu.Lock()
	before, due := maps.Clone(q.known), q.known == nil || q.now().Sub(q.listed) >= listPause
	q.mu.Unlock()
	if !due {
		return nil
	}
	known := map[string]bool{}
	for name, err := range store.AllWorkspaces(ctx, q.Store) {
		if err != nil {
			return err
		}
		known[name] = true
	}
	for name := range before { // has it originals alone?
		if !known[name] {
			if size, err := q.RecordsSize(ctx, originalKey(name, "")); err != nil || size.Count > 0 {
				known[name] = true
			}
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.known, q.listed = known, q.now()
	return nil
}

// refuse counts and logs a refusal.
func (q *QuotaStore) refuse(ctx context.Context, quota string, err error) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.refused[quota]++
	q.log.WarnContext(ctx, "refused by a quota", "err", err)
	return err
}

// less forgets what a workspace held, for it holds less now.
func (q *QuotaStore) less(workspace string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.listed = time.Time{}
	delete(q.spaces, workspace)
}

// DeleteTool implements store.Tools.
func (q *QuotaStore) DeleteTool(ctx context.Context, ref memoryd.ToolRef) error {
	defer q.less(ref.Workspace)
	return q.Store.DeleteTool(ctx, ref)
}

// DeleteWorkspace implements store.Tools.
func (q *QuotaStore) DeleteWorkspace(ctx context.Context, workspace string) (int, error) {
	defer q.less(workspace)
	return q.Store.DeleteWorkspace(ctx, workspace)
}
