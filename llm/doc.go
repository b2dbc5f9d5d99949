// Package llm talks to a language model over the OpenAI chat completions
// protocol and holds everything that makes such talk bearable: one place for
// rate limits, adaptive concurrency, retries, the circuit breaker, fair queuing
// between workspaces, time limits, fallback models and the checks of what comes
// back. Judge, guidelines and compaction share one Client, so that they share
// its limits.
//
// A Client is passive: it runs no goroutine of its own. Whoever calls Complete
// waits in the fair queue, sends its request itself and, when it leaves, lets
// the next ones go. One timer wakes the queue when only time is missing.
//
//	Client ── limiter ──┬── opQueue per op: who is next (fair), spacing of starts
//	                    └── endpoint per model: may one start now?
//	                          bucket   limits from the configuration
//	                          pacer    limits guessed from refusals alone
//	                          window   concurrency, grown and halved
//	                          breaker  open: credentials, quota, failures …
//	Model.Complete ── exchange: one request and one reply, capped and checked
package llm
