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
)

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

// listKeys lists all API keys, revoked and expired ones too, without their tokens.
//
// The oldest first. Needs the role admin for all workspaces, as do the other routes of keys and the audit log.
func (s *server) listKeys(context.Context, *struct{}) (wire.KeyList, error) {
	return wire.KeyList{Keys: each(s.Keys.List(), keyOf)}, nil
}

// minted is a key with its token, which is shown once. No cache may keep the answer.
func (s *server) minted(ctx context.Context, e access.Entry,
	mint func(context.Context) (access.Key, string, error),
) (made wire.NewKey, err error) {
	err = s.Audit.Do(ctx, e, func(ctx context.Context) error {
		k, token, err := mint(ctx)
		made = wire.NewKey{Key: keyOf(k), Token: token}
		return err
	})
	return made, err
}

// createKey makes an API key.
//
// The answer shows its token this once.
func (s *server) createKey(ctx context.Context, req *wire.KeyRequest) (made wire.NewKey, err error) {
	wanted := access.Wanted{Name: or(req.Name, ""), Rate: or(req.Rate, 0)}
	if wanted.Roles, err = access.ParseRoles(req.Roles); err != nil {
		return made, memoryd.Errorf(memoryd.Invalid, "%s", err)
	}
	if !slices.Contains(req.Workspaces, allWorkspaces) {
		wanted.Workspaces = req.Workspaces
	}
	if req.Expires != nil {
		if wanted.Expires, err = time.Parse(time.RFC3339, *req.Expires); err != nil {
			return made, memoryd.Errorf(memoryd.Invalid, "expires: must be a time such as 2030-01-02T15:04:05Z, got %q", *req.Expires)
		}
	}
	entry := access.Entry{Action: "key.create", Detail: wanted.Name + " (" + wanted.Roles.String() + ")"}
	return s.minted(ctx, entry, func(ctx context.Context) (access.Key, string, error) {
		return s.Keys.Create(ctx, wanted, access.Of(ctx).Source)
	})
}

// maxGrace bounds how long a key's old token works beside the new one, in seconds.
const maxGrace = 30 * 24 * 3600

// inKey names an API key.
type inKey struct {
	Key string `path:"key"` // The id of an API key.
}

// rotation asks for another token of a key.
type rotation struct {
	inKey

	Body wire.RotateRequest `body:"optional"`
}

// rotateKey gives an API key another token.
//
// The answer shows the new one this once.
func (s *server) rotateKey(ctx context.Context, in *rotation) (made wire.NewKey, err error) {
	grace := or(in.Body.Grace, 0)
	if grace < 0 || grace > maxGrace {
		return made, refused("grace_seconds: must be 0 to %d", maxGrace)
	}
	return s.minted(ctx, access.Entry{Action: "key.rotate", Subject: in.Key}, func(ctx context.Context) (access.Key, string, error) {
		return s.Keys.Rotate(ctx, in.Key, time.Duration(grace)*time.Second)
	})
}

// revokeKey ends an API key for good.
//
// The key stays in the list.
func (s *server) revokeKey(ctx context.Context, in *inKey) (wire.Key, error) {
	var revoked access.Key
	err := s.Audit.Do(ctx, access.Entry{Action: "key.revoke", Subject: in.Key}, func(ctx context.Context) (err error) {
		revoked, err = s.Keys.Revoke(ctx, in.Key)
		return err
	})
	return keyOf(revoked), err
}

// listAudit lists who did what, the oldest entry first.
//
// Each entry holds the SHA-256 of the JSON text of the one before it, as it stands here; `memoryd audit --verify` checks them.
func (s *server) listAudit(ctx context.Context, in *inPage) (list wire.AuditList, err error) {
	after, err := in.Cursor.number(0)
	if err != nil {
		return list, err
	}
	entries, err := s.Audit.List(ctx, after, in.Limit)
	list.Entries = append([]json.RawMessage{}, entries...)
	if len(entries) == in.Limit {
		list.NextCursor = cursorAfter(strconv.FormatInt(after+int64(len(entries)), 10))
	}
	return list, err
}
