// Package compact makes a conversation smaller without breaking it and without
// losing what is needed later.
//
// A Compactor takes a list of chat messages and returns a list that a strict provider
// accepts, that is never larger, and from which the exact input can be restored. It removes
// old messages, and a summary takes their place: what people wrote, what calls did and what
// tools returned, copied byte for byte. A model can pick lines of it; it writes none.
//
// Profiles decide when to compact and what can be removed: "default", and the behaviour of
// three known systems ("deerflow", "forge", "ra_aid") without their defects.
//
// The age of message i of n is n-1-i everywhere: the number of newer messages. A message is
// old if its age is at least the threshold.
//
// The messages of a request pass through the files in this order. compactor.go receives them
// (once.go: equal requests share a run). run.go has conversation.go read them. profiles.go
// and profile_default.go plan. summary.go writes (narrative.go, package records).
// assemble.go builds the result, and record.go stores and restores.
package compact
