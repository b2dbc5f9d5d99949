// Package llm calls a language model over the OpenAI chat completions protocol. It provides
// rate limits, adaptive concurrency, retries, a circuit breaker, fair queuing between
// workspaces, timeouts, fallback models and checks of replies. Judge, guidelines and
// compaction share one Client, so they share its limits.
//
// A Client is passive: it runs no goroutine of its own. A caller of Complete waits in the
// fair queue, sends its own request and, when it leaves, lets the next ones go. One timer
// wakes the queue if only time is missing.
//
//	Client ── limiter ──┬── opQueue per op: who is next (fair), spacing of starts
//	                    └── endpoint per model: may one start now?
//	                          bucket   limits from the configuration
//	                          pacer    limits guessed from refusals alone
//	                          window   concurrency, grown and halved
//	                          breaker  open: credentials, quota, failures …
//	Model.Complete ── exchange: one request and one reply, capped and checked
package llm
