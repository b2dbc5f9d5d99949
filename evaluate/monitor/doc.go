// Package monitor looks at what judges say over time: how their scores are spread,
// how often they agree with the rules and with people, and whether that changed.
// A model that a provider replaces in silence, or a prompt that stopped working,
// shows here first.
//
// # Warnings, and how often they are wrong
//
//   - Scores all alike: the newest evaluations of a model, fifty or more, have one
//     score, and its earlier ones have not. The alarm needs Fisher's exact test of
//     the run against what came before to give p < 0.000005. For a judge whose
//     evaluations are independent and of whose scores a share q is the same, a run of
//     length n begins at a given evaluation with the probability (1-q)q^n, and the
//     alarm needs about q^n < 0.000005, whatever q is; the looks at one run are
//     nested, so that they add nothing. In 200 evaluations that makes at most one
//     false alarm in a thousand.
//   - Always alike: a model's evaluations had one score from the first on, while the
//     rules were of different minds about the same calls. This is no test; it says
//     what can be seen.
//   - Agreement dropped: with the rules, or with people, in the newest window
//     against all before it, by Fisher's exact test. The window is looked at four
//     times in its length, each time with p < 0.001/4, and only drops count, so
//     that a steady judge raises at most one false alarm in a thousand windows.
//
// Tests of the package simulate these rates. Everything is kept in memory,
// bounded, and begins anew with the process.
package monitor
