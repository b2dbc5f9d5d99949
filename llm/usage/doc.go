// Package usage counts what the models cost, and enforces budgets.
//
//	llm's observer ── Attempt ──┐
//	judge's observer ─ Verdict ─┴─ Ledger ── every FlushInterval ──> store.Records
//	Limited(model) ── asks the Ledger before each request
//
// # The ledger
//
// A Ledger counts requests, tokens and verdicts by workspace, tool, op and judge, in rows of
// an hour (UTC). Counting takes a lock for a moment and does no I/O. The rows of a workspace
// and an hour are one record of the kind "spend". Only one process writes it, as a whole and
// with absolute totals. So writing it again does no harm, and several replicas on one store
// do not disturb each other. A record under the empty workspace holds the totals of all
// workspaces in the same form; the budgets use these.
//
// If a model has a price, a row also has the cost of its tokens at the price of that time.
// Tokens that a server does not report cost nothing here.
//
// # What a sudden death costs
//
// A failed write is repeated at the next flush, and nothing is lost meanwhile. A killed
// process loses from the ledger what it counted since its last flush: at most FlushInterval,
// and the time of a flush. The cost of each call is not lost: it is saved with the verdict
// (memoryd.Evaluation.Cost).
//
// # Budgets
//
// A budget limits the requests, or the tokens of prompts and answers together, of all
// replicas in an hour or a day (UTC). A replica learns what others spent at each flush. So n
// replicas can exceed a budget by what n-1 of them spend in a flush interval. Within one
// process, running requests are counted in advance. The budget of requests is exceeded only
// by retries of the model client; that of tokens only as far as running requests need more
// than an estimate of one token per four bytes of the prompt.
package usage
