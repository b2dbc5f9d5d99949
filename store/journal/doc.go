// Package journal puts a local journal before a remote store, so that recording and
// retrieving go on while that is away. It is the mode `spool` of the Qdrant
// backend; the local store is the embedded one, in a directory that this process
// uses for nothing else. Whatever tools lie in that directory count as recorded
// here: a repair sends them to the remote store.
//
// # What happens to a call
//
// An operation that only adds (Append, Settle, CacheVerdict, DeleteTool,
// DeleteWorkspace) is written to the journal, a record of the local store, then
// carried out on the local copy, and is acknowledged from then on. One goroutine
// forwards the journal in the order of acceptance: up to Config.ForwardBatch calls
// in one request, again and again with growing waits while the remote store does
// not take them. A cursor, another record, follows what was acknowledged there. A
// process that dies between the two sends its last request again: the keys of the
// calls make that harmless. A deletion is sent alone, and nothing after it before
// the cursor has passed it. On the tools that one process writes, the remote store
// sees the same operations in the same order as the local copy.
//
// Operations that compare (PutGuideline, RestoreTool, Override, records) go to the
// remote store, after all that was accepted before them, and fail as unavailable
// if that is not there within Config.RemoteWait. They are acknowledged when they
// are done, so there is nothing to lose.
//
// Open also does with a remote store that cannot be reached yet: until it was opened
// it counts as away. One that answers but cannot be used is an error of Open, or
// later of Ping.
//
// # Guarantees
//
//   - What was acknowledged is on the local disk, flushed, and gets to the remote
//     store once, however often the line breaks or the process dies, as long as the
//     disk lasts and somebody opens it again.
//   - While the remote store answers, Append waits for it, for Config.RemoteWait at
//     most. Its answers (New, Repeat, FirstOfTool, Seq) are then the remote store's,
//     as exact as those. If it did not take the batch at the first try, or in time,
//     they say what this process knows: New is exact unless another process
//     recorded the same call, or deleted the tool; Repeat and FirstOfTool likewise;
//     Seq counts the calls that this process recorded. The same holds for the
//     answers of Settle and the number that DeleteWorkspace reports.
//   - After a failure, or a wait in vain, nobody waits until something was forwarded
//     again.
//   - An operation that the remote store refuses as invalid or too large holds
//     nobody up: it is put aside in the local store, as a record of the kind
//     spool_parked, and logged as an error.
//   - When Config.MaxBacklog calls wait, further ones are refused as overloaded.
//
// # What readers see
//
// Reads ask the remote store, for Config.RemoteWait at most, and add what waits
// here: calls, verdicts on calls that this process holds, deletions. So a process
// reads its own writes. Others see them when they were forwarded; how long that
// takes is bounded by nothing while the line is down, else by the requests before
// it.
//
// When the remote store does not answer, reads are answered from the local copy
// at once, until a ping succeeds: those are sent every Config.RetryMin to
// Config.RetryMax. The copy has what this process recorded, with the verdicts that
// it wrote, and of each tool the guideline that it wrote or read last through Tool.
// It lacks what other processes recorded; a tool that it does not know is
// unavailable, not unknown, and so are records. Numbers and revisions are then
// the copy's own and may be lower than the remote store's.
//
// What is merged is an estimate in three cases: a call that waits and that another
// process recorded too counts twice until it is forwarded; so does one whose
// acknowledgement was lost and that a full history has let go; and after a restart
// a call that was sent again may count as new.
//
// Claim asks the remote store. While that is away it takes calls from the local
// copy, whose leases the remote store does not know: a call may then be judged
// twice, by two processes, but the first verdict stands.
//
// # Repair
//
// Repair compares each tool's local history with the remote one: number of calls,
// and a digest of their keys and verdicts. Where they differ, it sends the calls
// that are missing there again, verdicts for calls that wait there, corrections by
// persons, and a newer guideline; and takes over verdicts that others wrote. It runs
// every Config.RepairInterval, and on request. Tools that have not changed on either
// side since they were found equal are not read again.
//
// A missing call was lost if an older one of ours is there, for a history lets the
// oldest go first, or if the history is not full, or if the call's time is after
// that of the newest there. Calls that were let go rightly and are sent again all
// the same are recognised there by their keys. What comes back is numbered anew,
// after what survived. Only what the local histories keep comes back, and a tool's
// counters miss what it had let go before it was lost; but a remote store whose
// collections vanished as a whole is given the tools back as they were, counters
// included. Where another process did so first, or all that is kept of a tool waits to
// be forwarded, Status.Uncounted says how many calls the counters miss.
//
// A deletion leaves a record in the remote store for 90 days, from which the
// repairs of other processes learn that a tool is not lost but deleted. So all
// processes on a remote store should journal, and their clocks agree better than the
// time between a deletion and the next call of the tool.
//
// # What breaks
//
// With the local disk goes what was not forwarded. A local store that is full
// refuses what is new, as unavailable. A deletion whose acknowledgement is lost is
// sent again and takes with it what other processes recorded for the tool in
// between. An append whose cursor was not written before the process died is sent
// again after its restart, and brings its calls back if another process deleted
// the tool in between. If the local store fails between the journal and the copy,
// and then cannot take back the first, an operation that was refused happens all
// the same.
package journal
