package revisions_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"memoryd/internal/configtest"

	"memoryd"
	"memoryd/guidelines"
	"memoryd/guidelines/revisions"
	"memoryd/store"
	"memoryd/store/mem"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ref = memoryd.ToolRef{Workspace: "w", Tool: "t"}

// scripted writes guidelines that say what it is told to.
type scripted struct {
	text   string
	err    error
	asked  int
	before *guidelines.Document
	during func() // what others do while it writes
}

func (a *scripted) Compose(_ context.Context, _ memoryd.Tool, calls []memoryd.Call, _ int, prev *guidelines.Document) (*guidelines.Document, error) {
	a.asked++
	a.before = prev
	if a.err != nil {
		return nil, a.err
	}
	if a.during != nil {
		a.during()
	}
	return &guidelines.Document{
		Tool: "t", Author: "rules", Fingerprint: a.text, MaxWords: 200,
		Items: []guidelines.Item{{ID: "item-1", Section: "Core Function", Text: a.text}}, Statistics: fmt.Sprintf("%d calls", len(calls)),
	}, nil
}

// fixture is a manager over a store in memory with a clock of its own.
type fixture struct {
	*testing.T
	store *mem.Store
	clock time.Time
	tell  *scripted
	c     *revisions.Manager
	sent  int
}

func newFixture(t *testing.T) *fixture {
	d := &fixture{T: t, store: mem.New(), clock: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), tell: &scripted{text: "first"}}
	d.c = &revisions.Manager{
		Store: d.store, Composer: d.tell, Recent: 20, Config: configtest.Section[revisions.Config]("revisions"), Now: func() time.Time { return d.clock },
	}
	return d
}

// calls appends judged calls whose agents were shown a version; the first bad
// ones of them failed.
func (d *fixture) calls(n, bad int, version int64) {
	d.Helper()
	b := store.Batch{Workspace: ref.Workspace, Keep: 2000}
	for i := range n {
		d.sent++
		c := memoryd.Call{
			ToolRef: ref, Input: json.RawMessage(fmt.Sprintf(`{"n":%d}`, d.sent)), Output: "o", Success: i >= bad, TokenCost: -1,
			Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: 1, JudgedBy: "rules", JudgeVersion: "v1"},
		}
		if i < bad {
			c.Evaluation.Score = 0
		}
		if version > 0 {
			c.Metadata = json.RawMessage(fmt.Sprintf(`{"guideline_version":"%d"}`, version))
		}
		c.Key = memoryd.Identity{ToolRef: ref, Input: c.Input, Output: c.Output, CreateTime: fmt.Sprint(d.sent)}.Key()
		b.Calls = append(b.Calls, c)
	}
	if _, err := d.store.Append(d.Context(), b); err != nil {
		d.Fatal(err)
	}
}

func (d *fixture) refresh(when revisions.When) revisions.Result {
	d.Helper()
	out, err := d.c.Refresh(d.Context(), ref, when)
	if err != nil {
		d.Fatal(err)
	}
	return out
}

func (d *fixture) guideline() memoryd.Guideline {
	d.Helper()
	tool, err := d.store.Tool(d.Context(), ref)
	if err != nil {
		d.Fatal(err)
	}
	return tool.Guideline
}

func (d *fixture) want(revision int64, text string) {
	d.Helper()
	if g := d.guideline(); g.Revision != revision || !strings.Contains(g.Content, text) {
		d.Errorf("got revision %d: %.60q, want %d with %q", g.Revision, g.Content, revision, text)
	}
}

func TestAHundredRefreshesWithoutNewEvidenceChangeNothing(t *testing.T) {
	d := newFixture(t)
	d.calls(30, 3, 0)
	if out := d.refresh(revisions.IfNew); !out.Written {
		t.Fatalf("got %+v", out)
	}
	g := d.guideline()
	for i := range 100 {
		out := d.refresh([]revisions.When{revisions.IfNew, revisions.IfStale}[i%2])
		if out.Written || out.Skipped != revisions.NothingNew {
			t.Fatalf("refresh %d: %+v", i, out)
		}
	}
	if out := d.refresh(revisions.Always); out.Written || out.Skipped != revisions.SameText {
		t.Errorf("got %+v", out)
	}
	if d.guideline() != g || d.tell.asked != 2 {
		t.Errorf("the guideline changed, or was asked for %d times", d.tell.asked)
	}
}

