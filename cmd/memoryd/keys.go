package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"memoryd/api/wire"
	"memoryd/internal/access"
	"memoryd/internal/client"
)

// keysCmds are what admins do with API keys.
type keysCmds struct {
	New    keysNewCmd    `cmd:"" help:"Generate a key for MEMORYD_ADMIN_KEY."`
	Create keysCreateCmd `cmd:"" help:"Create a key and print it once."`
	List   keysListCmd   `cmd:"" help:"List the keys."`
	Rotate keysRotateCmd `cmd:"" help:"Replace the secret of a key."`
	Revoke keysRevokeCmd `cmd:"" help:"Permanently disable a key."`
}

type keysNewCmd struct{}

// Run prints one line. It asks no server.
func (keysNewCmd) Run(std streams) error {
	_, err := fmt.Fprintln(std.out, access.NewToken())
	return err
}

type keysCreateCmd struct {
	reach
	jsonOutput
	Name       string        `help:"Name of the key, for people."`
	Role       []string      `required:"" enum:"record,read,curate,admin" help:"Roles, separated by commas: record, read, curate, admin. curate includes read; admin includes all."`
	Workspaces []string      `required:"" placeholder:"NAME,..." help:"Workspaces that the key can see; * means all."`
	Expires    time.Duration `placeholder:"DURATION" help:"Lifetime of the key, such as 720h (default: no end)."`
	Rate       float64       `help:"Limit in requests per second (default: the server's limit)."`
}

// Run prints the token on stdout, and what to do with it on stderr.
func (c keysCreateCmd) Run(ctx context.Context, std streams) error {
	body := map[string]any{"name": c.Name, "roles": c.Role, "workspaces": c.Workspaces, "rate": c.Rate}
	if c.Expires > 0 {
		body["expires"] = time.Now().Add(c.Expires).UTC().Format(time.RFC3339)
	}
	var made wire.NewKey
	if err := c.post(ctx, "/v1/keys", body, &made); err != nil {
		return err
	}
	return showNew(std, made, c.JSON)
}

// showNew prints a key that will not be shown again.
func showNew(std streams, made wire.NewKey, asJSON bool) error {
	if asJSON {
		return printJSON(std.out, made)
	}
	fmt.Fprintf(std.err, "Key %s (%s; workspaces %s). Save it now; it is not shown again:\n", made.Key.ID,
		strings.Join(made.Key.Roles, ", "), listed(made.Key.Workspaces))
	_, err := fmt.Fprintln(std.out, made.Token)
	return err
}

func listed(names []string) string { return onTerminal(strings.Join(names, ", "), 200) }

type keysListCmd struct {
	reach
	jsonOutput
}

// Run prints a line for each key.
func (c keysListCmd) Run(ctx context.Context, std streams) error {
	var list wire.KeyList
	if err := c.get(ctx, "/v1/keys", &list); err != nil {
		return err
	}
	return printTable(std, c.JSON, "ID, NAME, ROLES, WORKSPACES, STATE, LAST USED", list.Keys, func(k wire.Key) []any {
		return []any{k.ID, onTerminal(k.Name, 100), strings.Join(k.Roles, ","), listed(k.Workspaces), stateOf(k), k.LastUsed}
	})
}

func stateOf(k wire.Key) string {
	switch {
	case k.Revoked != "":
		return "revoked " + k.Revoked
	case k.Expires == "":
		return "live"
	case k.Expires <= time.Now().UTC().Format(time.RFC3339): // as a server writes times
		return "expired " + k.Expires
	}
	return "until " + k.Expires
}

type keysRotateCmd struct {
	reach
	jsonOutput
	ID    string        `arg:"" help:"The key's id."`
	Grace time.Duration `help:"How long the old secret stays valid."`
}

// Run prints the new token.
func (c keysRotateCmd) Run(ctx context.Context, std streams) error {
	var made wire.NewKey
	body := map[string]any{"grace_seconds": int64(c.Grace.Seconds())}
	if err := c.post(ctx, "/v1/keys/"+url.PathEscape(c.ID)+"/rotate", body, &made); err != nil {
		return err
	}
	return showNew(std, made, c.JSON)
}

type keysRevokeCmd struct {
	reach
	ID string `arg:"" help:"The key's id."`
}

// Run prints one line.
func (c keysRevokeCmd) Run(ctx context.Context, std streams) error {
	var k wire.Key
	if err := c.do(ctx, client.Request{Method: http.MethodDelete, Path: "/v1/keys/" + url.PathEscape(c.ID)}, &k); err != nil {
		return err
	}
	_, err := fmt.Fprintf(std.out, "Key %s is revoked.\n", k.ID)
	return err
}

type auditCmd struct {
	reach
	Verify bool `help:"Verify the chain of entries; exit code 1 if it is broken."`
}

// Run prints the audit log as stored, one line of JSON per entry.
func (c auditCmd) Run(ctx context.Context, std streams) error {
	var chain access.Chain
	out := bufio.NewWriter(std.out)
	for cursor := ""; ; {
		var page wire.AuditList
		if err := c.get(ctx, "/v1/audit?cursor="+url.QueryEscape(cursor), &page); err != nil {
			return err
		}
		for _, e := range page.Entries {
			if c.Verify {
				if err := chain.Add(e); err != nil {
					return err
				}
				continue
			}
			fmt.Fprintf(out, "%s\n", e)
		}
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	if c.Verify {
		fmt.Fprintf(out, "%d entries, and their chain is intact.\n", chain.Length)
	}
	return out.Flush()
}
