// Package usage counts what the models cost, and keeps to budgets.
//
//	llm's observer ── Attempt ──┐
//	judge's observer ─ Verdict ─┴─ Ledger ── every FlushInterval ──> store.Records
//	Limited(model) ── asks the Ledger before each request
//
// # The ledger
//
// A Ledger adds up requests, tokens and verdicts by workspace, tool, op and who
// answered, in rows of an hour (UTC). Counting takes a lock for a moment and no
// I/O. The rows of a workspace and an hour are one record of the kind "spend",
// written by one process only, whole and with absolute totals: writing it again
// does no harm, and several replicas on one store do not disturb each other. A
// record of the server, under the empty workspace, holds the totals of all
// workspaces in the same form; the budgets go by these.
//
// Where a model has a price, a row also has the cost of its tokens at the price
// that held when they were counted. Tokens that a server does not report cost
// nothing here.
//
// # What a sudden death costs
//
// A write that fails is repeated at the next flush, nothing is forgotten
// meanwhile. A process that is killed loses from the ledger what it counted
// since its last flush: at most FlushInterval, and the time that a flush takes.
// The cost of each call is not lost with it: it is durable with the verdict
// (memoryd.Evaluation.Cost).
//
// # Budgets
//
// A budget bounds the requests, or the tokens of prompts and answers together,
// of all replicas in an hour or a day of UTC. What others spent is known as of
// the newest flush, so that n replicas can pass a budget by what n-1 of them
// spend in a flush interval. Within one process requests under way are counted
// beforehand: the budget of requests is passed only by requests that the model
// client repeats by itself, that of tokens only by as much as those under way
// take beyond a guess of four bytes a token of the prompt.
package usage
