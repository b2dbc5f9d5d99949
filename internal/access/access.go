// Package access decides who may do what. It manages API keys with their roles and
// workspaces, which are records in the store, and the sessions of browsers. It knows nothing
// of HTTP; package api calls it before each request.
package access

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Role is a set of permissions.
type Role uint8

// The roles of keys. Admin includes all others; Curate includes Read.
const (
	Record Role = 1 << iota // add calls, compact conversations, update guidelines
	Read                    // read guidelines, histories, forecasts and statistics
	Curate                  // correct, pin, review
	Admin                   // delete, copy, dump, load; keys, the audit log, forgetting a source

	// A route that declares Public is open to everybody, and Known to every caller with a
	// key, whatever its roles.
	Public
	Known
)

var roleNames = []struct {
	role Role
	name string
}{{Record, "record"}, {Read, "read"}, {Curate, "curate"}, {Admin, "admin"}}

// String names the roles of the set, separated by commas.
func (r Role) String() string { return strings.Join(r.Names(), ", ") }

// Names returns the roles of the set.
func (r Role) Names() []string {
	names := []string{}
	for _, n := range roleNames {
		if r&n.role != 0 {
			names = append(names, n.name)
		}
	}
	return names
}

// MarshalJSON writes the names of the roles.
func (r Role) MarshalJSON() ([]byte, error) { return json.Marshal(r.Names()) }

// UnmarshalJSON reads names of roles.
func (r *Role) UnmarshalJSON(text []byte) (err error) {
	var names []string
	if err := json.Unmarshal(text, &names); err != nil {
		return err
	}
	*r, err = ParseRoles(names)
	return err
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

// ParseRoles parses names of roles.
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

// Local is the source of everything done without a key.
const Local = "local"

// Principal is the caller of a request.
type Principal struct {
	// Source is the id of the key, or Local.
	Source string
	// Roles holds every role of the caller, including implied ones.
	Roles Role
	// Workspaces are the workspaces that the caller can see; nil means all.
	Workspaces []string
}

// Anybody may do everything: whoever reaches a server that asks for no keys.
var anybody = Principal{Source: Local, Roles: Admin.full()}

// Anybody is the caller of a server without keys.
func Anybody() *Principal { return &anybody }

// May reports whether the caller has every role that a route requires.
func (p *Principal) May(need Role) bool {
	need &^= Public | Known
	return p.Roles&need == need
}

// In reports whether the caller can see the workspace.
func (p *Principal) In(workspace string) bool {
	return p.Workspaces == nil || slices.Contains(p.Workspaces, workspace)
}

// Everywhere reports whether the caller can see all workspaces.
func (p *Principal) Everywhere() bool { return p.Workspaces == nil }

type contextKey struct{}

// With returns a context with the caller on whose behalf work is done.
func With(ctx context.Context, p *Principal) context.Context {
	return context.WithValue(ctx, contextKey{}, p)
}

// Of returns the caller in a context. Without one, the work is the program's own.
func Of(ctx context.Context) *Principal {
	if p, ok := ctx.Value(contextKey{}).(*Principal); ok {
		return p
	}
	return Anybody()
}

// nowhere begins the names of workspaces that cannot exist: no call with a control
// character in the name of its workspace is accepted.
const nowhere = "\x00"

// Absent returns a workspace name that cannot exist. It replaces a workspace that the caller
// cannot see, so that the answer, and the work for it, are those for a workspace that does
// not exist.
func Absent(workspace string) string { return nowhere + workspace }

// IsAbsent reports whether Absent returned the workspace name.
func IsAbsent(workspace string) bool { return strings.HasPrefix(workspace, nowhere) }

// Present removes the mark of Absent from a sentence that quotes a workspace.
func Present(sentence string) string { return strings.ReplaceAll(sentence, `\x00`, "") }