func TestOnlyStaleGuidelinesAreWrittenByPasses(t *testing.T) {
	d := newFixture(t)
	refresher := revisions.NewRefresher(d.c, slog.New(slog.DiscardHandler))
	for _, step := range []struct {
		more    int
		written int
		text    string
	}{{19, 0, ""}, {1, 1, "there is none"}, {0, 0, ""}, {50, 0, ""}, {50, 1, "100 calls since"}} {
		if step.more > 0 {
			d.calls(step.more, 0, 0)
		}
		did, err := refresher.RunOnce(t.Context())
		if err != nil || did.Written != step.written {
			t.Fatalf("after %d calls: %+v, %v", d.sent, did, err)
		}
		if step.written > 0 {
			e, err := d.c.Revision(t.Context(), ref, d.guideline().Revision)
			if err != nil || len(e.Reasons) == 0 || !strings.Contains(e.Reasons[0], step.text) {
				t.Errorf("reasons %v, %v", e.Reasons, err)
			}
		}
	}
	other := revisions.NewRefresher(d.c, slog.New(slog.DiscardHandler))
	if did, err := other.RunOnce(t.Context()); err != nil || !did.Elsewhere {
		t.Errorf("two processes go the refresher: %+v, %v", did, err)
	}
	d.clock = d.clock.Add(time.Hour)
	if did, err := other.RunOnce(t.Context()); err != nil || did.Elsewhere {
		t.Errorf("nobody took over: %+v, %v", did, err)
	}
}

func TestAPinGoesWithWhatPeopleRollBackTo(t *testing.T) {
	d := newFixture(t)
	d.anew("first")
	d.anew("second")
	if _, err := d.version(revisions.Pin, 2); err != nil {
		t.Fatal(err)
	}
	if _, err := d.version(revisions.RollBack, 1); err != nil {
		t.Fatal(err)
	}
	d.want(3, "first")
	if v, err := d.c.PinnedVersion(t.Context(), ref); v != 3 || err != nil {
		t.Errorf("version %d is pinned, and agents see 3, %v", v, err)
	}
}

// A model takes minutes to write.
func TestAPinHoldsAgainstWhatIsBeingWritten(t *testing.T) {
	d := newFixture(t)
	d.calls(30, 0, 0)
	d.refresh(revisions.IfNew)
	d.calls(1, 0, 0)
	d.tell.text = "second"
	d.tell.during = func() {
		if _, err := d.version(revisions.Pin, 1); err != nil {
			t.Error(err)
		}
	}
	if out := d.refresh(revisions.IfNew); out.Written {
		t.Errorf("got %+v", out)
	}
	d.want(1, "first")
}

func TestAVersionThatDoesWorseIsTakenBack(t *testing.T) {
	d := newFixture(t)
	d.calls(40, 2, 0)
	d.refresh(revisions.IfNew)
	d.calls(60, 3, 1)
	d.tell.text = "second"
	d.refresh(revisions.IfNew)
	d.want(2, "second")
	d.calls(30, 2, 2)
	if why, err := d.c.Review(t.Context(), ref); why != "" || err != nil {
		t.Fatalf("taken back too early: %q, %v", why, err)
	}
	d.calls(40, 30, 2)
	if _, err := d.version(revisions.Pin, 2); err != nil {
		t.Fatal(err)
	}
	if why, err := d.c.Review(t.Context(), ref); why != "" || err != nil {
		t.Fatalf("a pinned version was taken back: %q, %v", why, err)
	}
	if _, err := d.version(revisions.Unpin, 0); err != nil {
		t.Fatal(err)
	}
	why, err := d.c.Review(t.Context(), ref)
	if err != nil || !strings.Contains(why, "32 of 70 calls failed") {
		t.Fatalf("got %q, %v", why, err)
	}
	d.want(3, "first")
	d.calls(5, 0, 3)
	if out := d.refresh(revisions.IfNew); out.Skipped != revisions.Rejected {
		t.Errorf("the same evidence is believed again: %+v", out)
	}
	d.tell.text = "third"
	if out := d.refresh(revisions.IfNew); !out.Written {
		t.Errorf("other evidence is not believed: %+v", out)
	}
	if why, err := d.c.Review(t.Context(), ref); why != "" || err != nil {
		t.Errorf("got %q, %v", why, err)
	}
}

