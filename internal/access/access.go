// Package access says who may do what: API keys with their roles and workspaces,
// kept as records of the store, and the sessions that a browser gets for a key.
// It knows no HTTP; package api asks it before each request.
package access

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Role is a set of things that a caller may do.
type Role uint8

// The roles of keys. Admin holds all of them, Curate holds Read.
const (
	Record Role = 1 << iota // add calls, compact conversations, refresh guidelines
	Read                    // see guidelines, histories, forecasts and statistics
	Curate                  // correct, pin, review
	Admin                   // delete, copy, dump, load; keys, the audit log, forgetting a source

	// Public is what a route declares that anybody may ask, and Known one for
	// whoever has a key, whatever its roles.
	Public
	Known
)

var roleNames = []struct {
	role Role
	name string
}{{Record, "record"}, {Read, "read"}, {Curate, "curate"}, {Admin, "admin"}}

// String names the roles of the set, separated by commas.
func (r Role) String() string { return strings.Join(r.Names(), ", ") }

// Names lists the roles of the set.
func (r Role) Names() []string {
	names := []string{}
	for _, n := range roleNames {
		if r&n.role != 0 {
			names = append(names, n.name)
		}
	}
	return names
}

// full adds the roles that others hold.
func (r Role) full() Role {
	if r&Admin != 0 {
		r |= Record | Read | Curate
	}
	if r&Curate != 0 {
		r |= Read
	}
	return r
}

// ParseRoles reads names of roles.
func ParseRoles(names []string) (r Role, err error) {
next:
	for _, name := range names {
		for _, n := range roleNames {
			if n.name == name {
				r |= n.role
				continue next
			}
		}
		return 0, fmt.Errorf("roles: must be record, read, curate or admin, not %q", name)
	}
	if r == 0 {
		return 0, fmt.Errorf("roles: at least one of record, read, curate and admin")
	}
	return r, nil
}

// Local is the source of what is done without a key.
const Local = "local"

// Principal is on whose behalf a request is.
type Principal struct {
	// Source is the id of the key, or Local.
	Source string
	// Roles holds every role that the caller has, those that others hold included.
	Roles Role
	// Workspaces are the ones that the caller knows of; nil is all.
	Workspaces []string
}

// Anybody may do everything: whoever reaches a server that asks for no keys.
var anybody = Principal{Source: Local, Roles: Admin.full()}

// Anybody is the caller of a server that asks for no keys.
func Anybody() *Principal { return &anybody }

// May reports whether the caller has every role that a route declares.
func (p *Principal) May(need Role) bool {
	need &^= Public | Known
	return p.Roles&need == need
}

// In reports whether the caller knows of the workspace.
func (p *Principal) In(workspace string) bool {
	return p.Workspaces == nil || slices.Contains(p.Workspaces, workspace)
}

// Everywhere reports whether the caller is bound to no workspace.
func (p *Principal) Everywhere() bool { return p.Workspaces == nil }

type contextKey struct{}

// With says on whose behalf the work within the context is done.
func With(ctx context.Context, p *Principal) context.Context {
	return context.WithValue(ctx, contextKey{}, p)
}

// Of is on whose behalf the work within a context is done; without a word it is
// the program's own.
func Of(ctx context.Context) *Principal {
	if p, ok := ctx.Value(contextKey{}).(*Principal); ok {
		return p
	}
	return Anybody()
}

// nowhere begins the names of workspaces that cannot exist: no call with a control
// character in the name of its workspace is accepted.
const nowhere = "\x00"

// Absent is a workspace that cannot exist, in the place of one that a caller does not
// know of: what asks for it is answered from there, so that the answer, and the work
// for it, are those of a workspace that does not exist.
func Absent(workspace string) string { return nowhere + workspace }

// IsAbsent reports whether a workspace is one that Absent gave.
func IsAbsent(workspace string) bool { return strings.HasPrefix(workspace, nowhere) }

// Present takes the mark of Absent out of a sentence that quotes a workspace.
func Present(sentence string) string { return strings.ReplaceAll(sentence, `\x00`, "") }
