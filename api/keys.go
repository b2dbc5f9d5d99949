package api

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"memoryd"
	"memoryd/api/wire"
	"memoryd/internal/access"

	"github.com/labstack/echo/v4"
)

// audited does what e says, and writes it to the audit log.
func (s *server) audited(c echo.Context, e access.Entry, do func(context.Context) error) error {
	ctx := c.Request().Context()
	if s.Audit == nil {
		return do(ctx)
	}
	return s.Audit.Do(ctx, e, do)
}

// allWorkspaces stands for all of them where a key's are listed.
const allWorkspaces = "*"

func keyOf(k access.Key) wire.Key {
	out := wire.Key{
		ID: k.ID, Name: k.Name, Roles: k.Roles.Names(), Workspaces: k.Workspaces, Rate: k.Rate, CreatedBy: k.By,
		Created: instant(k.Created), Expires: instant(k.Expires), Revoked: instant(k.Revoked), LastUsed: instant(k.Used),
	}
	if k.Workspaces == nil {
		out.Workspaces = []string{allWorkspaces}
	}
	return out
}

func (s *server) listKeys(c echo.Context, _ []byte) (any, error) {
	if err := everywhere(c.Request().Context()); err != nil {
		return nil, err
	}
	list := wire.KeyList{Keys: []wire.Key{}}
	for _, k := range s.Keys.List() {
		list.Keys = append(list.Keys, keyOf(k))
	}
	return list, nil
}

// withToken makes a key and shows it once. No cache may keep the answer.
func (s *server) withToken(c echo.Context, e access.Entry, mint func(context.Context) (access.Key, string, error)) (any, error) {
	var made wire.NewKey
	err := s.audited(c, e, func(ctx context.Context) error {
		k, token, err := mint(ctx)
		made = wire.NewKey{Key: keyOf(k), Token: token}
		return err
	})
	c.Response().Header().Set(echo.HeaderCacheControl, "no-store")
	return made, err
}

func (s *server) createKey(c echo.Context, req *wire.KeyRequest) (any, error) {
	if err := everywhere(c.Request().Context()); err != nil {
		return nil, err
	}
	wanted := access.Wanted{Name: or(req.Name, ""), Rate: or(req.Rate, 0)}
	var err error
	if wanted.Roles, err = access.ParseRoles(req.Roles); err != nil {
		return nil, memoryd.Errorf(memoryd.Invalid, "%s", err)
	}
	if req.Workspaces == nil {
		return nil, missing("workspaces")
	}
	if !slices.Contains(req.Workspaces, allWorkspaces) {
		wanted.Workspaces = req.Workspaces
	}
	if req.Expires != nil {
		if wanted.Expires, err = time.Parse(time.RFC3339, *req.Expires); err != nil {
			return nil, memoryd.Errorf(memoryd.Invalid, "expires: must be a time such as 2030-01-02T15:04:05Z, got %q", *req.Expires)
		}
	}
	entry := access.Entry{Action: "key.create", Detail: wanted.Name + " (" + wanted.Roles.String() + ")"}
	return s.withToken(c, entry, func(ctx context.Context) (access.Key, string, error) {
		return s.Keys.Create(ctx, wanted, access.Of(ctx).Source)
	})
}

// maxGrace bounds how long a key's old token works beside the new one, in seconds.
const maxGrace = 30 * 24 * 3600

func (s *server) rotateKey(c echo.Context, req *wire.RotateRequest) (any, error) {
	q := queryOf(c)
	q.everywhere()
	grace, id := or(req.Grace, 0), q.path("key")
	if grace < 0 || grace > maxGrace {
		q.refuse("grace_seconds: must be 0 to %d", maxGrace)
	}
	if q.err != nil {
		return nil, q.err
	}
	return s.withToken(c, access.Entry{Action: "key.rotate", Subject: id}, func(ctx context.Context) (access.Key, string, error) {
		return s.Keys.Rotate(ctx, id, time.Duration(grace)*time.Second)
	})
}

func (s *server) revokeKey(c echo.Context, _ []byte) (any, error) {
	q := queryOf(c)
	q.everywhere()
	id := q.path("key")
	if q.err != nil {
		return nil, q.err
	}
	var revoked access.Key
	err := s.audited(c, access.Entry{Action: "key.revoke", Subject: id}, func(ctx context.Context) (err error) {
		revoked, err = s.Keys.Revoke(ctx, id)
		return err
	})
	return keyOf(revoked), err
}

// listAudit lists the audit log, the oldest entry first, each as it is stored: the
// hash of its text is what the next one holds. A cursor is a number.
func (s *server) listAudit(c echo.Context, _ []byte) (any, error) {
	q := queryOf(c)
	q.everywhere()
	after, limit := q.place(0), q.limit()
	if q.err != nil {
		return nil, q.err
	}
	entries, err := s.Audit.List(q.ctx(), after, limit)
	list := wire.AuditList{Entries: append([]json.RawMessage{}, entries...)}
	if len(entries) == limit {
		list.NextCursor = cursorAfter(strconv.FormatInt(after+int64(len(entries)), 10))
	}
	return list, err
}
