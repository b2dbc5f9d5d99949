// Package memoryd holds the nouns that every other package of the project
// speaks of (tool calls, evaluations, tool memories, guidelines), the kinds of
// error that cross package borders, and the built-in configuration.
//
// It imports nothing of the project. What the nouns mean to a user is written
// in README.md and api/openapi.yaml; how the packages fit together is written
// in docs/design.md.
package memoryd

import _ "embed"

// DefaultConfig is the documented configuration file with every setting at its
// default. A user's file need only hold what differs.
//
//go:embed default.yaml
var DefaultConfig []byte

// DefaultWorkspace is the workspace of a request that names none.
const DefaultWorkspace = "default"

// MaxNameBytes bounds the name of a workspace or of a tool, in bytes of UTF-8.
const MaxNameBytes = 1024
