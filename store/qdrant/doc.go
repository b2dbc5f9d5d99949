// Package qdrant keeps tool memories in Qdrant, so that any number of memoryd
// processes can work on them at once. A process keeps nothing that another needs:
// what a call of this package acknowledged is in Qdrant, and what a process
// remembers (the lives of tools) it checks after each write.
//
// # What is where
//
// Three collections stand behind aliases, with a prefix of the configuration:
// calls, tools and docs. They carry the version of their schema in their metadata
// and in their names (memoryd_calls_v2). A collection of another version is refused.
//
//   - calls: a point for each call, whose id follows from workspace and key, and
//     one for each content (input and output) of a tool, which names the call that
//     brought it first. When the history lets a call go, its body is taken from the
//     point; what is left, about 200 bytes, recognises the call when it comes again.
//   - tools: a point for each tool with its guideline and the sparse vector it is
//     searched by, one for each workspace, and tombstones of deleted tools.
//   - docs: records, cached verdicts, and the leases of the clock.
//
// A tool's point draws a random life when it is made, and all that belongs to the
// tool names that life. Deleting a tool ends its life: from then on nothing of it
// can be reached, and what late writes leave under it is removed.
//
// # Appending
//
// Append makes one write: it inserts the calls' points unless they are there
// (an update_filter that holds for no point, which all nodes from 1.16 on can do), and
// then reads whose nonce the points bear. A repeated request, or
// the same call sent to two replicas at once, finds the point there. Nothing is
// read, changed or written back to count: the counters of a tool are the numbers
// of its points, exact counts, so a call counts once however often it was sent and
// wherever a process died. Adding a call of 2 KB to a tool that keeps 100 sends
// 2.8 KB in one write and 0.3 KB in three small reads that run beside each other.
// Appends that come while others are under way share the next write and its reads
// (see batcher.go): a request costs the server more than the calls in it.
//
// A call's number is a stamp: the clock in steps of two microseconds, with the
// lease of the process in its lowest bits, and ahead of each stamp that the process
// has seen. So numbers grow with acceptance within a process; between processes
// they do as far as their clocks agree.
//
// Each call says how many calls its history was to keep when it came. What a
// history keeps follows from that and from nothing else (see narrow.go), so nobody
// has to trim in time and no trim can take one of the newest: after 32 calls a
// process clears away what is out of the history, in one look and one write of what
// is left. A server reads a point's whole text to give any field of it, so a process
// remembers what it read of a history beside the texts (see narrow.go): a look asks for
// ids and for which calls got a verdict, both from an index, and reads what is new or
// waits. The bodies come by id, as many as fit a reply.
//
// # What else is compared
//
// A guideline, a record and a correction are written on a condition (SetPayload
// with a filter, which never makes a point) with a nonce, and read back: the nonce
// tells whether the write took effect, also after a lost acknowledgement and after
// being overtaken. Verdicts are written if the call is pending; a claim is a lease
// on the call itself, which ends by itself. Clocks of processes may differ by less
// than the lease.
//
// # Remembering and folding
//
// What was accepted more than an hour ago, and is not kept, cannot change any more: it is
// counted once, and added to numbers on the tool's point by moving a cut (see counts.go).
//
// A tool that is described again and again is not counted at all (see watch.go): a process
// knows its counts and its history up to a stamp at which nothing can arrive any more (five seconds ago
// while it is alone, else as long ago as an append of another may take), and asks for the ids of what came or
// got a verdict after it, for all tools that wait in two requests.
//
// The newest Config.Remember calls are remembered. A sweep folds older ones in the same
// way and removes their points a good while later. It runs by itself while calls come in; Sweep
// runs it on request. Calls accepted within an hour are never folded: an insert
// that takes effect later than that would not be counted.
//
// # Guarantees
//
// Every write waits until it is applied (wait=true), for which a server flushes its
// write-ahead log before it answers. So with one replica of the data
// (replication_factor 1) what was acknowledged survives the death of memoryd and of
// the server's process, and power loss if the disk honours a flush; what remains is
// a background flush that has not ended when its offset has moved, which is one
// flush long. Measured on 1.16.3 by copies of a disk in flight: 0 of 4,422
// acknowledged writes were lost with a flush_interval of 30 s, and 8,213 of 8,213
// with wait=false. The loss of a disk takes its only copy: with replication_factor 3
// and write_consistency_factor 2 each write is at two machines, and one of the three
// may be away for reads and appends. Then deciding reads ask a majority (and a
// quorum for some seconds after a copy did not answer: a server asks every copy that
// it believes alive), appends are ordered by the acting leader of their shard, and
// what compares (guidelines, records, verdicts, claims) by its permanent leader: it
// fails as unavailable while that is away.
// A factor of 2 with a consistency of 1 loses acknowledged writes with one
// machine, a factor of 2 with a consistency of 2 stops when one is away.
//
// A method that fails as Unavailable may have taken effect in part; repeating it
// is safe. If an append never is repeated, its calls are there and counted, or
// not, each for itself; a tool's duplicates may then be off by as many.
//
// # What breaks
//
// A process whose clock is behind numbers its calls below others' and may find
// them outside a full history at once; they are counted. More than 16 processes
// that append at once share leases: two calls of one tool may get the same number.
// A server from 1.19 on stops a shard's writes for each conditional one; appends
// are conditional, so there large batches are better than many. Tools whose first
// call never arrived (the process died between two writes) have a point but do not
// exist for callers; the call that comes next does not report FirstOfTool.
// Listing costs a page, plus all names that share their first 21 bytes with one
// in it; a tool that is described now and then costs a look at ids, three counts of what is
// not settled, and reading what came since this process last looked.
package qdrant
