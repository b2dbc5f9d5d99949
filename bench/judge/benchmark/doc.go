// Package benchmark measures a judge against recorded calls whose outcome is
// known: who agrees with the labels, how often, and at what cost.
//
// A recording is JSON-lines of calls as the server takes them, with the label in
// metadata.gold: ok, partial or error. A Run hands the calls, in the order of
// the file, to a judge that works as in the server, with its history growing
// from call to call. The label never reaches the judge: it is taken out of the
// call where the line is read (see ParseLine).
//
// # Formulas
//
// A Matrix counts labels against scores: 0.0 stands for error, 0.5 for partial,
// 1.0 for ok. With TP the calls labelled error that got 0.0, FP the others that
// got it, FN the errors that did not:
//
//   - precision = TP / (TP + FP), recall = TP / (TP + FN), with the interval of
//     Wilson (statistics.Wilson). An error without any evaluation counts as FN.
//   - F1 = 2 TP / (2 TP + FP + FN). F* = TP / (TP + FP + FN) is a share of n =
//     TP + FP + FN calls and F1 = 2 F* / (1 + F*) grows with it, so that
//     Wilson's interval of F* gives one of F1 (K. F. Y. Lam, V. Gopal, J. Qian,
//     "Confidence intervals for the F1 score", arXiv 2309.14621: Wilson
//     indirect).
//   - kappa = (po - pe) / (1 - pe), po the share of equal ratings and pe the
//     share expected by chance (J. Cohen, "A coefficient of agreement for
//     nominal scales", Educational and Psychological Measurement 20, 1960), over
//     the calls that have an evaluation. Its interval takes pe as known, as the
//     standard error in that paper does, and has Wilson's bounds of po in the
//     place of po; so it does not shrink to a point where all agree.
//   - coverage = share of the labelled calls for which the rules were sure,
//     which is what a cascade does not ask a model about; its precision is the
//     share of these that the rules got right.
//
// # Replies
//
// A model's answers can be recorded with Recorder and played back with Replies,
// so that a run with a model can be repeated without one.
package benchmark
