// Package rules rates recorded tool calls without a model.
//
// A judge reads three things: the caller's own success flag, the text of the
// output, and what the tool's earlier calls looked like. It answers with one of
// the three scores, the name of the rule that decided, and whether the evaluation
// is sure enough to spare a model the work.
//
// Facts come first. They follow from how programs report failure, never from one
// tool, and fall in four groups. Reported outcomes: flags, exit codes, HTTP statuses,
// error members of structured bodies. Diagnostics: tracebacks, shell messages,
// SQL and protocol errors, an output whose first words say that it failed.
// Half outcomes: empty results, results under an error banner, errors that a shell
// pipeline went past. History: outputs that look unlike the tool's successes, and
// costs far beyond them. Where no fact decides, a learned score does: package
// score.
//
// An output may hold error words because it was asked for them: a log, source
// code, a page about exceptions. So a word alone never decides. What counts is
// where it stands (first line, last line, a member named error), in which
// grammar (a diagnostic, a status line), and whether the request already
// contained it.
//
// Work is linear in the output and bounded: only a head and a tail window of a
// large output are read.
package rules
