// Package rules rates recorded tool calls without a model.
//
// A judge reads three things: the caller's success flag, the text of the output, and what the
// tool's earlier calls looked like. It returns one of the three scores, the name of the
// deciding rule, and whether the evaluation is sure enough to need no model.
//
// Facts come first. They follow from how programs report failure, never from one tool. There
// are four groups. Reported outcomes: flags, exit codes, HTTP statuses, error members of
// structured bodies. Diagnostics: stack traces, shell messages, a usage that
// nobody asked for. Partial outcomes: empty results, results below an error banner, errors that
// a shell pipeline ignored. History: whether the tool is usually silent. If no fact decides, a
// learned score does: package score. It is held against what it said of the tool's earlier
// calls that did not fail, for the prose of one tool is never as clear as the "Saved." of another.
//
// An output may contain error words because they were requested: a log, source code, a page
// about exceptions. So a word alone never decides. What counts is its place (first line, last
// line, a member named error), its grammar (a diagnostic, a status line), and whether the
// request already contained it.
//
// The work is linear in the output and bounded: of a large output, only the beginning and the
// end are read.
package rules
