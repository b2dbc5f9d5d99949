// Package compact makes a conversation smaller without breaking it and without
// losing what is needed later.
//
// A Compactor takes a list of chat messages and gives back a list that a strict
// provider accepts, that is never larger, and from which the exact input can be
// had back. What it takes out goes through three tiers: large tool outputs become
// a preview and a handle, a model may describe old groups, and a deterministic
// extract stands in where there is no model or it fails. Beside all of them goes a
// block of facts (identifiers, numbers, paths, names, dates, error lines) copied
// byte for byte; nothing that a model writes replaces it.
//
// Profiles decide when to compact and what may go: "default", and the behaviour
// of three known systems ("deerflow", "forge", "ra_aid") without their defects.
//
// Distances are counted in one way everywhere: the age of message i of n is
// n-1-i, the number of newer messages. A message is old when its age is at least
// the threshold.
//
// The messages of a request go one way through the files: compactor.go takes them
// (once.go: the same request is one run), run.go has conversation.go read them,
// profiles.go and profile_default.go plan, summary.go writes (state.go, speech.go,
// narrative.go, package records), assemble.go puts the list together, record.go
// holds what is stored and gives it back.
package compact
