// Package qdrant keeps tool memories in Qdrant, so that any number of memoryd processes can
// use them at once. No process depends on another: everything that this package acknowledged
// is in Qdrant, and what a process remembers (the lives of tools), it checks after each
// write.
//
// # What is where
//
// There are three collections behind aliases with a configured prefix: calls, tools and docs.
// Their metadata and names contain the version of their schema (memoryd_calls_v2). A
// collection of another version is refused.
//
//   - calls: a point for each call, whose id follows from workspace and key, and
//     one for each content (input and output) of a tool: what calls have more than
//     contents are exact repeats. When the history lets a call go, its body is taken from the
//     point; what is left, about 200 bytes, recognises the call when it comes again.
//   - tools: a point for each tool with its guideline, one for each workspace, and
//     tombstones of deleted tools.
//   - docs: records, cached verdicts, and the leases of the clock.
//
// A tool's point gets a random life when it is created, and everything that belongs to the
// tool names that life. Deleting a tool ends its life: from then on nothing of it can be
// reached, and what late writes leave under it is removed.
//
// # Appending
//
// Append makes one write: it inserts the calls' points unless they exist (an update_filter
// that matches no point, which all nodes support from 1.16). Then it reads whose nonce the
// points have. A repeated request, or the same call sent to two replicas at once, finds the
// existing point. Counting needs no read-modify-write: the counters of a tool are exact
// counts of its points, so a call counts once however often it was sent and wherever a
// process died. Adding a call of 2 KB to a tool with a history of 100 sends 2.8 KB in one
// write and less than 0.3 KB in two small concurrent reads. Appends that arrive while others are
// running share the next write and its reads (see batcher.go), because a request costs the
// server more than the calls in it.
//
// A call's number is a stamp: the clock in steps of two microseconds, with the lease of the
// process in its lowest bits. It is always above each stamp that the process has seen. So
// numbers grow with acceptance within a process; between processes they do so as far as their
// clocks agree.
//
// Each call stores the history length at the time of its acceptance. Only these lengths
// decide what a history contains (see narrow.go), so nobody has to trim in time, and no trim
// can remove one of the newest calls. After 32 calls, a process removes what has left the
// history, with two queries and one write. A server reads a point's whole text to return any of
// its fields, so a process remembers the short fields of a history (see narrow.go). A query
// asks for ids and for calls that got a verdict, both from an index, and reads only what is
// new or pending. The bodies are fetched by id, as many as fit into a reply.
//
// # What else is compared
//
// A guideline, a record and a correction are written conditionally (SetPayload with a filter,
// which never creates a point) with a nonce, and read back. The nonce shows whether the write
// took effect, even after a lost acknowledgement or a later write. Verdicts are written if
// the call is pending. A claim is a lease on the call itself, which expires by itself. The
// clocks of processes must differ by less than the lease.
//
// # Remembering and folding
//
// Calls that were accepted more than an hour ago, and are no longer in the history, cannot
// change any more. They are counted once, and added to numbers on the tool's point by moving
// a cut (see counts.go).
//
// The newest Config.Remember calls are remembered. A sweep folds older ones in the same way,
// and removes their points much later. A server runs it every few minutes (Sweep). Calls
// accepted within an hour are never folded: an insert that takes effect later than that would
// not be counted.
//
// # Guarantees
//
// Every write waits until it is applied (wait=true), for which a server flushes its
// write-ahead log before it answers. So with one replica of the data (replication_factor 1),
// acknowledged writes survive the death of memoryd and of the server's process, and power
// loss if the disk honours a flush. One risk remains: a background flush that has not ended
// when its offset has moved. Measured on 1.16.3 by copies of a disk in flight: 0 of 4,422
// acknowledged writes were lost with a flush_interval of 30 s, and 8,213 of 8,213 with
// wait=false. The loss of a disk takes its only copy: with replication_factor 3 and
// write_consistency_factor 2, each write is on two machines, and one of the three may be down
// for reads and appends. Then deciding reads ask a majority (and a quorum for some seconds
// after a copy did not answer, because a server asks every copy that it believes alive).
// Appends are ordered by the acting leader of their shard, and conditional writes
// (guidelines, records, verdicts, claims) by its permanent leader: they fail as Unavailable
// while that is down. A factor of 2 with a consistency of 1 loses acknowledged writes with
// one machine; a factor of 2 with a consistency of 2 stops if one is down.
//
// A method that fails as Unavailable may have taken partial effect; repeating it is safe. If
// an append is never repeated, each of its calls may or may not be stored and counted, and a
// tool's duplicates may be off by as many.
//
// # What breaks
//
// A process whose clock is behind numbers its calls below others', and a full history may
// drop them at once; they are counted. If more than 16 processes append at once, they share
// leases, and two calls of one tool may get the same number. A server from 1.19 on blocks a
// shard's writes during each conditional one. Appends are conditional, so use large batches
// there. A tool whose first call never arrived (the process died between two writes) has a
// point, but does not exist for callers; its next call does not report FirstOfTool. Listing
// costs a page, plus all names that share their first 21 bytes with one on it. A
// description costs two queries for ids, three counts of what is not settled, and reading what
// arrived since this process last asked.
package qdrant
