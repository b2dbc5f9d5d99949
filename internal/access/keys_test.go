package access_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"memoryd"
	"memoryd/internal/access"
	"memoryd/store"
	"memoryd/store/mem"
)

// clock is a time that tests move.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func newKeys(t *testing.T, s store.Records, l access.Limits) (*access.Keys, *clock) {
	t.Helper()
	c := &clock{time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}
	k := access.NewKeys(s, l, slog.New(slog.DiscardHandler), c.now)
	if err := k.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return k, c
}

func create(t *testing.T, k *access.Keys, w access.Wanted) (access.Key, string) {
	t.Helper()
	key, token, err := k.Create(t.Context(), w, "tester")
	if err != nil {
		t.Fatal(err)
	}
	return key, token
}

func TestAKeyOpensUntilItEnds(t *testing.T) {
	t.Parallel()
	s := mem.New()
	k, c := newKeys(t, s, access.Limits{})
	reader, token := create(t, k, access.Wanted{Roles: access.Read, Workspaces: []string{"a"}, Expires: c.at.Add(time.Hour)})
	if parts := strings.Split(token, "_"); len(parts) != 3 || parts[0] != "mrd" || parts[1] != reader.ID || len(parts[2]) != 64 {
		t.Errorf("token %q of key %s", token, reader.ID)
	}
	p, err := k.Verify(token)
	if err != nil || p.Source != reader.ID || !p.May(access.Read) || p.May(access.Record) || p.In("b") || !p.In("a") {
		t.Errorf("%+v, %v", p, err)
	}
	// At rest there is a hash and nothing else of it.
	r, err := s.Record(t.Context(), store.RecordKey{Kind: "api_key", ID: reader.ID})
	if err != nil || strings.Contains(string(r.Data), token[len(token)-64:]) {
		t.Errorf("%s, %v", r.Data, err)
	}
	wrong := token[:len(token)-1] + "0"
	if wrong == token {
		wrong = token[:len(token)-1] + "1"
	}
	for _, bad := range []string{"", "mrd_", "mrd__", "x", wrong, token + "0", "MRD" + token[3:], "mrd_" + reader.ID, "mrd_000000000000_" + token[len(token)-64:]} {
		if _, err := k.Verify(bad); !memoryd.IsKind(err, memoryd.Unauthenticated) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	another, _ := newKeys(t, s, access.Limits{}) // after a restart
	if _, err := another.Verify(token); err != nil {
		t.Errorf("after a restart: %v", err)
	}
	c.at = c.at.Add(time.Hour)
	if _, err := k.Verify(token); !memoryd.IsKind(err, memoryd.Unauthenticated) {
		t.Errorf("an expired key: %v", err)
	}
}

func TestRotationAndRevocation(t *testing.T) {
	t.Parallel()
	k, c := newKeys(t, mem.New(), access.Limits{})
	key, old := create(t, k, access.Wanted{Roles: access.Curate})
	session, _, err := k.Login(old)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := k.Session(session); err != nil || p.Source != key.ID {
		t.Errorf("session: %v", err)
	}
	for _, bad := range []string{"", ".", "..", session + "0", key.ID + ".99999999999.", strings.Replace(session, ".", ".9", 1)} {
		if _, err := k.Session(bad); err == nil {
			t.Errorf("session %q", bad)
		}
	}
	_, token, err := k.Rotate(t.Context(), key.ID, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Session(session); err == nil {
		t.Error("a session outlives the secret that it was made with")
	}
	for _, live := range []string{old, token} {
		if p, err := k.Verify(live); err != nil || p.Source != key.ID {
			t.Errorf("within the grace: %v", err)
		}
	}
	c.at = c.at.Add(time.Minute)
	if _, err := k.Verify(old); err == nil {
		t.Error("the old secret works after its grace")
	}
	session, _, err = k.Login(token)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Revoke(t.Context(), key.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Verify(token); err == nil {
		t.Error("a revoked key works")
	}
	if _, err := k.Session(session); err == nil {
		t.Error("the session of a revoked key works")
	}
	if _, _, err := k.Rotate(t.Context(), key.ID, 0); !memoryd.IsKind(err, memoryd.Conflict) {
		t.Errorf("a revoked key was rotated: %v", err)
	}
	if list := k.List(); len(list) != 1 || list[0].Revoked.IsZero() {
		t.Errorf("%+v", list)
	}
	if _, err := k.Revoke(t.Context(), "nobody"); !memoryd.IsKind(err, memoryd.NotFound) {
		t.Errorf("%v", err)
	}
}

func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	k, c := newKeys(t, mem.New(), access.Limits{})
	_, token := create(t, k, access.Wanted{Roles: access.Read})
	session, _, err := k.Login(token)
	if err != nil {
		t.Fatal(err)
	}
	c.at = c.at.Add(access.SessionTime)
	if _, err := k.Session(session); err == nil {
		t.Error("it goes on for ever")
	}
}

func TestAKeyAsksNoOftenerThanItMay(t *testing.T) {
	t.Parallel()
	k, c := newKeys(t, mem.New(), access.Limits{Rate: 10, Burst: 3})
	_, usual := create(t, k, access.Wanted{Roles: access.Read})
	_, own := create(t, k, access.Wanted{Roles: access.Read, Rate: 1})
	count := func(token string) (n int) {
		for range 20 {
			if _, err := k.Verify(token); err == nil {
				n++
			} else if e, ok := errors.AsType[*memoryd.Error](err); !ok || e.Kind != memoryd.Overloaded || e.RetryAfter <= 0 {
				t.Fatalf("%v", err)
			}
		}
		return n
	}
	if a, b := count(usual), count(own); a != 3 || b != 1 {
		t.Errorf("at once: %d and %d requests", a, b)
	}
	c.at = c.at.Add(time.Second)
	if a, b := count(usual), count(own); a != 3 || b != 1 {
		t.Errorf("a second later: %d and %d requests", a, b)
	}
}

func TestWhatNoKeyMayBe(t *testing.T) {
	t.Parallel()
	k, c := newKeys(t, mem.New(), access.Limits{})
	for name, w := range map[string]access.Wanted{
		"no role": {}, "no workspace": {Roles: access.Read, Workspaces: []string{}}, "an empty name": {Roles: access.Read, Workspaces: []string{""}},
		"a negative rate":          {Roles: access.Read, Rate: -1},
		"a name with a line break": {Roles: access.Read, Name: "a\nb"}, "a route's mark": {Roles: access.Public},
	} {
		if _, _, err := k.Create(t.Context(), w, ""); !memoryd.IsKind(err, memoryd.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := k.Create(t.Context(), access.Wanted{Roles: access.Read, Expires: c.at}, ""); !memoryd.IsKind(err, memoryd.Conflict) {
		t.Errorf("a past end: %v", err)
	}
	if _, err := access.ParseRoles([]string{"read", "root"}); err == nil {
		t.Error("root is a role")
	}
}

func TestTheFirstKey(t *testing.T) {
	t.Parallel()
	s := mem.New()
	k, _ := newKeys(t, s, access.Limits{})
	made, err := k.First(t.Context(), "")
	if err != nil || made == "" {
		t.Fatal(made, err)
	}
	if p, err := k.Verify(made); err != nil || !p.May(access.Admin|access.Record|access.Read|access.Curate) || !p.Everywhere() {
		t.Errorf("%+v, %v", p, err)
	}
	if again, err := k.First(t.Context(), ""); again != "" || err != nil {
		t.Errorf("made again: %q, %v", again, err)
	}
	if _, err := k.Revoke(t.Context(), "first"); err != nil {
		t.Fatal(err)
	}
	if again, err := k.First(t.Context(), ""); again == "" || err != nil { // nobody could make keys any more
		t.Errorf("not made anew: %v", err)
	}
	one, two := access.NewToken(), access.NewToken()
	for _, token := range []string{one, one, two} {
		if made, err := k.First(t.Context(), token); made != "" || err != nil {
			t.Fatal(made, err)
		}
	}
	if _, err := k.Verify(one); err == nil {
		t.Error("a key that the environment does not hold any more is in force")
	}
	if _, err := k.Verify(two); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"secret", "mrd_a_short", "mrd__" + strings.Repeat("a", 64), "mrd_a_" + strings.Repeat("!", 64)} {
		if _, err := k.First(t.Context(), bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

// TestVerifyingKnowsNoStore: what a key costs does not depend on the store, and an
// unknown one costs no more than a known one.
func TestVerifyingKnowsNoStore(t *testing.T) {
	k, _ := newKeys(t, mem.New(), access.Limits{})
	_, token := create(t, k, access.Wanted{Roles: access.Read})
	known := testing.AllocsPerRun(100, func() { _, _ = k.Verify(token) })
	unknown := testing.AllocsPerRun(100, func() { _, _ = k.Verify("mrd_000000000000_" + token[17:]) })
	if known > 1 || unknown > known+1 {
		t.Errorf("%v allocations for a known key, %v for an unknown one", known, unknown)
	}
}

func entries(t *testing.T, s store.Records) (all []store.Record) {
	t.Helper()
	for r, err := range store.AllRecords(t.Context(), s, store.RecordKey{Kind: access.AuditKind}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

func TestTheAuditLogTellsWhatWasDoneAndWhatFailed(t *testing.T) {
	t.Parallel()
	s := mem.New()
	a := access.NewAudit(s, slog.New(slog.DiscardHandler), time.Now)
	ctx := access.With(t.Context(), &access.Principal{Source: "k1"})
	failed := memoryd.Errorf(memoryd.NotFound, "no such call")
	for _, err := range []error{nil, failed} {
		if got := a.Do(ctx, access.Entry{Action: "correct"}, func(context.Context) error { return err }); !errors.Is(got, err) {
			t.Errorf("%v became %v", err, got)
		}
	}
	other := access.NewAudit(s, slog.New(slog.DiscardHandler), time.Now) // another server on the store
	for _, log := range []*access.Audit{other, a, other, a} {
		if err := log.Note(t.Context(), access.Entry{Action: "login"}); err != nil {
			t.Fatal(err)
		}
	}
	all := entries(t, s)
	if n, err := access.VerifyAudit(t.Context(), s); n != 7 || err != nil || len(all) != 7 {
		t.Fatalf("%d entries, %v", n, err)
	}
	var e access.Entry
	if err := json.Unmarshal(all[2].Data, &e); err != nil || e.Source != "k1" || e.Outcome != "failed" || e.Detail != "no such call" {
		t.Errorf("%s, %v", all[2].Data, err)
	}
}

// TestAnythingDoneToTheAuditLogShows changes each entry, and removes each.
func TestAnythingDoneToTheAuditLogShows(t *testing.T) {
	t.Parallel()
	const n = 6
	for at := range n {
		for name, damage := range map[string]func(s *mem.Store, r store.Record) error{
			"a changed byte": func(s *mem.Store, r store.Record) error {
				r.Data[len(r.Data)/2] ^= 1
				r.Revision = store.AnyRevision
				_, err := s.PutRecord(t.Context(), r)
				return err
			},
			"another source": func(s *mem.Store, r store.Record) error {
				r.Data, r.Revision = []byte(strings.Replace(string(r.Data), `"local"`, `"other"`, 1)), store.AnyRevision
				_, err := s.PutRecord(t.Context(), r)
				return err
			},
			"a missing entry": func(s *mem.Store, r store.Record) error { return s.DeleteRecord(t.Context(), r.RecordKey) },
		} {
			s := mem.New()
			a := access.NewAudit(s, slog.New(slog.DiscardHandler), time.Now)
			for range n {
				if err := a.Note(t.Context(), access.Entry{Action: "delete", Workspace: "w", Detail: "some detail"}); err != nil {
					t.Fatal(err)
				}
			}
			if err := damage(s, entries(t, s)[at]); err != nil {
				t.Fatal(err)
			}
			if _, err := access.VerifyAudit(t.Context(), s); !errors.Is(err, access.ErrTampered) {
				t.Errorf("%s at %d: %v", name, at+1, err)
			}
		}
	}
}

// fullDisk takes nothing while it is full.
type fullDisk struct {
	store.Records
	full bool
}

func (d *fullDisk) PutRecord(ctx context.Context, r store.Record) (int64, error) {
	if d.full {
		return 0, memoryd.Errorf(memoryd.Unavailable, "the disk is full")
	}
	return d.Records.PutRecord(ctx, r)
}

func TestNothingIsDoneThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	s := &fullDisk{mem.New(), true}
	a := access.NewAudit(s, slog.New(slog.DiscardHandler), time.Now)
	err := a.Do(t.Context(), access.Entry{Action: "delete"}, func(context.Context) error {
		t.Error("it was done")
		return nil
	})
	if !memoryd.IsKind(err, memoryd.Unavailable) {
		t.Errorf("%v", err)
	}
	// But for what makes room (S23): its entry follows.
	done := false
	err = a.Do(t.Context(), access.Entry{Action: "delete", Workspace: "w", Anyway: true}, func(context.Context) error {
		done, s.full = true, false
		return nil
	})
	if err != nil || !done {
		t.Errorf("a deletion on a full disk: %v", err)
	}
	if err := a.Note(t.Context(), access.Entry{Action: "login"}); err != nil {
		t.Fatal(err)
	}
	all := entries(t, s)
	if n, err := access.VerifyAudit(t.Context(), s); n != 2 || err != nil || !strings.Contains(string(all[0].Data), `"delete"`) {
		t.Errorf("%d entries, %v", n, err)
	}
}