func TestPeoplePinAndRollBack(t *testing.T) {
	d := newFixture(t)
	d.calls(30, 0, 0)
	d.refresh(revisions.IfNew)
	d.tell.text = "second"
	d.calls(1, 0, 0)
	d.refresh(revisions.IfNew)
	if d.tell.before == nil || d.tell.before.Fingerprint != "first" {
		t.Error("the version before was not handed over")
	}
	e, err := d.version(revisions.Pin, 1)
	if err != nil || e.Number != 3 || e.RolledBackTo != 1 || !strings.Contains(e.Why, "ann") {
		t.Fatalf("got %+v, %v", e, err)
	}
	d.want(3, "first")
	d.calls(200, 0, 0)
	if out := d.refresh(revisions.Always); out.Skipped != revisions.Pinned {
		t.Errorf("got %+v", out)
	}
	if v, err := d.c.PinnedVersion(t.Context(), ref); v != 3 || err != nil {
		t.Errorf("pinned %d, %v", v, err)
	}
	if _, err := d.version(revisions.Unpin, 0); err != nil {
		t.Fatal(err)
	}
	d.tell.text = "fourth"
	d.refresh(revisions.IfNew)
	d.want(4, "fourth")
	all, err := d.c.List(t.Context(), ref)
	if err != nil || len(all) != 4 || all[0].Number != 4 || all[3].Number != 1 {
		t.Errorf("got %d versions, %v", len(all), err)
	}
	for _, wrong := range []int64{99, 0} {
		if _, err := d.version(revisions.RollBack, wrong); !memoryd.IsKind(err, memoryd.NotFound) {
			t.Errorf("version %d: %v", wrong, err)
		}
	}
	d.want(4, "fourth")
}

func TestOnlyTheNewestVersionsAreKept(t *testing.T) {
	d := newFixture(t)
	d.c.Config.Versions = 3
	for i := range 6 {
		d.tell.text = fmt.Sprint("text ", i)
		d.calls(1, 0, 0)
		d.refresh(revisions.IfNew)
	}
	all, err := d.c.List(t.Context(), ref)
	if err != nil || len(all) != 3 || all[2].Number != 4 {
		t.Errorf("got %d versions, %v", len(all), err)
	}
}

// deletesFail is a store that deletes no record for a while.
type deletesFail struct {
	*mem.Store
	failing bool
}

func (d *deletesFail) DeleteRecord(ctx context.Context, key store.RecordKey) error {
	if d.failing {
		return memoryd.Errorf(memoryd.Unavailable, "the store is away")
	}
	return d.Store.DeleteRecord(ctx, key)
}

// TestOldVersionsGoAlsoAfterAFailureAndAfterTheSettingWasLowered: a delete that
// failed is repeated with the next version, and all that are too many go.
func TestOldVersionsGoAlsoAfterAFailureAndAfterTheSettingWasLowered(t *testing.T) {
	d := newFixture(t)
	s := &deletesFail{Store: d.store}
	d.c.Store, d.c.Config.Versions = s, 4
	write := func(n int, versions int) {
		t.Helper()
		d.tell.text = fmt.Sprint("text ", n)
		d.calls(1, 0, 0)
		_, err := d.c.Refresh(t.Context(), ref, revisions.IfNew)
		if (err != nil) != s.failing {
			t.Fatalf("version %d: %v", n, err)
		}
		if all, err := d.c.List(t.Context(), ref); err != nil || len(all) != versions {
			t.Fatalf("%d versions after number %d, want %d (%v)", len(all), n, versions, err)
		}
	}
	for n := 1; n <= 4; n++ {
		write(n, n)
	}
	s.failing = true
	write(5, 5)
	write(6, 6)
	s.failing = false
	write(7, 4)
	d.c.Config.Versions = 2
	write(8, 2)
}

func TestAFailedWritingLeavesWhatIsThere(t *testing.T) {
	d := newFixture(t)
	d.calls(30, 0, 0)
	d.refresh(revisions.IfNew)
	g := d.guideline()
	d.calls(1, 0, 0)
	d.tell.err = errors.New("no model")
	if out := d.refresh(revisions.IfNew); out.Failed == nil || out.Written {
		t.Errorf("got %+v", out)
	}
	if d.guideline() != g {
		t.Error("the guideline changed")
	}
}

func TestAGuidelineWithoutItsRecordStillWorks(t *testing.T) {
	d := newFixture(t)
	d.calls(30, 0, 0)
	if err := d.store.PutGuideline(t.Context(), ref, memoryd.Guideline{Content: "old", Author: "m", BasedOn: 1, ThroughSeq: 30}, 0); err != nil {
		t.Fatal(err)
	}
	all, err := d.c.List(t.Context(), ref)
	if err != nil || len(all) != 1 || all[0].Content != "old" {
		t.Fatalf("got %+v, %v", all, err)
	}
	if out := d.refresh(revisions.IfNew); !out.Written {
		t.Errorf("got %+v", out)
	}
	d.want(2, "first")
}
